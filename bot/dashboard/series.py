"""A run of many games as sent to the page: its progress, its speed and the players' results."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from bot.dashboard.feed import Feed, LineState, Reached
from bot.dashboard.session import ladder, standing
from bot.dashboard.show import Show
from replays.standing import SeriesStanding

LATELY_S: Final = 60.0
"""Time over which the current games per second are measured."""
LADDER_S: Final = 5.0
"""Time between two simulations of the ladder, each of which takes some hundredths of a second."""


class SeriesPump:
    """Passes the run's progress from the feed to the show.

    Args:
        feed: progress of the run.
        show: messages for the browsers.
        has_past: whether finished games can be viewed.
        now: a clock in seconds.
    """

    def __init__(
        self, feed: Feed, show: Show, *, has_past: bool, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._feed = feed
        self._show = show
        self._fixed: dict[str, Any] = {"past": has_past}
        self._now = now
        self._began = now()
        self._lately: deque[tuple[float, int]] = deque([(self._began, 0)])
        self._latest: SeriesStanding | None = None
        self._line: LineState = "connecting"
        self._ladders: list[dict[str, Any] | None] = []
        self._climbed_at = -LADDER_S
        self._tell()

    def work(self) -> None:
        """Show the newest progress."""
        reached = [item.standing for item in self._feed.take() if isinstance(item, Reached)]
        if reached and isinstance(latest := reached[-1], SeriesStanding):
            self._take(latest)

    def end(self) -> None:
        """End the run."""
        self.work()
        self._line = "over"
        self._climb()
        self._tell()
        self._show.end()

    def _take(self, latest: SeriesStanding) -> None:
        now = self._now()
        if self._latest is None:  # loading the players does not count as playing
            self._began = now
            self._lately = deque([(now, latest.played)])
        self._latest, self._line = latest, "playing"
        self._lately.append((now, latest.played))
        while len(self._lately) > 2 and self._lately[1][0] <= now - LATELY_S:
            self._lately.popleft()
        if now - self._climbed_at >= LADDER_S or latest.games == latest.of:
            self._climb()
        self._tell()

    def _climb(self) -> None:
        if self._latest is not None:
            self._climbed_at = self._now()
            self._ladders = [ladder(places, self._latest.length) for places in self._latest.places]

    def _tell(self) -> None:
        self._show.session(self._fixed | {"line": self._line, "series": self._facts()})

    def _facts(self) -> dict[str, Any] | None:
        latest = self._latest
        if latest is None:
            return None
        (then, before), (now, played) = self._lately[0], self._lately[-1]
        speed = (played - before) / (now - then) if now > then else 0.0
        seconds = now - self._began
        return {
            "length": latest.length,
            "games": latest.games,
            "of": latest.of,
            "crashes": latest.crashes,
            "faults": latest.faults,
            "seconds": round(seconds),
            "games_per_s": round(speed, 3) if played else None,
            "games_per_s_overall": round(played / seconds, 3) if played and seconds else None,
            "left_s": round((latest.of - latest.games) / speed) if speed else None,
            "players": [
                {"name": name, "places": list(places), **standing(list(places)), "ladder": climbed}
                for name, places, climbed in zip(latest.players, latest.places, self._ladders, strict=True)
            ],
        }
