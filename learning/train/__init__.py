"""Training of all models: on real games, and on the values of play-outs."""
