"""Records of games: reading, writing, storing."""
