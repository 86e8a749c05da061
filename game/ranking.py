"""Tenhou's ranks: the rank points of each place, and the points needed for the next rank (four players).

Source: Suphx, arXiv:2003.13590, table 6 and appendix B (last places of 6-dan and 10-dan), for East games; a
hanchan counts 1.5 times as much. The ranks in between are public knowledge about the rooms, not observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from game.settlement import GameLength

Room: TypeAlias = Literal["ippan", "joukyuu", "tokujou", "houou"]

TENHOUI: Final = 20
"""Index of the rank above 10-dan, which is never lost."""

PROMOTION_POINTS: Final = (
    *(20, 20, 20, 20, 40, 60, 80, 100, 100, 100),  # newcomer, 9-kyu to 1-kyu
    *(400, 800, 1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000),  # 1-dan to 10-dan
)
"""Points for promotion from each rank; a new dan starts with half of its own. Nothing is above `TENHOUI`."""

# Points of first and second place in an East game.
_TOP_PLACES: Final[dict[Room, tuple[int, int]]] = {
    "ippan": (20, 10),
    "joukyuu": (40, 10),
    "tokujou": (50, 20),
    "houou": (60, 30),
}
_SAFE_RANKS: Final = 7
"""Up to 3-kyu a last place costs nothing; above, 10 more for each rank in an East game."""


def rank_name(rank: int) -> str:
    """The name of a rank.

    >>> rank_name(0), rank_name(1), rank_name(16), rank_name(TENHOUI)
    ('newcomer', '9-kyu', '7-dan', 'Tenhoui')
    """
    if rank == TENHOUI:
        return "Tenhoui"
    if rank == 0:
        return "newcomer"
    return f"{rank - 9}-dan" if rank > 9 else f"{10 - rank}-kyu"


def rank_points(place: int, rank: int, room: Room, length: GameLength) -> int:
    """Rank points of a place 1–4.

    Args:
        place: 1–4.
        rank: dan index 0–20 as on the wire.
        room: the room.
        length: length of the game.

    >>> [rank_points(place, 16, "houou", "hanchan") for place in (1, 2, 3, 4)]
    [90, 45, 0, -135]
    """
    if rank >= TENHOUI:
        return 0
    first, second = _TOP_PLACES[room]
    last = -10 * max(0, rank - _SAFE_RANKS)
    points = (first, second, 0, last)[place - 1]
    return points * 3 // 2 if length == "hanchan" else points


def stable_rank(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``[..., 4]`` counts of the places to the stable rank, by the formula Tenhou's players use.

    Source: Suphx, arXiv:2003.13590, section 4.1: ``(5 n1 + 2 n2) / n4 - 2``, from the rank points of the room
    of the paper's games.

    >>> float(stable_rank(np.array([30.0, 25.0, 25.0, 20.0])))
    8.0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        rank: npt.NDArray[np.float64] = (5.0 * counts[..., 0] + 2.0 * counts[..., 1]) / counts[..., 3] - 2.0
    return rank
