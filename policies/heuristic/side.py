"""The fixed part of a hand, which the rules value many times: winds, melds, red fives."""

from __future__ import annotations

from typing import Any, Final

from game.scoring.hand_parts import add_meld, set_frame
from game.tiles import EAST
from kit.jit import kernel

# Rows of `side`, which does not change with draws and discards.
SEAT_WIND: Final = 0
"""Kind of the seat wind."""
ROUND_WIND: Final = 1
CLOSED: Final = 2
"""1 while no meld is open."""
MELDS: Final = 3
"""Number of melds, closed kans included."""
MELD_DORA: Final = 4
"""Dora and red fives in the melds."""
RED_M: Final = 5
"""1 for each suit, this entry and the next two, if its red five is in the concealed hand."""
MELD_AT: Final = 8
"""From here on two numbers per meld: `MeldKind`, and the kind of its lowest tile."""
SIDE_SIZE: Final = MELD_AT + 8


@kernel
def yakuhai_han(kind: int, side: Any) -> int:
    """Han of a triplet of this kind: 1 for a dragon, the seat or the round wind, 2 for both winds in one."""
    if kind >= 31:
        return 1
    return int(kind == side[SEAT_WIND]) + int(kind == side[ROUND_WIND])


@kernel
def dora_in(hand34: Any, dora34: Any, side: Any) -> int:
    """Dora and red fives in a concealed hand and the melds; a red five is discarded last of its kind."""
    total = side[MELD_DORA]
    for kind in range(34):
        if hand34[kind] > 0:
            total += hand34[kind] * dora34[kind]
    for suit in range(3):
        if side[RED_M + suit] and hand34[9 * suit + 4] > 0:
            total += 1
    return int(total)


@kernel
def set_win_frame(side: Any, frame: Any) -> None:
    """Fill a frame (`game.scoring.hand_parts`) with the winds and melds of a hand, without dora."""
    set_frame(frame, side[SEAT_WIND] - EAST, side[ROUND_WIND] - EAST, 0, 0)
    for m in range(side[MELDS]):
        add_meld(frame, side[MELD_AT + 2 * m], side[MELD_AT + 2 * m + 1])
