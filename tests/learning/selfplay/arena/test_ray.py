"""The arena on a Ray cluster: the same games, whichever processes play them and whichever are lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import learning.selfplay.series
from learning.runs.store import RESULTS_FILE, read_rows
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.arena.report import report
from learning.selfplay.players import Contender, contender, packed
from learning.selfplay.run import SelfPlay
from learning.selfplay.series import RECORDS_FOLDER, GameRow, play_series
from policies.play.named import Files
from tests.learning.clusters import address, machines
from tests.learning.selfplay.arena.made_up import HEURISTIC, RANDOM, a_plan
from tests.policies.models import save_models

__all__ = ["address", "machines"]

pytestmark = pytest.mark.slow


def records_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / RECORDS_FOLDER).iterdir()}


def test_a_python_file_travels_to_the_cluster(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from policies.play.named import RandomPolicy\nclass Mine(RandomPolicy): pass\n")

    def packed_and_gone(*contenders: Contender) -> dict[str, Files]:
        files = packed(*contenders)
        path.unlink()
        return files

    monkeypatch.setattr(learning.selfplay.series, "packed", packed_and_gone)
    mine = contender(f"python:{path}:Mine")
    plan = msgspec.structs.replace(a_plan(sets=1), challenger=mine)
    found = report(plan, play_series(plan, ray=address))
    assert not path.exists()
    assert (found.challenger.name, found.challenger.games, found.faults) == ("mine.py:Mine", 4, ())


def test_the_same_games_here_and_on_a_cluster(address: str, tmp_path: Path) -> None:
    networks = contender(str(save_models(tmp_path / "models")))
    plan = SelfPlay(players=(networks, HEURISTIC, RANDOM, networks), games=70, length="tonpuu")
    play_series(plan, tmp_path / "here", plan.form, workers=1)
    play_series(plan, tmp_path / "there", plan.form, ray=address)
    assert read_rows(tmp_path / "here", SelfPlay, GameRow) == read_rows(tmp_path / "there", SelfPlay, GameRow)
    assert records_in(tmp_path / "here") == records_in(tmp_path / "there")


def test_ctrl_c_ends_a_run_with_its_cluster(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bot.cli", "arena", "--challenger", "random", "--champion", "random"]
    command += ["--games", "10000", "--ray", "local", "--workers", "1", "--out", str(tmp_path)]
    results = tmp_path / RESULTS_FILE
    with subprocess.Popen(command, start_new_session=True) as process:
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 3):
            pass
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert len(read_rows(tmp_path, ArenaPlan, GameRow)[1]) >= 2
