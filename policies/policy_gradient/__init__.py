"""Learning by policy gradients, in play and in training: trajectories, and the policy-gradient loss."""
