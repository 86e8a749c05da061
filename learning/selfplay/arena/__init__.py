"""Comparison of players: which is stronger, by how much and how surely, over the same walls in every seat."""
