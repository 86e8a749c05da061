"""Output on the terminal: the running game, the table, the result of a run."""
