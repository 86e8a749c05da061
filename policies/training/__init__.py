"""What learning from play is made of: trajectories, and the policy-gradient loss."""
