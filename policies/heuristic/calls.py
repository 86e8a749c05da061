"""Chi, pon and kan: compares the value of the hand after a call with that of the hand as it is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from game.actions import Action, ActionKind
from game.fold import kuikae_mask
from game.melds import MeldKind
from game.shanten import shanten
from policies.heuristic.attack import PRESSURE, future_risk, hand_worth
from policies.heuristic.hand_value import CLOSED, MELD_AT, MELD_DORA, MELDS, RED_M
from policies.heuristic.outlook import Outlook, discard_worths

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
    worth = hand_worth(
        view.hand34, view.side, view.unseen34, view.dora34, view.gains, view.moment, view.discarded34, 1
    )
    return max(0.0, worth - future_risk(view.hand34, view.side, view.moment))


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
    discard_worths(
        view.hand34 if hand34 is None else hand34,
        view.side if side is None else side,
        view.unseen34,
        view.dora34,
        view.gains,
        view.moment,
        view.discarded34,
        view.rate,
        view.cost,
        allowed,
        out,
    )
    return out


def with_meld(view: Outlook, action: Action) -> tuple[Any, Any]:
    """Concealed tiles and fixed part of a hand after a call or a closed kan."""
    hand34, side = view.hand34.copy(), view.side.copy()
    for tile in action.consumed:
        hand34[tile >> 2] -= 1
        if tile in (16, 52, 88):
            side[RED_M + tile // 36] = 0
    tiles = [*action.consumed, action.tile] if action.tile >= 0 else list(action.consumed)
    meld = int(side[MELDS])
    side[MELD_AT + 2 * meld] = int(_MELD_KINDS[action.kind])
    side[MELD_AT + 2 * meld + 1] = min(tiles) >> 2
    side[MELDS] = meld + 1
    side[MELD_DORA] += sum(int(view.dora34[tile >> 2]) + (tile in (16, 52, 88)) for tile in tiles)
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
        hand34, side = view.hand34.copy(), view.side
        hand34[action.tile >> 2] -= 1
    distance = int(shanten(hand34, int(side[MELDS])))
    if distance > _KAN_SHANTEN or (view.moment[PRESSURE] >= _KAN_PRESSURE and distance > 0):
        return False
    after = float(
        hand_worth(hand34, side, view.unseen34, view.dora34, view.gains, view.moment, view.discarded34, 1)
    )
    discards = worth_of_discards(view, np.ones(34, dtype=np.bool_))
    return after > 0.0 and after >= _KAN_SHARE * float(discards.max())
