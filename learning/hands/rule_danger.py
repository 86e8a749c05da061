"""The danger of real discards by rule, as reviews show it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.dora import dora_of
from game.jit import kernel
from game.tiles import KINDS
from learning.hands.foresight import HandDecisions
from policies.heuristic.danger import against_each

_OTHERS: Final = 3


def danger_by_rule(decisions: HandDecisions) -> NDArray[np.float64]:
    """``[N, 3]``: the probability that the discard deals in to each opponent, open hands read."""
    out = np.empty((len(decisions.players), _OTHERS))
    _fill(decisions.states, decisions.players, decisions.discards, out)
    return out


@kernel
def _fill(states: Any, players: Any, discards: Any, out: Any) -> None:
    visible, dora34 = np.empty(KINDS, np.int8), np.empty(KINDS, np.int8)
    tenpai, points, rates = np.empty(_OTHERS), np.empty(_OTHERS), np.empty((_OTHERS, KINDS))
    for row in range(len(states)):
        rec, player = states[row], players[row]
        dora34[:] = 0
        for i in range(rec.indicator_count):
            dora34[dora_of(int(rec.indicators[i]) >> 2)] += 1
        for kind in range(KINDS):
            visible[kind] = rec.seen34[kind] + rec.hand34[player, kind]
        against_each(rec, player, visible, dora34, True, tenpai, points, rates)
        for seat in range(_OTHERS):
            out[row, seat] = tenpai[seat] * rates[seat, discards[row]]
