"""A position as a user writes it: tiles as text, numbers, and nothing derived."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from game.events import Four
from game.scoring.settlement import GameLength
from kit.errors import PositionError

SEATS: Final = ("you", "shimocha", "toimen", "kamicha")
"""The seats, relative to the player who decides: 0 to 3."""

Texts: TypeAlias = tuple[str, str, str, str]


class FieldError(PositionError):
    """A position is impossible because of certain fields.

    Args:
        message: names what to change.
        fields: the fields of the `WrittenPosition` that it concerns; ``"rivers.1"`` for that of one seat.
    """

    def __init__(self, message: str, *fields: str) -> None:
        super().__init__(message)
        self.fields = fields


class WrittenPosition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A position as one player sees it. Tuples of four are by seat, starting with that player.

    Attributes:
        hand: the concealed tiles (``"123m406p11z"``, ``0`` a red five); a tile just drawn last.
        rivers: the discards in order. A mark follows its tile: ``_`` tsumogiri, ``!`` riichi, ``~`` called.
            If all are empty they are unknown, and ``turn`` tells how many there are.
        melds: separated by spaces. ``~`` follows the called tile, whose place shows from whom it is, as on a
            table: first kamicha, middle toimen, last shimocha; a chi is always from kamicha. ``5~55+5z`` is
            an added kan, ``5555z`` a closed one.
        dora: the indicators, one and one more for each kan; "" for one that has nothing to do with the hand.
        round_index: 0 is East 1, 4 South 1.
        seat_wind: 0 East to 3 North.
        honba: repeat counters.
        sticks: riichi sticks on the table; None for what scores and riichi imply.
        scores: points now, paid sticks deducted; None for 25,000 each, less the sticks of this round.
        turn: the player's number of discards so far, plus one; None for what the rivers imply.
        offered: a tile that another player just discarded, with its marks; it is not in the river.
        offered_by: that player's seat.
        after_call: the last meld was called just now, so that a discard is due without a draw.
        length: length of the game.
    """

    hand: str
    rivers: Texts = ("", "", "", "")
    melds: Texts = ("", "", "", "")
    dora: str = ""
    round_index: int = 0
    seat_wind: int = 0
    honba: int = 0
    sticks: int | None = None
    scores: Four | None = None
    turn: int | None = None
    offered: str = ""
    offered_by: int = 3
    after_call: bool = False
    length: GameLength = "hanchan"

    @property
    def player(self) -> int:
        """The player who decides, absolute."""
        return (self.round_index + self.seat_wind) % 4

    @property
    def offered_player(self) -> int:
        """The player who discarded the offered tile, absolute."""
        return (self.player + self.offered_by) % 4
