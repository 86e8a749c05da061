"""Makes checkpoints. Nothing here is imported while the bot plays."""
