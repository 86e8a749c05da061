"""How well sampled worlds stand for the real one: `suzaku eval deals`."""
