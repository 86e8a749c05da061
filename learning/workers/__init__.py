"""Processes that share work, on this machine or on a Ray cluster."""
