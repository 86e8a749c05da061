"""Learning from self-play: actors, learner, baseline; see `docs/reinforcement.md`."""
