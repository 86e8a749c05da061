"""Tenhou's ranks (four players): the rank points of each place, which are its reward, and the promotions.

Source: Suphx, arXiv:2003.13590, table 6 and appendix B (last places of 6-dan and 10-dan), for East games; a
hanchan counts 1.5 times as much. The ranks in between are public knowledge about the rooms, not observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

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


Rewards: TypeAlias = tuple[float, float, float, float]
"""What the places of a game are worth, first to fourth."""


def _rewards(rank: int, room: Room, length: GameLength) -> Rewards:
    first, second, third, fourth = (float(rank_points(place, rank, room, length)) for place in (1, 2, 3, 4))
    return first, second, third, fourth


HANCHAN_REWARDS: Final = _rewards(16, "houou", "hanchan")
"""90, 45, 0 and -135: those of a 7-dan in the Phoenix room, the reward in the paper."""
