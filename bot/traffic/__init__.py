"""Captured traffic: written while playing, read and verified later."""
