"""The fold's kernels: one packed event into one round's record.

`fold_one` checks an event against the record, and changes the record only when it fits; otherwise it answers
with the number of a reason in `REASONS`. Records come in as numba records of `game.layout.ROUND_STATE`.
"""

from game.fold.calls import kuikae_mask
from game.fold.dispatch import fold_one, fold_stream
from game.fold.reasons import REASONS, bit

__all__ = ["REASONS", "bit", "fold_one", "fold_stream", "kuikae_mask"]
