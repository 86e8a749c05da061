"""The common parts of all runs: the training loop, rows of results, statistics, progress, workers."""
