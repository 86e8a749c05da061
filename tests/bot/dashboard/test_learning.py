"""A run of self-play learning, as reported to the page."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.dashboard.feed import Feed, Reached
from bot.dashboard.learning import TRAILING, LearningPump
from bot.dashboard.show import BrowserPosition, Show
from learning.matches.store import compute_for
from learning.reinforcement.plan import make_reinforcement_plan
from learning.reinforcement.run import learn_from_play
from learning.runs.state import read_curves
from replays.standing import LearningStanding
from tests.bot.dashboard.scenes import PATIENCE_S, Watcher
from tests.learning.reinforcement.setting import save_start, stop_after_a_block

START = LearningStanding(
    length="tonpuu", games=0, of=800, played=0, blocks=0, of_blocks=100, phase="learning", curves={}
)
SETTINGS = {
    "games": 4,
    "block-games": 2,
    "steps": 2,
    "evaluate-every": 4,
    "evaluation-games": 4,
}


class WatchedLearning:
    """A pump with its own clock, and what it shows."""

    def __init__(self) -> None:
        self.feed, self.show, self.now = Feed(), Show("suzaku 0.0"), 1000.0
        self.pump = LearningPump(self.feed, self.show, now=lambda: self.now)

    def reach(self, standing: LearningStanding, seconds: float = 0.0) -> dict[str, Any]:
        self.now += seconds
        self.feed.put(Reached(standing))
        self.pump.work()
        return self.facts["learning"] or {}

    @property
    def facts(self) -> dict[str, Any]:
        text, _ = self.show.since(BrowserPosition(-1, -1))
        facts: dict[str, Any] = json.loads(text)[-1]
        return facts


def test_before_the_policy_is_loaded_nothing_is_known() -> None:
    watched = WatchedLearning()
    assert watched.facts["learning"] is None
    assert watched.facts["line"] == "connecting"


def test_time_left_counts_this_start_only() -> None:
    watched = WatchedLearning()
    watched.reach(msgspec.structs.replace(START, games=400, blocks=50), 30.0)
    learning = watched.reach(msgspec.structs.replace(START, games=480, played=80, blocks=60), 40.0)
    assert (learning["seconds"], learning["games_per_s_overall"], learning["left_s"]) == (40, 2.0, 160)


def test_the_gain_is_shown_as_the_mean_of_the_last_blocks() -> None:
    watched = WatchedLearning()
    values = [float(block % 2) for block in range(TRAILING)] + [float(TRAILING)]
    points = tuple((8 * (block + 1), value) for block, value in enumerate(values))
    curves = {"policy/gain": points, "policy/alpha": points}
    shown = watched.reach(msgspec.structs.replace(START, curves=curves))["curves"]
    assert shown["policy/alpha"] == values
    assert shown["policy/gain"][:3] == [0.0, 0.5, pytest.approx(1 / 3, abs=1e-4)]
    assert shown["policy/gain"][-1] == pytest.approx((TRAILING / 2 + TRAILING) / TRAILING)


def test_the_first_of_the_best_evaluations_is_marked() -> None:
    points = ((200, -1.0), (400, 2.5), (600, 2.5))
    curves = {
        "arena/points": points,
        "arena/placement": tuple((at, 2.5 - value / 45) for at, value in points),
        "arena/games": tuple((at, 400.0) for at, _ in points),
    }
    learning = WatchedLearning().reach(msgspec.structs.replace(START, curves=curves))
    assert [each["best"] for each in learning["evaluations"]] == [False, True, False]
    assert learning["evaluations"][0] == {
        "at": 200,
        "points": -1.0,
        "placement": 2.5222,
        "games": 400.0,
        "best": False,
    }
    assert learning["at"] == []  # evaluations are not points of the other curves


def test_the_end_of_learning_is_reported() -> None:
    watched = WatchedLearning()
    watched.reach(START)
    watched.pump.end()
    assert watched.facts["line"] == "over"
    assert watched.show.over


def test_a_run_that_began_unwatched_is_watched_after_it_resumes(tmp_path: Path) -> None:
    start, out = save_start(tmp_path / "start"), tmp_path / "out"
    begin_and_stop(start, out)
    before = read_curves(out / "runs" / "rl" / "curves")
    assert [step for step, _ in before["policy/entropy"]] == [1]
    with train(start, out, "--dashboard", "--dashboard-port", "0") as program:
        assert program.stderr is not None
        watcher = Watcher(int(program.stderr.readline().rsplit(":", 1)[1].strip(" /\n")))
        heard = watcher.hear(lambda message: message.get("line") == "over")
        watcher.close()
        assert program.wait(PATIENCE_S) == 0
    known = [message["learning"] for message in heard if message.get("learning")]
    last = known[-1]
    assert (last["games"], last["of"], last["blocks"], last["of_blocks"]) == (4, 4, 2, 2)
    assert (last["at"], last["staleness"], last["phase"]) == ([2, 4], 1.0, "learning")
    after = read_curves(out / "runs" / "rl" / "curves")
    for name in ("policy/entropy", "policy/entropy_target", "policy/explained", "play/wins"):
        assert last["curves"][name] == pytest.approx([value for _, value in after[name]], rel=1e-4)
    (evaluation,) = last["evaluations"]
    assert (evaluation["at"], evaluation["games"], evaluation["best"]) == (4, 4.0, True)
    assert evaluation["points"] == pytest.approx(after["arena/points"][0][1], rel=1e-4, abs=1e-4)


def begin_and_stop(start: Path, out: Path) -> None:
    """Begin the run that `train` continues, and stop it after its first block, as Ctrl-C does."""
    settings = {name.replace("-", "_"): value for name, value in SETTINGS.items()}
    plan = make_reinforcement_plan(length="tonpuu", compute=compute_for(None, "cpu", "auto"), **settings)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        stop_after_a_block(patch, signal.SIGINT)
        learn_from_play(plan, start, out, workers=1, quiet=True)


@contextlib.contextmanager
def train(start: Path, out: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """`suzaku train rl` in a process of its own."""
    settings = [part for name, value in SETTINGS.items() for part in (f"--{name}", str(value))]
    folders = ["--start", str(start), "--out", str(out), "--workers", "1"]
    program = subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "train", "rl", "--tonpuu", "--json", *settings, *folders, *flags],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    with program:
        try:
            yield program
        finally:
            program.kill()
