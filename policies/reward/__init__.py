"""The global reward predictor: the final reward each player can expect, from the rounds so far.

At the start of every round it predicts each player's reward by final place. The reward of a round is the
change of that prediction; after the last round the places are known and need no prediction.

`encoding` turns the rounds of games into a network's input, with what the present round can change;
`predictor` reads them.

Source: Suphx, arXiv:2003.13590, section 3.2, equation 4, figure 7.
"""
