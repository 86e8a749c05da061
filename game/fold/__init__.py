"""The fold's kernels: they apply one packed event to the record of one round.

`fold_one` checks an event against the record and changes the record only if the event fits; otherwise it
returns the index of a reason in `REASONS`. Records are passed as numba records of `game.layout.ROUND_STATE`.
"""
