"""A run of self-play learning as sent to the page: its progress, its curves and its evaluations."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.dashboard.feed import Feed, LineState, Reached
from bot.dashboard.show import Show
from replays.standing import CurvePoints, LearningStanding

POINTS: Final = 160
"""Points of a curve that are sent; where there are more blocks, each point is the mean of several."""
GAIN: Final = "policy/gain"
"""Curve of the gain over the start, shown as a trailing mean: that of one block is mostly noise."""
TRAILING: Final = 50
"""Blocks of that mean."""
ARENA: Final = "arena/"
"""Beginning of the names of the evaluations' curves."""


class LearningPump:
    """Passes the run's progress from the feed to the show.

    Args:
        feed: progress of the run.
        show: messages for the browsers.
        now: a clock in seconds.
    """

    def __init__(self, feed: Feed, show: Show, now: Callable[[], float] = time.monotonic) -> None:
        self._feed = feed
        self._show = show
        self._now = now
        self._began = now()
        self._latest: LearningStanding | None = None
        self._line: LineState = "connecting"
        self._tell()

    def work(self) -> None:
        """Show the newest progress."""
        reached = [item.standing for item in self._feed.take() if isinstance(item, Reached)]
        if reached and isinstance(latest := reached[-1], LearningStanding):
            if self._latest is None:  # loading the policy does not count as learning
                self._began = self._now()
            self._latest, self._line = latest, "playing"
            self._tell()

    def end(self) -> None:
        """End the run."""
        self.work()
        self._line = "over"
        self._tell()
        self._show.end()

    def _tell(self) -> None:
        learning = None if self._latest is None else self._facts(self._latest)
        self._show.session({"past": False, "line": self._line, "learning": learning})

    def _facts(self, latest: LearningStanding) -> dict[str, Any]:
        seconds = self._now() - self._began
        speed = latest.played / seconds if seconds else 0.0  # evaluations included
        return {
            "length": latest.length,
            "games": latest.games,
            "of": latest.of,
            "blocks": latest.blocks,
            "of_blocks": latest.of_blocks,
            "phase": latest.phase,
            "seconds": round(seconds),
            "games_per_s": _last(latest, "speed/games_per_s"),
            "games_per_s_overall": _short(speed or None),
            "left_s": round((latest.of - latest.games) / speed) if speed else None,
            "waited_s": _last(latest, "speed/waited_s"),
            "staleness": _last(latest, "play/staleness"),
            **thinned(
                {
                    name: trailing(points) if name == GAIN else points
                    for name, points in latest.curves.items()
                    if not name.startswith(ARENA)
                }
            ),
            "evaluations": _evaluations(latest.curves),
        }


def trailing(points: CurvePoints, most: int = TRAILING) -> CurvePoints:
    """Each point as the mean of it and those before it, at most so many.

    >>> trailing(((8, 1.0), (16, 3.0), (24, 5.0)), most=2)
    ((8, 1.0), (16, 2.0), (24, 4.0))
    """
    parts = [points[max(0, at + 1 - most) : at + 1] for at in range(len(points))]
    return tuple((part[-1][0], sum(value for _, value in part) / len(part)) for part in parts)


def thinned(curves: Mapping[str, CurvePoints], most: int = POINTS) -> dict[str, Any]:
    """Curves over the same games, with at most so many points.

    >>> thinned({"a": ((8, 1.0), (16, 3.0), (24, 5.0)), "b": ((24, 0.5),)}, most=2)
    {'blocks_per_point': 2, 'at': [16, 24], 'curves': {'a': [2.0, 5.0], 'b': [None, 0.5]}}
    """
    axis = sorted({games for points in curves.values() for games, _ in points})
    width = max(1, -(-len(axis) // most))
    bins = {games: number // width for number, games in enumerate(axis)}
    at = [axis[min(first + width, len(axis)) - 1] for first in range(0, len(axis), width)]
    means: dict[str, list[float | None]] = {}
    for name, points in curves.items():
        parts = defaultdict(list)
        for games, value in points:
            parts[bins[games]].append(value)
        means[name] = [_short(sum(parts[n]) / len(parts[n])) if n in parts else None for n in range(len(at))]
    return {"blocks_per_point": width, "at": at, "curves": means}


def _evaluations(curves: Mapping[str, CurvePoints]) -> list[dict[str, Any]]:
    """The evaluations against the start. The first with the most points a game is the best, which is kept."""
    figures = {name: dict(curves.get(f"{ARENA}{name}", ())) for name in ("points", "placement", "games")}
    points = figures["points"]
    best = max(points, key=lambda at: (points[at], -at), default=None)
    return [
        {
            "at": at,
            "points": _short(points[at]),
            "placement": _short(figures["placement"].get(at)),
            "games": figures["games"].get(at),
            "best": at == best,
        }
        for at in points
    ]


def _last(standing: LearningStanding, name: str) -> float | None:
    points = standing.curves.get(name)
    return _short(points[-1][1]) if points else None


def _short(value: float | None) -> float | None:
    """The value to five digits: the curves' files have no more than seven."""
    return None if value is None else float(f"{value:.5g}")
