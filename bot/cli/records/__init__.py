"""Commands that read records and positions."""
