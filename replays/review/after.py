"""The hand after an action: shanten and ukeire, following the best discard where one is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.fold import kuikae_mask
from game.shanten import discard_table, ukeire
from game.state import unseen34
from game.tiles import KINDS, mjai_text

_CALLS: Final = (ActionKind.CHI, ActionKind.PON)
_NEW_MELD: Final = (*_CALLS, ActionKind.DAIMINKAN, ActionKind.ANKAN)
_TENPAI: Final = 0


class Shape(NamedTuple):
    """A hand of 3n+1 tiles.

    Attributes:
        shanten: -1 to 8.
        mask: a bit for each kind that lowers it and has an unseen copy.
        copies: number of these unseen copies.
        discard: the best discard, which led to it, in mjai notation; "" if no discard follows the action.
    """

    shanten: int
    mask: int
    copies: int
    discard: str = ""


class After:
    """The hand after each action of one decision.

    Args:
        record: the round as the player sees it.
        player: the player, absolute.
        legal: the actions.
    """

    def __init__(self, record: np.void, player: int, legal: Sequence[Action]) -> None:
        self._hand34: NDArray[np.int8] = record["hand34"][player]
        self._melds = int(record["meld_count"][player])
        self._unseen34 = unseen34(record, player)
        may_discard = any(action.kind is ActionKind.DISCARD for action in legal)
        self._discards = self._table(self._hand34, self._melds) if may_discard else {}

    def of(self, action: Action) -> Shape | None:
        """The hand after an action; None for actions that end the round."""
        if action.kind is ActionKind.DISCARD:
            return self._discards[action.tile >> 2]
        if action.kind is ActionKind.RIICHI:
            return _best({kind: each for kind, each in self._discards.items() if each.shanten == _TENPAI})
        if action.kind is ActionKind.PASS:
            return self._shape(self._hand34, self._melds)
        if action.kind is ActionKind.KAKAN:
            return self._shape(self._without((action.tile,)), self._melds)
        if action.kind not in _NEW_MELD:
            return None
        hand34, melds = self._without(action.consumed), self._melds + 1
        if action.kind not in _CALLS:
            return self._shape(hand34, melds)  # a replacement tile is drawn before the discard
        first, second = (tile >> 2 for tile in action.consumed)
        barred = int(kuikae_mask(action.tile >> 2, first, second))
        table = self._table(hand34, melds)
        return _best({kind: each for kind, each in table.items() if not barred >> kind & 1})

    def _without(self, tiles: Sequence[int]) -> NDArray[np.int8]:
        hand34 = self._hand34.copy()
        for tile in tiles:
            hand34[tile >> 2] -= 1
        return hand34

    def _shape(self, hand34: NDArray[np.int8], melds: int) -> Shape:
        distance, mask, copies = ukeire(hand34, melds, self._unseen34)
        return Shape(int(distance), self._live(int(mask)), int(copies))

    def _table(self, hand34: NDArray[np.int8], melds: int) -> dict[int, Shape]:
        """Hands by the kind discarded from a hand of 3n+2 tiles."""
        distances, masks = np.empty(KINDS, np.int8), np.empty(KINDS, np.uint64)
        copies = np.empty(KINDS, np.int16)
        discard_table(hand34, melds, self._unseen34, distances, masks, copies)
        return {
            kind: Shape(int(distances[kind]), self._live(int(masks[kind])), int(copies[kind]))
            for kind in np.flatnonzero(hand34).tolist()
        }

    def _live(self, mask: int) -> int:
        return sum(1 << kind for kind in range(KINDS) if mask >> kind & 1 and self._unseen34[kind] > 0)


def _best(shapes: dict[int, Shape]) -> Shape:
    kind = min(shapes, key=lambda each: (shapes[each].shanten, -shapes[each].copies))
    return shapes[kind]._replace(discard=mjai_text(4 * kind + 3))
