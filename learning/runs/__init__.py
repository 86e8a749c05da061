"""The common parts of all training runs: loop, learner, folder and state, progress, commit."""
