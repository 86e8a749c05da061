"""A corpus in memory, from hand-made rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from game.events import GameEvent
from game.packing import Packed, pack_all
from learning.data.choice import ALL_PLAYERS, SelectedDecisions
from learning.data.corpus import Corpus
from learning.data.layout import ABSENCE, GAME
from learning.data.pack import absences


class _Stub:
    """The parts of a corpus that `learning.data.positions` and `learning.data.loader` use."""

    def __init__(self, games: Sequence[Sequence[GameEvent]], *, hanchan: bool) -> None:
        self._codes = [pack_all(events) for events in games]
        self._away = [absences(events) for events in games]
        self.index = np.zeros(len(games), GAME)
        self.index["events"] = [len([e for e in events if pack_all([e]).size]) for events in games]
        self.index["hanchan"] = hanchan
        self.index["ranks"] = np.arange(4) + 10

    def events(self, number: int) -> Packed:
        return self._codes[number]

    def game_id(self, number: int) -> str:
        return f"game {number}"

    def absences_of(self, number: int) -> np.ndarray:
        rows = [(number, each.player, each.first, each.end) for each in self._away[number]]
        return np.array(rows, ABSENCE)


def corpus_of(*games: Sequence[GameEvent], hanchan: bool = True) -> Corpus:
    """A corpus of these games, all hands open."""
    return cast(Corpus, _Stub(games, hanchan=hanchan))


def everybody(games: int) -> SelectedDecisions:
    """All players of the first games."""
    return SelectedDecisions(np.arange(games), np.full(games, ALL_PLAYERS, np.uint8))
