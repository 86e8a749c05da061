"""The commands for two-player mahjong and CFR."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from learning.cfr.node_table import NODES_FILE, read_table
from tests.cli import run_cli, start

pytestmark = pytest.mark.usefixtures("restore_logs")


def report(*arguments: str | Path) -> dict[str, object]:
    result = run_cli(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    result = run_cli(
        "train", "cfr", "--out", folder, "--iterations", "200", "--epoch", "100", "--deals", "20", "--json"
    )
    assert result.exit_code == 0, result.stderr
    assert [point["iterations"] for point in json.loads(result.stdout)["curve"]] == [100, 200]
    assert "opponent" in (folder / "curve.svg").read_text()
    return folder


def test_a_player_against_itself_is_even(table: Path) -> None:
    found = report("duel", table, table, "--deals", "300", "--workers", "1")
    points = found["points"]
    assert isinstance(points, dict)
    assert points["low"] < 0.0 < points["high"]
    assert found["games"] == 600


@pytest.mark.slow
def test_games_do_not_depend_on_the_number_of_processes(table: Path) -> None:
    arguments = ("duel", "normal", table / NODES_FILE, "--deals", "2500", "--seed", "3")
    one, two = (report(*arguments, "--workers", str(workers)) for workers in (1, 2))
    for name in ("points", "wins", "losses", "double_wins", "as_first", "as_second"):
        assert one[name] == two[name]
    assert (one["workers"], two["workers"]) == (1, 2)
    text = run_cli(*arguments, "--workers", "1").stdout
    assert text.startswith("normal against ")
    assert "points a game  +0." in text


def test_normal_beats_random_play(table: Path) -> None:
    found = report("duel", "normal", "random", "--deals", "200", "--workers", "1")
    assert found["wins"] > 0.98  # type: ignore[operator]


@pytest.mark.slow
def test_exploitability_of_tables_and_policies(table: Path) -> None:
    trained = report("eval", "exploitability", table, "--deals", "40", "--workers", "1")
    assert trained["best_policy"] <= trained["exploitability"] <= trained["sampled"]  # type: ignore[operator]
    pairs = report("eval", "exploitability", "pairs", "--deals", "200", "--workers", "1")
    assert pairs["best_policy"] == max(pairs["policies"].values()) > 0.2  # type: ignore[attr-defined]
    current = run_cli("eval", "exploitability", f"current:{table}", "--deals", "20")
    assert "the same, one game each" in current.stdout


def test_bad_options_are_refused(tmp_path: Path, table: Path) -> None:
    for arguments, message in (
        (
            ("duel", "normal", "nobody"),
            "nobody: no such player; use normal, triplets, pairs, uniform, random, or a",
        ),
        (("eval", "exploitability", "random"), "random chooses actions, not policies"),
        (("eval", "exploitability", tmp_path), "nodes.sqlite: file: not found; train one with"),
        (
            ("train", "cfr", "--out", tmp_path / "x", "--update", "minus"),
            'Invalid value "minus" for --update',
        ),
        (
            ("train", "cfr", "--out", table, "--epoch", "100", "--deals", "20", "--seed", "1"),
            "holds another run, which differs in --seed;",
        ),
    ):
        result = run_cli(*arguments)
        assert result.exit_code in (1, 2)
        assert message in result.stderr


@pytest.mark.slow
def test_a_killed_run_resumes(tmp_path: Path) -> None:
    """The program as a process: SIGTERM saves the table, and the same command takes it to the same end."""
    arguments = f"train cfr --out {tmp_path / 'run'} --epoch 600 --deals 10 --iterations".split()
    with start(*arguments, "1000000") as process:
        path = tmp_path / "run" / NODES_FILE
        assert process.stderr
        while "train.progress" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    iterations = json.loads(read_table(path)[0]["status"])["samples"]
    assert iterations >= 500
    total = 600 * (iterations // 600 + 2)
    ended = run_cli(*arguments, str(total), "--json")
    whole = run_cli("train", "cfr", "--out", tmp_path / "whole", *arguments[4:], str(total), "--json")
    one, other = (json.loads(each.stdout)["curve"] for each in (ended, whole))
    assert [point["exploitability"] for point in one] == [point["exploitability"] for point in other]
