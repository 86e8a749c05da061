"""Commands that play, and those that prepare for it."""
