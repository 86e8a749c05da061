"""Policies that play: networks, rules and programs; many tables at a time; play-outs and search."""
