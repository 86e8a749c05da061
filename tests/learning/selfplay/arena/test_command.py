"""The commands, each in a process of its own, with worker processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learning.runs.store import RESULTS_FILE
from learning.selfplay.series import RECORDS_FOLDER
from replays.formats import read_game
from tests.cli import run_cli
from tests.learning.selfplay.engine_players import engine_text

pytestmark = pytest.mark.usefixtures("restore_logs")

FLAGS = ("--challenger", "random", "--champion", "random", "--tonpuu", "--seed", "5")


def arena(*args: str) -> tuple[int, str, str]:
    result = run_cli("arena", *FLAGS, *args)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.usefixtures("here")
def test_arena_prints_json_and_goes_on_with_what_it_played(tmp_path: Path) -> None:
    code, out, _ = arena("--games", "3", "--workers", "1", "--json", "--out", str(tmp_path))
    assert code == 0
    answer = json.loads(out)
    assert (answer["games"], answer["played"], answer["plan"]["seed"]) == (4, 4, 5)
    assert answer["challenger"]["games"] == 4
    assert answer["champions"]["games"] == 12
    first = (tmp_path / RESULTS_FILE).read_bytes().splitlines()
    assert len(first) == 5
    code, out, _ = arena("--games", "8", "--workers", "1", "--out", str(tmp_path))
    assert code == 0
    assert "random 1 v 3 random: 8 tonpuu games, 2 duplicate sets, seed 5" in out
    assert "caution: both sides are the same player" in out
    assert "average placement of random: 2.500 (2.500–2.500) (equal strength: 2.5): too few games" in out
    assert "\n4 games in " in out
    assert (tmp_path / RESULTS_FILE).read_bytes().splitlines()[1:5] == first[1:]
    code, _, err = arena("--games", "4", "--out", str(tmp_path))
    assert code == 2
    assert "a run of 8 games is there; give at least as many to resume it, or choose another --out" in err


@pytest.mark.usefixtures("here")
def test_a_plot_comes_with_the_games_or_later_without_playing(tmp_path: Path) -> None:
    plot, folder = tmp_path / "plot.svg", str(tmp_path / "run")
    code, out, _ = arena("--games", "4", "--workers", "1", "--out", folder, "--plot", str(plot))
    assert code == 0
    drawn = plot.read_bytes()
    plot.unlink()
    before = (tmp_path / "run" / RESULTS_FILE).read_bytes()
    # the players are not needed again
    code, again, _ = arena("--challenger", "nobody", "--report", "--out", folder, "--plot", str(plot))
    assert (code, again) == (0, "".join(out.splitlines(keepends=True)[:-1]))
    assert plot.read_bytes() == drawn
    assert (tmp_path / "run" / RESULTS_FILE).read_bytes() == before
    (tmp_path / "run" / RESULTS_FILE).write_bytes(b"".join(before.splitlines(keepends=True)[:4]))
    code, _, err = arena("--report", "--out", folder)
    assert (code, "no set of games is complete yet" in err) == (1, True)


def test_wrong_use_is_reported_before_any_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = arena("--records")
    assert (code, "--records needs --out" in err) == (2, True)
    code, _, err = arena("--report")
    assert (code, "--report needs --out" in err) == (2, True)
    code, _, err = arena("--report", "--out", str(tmp_path / "nowhere"))
    assert (code, "No such file" in err) == (1, True)
    code, _, err = arena("--challenger", str(tmp_path / "nowhere"))
    assert (code, "is not a player" in err) == (2, True)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = arena("--plot", str(tmp_path / "plot.svg"), "--challenger", "nobody")
    assert (code, "--plot needs matplotlib, which is not installed" in err) == (2, True)


@pytest.mark.usefixtures("here")
def test_another_run_is_recognised_by_its_flags(tmp_path: Path) -> None:
    assert arena("--games", "4", "--out", str(tmp_path))[0] == 0
    code, _, err = arena(
        "--games", "4", "--out", str(tmp_path), "--seed", "6", "--champion", "mine=heuristic"
    )
    assert code == 2
    wanted = (
        "another run is there, with --champion random, not mine=heuristic; --seed 5, not 6; give the same"
    )
    assert wanted in err


@pytest.mark.usefixtures("here")
def test_a_player_has_the_name_it_was_given(tmp_path: Path) -> None:
    flags = ("--games", "4", "--out", str(tmp_path), "--records")
    code, out, _ = arena(*flags, "--challenger", "mine=random")
    assert code == 0
    assert out.startswith("mine 1 v 3 random: ")
    assert "caution: both sides are the same player" in out
    for path in (tmp_path / RECORDS_FOLDER).iterdir():
        assert sorted(read_game(path).names) == ["mine", "random", "random", "random"]
    code, _, err = arena("--challenger", f"{'x' * 29}=random")
    assert (code, "a player's name must have 1 to 28 characters" in err) == (2, True)


@pytest.mark.slow
def test_stdout_holds_the_report_alone_and_logs_of_workers_are_redacted(tmp_path: Path) -> None:
    engine = engine_text(tmp_path / "e", "betray", "20")
    players = ("--challenger", engine, *FLAGS[2:5], "--games", "4", "--workers", "1", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "bot.cli", "arena", *players], capture_output=True, check=False
    )
    assert json.loads(done.stdout)["games"] == 4
    logs = [json.loads(line) for line in done.stderr.splitlines()]
    lost = [log for log in logs if log["event"] == "engine.lost"]
    assert lost
    assert {log["stderr"] for log in lost} == {"my id is hidden"}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["arena", "selfplay"])
def test_ctrl_c_reports_the_games_kept_and_how_to_resume(tmp_path: Path, command: str) -> None:
    players = FLAGS[:4] if command == "arena" else ("--players", "random")
    words = [sys.executable, "-m", "bot.cli", command, *players, *FLAGS[4:]]
    results = tmp_path / RESULTS_FILE
    with subprocess.Popen(
        [*words, "--games", "40000", "--workers", "1", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 6):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, b"")
    games = results.read_bytes().count(b"\n") - 1
    wanted = (
        f"suzaku: stopped: {games} of 40000 games are in {tmp_path}; give the same command again to resume\n"
    )
    assert err.decode().endswith(wanted)
