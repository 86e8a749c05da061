"""Corpora of real games: stored for fast reading by learning."""
