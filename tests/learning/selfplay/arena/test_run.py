"""Whole runs: the same games with any number of processes, each once, interrupted and resumed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

import learning.selfplay.runner
from kit.workers.pool import DONE, Done
from learning.runs.store import RESULTS_FILE
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.arena.run import run
from learning.selfplay.records import CRASHES_FOLDER, RECORDS_FOLDER
from learning.selfplay.runner import GameEnd, SeriesRunner, Setup, Stretch
from learning.selfplay.tally import GameRow, read_results
from replays.formats import read_game
from tests.learning.selfplay.arena.made_up import RANDOM, a_plan, a_row, break_table


def a_quick_plan(sets: int, seed: int = 0) -> ArenaPlan:
    """Random play against itself, in blocks of one set."""
    return msgspec.structs.replace(a_plan(sets, seed=seed), challenger=RANDOM)


def rows_in(folder: Path) -> list[GameRow]:
    return read_results(folder, ArenaPlan)[1]


@pytest.mark.usefixtures("here")
def test_a_run_that_was_stopped_goes_on_to_the_same_results(tmp_path: Path) -> None:
    plan = a_quick_plan(2)
    whole = run(plan, workers=1, folder=tmp_path / "whole")
    lines = (tmp_path / "whole" / RESULTS_FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / RESULTS_FILE).write_bytes(b"".join(lines[:6]) + lines[6][:20])
    told: list[tuple[int, int, int]] = []
    again = run(plan, workers=1, folder=tmp_path / "cut", on_progress=lambda *games: told.append(games))
    assert rows_in(tmp_path / "cut") == rows_in(tmp_path / "whole")
    assert told[0] == (5, 8, 0)
    assert told[-1][:2] == (8, 8)
    assert told[-1][2] > 100
    assert whole is not None
    assert again is not None
    assert (again.played, whole.played) == (3, 8)
    assert again.challenger == whole.challenger
    assert run(plan, workers=1, folder=tmp_path / "cut") is not None
    assert len((tmp_path / "cut" / RESULTS_FILE).read_bytes().splitlines()) == 9


@pytest.mark.usefixtures("here")
def test_records_are_kept_and_read_back(tmp_path: Path) -> None:
    plan = a_quick_plan(1)
    run(plan, workers=1, folder=tmp_path, records=True)
    paths = sorted((tmp_path / RECORDS_FOLDER).iterdir())
    assert len(paths) == 4
    records = [read_game(path) for path in paths]
    endings = [record.ending for record in records]
    assert [ending.scores for ending in endings if ending] == [row.scores for row in rows_in(tmp_path)]
    assert records[0].names == ("random",) * 4
    assert all(record.is_complete for record in records)
    names = {path.name for path in paths}
    run(a_quick_plan(1, seed=1), workers=1, folder=tmp_path / "other", records=True)
    assert not names & {path.name for path in (tmp_path / "other" / RECORDS_FOLDER).iterdir()}


@pytest.mark.usefixtures("here")
def test_a_game_that_crashes_is_kept_with_its_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = a_quick_plan(2)
    broken = plan.seating(4).seed
    break_table(monkeypatch, broken)
    with capture_logs():
        found = run(plan, workers=1, folder=tmp_path)
    assert found is not None
    assert found.sets == 1
    assert len(found.crashes) == 4
    assert f"seed {broken}: RuntimeError: the table broke" in found.crashes[0]
    kept = sorted(path.name for path in (tmp_path / CRASHES_FOLDER).iterdir())
    assert kept == ["game-4.json", "game-5.json", "game-6.json", "game-7.json"]
    events = msgspec.json.decode((tmp_path / CRASHES_FOLDER / "game-4.json").read_bytes())["events"]
    assert len(events) > 60


def test_a_process_plays_its_share_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer stretches leave tables empty less often."""
    plan = a_plan(sets=96)
    handed: list[Stretch] = []

    def spread(
        prepare: object, setup: Setup, tasks: list[Stretch], *, workers: int | None, ray: str | None
    ) -> Iterator[tuple[Stretch, GameEnd | Done]]:
        handed.extend(tasks)
        for stretch in tasks:
            for block in reversed(stretch):
                for number in plan.numbers(block):
                    yield stretch, GameEnd(a_row(plan, number, 1), {})
            yield stretch, DONE

    monkeypatch.setattr(learning.selfplay.runner, "spread", spread)
    with SeriesRunner(plan) as runner:
        runner.play(workers=2)
        assert len(runner.rows) == plan.games
    assert handed == [(0, 1, 2), (3, 4, 5)]
    handed.clear()
    with SeriesRunner(plan) as runner:
        runner.play(workers=4)
    assert handed == [(0, 1), (2, 3), (4, 5)]
