"""Run-time policy adaptation (pMCPA, Suphx section 3.4) and search: use of the time of a round.

`pmcpa` is the algorithm, and `policy_update` its gradient step. `adapt` and `search` decide, independently
of each other; `simulator` is what both play out with. `thinking` is a player of the arena that uses them.
"""
