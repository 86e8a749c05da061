"""How a run of many games stands: said by who plays them, shown by who watches."""

from __future__ import annotations

import msgspec

from game.events import Four
from game.settlement import GameLength


class Standing(msgspec.Struct, frozen=True):
    """A run while it goes on.

    Attributes:
        length: of the games.
        games: over by now, those of earlier starts included.
        of: to be played in all.
        played: since this start.
        crashes: games among them that could not be played to their end.
        faults: games among them in which a decision had to be replaced.
        players: names, each once.
        places: by player: how often first to fourth; who sits in several seats has several places a game.
    """

    length: GameLength
    games: int
    of: int
    played: int
    crashes: int
    faults: int
    players: tuple[str, ...]
    places: tuple[Four, ...]
