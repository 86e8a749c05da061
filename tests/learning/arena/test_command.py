"""The commands, in a process of their own and with workers of theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot import cli
from learning.arena.bench import bench_selfplay, print_bench
from learning.arena.plan import Plan
from learning.arena.series import BLOCK_GAMES
from learning.arena.store import RESULTS_FILE, read_results

pytestmark = pytest.mark.usefixtures("restore_logs")

FLAGS = ("--challenger", "random", "--champion", "random", "--tonpuu", "--seed", "5")


def arena(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli.app, ["arena", *FLAGS, *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_arena_prints_json_and_keeps_what_it_played(tmp_path: Path) -> None:
    code, out, _ = arena("--games", "3", "--workers", "1", "--json", "--out", str(tmp_path))
    assert code == 0
    answer = json.loads(out)
    assert (answer["games"], answer["played"], answer["plan"]["seed"]) == (4, 4, 5)
    assert answer["challenger"]["games"] == 4
    assert answer["champions"]["games"] == 12
    assert len((tmp_path / RESULTS_FILE).read_bytes().splitlines()) == 5
    code, out, _ = arena("--games", "4", "--workers", "1", "--out", str(tmp_path))
    assert code == 0
    assert "random 1 v 3 random: 4 tonpuu games, 1 duplicate sets, seed 5" in out
    assert "caution: both sides are the same player" in out
    code, _, err = arena("--games", "8", "--workers", "1", "--out", str(tmp_path))
    assert code == cli.EXIT_USAGE
    assert "another run lies there (sets 1, not 2)" in err


def test_a_page_comes_with_the_games_or_later_without_playing(tmp_path: Path) -> None:
    page, folder = tmp_path / "page.html", str(tmp_path / "run")
    code, out, _ = arena("--games", "4", "--workers", "1", "--out", folder, "--html", str(page))
    assert code == 0
    assert "random against random" in page.read_text(encoding="utf-8")
    page.unlink()
    before = (tmp_path / "run" / RESULTS_FILE).read_bytes()
    # whoever played is not asked for again
    code, again, _ = arena("--challenger", "nobody", "--report", "--out", folder, "--html", str(page))
    assert (code, again) == (0, "".join(out.splitlines(keepends=True)[:-1]))
    assert "random against random" in page.read_text(encoding="utf-8")
    assert (tmp_path / "run" / RESULTS_FILE).read_bytes() == before
    (tmp_path / "run" / RESULTS_FILE).write_bytes(b"".join(before.splitlines(keepends=True)[:4]))
    code, _, err = arena("--report", "--out", folder)
    assert (code, "not one set of games is complete yet" in err) == (cli.EXIT_FAILED, True)


def test_wrong_use_is_said_before_anything_is_played(tmp_path: Path) -> None:
    code, _, err = arena("--records")
    assert (code, "--records needs --out" in err) == (cli.EXIT_USAGE, True)
    code, _, err = arena("--coverage", "200", "--games", "396", "--independent")
    assert (code, "--coverage needs --games 400 or more" in err) == (cli.EXIT_USAGE, True)
    code, _, err = arena("--html", str(tmp_path / "nowhere" / "page.html"))
    assert (code, "--html: there is no folder" in err) == (cli.EXIT_USAGE, True)
    code, _, err = arena("--report")
    assert (code, "--report needs --out" in err) == (cli.EXIT_USAGE, True)
    code, _, err = arena("--report", "--out", str(tmp_path / "nowhere"))
    assert (code, "No such file" in err) == (cli.EXIT_FAILED, True)
    code, _, err = arena("--challenger", str(tmp_path / "nowhere"))
    assert (code, "is no player" in err) == (cli.EXIT_USAGE, True)


@pytest.mark.slow
def test_a_run_killed_in_the_middle_goes_on_to_the_same_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bot.cli", "arena", *FLAGS, "--games", "80", "--workers", "2", "--json"]
    killed = tmp_path / "killed"
    with subprocess.Popen([*command, "--out", str(killed)], stdout=subprocess.DEVNULL) as process:
        results = killed / RESULTS_FILE
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 12):
            pass
        process.kill()
    before = read_results(killed, Plan)[1]
    assert 11 <= len(before) < 80
    for folder in (killed, tmp_path / "whole"):
        subprocess.run([*command, "--out", str(folder)], stdout=subprocess.DEVNULL, check=True)
    assert read_results(killed, Plan) == read_results(tmp_path / "whole", Plan)
    assert len((killed / RESULTS_FILE).read_bytes().splitlines()) == 81


@pytest.mark.slow
def test_the_bench_has_a_line_for_each_number_of_tables_and_of_processes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = bench_selfplay(["random"], games=8, workers=2, tables=(1, 8))
    assert [(speed.workers, speed.tables) for speed in found.speeds] == [(1, 1), (1, 8), (2, 8)]
    assert [speed.games for speed in found.speeds] == [8, 8, 2 * BLOCK_GAMES]
    assert all(speed.core_ms > 0 for speed in found.speeds)
    assert 0 < found.bare_ms < found.speeds[0].core_ms
    assert print_bench(found, as_json=False) == 0
    assert "the rules engine alone" in capsys.readouterr().out
    assert print_bench(found, as_json=True) == 0
    assert len(json.loads(capsys.readouterr().out)["speeds"]) == 3
