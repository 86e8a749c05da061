"""Comparison of players over the same walls in every seat: the difference in strength, with its interval."""
