"""Makes a policy stronger by search: it learns from close decisions that were played out."""
