"""A table for people in the browser, with bots in the other seats."""
