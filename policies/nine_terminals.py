"""The rule for the nine-terminals abort: decided on the first draw, without a model."""

from __future__ import annotations

from typing import Final

import numpy as np

from game.settlement import LAST_ROUND, GameLength
from game.shanten import shanten, shanten_thirteen_orphans
from game.tiles import TERMINALS_AND_HONOURS

_KEEP_SHANTEN: Final = 3
"""A normal hand this close to a win is worth more than a new deal."""
_ORPHANS_KINDS: Final = 11
"""With this many kinds thirteen orphans are worth trying; with fewer, only when far behind."""
_BEHIND: Final = 16_000
"""Points behind first place in the last rounds from which an abort is the worse choice."""


def should_abort(record: np.void, player: int, length: GameLength) -> bool:
    """Whether to abort the round with nine or more kinds of terminals and honours.

    Plays on with a hand close to a win, with eleven kinds or more (thirteen orphans three away), and with ten
    when only a very large win would still help.
    """
    hand = record["hand34"][player]
    if int(shanten(hand, 0)) <= _KEEP_SHANTEN:
        return False
    kinds = sum(1 for kind in TERMINALS_AND_HONOURS if hand[kind] > 0)
    if kinds >= _ORPHANS_KINDS or int(shanten_thirteen_orphans(hand)) <= 2:
        return False
    scores = [int(score) for score in record["scores"]]
    late = int(record["round_index"]) >= LAST_ROUND[length] - 1
    return not (kinds >= _ORPHANS_KINDS - 1 and late and max(scores) - scores[player] >= _BEHIND)
