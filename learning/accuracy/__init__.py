"""Agreement of checkpoints with the players of real games, and the games that measures are taken on."""
