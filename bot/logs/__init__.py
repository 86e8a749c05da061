"""Logging to stderr: set-up, redaction of secrets, rate limits."""
