"""Discards that `game.rules` lists once although they differ: the drawn tile, or an equal one held before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from game.actions import Action, ActionKind
from game.state import hand_tiles
from game.tiles import face_of

_IN_RIICHI: Final = 2
"""`game.layout`: the riichi is accepted."""


def twins_of_drawn(record: np.void, player: int, legal: Sequence[Action]) -> list[int]:
    """Other copies of the drawn tile that may be discarded from the hand instead of it, ascending.

    Legal actions list such a discard as tsumogiri only; `game.table.Table.step` accepts the copies as well.

    Args:
        record: the round, with the player's hand known.
        player: who is asked, absolute.
        legal: the player's legal actions.
    """
    drawn = int(record["drawn"])
    if Action(ActionKind.DISCARD, drawn) not in legal or record["riichi"][player] == _IN_RIICHI:
        return []
    return [tile for tile in hand_tiles(record, player) if tile != drawn and face_of(tile) == face_of(drawn)]
