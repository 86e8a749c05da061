"""Processes of this machine that share work."""
