"""The actions of a player: one vocabulary for the rules, policies, the wire and the engine."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

from game.tiles import tile_text


class ActionKind(IntEnum):
    """The kinds of action. Riichi takes two steps: declare, then discard."""

    PASS = 0
    DISCARD = 1
    RIICHI = 2
    CHI = 3
    PON = 4
    DAIMINKAN = 5
    ANKAN = 6
    KAKAN = 7
    TSUMO = 8
    RON = 9
    NINE_TERMINALS = 10


class Action(msgspec.Struct, frozen=True):
    """One action.

    Attributes:
        kind: what is done.
        tile: the tile discarded, called, added or won on; -1 for pass, riichi, ankan and nine terminals.
        consumed: the tiles from the hand that go into the meld, ascending; all four for an ankan, the three
            tiles of the existing pon for a kakan.
    """

    kind: ActionKind
    tile: int = -1
    consumed: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = [self.kind.name.lower()]
        if self.tile >= 0:
            parts.append(tile_text(self.tile))
        if self.consumed:
            parts.append("with " + " ".join(tile_text(t) for t in self.consumed))
        return " ".join(parts)


WINS: Final = frozenset((ActionKind.TSUMO, ActionKind.RON))
CALLS: Final = frozenset((ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN))
DISCARDS: Final = frozenset((ActionKind.DISCARD, ActionKind.RIICHI))
"""The kinds that may name a tile discarded."""

PASS = Action(ActionKind.PASS)
RIICHI = Action(ActionKind.RIICHI)
NINE_TERMINALS = Action(ActionKind.NINE_TERMINALS)
