"""Measures how reliable the losses in reviews are, with all hands known.

Two things are measured on recorded decisions: how often the tiles in hand would have dealt in, compared with
the probabilities that the loss uses; and the reward of each option when the round is played out from the
decision with a new random wall and one policy for all players, compared with the rules' values.
"""
