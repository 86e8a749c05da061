"""A fuzz target for what a server may send; see `tests.fuzz.__main__`."""
