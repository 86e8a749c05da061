"""Commands that read records, positions and captured frames."""
