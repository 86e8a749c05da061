"""Training of all models: from real games, and from decisions that were played out."""
