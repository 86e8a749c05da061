"""A comparison as one page that needs nothing else: no script, no other file, no network."""
