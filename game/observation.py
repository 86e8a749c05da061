"""A decision that a player must make: what the player sees, and what it may do."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from game.actions import RIICHI, Action
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from game.state import declared


class HiddenTiles(msgspec.Struct, frozen=True):
    """The tiles that no player sees, in simulated games.

    Attributes:
        wall: the round's wall in deal order (`game.table.walls`).
        seed: determines which of it a policy is shown.
    """

    wall: Sequence[int]
    seed: int


class Observation(msgspec.Struct, frozen=True):
    """One decision to be made; whoever asks for one may extend it with what they need to know of it.

    Attributes:
        record: the round, one record of `game.layout.ROUND_STATE`, which must not change before the decision.
            It may hold more than the player sees, such as all hands: only what the player sees may be used.
        player: who decides, absolute.
        legal: the legal actions.
        length: length of the game; it determines the last rounds.
    """

    record: np.void
    player: int
    legal: tuple[Action, ...]
    length: GameLength

    @property
    def declared(self) -> Observation | None:
        """The choice of a discard once riichi is declared; None if that is not possible."""
        if RIICHI not in self.legal:
            return None
        record = declared(self.record, self.player)
        return Observation(record, self.player, tuple(legal_actions(record, self.player)), self.length)

    def hidden(self) -> HiddenTiles | None:
        """The tiles that no player sees; None at a real table."""
        return None
