"""Games between programs: players, engines, blocks of games and their results."""
