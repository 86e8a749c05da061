"""A rule-based player: the fallback, the baseline and the test opponent.

It fills the five slots of the decision flow without a network and without randomness. Each slot compares the
values of the options, in points weighted by the state of the game (`policies.heuristic.stakes`): the value of
playing on (`policies.heuristic.attack`) minus the risk (`policies.heuristic.danger`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from game.jit import warms_up
from game.shanten import shanten
from policies.heuristic.attack import tenpai_value
from policies.heuristic.calls import kan_is_good, worth_of_call, worth_of_discards, worth_of_pass
from policies.heuristic.hand_value import MELDS
from policies.heuristic.outlook import Outlook, look
from policies.known_hand import known_questions
from policies.slots import Question, Slot, Source

_YES: Final = 0.9
_NO: Final = 0.1
_TEMPERATURE: Final = 120.0
"""Difference in points that makes one option e times as likely as another."""
_RED_PRICE: Final = 400.0
"""A red five is discarded only if no other five of its suit is left."""
_CALL_MARGIN: Final = 50.0
"""A call reveals tiles and gives up later options: it must be worth this much more."""


class HeuristicPolicy:
    """Plays by rules; deterministic."""

    source: Source = "rule"

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        """Give each option of each question its probability; see `policies.slots.Policy`."""
        rule = _RULES[slot]
        return [rule(question) for question in questions]


def _discard(question: Question) -> list[float]:
    view = look(question.record, question.player, question.length)
    worths = _worths(view, question)
    scores = []
    for action in question.options:
        red_five = action.tile in (16, 52, 88) and view.hand34[action.tile >> 2] > 1
        scores.append(worths[action.tile >> 2] - (_RED_PRICE if red_five else 0.0))
    weights = np.exp((np.array(scores) - max(scores)) / _TEMPERATURE)
    return [float(p) for p in weights / weights.sum()]


def _worths(view: Outlook, question: Question) -> npt.NDArray[np.float64]:
    allowed = np.zeros(34, dtype=np.bool_)
    allowed[[action.tile >> 2 for action in question.options]] = True
    return worth_of_discards(view, allowed)


def _riichi(question: Question) -> list[float]:
    """Riichi, if some discard makes declaring worth more than every other option."""
    view = look(question.record, question.player, question.length)
    declared = silent = -math.inf
    out = np.empty(2, dtype=np.float64)
    hand34 = view.hand34.copy()
    for kind in np.flatnonzero(view.hand34):
        hand34[kind] -= 1
        if shanten(hand34, int(view.side[MELDS])) == 0:
            discarded = view.discarded34 | np.uint64(1 << int(kind))
            tenpai_value(
                hand34, view.side, view.unseen34, view.dora34, view.gains, view.moment, discarded, out
            )
            survive = 1.0 - float(view.rate[kind])
            declared = max(declared, survive * float(out[0]) - float(view.cost[kind]))
            silent = max(silent, survive * float(out[1]) - float(view.cost[kind]))
        hand34[kind] += 1
    fold = -float(min(view.cost[kind] for kind in np.flatnonzero(view.hand34)))
    return [_chance(declared - max(silent, fold))] * len(question.options)


def _call(question: Question) -> list[float]:
    view = look(question.record, question.player, question.length)
    stay = worth_of_pass(view)
    return [_chance(worth_of_call(view, action) - stay - _CALL_MARGIN) for action in question.options]


def _kan(question: Question) -> list[float]:
    view = look(question.record, question.player, question.length)
    in_riichi = bool(question.record["riichi"][question.player])
    return [_YES if kan_is_good(view, action, in_riichi) else _NO for action in question.options]


def _chance(difference: float) -> float:
    """Probability of "yes" for an option worth this much more than "no"."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, difference / _TEMPERATURE))))


_RULES: Final[dict[Slot, Callable[[Question], list[float]]]] = {
    Slot.DISCARD: _discard,
    Slot.RIICHI: _riichi,
    Slot.CHI: _call,
    Slot.PON: _call,
    Slot.KAN: _kan,
}


@warms_up
def _warm_up() -> None:
    policy = HeuristicPolicy()
    for question in known_questions():
        policy.answer(question.slot, [question])
