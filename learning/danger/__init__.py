"""Danger estimates compared with real games."""
