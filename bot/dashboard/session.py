"""The state of a session: its games, places and latencies, counted as items arrive."""

from __future__ import annotations

import math
import time
from functools import lru_cache
from typing import Any, Final

import msgspec
import numpy as np

from bot.adaptation.status import AdaptationStatus
from bot.dashboard.feed import Began, DecisionSent, Finished, LineState
from bot.player.tally import DecisionTally
from bot.terminal.result import decisions_of
from game.events import Four, four
from game.ranking import climb_from, stable_rank
from game.scoring.settlement import GameLength

LISTED: Final = 200
"""The newest games, listed one by one; all games are counted."""
_HOUR_S: Final = 3600.0


class SessionFacts:
    """Facts of a session that the page shows next to the table.

    Args:
        fixed: the constant facts, as sent to the page.
    """

    def __init__(self, fixed: dict[str, Any]) -> None:
        self.line: LineState = "connecting"
        self.missed = 0
        self.adaptation: AdaptationStatus | None = None
        self._fixed = fixed
        self._began = time.monotonic()
        self._tally = DecisionTally()
        self._places = [0, 0, 0, 0]
        self._results = 0
        self._length: GameLength = "hanchan"
        self._rank: dict[str, Any] | None = None
        self._games: list[dict[str, Any]] = []

    def began(self, item: Began) -> None:
        """Start a game."""
        game = item.game
        self._length = game.length
        if any(game.ranks):
            self._rank = {"rank": game.ranks[game.player], "rate": game.rates[game.player]}

    def decided(self, item: DecisionSent) -> None:
        """Count a decision."""
        self._tally.add(item.latency_ms, item.made.decision, fallback=item.made.fallback)
        self._tally.late = item.late

    def finished(self, item: Finished) -> None:
        """Count a game."""
        place = item.placements[item.player]
        self._places[place - 1] += 1
        self._results += item.results[item.player]
        game = {
            "id": item.game_id,
            "player": item.player,
            "placement": place,
            "scores": list(item.scores),
            "result": item.results[item.player] / 10,
        }
        self._games = [*self._games[1 - LISTED :], game]

    def facts(self) -> dict[str, Any]:
        """The whole state."""
        played = sum(self._places)
        seconds = time.monotonic() - self._began
        return self._fixed | {
            "line": self.line,
            "games": self._games,
            "played": played,
            "missed": self.missed,
            **standing(self._places),
            "result": round(self._results / 10, 1),
            "rank": self._rank,
            "ladder": ladder(four(self._places), self._length),
            "adaptation": msgspec.to_builtins(self.adaptation),
            "decisions": msgspec.to_builtins(decisions_of(self._tally)),
            "seconds": round(seconds),
            "games_per_hour": round(played * _HOUR_S / seconds, 1) if played and seconds else None,
        }


def standing(places: list[int]) -> dict[str, Any]:
    """Figures derived from the counts of first to fourth places."""
    played = sum(places)
    rank = float(stable_rank(np.array(places, np.float64)))
    return {
        "places": places,
        "average_place": round(sum(n * p for n, p in enumerate(places, 1)) / played, 4) if played else None,
        "stable_rank": round(rank, 2) if math.isfinite(rank) else None,
    }


LADDER_GAMES: Final = 50
"""From fewer games an expected rank says nothing: two first places would be a tenhoui."""


@lru_cache(maxsize=64)
def ladder(places: Four, length: GameLength) -> dict[str, Any] | None:
    """The expected position on Tenhou's ladder; None for fewer than `LADDER_GAMES` games."""
    if sum(places) < LADDER_GAMES:
        return None
    climbed = climb_from(places, length)
    return {
        "games": climbed.games,
        "dan": round(climbed.dan, 2),
        "low": round(climbed.first_quartile),
        "high": round(climbed.third_quartile),
        "shares": [round(share, 4) for share in climbed.shares],
    }
