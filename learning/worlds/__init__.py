"""Sampled worlds compared with the real one: `suzaku eval deals`."""
