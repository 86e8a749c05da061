"""The counters of an LN frame: clients connected, and those queued and playing by game type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.tenhou.messages import LobbyCounts

_ROOMS: Final = {0: 0, 128: 16, 32: 32, 160: 48}
"""Index of a room's first game type in the comma list; four rule sets, then hanchan, then fast."""


def place_of(game_type: int) -> int:
    """Index of a four-player game type in the list.

    >>> [place_of(number) for number in (1, 9, 65, 137, 225)]
    [0, 4, 8, 20, 56]
    """
    room = _ROOMS[game_type & 160]
    return room + 8 * bool(game_type & 64) + 4 * bool(game_type & 8) + (game_type >> 1 & 3)


def lobby_counts(
    connected: int, queued: Iterable[tuple[int, int]], playing: Iterable[tuple[int, int]]
) -> LobbyCounts:
    """The frame.

    Args:
        connected: number of open connections.
        queued: game types, each with the number of clients waiting for it.
        playing: game types, each with the number of clients playing it.
    """
    queued, playing = list(queued), list(playing)
    waiting, seated = sum(n for _, n in queued), sum(n for _, n in playing)
    return LobbyCounts(
        connected=f"{connected},{connected - seated},{waiting},0",
        queued=_listed(queued),
        playing=_listed(playing),
    )


def _listed(counts: list[tuple[int, int]]) -> str:
    totals: dict[int, int] = {}
    for game_type, number in counts:
        if game_type & 1:
            totals[place_of(game_type)] = totals.get(place_of(game_type), 0) + number
    return ",".join(str(totals.get(place, "")) for place in range(max(totals, default=-1) + 1))
