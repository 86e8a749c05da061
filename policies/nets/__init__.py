"""The networks: their layers in training, and the same in play on a CPU."""
