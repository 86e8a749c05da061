"""A rule-based player: the fallback, the baseline and the test opponent.

It fills the five slots of the decision flow without a network and without randomness. Each slot compares the
values of the options, in points weighted by the state of the game (`policies.heuristic.stakes`): the value of
playing on (`policies.heuristic.attack`) minus the risk (`policies.heuristic.danger`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from game.actions import Action, ActionKind
from game.fold.calls import kuikae_mask
from game.melds import MeldKind
from game.shanten import shanten
from game.tiles import is_red
from kit.jit import warms_up
from policies.flow.decisions import Source
from policies.flow.known_hand import known_questions
from policies.flow.slots import Question, Slot
from policies.heuristic.attack import DRAW_RISK, LATER_RISK, PRESSURE, future_risk, hand_worth, tenpai_value
from policies.heuristic.danger import danger_of
from policies.heuristic.outlook import Outlook, discard_worths, outlook_of
from policies.heuristic.side import CLOSED, MELD_AT, MELD_DORA, MELDS, RED_M

_MELD_KINDS: Final = {
    ActionKind.CHI: MeldKind.CHI,
    ActionKind.PON: MeldKind.PON,
    ActionKind.DAIMINKAN: MeldKind.DAIMINKAN,
    ActionKind.ANKAN: MeldKind.ANKAN,
}

_KAN_SHANTEN: Final = 1
_KAN_PRESSURE: Final = 0.5
_KAN_SHARE: Final = 0.95
"""A kan may cost the hand this share of its value: the extra draw makes up for it."""


def worth_of_pass(view: Outlook) -> float:
    """Value of the 13 tiles as they are, before the next draw."""
    worth = hand_worth(view.hand34, view.setting, 1)
    return max(0.0, worth - future_risk(view.hand34, view.setting.side, view.setting.moment))


def worth_of_call(view: Outlook, action: Action) -> float:
    """Value of the hand after a chi or pon and its best discard."""
    hand34, side = with_meld(view, action)
    allowed = np.ones(34, dtype=np.bool_)
    kinds = [tile >> 2 for tile in action.consumed]
    barred = int(kuikae_mask(action.tile >> 2, kinds[0], kinds[1]))
    for kind in range(34):
        allowed[kind] = not barred >> kind & 1
    return float(worth_of_discards(view, allowed, hand34, side).max())


def worth_of_discards(
    view: Outlook, allowed: npt.NDArray[np.bool_], hand34: Any = None, side: Any = None
) -> npt.NDArray[np.float64]:
    """``[34]``: value of each discard from the hand, or from the hand after a call.

    Args:
        view: the table.
        allowed: ``[34]``, kinds that may be discarded.
        hand34: ``[34]`` int8, the concealed tiles if they differ from the view's.
        side: the matching fixed part.
    """
    out = np.empty(34, dtype=np.float64)
    tiles = view.hand34 if hand34 is None else hand34
    setting = view.setting if side is None else view.setting._replace(side=side)
    discard_worths(tiles, setting, view.rate, view.cost, allowed, out)
    return out


def with_meld(view: Outlook, action: Action) -> tuple[Any, Any]:
    """Concealed tiles and fixed part of a hand after a call or a closed kan."""
    hand34, side = view.hand34.copy(), view.setting.side.copy()
    for tile in action.consumed:
        hand34[tile >> 2] -= 1
        if is_red(tile):
            side[RED_M + tile // 36] = 0
    tiles = [*action.consumed, action.tile] if action.tile >= 0 else list(action.consumed)
    meld = int(side[MELDS])
    side[MELD_AT + 2 * meld] = int(_MELD_KINDS[action.kind])
    side[MELD_AT + 2 * meld + 1] = min(tiles) >> 2
    side[MELDS] = meld + 1
    side[MELD_DORA] += sum(int(view.setting.dora34[tile >> 2]) + is_red(tile) for tile in tiles)
    if action.kind is not ActionKind.ANKAN:
        side[CLOSED] = 0
    return hand34, side


def kan_is_good(view: Outlook, action: Action, in_riichi: bool) -> bool:
    """Whether to make a closed or added kan, or an open kan of a discard.

    A kan gives the player a draw and the eventual winner a dora indicator, so it suits hands that lose
    nothing by it and are closer to a win than any opponent is likely to be.
    """
    if action.kind is ActionKind.DAIMINKAN:
        return False
    if in_riichi:
        return True
    if action.kind is ActionKind.ANKAN:
        hand34, side = with_meld(view, action)
    else:
        hand34, side = view.hand34.copy(), view.setting.side
        hand34[action.tile >> 2] -= 1
    distance = int(shanten(hand34, int(side[MELDS])))
    if distance > _KAN_SHANTEN or (view.setting.moment[PRESSURE] >= _KAN_PRESSURE and distance > 0):
        return False
    after = float(hand_worth(hand34, view.setting._replace(side=side), 1))
    discards = worth_of_discards(view, np.ones(34, dtype=np.bool_))
    return after > 0.0 and after >= _KAN_SHARE * float(discards.max())


_YES: Final = 0.9
_NO: Final = 0.1
_TEMPERATURE: Final = 120.0
"""Difference in points that makes one option e times as likely as another."""
_RED_PRICE: Final = 400.0
"""A red five is discarded only if no other five of its suit is left."""
_CALL_MARGIN: Final = 50.0
"""A call reveals tiles and gives up later options: it must be worth this much more."""


class HeuristicPolicy:
    """Plays by rules; deterministic.

    Args:
        defends: whether it sees the danger of a discard.
    """

    source: Source = "rule"

    def __init__(self, *, defends: bool = True) -> None:
        self._defends = defends

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        """Give each option of each question its probability; see `policies.flow.slots.Policy`."""
        rule = _RULES[slot]
        return [rule(question, self._view(question)) for question in questions]

    def _view(self, question: Question) -> Outlook:
        view = outlook_of(question.record, question.player, question.length)
        if not self._defends:
            view.rate[:] = view.cost[:] = 0.0
            view.setting.moment[[PRESSURE, DRAW_RISK, LATER_RISK]] = 0.0
        return view


def _discard(question: Question, view: Outlook) -> list[float]:
    worths = _worths(view, question)
    scores = []
    for action in question.options:
        red_five = is_red(action.tile) and view.hand34[action.tile >> 2] > 1
        scores.append(worths[action.tile >> 2] - (_RED_PRICE if red_five else 0.0))
    weights = np.exp((np.array(scores) - max(scores)) / _TEMPERATURE)
    return [float(p) for p in weights / weights.sum()]


def _worths(view: Outlook, question: Question) -> npt.NDArray[np.float64]:
    allowed = np.zeros(34, dtype=np.bool_)
    allowed[[action.tile >> 2 for action in question.options]] = True
    return worth_of_discards(view, allowed)


def _riichi(question: Question, view: Outlook) -> list[float]:
    """Riichi, if some discard makes declaring worth more than every other option."""
    declared = silent = -math.inf
    out = np.empty(2, dtype=np.float64)
    hand34 = view.hand34.copy()
    for kind in np.flatnonzero(view.hand34):
        hand34[kind] -= 1
        if shanten(hand34, int(view.setting.side[MELDS])) == 0:
            discarded = view.setting.discarded34 | np.uint64(1 << int(kind))
            tenpai_value(hand34, view.setting._replace(discarded34=discarded), out)
            survive = 1.0 - float(view.rate[kind])
            declared = max(declared, survive * float(out[0]) - float(view.cost[kind]))
            silent = max(silent, survive * float(out[1]) - float(view.cost[kind]))
        hand34[kind] += 1
    fold = -float(min(view.cost[kind] for kind in np.flatnonzero(view.hand34)))
    return [_chance(declared - max(silent, fold))] * len(question.options)


def _call(question: Question, view: Outlook) -> list[float]:
    stay = worth_of_pass(view)
    return [_chance(worth_of_call(view, action) - stay - _CALL_MARGIN) for action in question.options]


def _kan(question: Question, view: Outlook) -> list[float]:
    in_riichi = bool(question.record["riichi"][question.player])
    return [_YES if kan_is_good(view, action, in_riichi) else _NO for action in question.options]


def _chance(difference: float) -> float:
    """Probability of "yes" for an option worth this much more than "no"."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, difference / _TEMPERATURE))))


_RULES: Final[dict[Slot, Callable[[Question, Outlook], list[float]]]] = {
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
    danger_of(question.record, question.player, reads_melds=True)
