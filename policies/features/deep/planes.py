"""LA1 and LA2 as planes.

With 3n+2 tiles position t is a discard. A *completion* is a multiset M of exactly k unseen tiles: those of
some winning hand with a yaku that the hand after the discard lacks; melds stay. M is worth the most valuable
such hand, whichever of its tiles comes last. LA1 states whether any M reaches a threshold; LA2 is the
expected number of those that do among my remaining n draws,

    sum over M of prod C(u_j, m_j) × n(n-1)… / (U(U-1)…), k factors each,

u_j unseen copies of j, U unseen tiles in all, stored as 1 + log10(p)/6 clipped to 0-1.

With 3n+1 tiles position t is a draw of an unseen tile, and each plane has the best value over all discards
after drawing t; n, u_t and U are one less there.

Our choices where the source is silent:

- Riichi counts for a closed hand that has declared it, two han if double, or still may: 1,000 points, four
  tiles left to draw. No ippatsu, rinshan, last tile, ura dora; the indicators are the current ones.
- Points are those of a ron, without honba and sticks. When one tile is missing and the hand is furiten after
  the discard (its own river with that discard, or a win missed in riichi), they are the total payments of a
  tsumo, and tsumo counts as a yaku of a closed hand.
- Drawn tiles are never red; of several fives the red one is kept if one is kept.
- A discard may be a tile the hand needs: it must then be drawn again, from the unseen copies.
- Every kind held counts as a discard, even if kuikae or riichi forbids it; legal discards have their own
  plane.

Nothing is cached between calls: unseen copies and remaining draws change with every visible tile, so little
would be found again.

Source: the reconstruction of Suphx's look-ahead features, LA1 and LA2; arXiv:2003.13590, section 2.2.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.scoring.hand_parts import F_MELDS
from game.scoring.set_patterns import SUIT_KINDS
from game.shanten import shanten
from kit.jit import kernel
from policies.features.deep.credit import THRESHOLDS, number_kinds
from policies.features.deep.memory import KINDS, LEVELS, MEMORY, MOST_MISSING, lay_out
from policies.features.deep.suits import limit_missing, list_suit
from policies.features.deep.targets import search
from policies.features.draw import real
from policies.features.table import ONE

STEPS: Final = len(THRESHOLDS)
_DECADES: Final = 6.0


def lookahead_deep(states: NDArray[Any], players: NDArray[np.int8], out: NDArray[np.uint8]) -> None:
    """Fill LA1 and LA2 of each state as its player sees it.

    Args:
        states: ``[N]`` of `ROUND_STATE`; the players' own hands must be known.
        players: ``[N]`` int8, absolute.
        out: ``[N, 72, 34]`` uint8 with `ONE` for 1.0, rows need not be contiguous; filled.
    """
    # one row of a wider array is contiguous and two are not: numba would compile the kernels for each layout
    whole = out if out.flags.c_contiguous else np.empty(out.shape, np.uint8)
    _fill_all(states, players, whole, _local.memory)
    if whole is not out:
        out[:] = whole


class _ThreadMemory(threading.local):
    """A working memory for each thread: allocating one takes longer than most searches."""

    def __init__(self) -> None:
        self.memory = np.zeros(1, MEMORY)[0]


_local: Final = _ThreadMemory()


@kernel
def _fill_all(states: Any, players: Any, out: Any, memory: Any) -> None:
    for row in range(len(states)):
        mark_deep(states[row], int(players[row]), memory, out[row])


@kernel
def mark_deep(rec: Any, me: int, memory: Any, out: Any) -> None:
    """Fill the 72 planes of one state.

    Args:
        rec: One `ROUND_STATE`.
        me: The player.
        memory: One `MEMORY`, working memory for the search.
        out: ``[72, 34]`` uint8.
    """
    out[:] = 0
    lay_out(rec, me, memory)
    held = 0
    for kind in range(KINDS):
        held += memory.hand34[kind]
    distance = shanten(memory.hand34, int(memory.frame[F_MELDS]))
    if held % 3 == 2 and distance < MOST_MISSING:
        _mark_discards(memory, distance, out)
    elif held % 3 == 1 and distance <= MOST_MISSING:
        _mark_draws(memory, out)


@kernel
def _mark_discards(memory: Any, distance: int, out: Any) -> None:
    number_kinds(memory)
    limit_missing(memory)
    for suit in range(4):
        list_suit(memory, suit, 0)
    search(memory, distance)
    for kind in range(KINDS):
        if memory.hand34[kind]:
            _mark(memory, int(memory.place[kind]), memory.place[kind] + 1, kind, out)


@kernel
def _mark_draws(memory: Any, out: Any) -> None:
    """A draw changes one suit; the possible completions of the other three are listed once."""
    number_kinds(memory)
    limit_missing(memory)
    for suit in range(4):
        list_suit(memory, suit, 1)
    memory.draws = max(0, memory.draws - 1)
    memory.unseen -= 1
    for suit in range(4):
        for drawn in range(SUIT_KINDS * suit, min(SUIT_KINDS * (suit + 1), KINDS)):
            if memory.unseen34[drawn]:
                _mark_draw(memory, suit, drawn, out)
        list_suit(memory, suit, 1)


@kernel
def _mark_draw(memory: Any, suit: int, drawn: int, out: Any) -> None:
    new = memory.hand34[drawn] == 0
    if new:
        memory.place[drawn] = memory.kinds
        memory.kinds += 1
    memory.hand34[drawn] += 1
    memory.unseen34[drawn] -= 1
    distance = shanten(memory.hand34, int(memory.frame[F_MELDS]))
    if distance < MOST_MISSING:
        list_suit(memory, suit, 0)
        search(memory, distance)
        _mark(memory, 0, memory.kinds, drawn, out)
    memory.unseen34[drawn] += 1
    memory.hand34[drawn] -= 1
    memory.kinds -= new


@kernel
def _mark(memory: Any, first: int, end: int, at: int, out: Any) -> None:
    """For each plane, mark the best value over these discards at a position."""
    share = 1.0
    for missing in range(MOST_MISSING):
        share *= max(0.0, float(memory.draws - missing)) / max(1.0, float(memory.unseen - missing))
        for place in range(first, end):
            for level in range(LEVELS - 2, 0, -1):  # from "exactly this level" to "at least this level"
                memory.weights[place, missing, level] += memory.weights[place, missing, level + 1]
        before = 0
        stored = 0
        for level in range(LEVELS - 1, 0, -1):
            ways = 0
            for place in range(first, end):
                ways = max(ways, memory.weights[place, missing, level])
            if ways == 0:
                continue
            if ways != before:
                before = ways
                stored = real(compressed(ways * share))
            plane = missing * STEPS + level - 1
            out[plane, at] = ONE
            out[MOST_MISSING * STEPS + plane, at] = stored


@kernel
def compressed(expected: float) -> float:
    """An expected number of completions as LA2 stores it, before rounding."""
    if expected <= 0.0:
        return 0.0
    return float(min(1.0, max(0.0, 1.0 + np.log10(expected) / _DECADES)))
