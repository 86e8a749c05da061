"""A comparison as one self-contained page: no script, no other file, no network."""
