"""A run of many games, as reported to the page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.dashboard.feed import Feed, Reached
from bot.dashboard.pump import About
from bot.dashboard.series import LADDER_S, SeriesPump
from bot.dashboard.show import BrowserPosition, Show
from replays.standing import SeriesStanding
from tests.bot.dashboard.scenes import PATIENCE_S, Watcher, server

START = SeriesStanding(
    length="hanchan",
    games=0,
    of=100,
    played=0,
    crashes=0,
    faults=0,
    players=("network", "random"),
    places=((0, 0, 0, 0), (0, 0, 0, 0)),
)


def after(games: int, played: int | None = None) -> SeriesStanding:
    """A run in which one player is always first and the others share the rest."""
    third = games // 2
    return msgspec.structs.replace(
        START,
        games=games,
        played=games if played is None else played,
        places=((games, 0, 0, 0), (0, games, third, 2 * games - third)),
    )


class Watched:
    """A pump with its own clock, and what it shows."""

    def __init__(self) -> None:
        self.feed, self.show, self.now = Feed(), Show("suzaku 0.0"), 1000.0
        self.pump = SeriesPump(self.feed, self.show, has_past=True, now=lambda: self.now)

    def reach(self, standing: SeriesStanding, seconds: float = 0.0) -> dict[str, Any]:
        self.now += seconds
        self.feed.put(Reached(standing))
        self.pump.work()
        return self.facts["series"] or {}

    @property
    def facts(self) -> dict[str, Any]:
        text, _ = self.show.since(BrowserPosition(-1, -1))
        facts: dict[str, Any] = json.loads(text)[-1]
        return facts


def test_before_the_first_word_nothing_is_known() -> None:
    watched = Watched()
    assert watched.facts["series"] is None
    assert watched.facts["line"] == "connecting"


def test_speed_is_that_of_the_last_minute_and_of_the_whole_start() -> None:
    watched = Watched()
    watched.reach(after(20, 0), 30.0)  # loading, and games of an earlier run, do not count as speed
    assert watched.facts["series"]["games_per_s"] is None
    assert watched.reach(after(30, 10), 10.0)["games_per_s"] == 1.0
    for games in range(31, 91):
        series = watched.reach(after(games, games - 20), 2.0)
    assert series["games_per_s"] == pytest.approx(0.5, abs=0.01)
    assert series["games_per_s_overall"] == pytest.approx(70 / 130, abs=0.01)
    assert series["left_s"] == pytest.approx(20, abs=1)
    assert (series["games"], series["of"], series["seconds"]) == (90, 100, 130)


def test_players_have_places_and_a_rung_on_the_ladder() -> None:
    watched = Watched()
    watched.reach(START)
    first, others = watched.reach(after(40), LADDER_S)["players"]
    assert (first["name"], first["places"], first["average_place"]) == ("network", [40, 0, 0, 0], 1.0)
    assert others["average_place"] == pytest.approx((40 * 2 + 20 * 3 + 60 * 4) / 120, abs=1e-4)
    assert first["stable_rank"] is None
    assert first["ladder"]["dan"] == 11.0
    assert others["ladder"]["dan"] < 2.0
    assert sum(others["ladder"]["shares"]) == pytest.approx(1.0, abs=0.01)


def test_the_ladder_is_not_climbed_at_every_game_but_at_the_last() -> None:
    watched = Watched()
    watched.reach(after(1))
    early = watched.facts["series"]["players"][1]["ladder"]
    assert watched.reach(after(50), LADDER_S / 2)["players"][1]["ladder"] == early
    assert watched.reach(after(100), LADDER_S / 4)["players"][1]["ladder"] != early


def test_the_end_is_reported() -> None:
    watched = Watched()
    watched.reach(after(100))
    watched.pump.end()
    assert watched.facts["line"] == "over"
    assert watched.show.over


def test_a_late_browser_sees_how_it_stands(tmp_path: Path) -> None:
    feed = Feed()
    about = About(program="suzaku 0.0", shows="series")
    with server(feed, tmp_path, about=about) as served:
        feed.put(Reached(after(10)))
        watcher = Watcher(served.port)
        heard = watcher.hear(lambda message: (message.get("series") or {}).get("games") == 10)
        assert [player["name"] for player in heard[-1]["series"]["players"]] == ["network", "random"]
        watcher.close()


def test_self_play_is_watched_from_its_start_to_its_end(tmp_path: Path) -> None:
    mix = ["--players", "random,heuristic,random,random", "--games", "6", "--tonpuu", "--workers", "1"]
    flags = ["--out", str(tmp_path), "--json", "--dashboard", "--dashboard-port", "0"]
    program = subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "selfplay", *mix, *flags],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    with program:
        assert program.stderr is not None
        assert program.stdout is not None
        port = int(program.stderr.readline().rsplit(":", 1)[1].strip(" /\n"))
        watcher = Watcher(port)
        heard = watcher.hear(lambda message: message.get("line") == "over")
        watcher.close()
        summary = json.loads(program.stdout.read())
        assert program.wait(PATIENCE_S) == 0
    last = heard[-1]["series"]
    assert (last["games"], last["of"], last["crashes"]) == (6, 6, 0)
    assert last["games_per_s"] > 0
    for player, side in zip(last["players"], summary["players"], strict=True):
        assert player["name"] == side["name"]
        assert sum(player["places"]) == side["games"]
        assert player["average_place"] == pytest.approx(side["placement"]["value"], abs=1e-4)
