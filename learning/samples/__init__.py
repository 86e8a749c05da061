"""Decisions of real games as samples to learn from."""
