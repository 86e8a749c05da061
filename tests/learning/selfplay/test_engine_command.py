"""`suzaku arena` with external engines, as a separate program that may be stopped at any time."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learning.runs.store import RESULTS_FILE, read_rows
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.series import GameRow
from tests.cli import run_cli
from tests.learning.selfplay.engine_players import engine_text, started, wait_for_the_end

pytestmark = [pytest.mark.usefixtures("restore_logs"), pytest.mark.slow]

FLAGS = ("--champion", "random", "--tonpuu", "--workers", "1")
END_S = 60.0


def test_the_report_shows_the_faults_of_an_engine(tmp_path: Path) -> None:
    text = engine_text(tmp_path / "e", "die", "20")
    flags = ("--games", "4", "--answer-timeout", "5", "--out", str(tmp_path / "out"))
    result = run_cli("arena", "--challenger", text, *FLAGS, *flags)
    assert result.exit_code == 1
    caution = result.stdout.splitlines()[2]
    assert re.fullmatch(
        r"caution: [\d,]+ of [\d,]+ decisions of .* \(\d+\.\d%\) were made by the rules in its place, "
        r"so these are not its figures",
        caution,
    )
    assert "died with exit code 1, saying 'no tiles left'" in result.stdout
    plan, rows = read_rows(tmp_path / "out", ArenaPlan, GameRow)
    assert (plan.tables, plan.challenger.answer_s, plan.champions.answer_s) == (4, 5.0, None)
    for row in rows:
        seat = row.tallies[row.players.index(0)]
        assert 0 < seat.faults < seat.decisions
    again = run_cli("arena", "--report", "--json", "--out", str(tmp_path / "out"))
    assert (again.exit_code, json.loads(again.stdout)["many_faults"]) == (
        1,
        [caution.removeprefix("caution: ")],
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("way", ["", "hang"])
def test_a_run_that_is_stopped_leaves_no_engine_behind(tmp_path: Path, how: signal.Signals, way: str) -> None:
    text = engine_text(tmp_path / "e", way, "20")
    command = [sys.executable, "-m", "bot.cli", "arena", "--challenger", text, *FLAGS, "--games", "4000"]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        results = tmp_path / "out" / RESULTS_FILE
        end = time.monotonic() + END_S
        # with an engine that hangs, no game ends early
        while not (
            started(tmp_path / "e") if way else results.exists() and results.read_bytes().count(b"\n") > 2
        ):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(how)
    wait_for_the_end(tmp_path / "e")
