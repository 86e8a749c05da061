"""A whole game: dealing, asking the players, and the ends of rounds."""
