"""Checks captured traffic against the session."""
