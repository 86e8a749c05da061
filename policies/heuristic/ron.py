"""Whether a discard deals in to a hand that is known, and for how many han."""

from __future__ import annotations

from typing import Any

import numpy as np

from game.jit import kernel
from policies.heuristic.hand_value import dora_in, win_value
from policies.heuristic.stakes import HAN_MAX


@kernel
def is_furiten(rec: Any, player: int) -> bool:
    """Whether a player whose hand is known may not win by ron."""
    if rec.missed_turn[player] > 0 or rec.missed_riichi[player] > 0:
        return True
    return bool((rec.waits[player] & rec.river34[player]) != np.uint64(0))


@kernel
def won_han(rec: Any, other: int, kind: int, side: Any, dora34: Any) -> int:
    """Han of a ron on this kind, including dora but not ura dora; 0 without a yaku.

    Args:
        rec: the round.
        other: the possible winner, whose hand is known.
        kind: one of the waits.
        side: the fixed part of the hand, as `policies.heuristic.outlook.fill_side` fills it.
        dora34: ``[34]`` int8, how often each kind counts as dora.
    """
    value = np.empty(2, dtype=np.int64)
    hand34 = rec.hand34[other].copy()
    hand34[kind] += 1
    win_value(hand34, side, kind, False, value)
    han = value[0] + (rec.riichi[other] > 0)
    if han > 0:
        han += dora_in(hand34, dora34, side)
    return min(HAN_MAX - 1, int(han))
