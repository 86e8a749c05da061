"""State of a run of many games, reported by the program that plays it and shown by the dashboard."""

from __future__ import annotations

import msgspec

from game.events import Four
from game.settlement import GameLength


class SeriesStanding(msgspec.Struct, frozen=True):
    """State of a run in progress.

    Attributes:
        length: length of the games.
        games: games finished so far, including those of earlier starts.
        of: games planned in total.
        played: games finished since this start.
        crashes: games among them that could not be completed.
        faults: games among them in which a decision had to be replaced.
        players: names, each once.
        places: by player: counts of first to fourth; a player in several seats has several places per game.
    """

    length: GameLength
    games: int
    of: int
    played: int
    crashes: int
    faults: int
    players: tuple[str, ...]
    places: tuple[Four, ...]
