"""Policies that play: networks, rules and Python files; many tables at a time; play-outs."""
