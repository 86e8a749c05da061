"""Learning from self-play: actors, parameter store, learner, critic; see `docs/reinforcement.md`."""
