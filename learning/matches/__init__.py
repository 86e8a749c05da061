"""Games played in blocks, for the arena and for self-play: players, engines, results."""
