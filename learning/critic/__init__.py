"""Trains and measures the critic, which sees all hands (`policies.play.critic`)."""
