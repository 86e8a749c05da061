"""Results on disk: each game counts once, whatever a kill leaves."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from kit import files
from kit.errors import ConfigError, ReplayError
from learning.measure.adaptation import AdaptationPlan
from learning.runs.store import RESULTS_FILE, Store, read_rows
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.series import GameRow
from tests.learning.selfplay.arena.made_up import a_plan, a_row


def fill(folder: Path, games: int = 6) -> bytes:
    plan = a_plan()
    with Store(plan, GameRow, folder) as store:
        assert all(store.add(a_row(plan, number, 1)) for number in range(games))
    return (folder / RESULTS_FILE).read_bytes()


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    before = fill(tmp_path)
    plan = a_plan()
    with Store(plan, GameRow, tmp_path) as store:
        assert sorted(store.rows) == [0, 1, 2, 3, 4, 5]
        assert store.rows[3] == a_row(plan, 3, 1)
        assert not store.add(a_row(plan, 3, 4))
        assert store.add(a_row(plan, 6, 2))
    assert (tmp_path / RESULTS_FILE).read_bytes().startswith(before)
    found, rows = read_rows(tmp_path, ArenaPlan, GameRow)
    assert found == plan
    assert rows == [a_row(plan, number, 1 if number < 6 else 2) for number in range(7)]


def test_cut_anywhere_the_whole_lines_count_and_the_run_goes_on(tmp_path: Path) -> None:
    whole = fill(tmp_path)
    path = tmp_path / RESULTS_FILE
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        with Store(a_plan(), GameRow, tmp_path) as store:
            assert len(store.rows) == max(0, whole[:size].count(b"\n") - 1)
            for number in range(6):
                store.add(a_row(a_plan(), number, 1))
        assert path.read_bytes() == whole


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_two_runs_do_not_write_to_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_S", 0.0)
    with Store(a_plan(), GameRow, tmp_path) as store:
        with pytest.raises(ConfigError, match=r"another process is writing there; stop it or wait .*--out"):
            Store(a_plan(), GameRow, tmp_path)
        assert store.add(a_row(a_plan(), 0, 1))
    with Store(a_plan(), GameRow, tmp_path) as store:
        assert list(store.rows) == [0]


def test_an_invalid_line_is_named(tmp_path: Path) -> None:
    whole = fill(tmp_path)
    lines = whole.splitlines(keepends=True)
    (tmp_path / RESULTS_FILE).write_bytes(b"".join([*lines[:2], b"{}\n", *lines[3:]]))
    with pytest.raises(ReplayError, match=r"line 3: .*number"):
        Store(a_plan(), GameRow, tmp_path)
    with pytest.raises(ReplayError, match=r"line 3: .*number"):
        read_rows(tmp_path, ArenaPlan, GameRow)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="No such file"):
        read_rows(tmp_path, ArenaPlan, GameRow)
    (tmp_path / RESULTS_FILE).touch()
    with pytest.raises(ReplayError, match="empty"):
        read_rows(tmp_path, ArenaPlan, GameRow)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"hands": 1}, "a run of 2 hands is there; give at least as many to resume it"),
        ({"hands": 1, "seed": 1}, "another run is there, with --hands 2, not 1; --seed 0, not 1; give"),
        ({"identity": "b"}, "the files of a player have changed"),
        ({"format": "suzaku-adaptation/1"}, "another run is there, which differs in format; choose"),
    ],
)
def test_another_run_is_refused_with_the_reason(
    tmp_path: Path, asked: dict[str, object], wanted: str
) -> None:
    Store(AdaptationPlan(identity="a", hands=2), GameRow, tmp_path).close()
    with pytest.raises(ConfigError, match=wanted):
        Store(AdaptationPlan(**{"identity": "a", "hands": 2, **asked}), GameRow, tmp_path)


def test_another_length_of_games_is_named(tmp_path: Path) -> None:
    fill(tmp_path)
    hanchan = msgspec.structs.replace(a_plan(), length="hanchan")
    with pytest.raises(ConfigError, match="with --tonpuu given, not left out; give the same"):
        Store(hanchan, GameRow, tmp_path)


def test_results_of_another_command_are_refused(tmp_path: Path) -> None:
    Store(AdaptationPlan(identity=""), GameRow, tmp_path).close()
    with (tmp_path / RESULTS_FILE).open("ab") as file:
        file.write(b'{"a row of": "that command"}\n')
    with pytest.raises(ReplayError, match=r"results of another command .*choose another folder"):
        read_rows(tmp_path, ArenaPlan, GameRow)
