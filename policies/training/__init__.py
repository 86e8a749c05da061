"""Parts of learning from play: trajectories, and the policy-gradient loss."""
