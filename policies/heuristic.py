"""A rule-based player: the fallback, the baseline and the test opponent.

It fills the five slots of the decision flow without a network and without chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from game.actions import ActionKind
from game.shanten import discard_table, ukeire
from game.state import unseen34
from policies.slots import Question, Slot, Source

_YES: Final = 0.9
_NO: Final = 0.1


class HeuristicPolicy:
    """Plays by rules: the same table always gets the same answer."""

    source: Source = "rule"

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        """Give each option of each question its probability; see `policies.slots.Policy`."""
        rule = _RULES[slot]
        return [rule(question) for question in questions]


def _discard(question: Question) -> list[float]:
    record, player = question.record, question.player
    distances = np.empty(34, dtype=np.int8)
    masks = np.empty(34, dtype=np.uint64)
    copies = np.empty(34, dtype=np.int16)
    hand = record["hand34"][player]
    discard_table(hand, int(record["meld_count"][player]), unseen34(record, player), distances, masks, copies)
    scores = []
    for action in question.options:
        kind = action.tile >> 2
        red = kind < 27 and action.tile % 36 == 16
        scores.append(-8.0 * distances[kind] + 0.1 * copies[kind] - 0.5 * red)
    weights = np.exp(np.array(scores) - max(scores))
    return [float(p) for p in weights / weights.sum()]


def _riichi(question: Question) -> list[float]:
    wall_left = int(question.record["wall_left"])
    return [_YES if wall_left >= 8 else _NO] * len(question.options)


def _pon(question: Question) -> list[float]:
    record, player = question.record, question.player
    hand = record["hand34"][player].copy()
    melds = int(record["meld_count"][player])
    unseen = unseen34(record, player)
    before = int(ukeire(hand, melds, unseen)[0])
    answers = []
    for action in question.options:
        kind = action.tile >> 2
        seat_wind = (player - int(record["dealer"])) % 4
        is_value = kind >= 31 or kind in (27 + seat_wind, 27 + int(record["round_index"]) // 4)
        answers.append(_YES if is_value and before > 0 and action.kind is ActionKind.PON else _NO)
    return answers


def _no(question: Question) -> list[float]:
    return [_NO] * len(question.options)


_RULES: Final[dict[Slot, Callable[[Question], list[float]]]] = {
    Slot.DISCARD: _discard,
    Slot.RIICHI: _riichi,
    Slot.CHI: _no,
    Slot.PON: _pon,
    Slot.KAN: _no,
}
