"""Supervised training of the five models."""
