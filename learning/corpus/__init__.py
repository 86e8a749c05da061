"""Corpora of real games: checked against our rules, and stored for fast reading by learning."""
