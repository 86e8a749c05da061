"""Records of games: reading, writing, keeping."""
