"""Preparation for play: the models are loaded and tried, the kernels compiled."""
