"""What the terminal shows: the running game, the table, the result of a run."""
