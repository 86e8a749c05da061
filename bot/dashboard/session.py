"""How a session stands: its games, places and latencies, counted as things come in."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np

from bot.dashboard.feed import Decided, Finished, LineState
from bot.result import decisions_of
from bot.tally import Tally
from game.ranking import stable_rank

LISTED: Final = 200
"""Games that are listed one by one, the newest; all are counted."""
_HOUR_S: Final = 3600.0


class SessionFacts:
    """What the page shows of a session beside the table.

    Args:
        fixed: what does not change, as the page is to have it.
        now: seconds on a clock.
    """

    def __init__(self, fixed: dict[str, Any], now: Callable[[], float] = time.monotonic) -> None:
        self.line: LineState = "connecting"
        self.missed = 0
        self._fixed = fixed
        self._now = now
        self._began = now()
        self._tally = Tally()
        self._places = [0, 0, 0, 0]
        self._results = 0
        self._games: list[dict[str, Any]] = []

    def decided(self, item: Decided) -> None:
        """Count a decision."""
        self._tally.add(item.latency_ms, fallback=item.made.fallback)
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
        """All of it."""
        played = sum(self._places)
        seconds = self._now() - self._began
        return self._fixed | {
            "line": self.line,
            "games": self._games,
            "played": played,
            "missed": self.missed,
            **standing(self._places, self._results / 10),
            "decisions": msgspec.to_builtins(decisions_of(self._tally)),
            "seconds": round(seconds),
            "games_per_hour": round(played * _HOUR_S / seconds, 1) if played and seconds else None,
        }


def standing(places: list[int], results: float) -> dict[str, Any]:
    """What follows from places.

    Args:
        places: how often first to fourth.
        results: their sum, uma and oka included.
    """
    played = sum(places)
    rank = float(stable_rank(np.array(places, np.float64)))
    return {
        "places": places,
        "average_place": round(sum(n * p for n, p in enumerate(places, 1)) / played, 4) if played else None,
        "result": round(results, 1),
        "stable_rank": round(rank, 2) if math.isfinite(rank) else None,
    }
