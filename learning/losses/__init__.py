"""How good the losses of reviews are: what they are made of beside what happens with all hands as they lay.

Two things are measured on recorded decisions. How often the tiles in hand would have dealt in, beside the
chances that the loss counts with. And what the options bring when the round is played out from the decision,
everybody by one policy, the wall drawn anew: by how much reward two options differ there for each point by
which the rules' values differ.
"""
