"""Runs of `suzaku train cfr`: saved, resumed, carried on, and their table read by others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kit.errors import CheckpointCorrupt, CheckpointMissing, ConfigError, TrainingError
from kit.files import hash_beside
from learning.cfr.node_table import NODES_FILE, read_table, visited
from learning.cfr.run import CfrPlan, CfrRun, learn, regret_bound
from learning.runs.loop import carry_out
from policies.two_player.abstraction import decode

SMALL = CfrPlan(epoch=10, deals=4)


def test_a_run_carried_on_is_the_run_done_at_once(tmp_path: Path) -> None:
    whole = learn(SMALL, 40, tmp_path / "whole", quiet=True)
    learn(SMALL, 20, tmp_path / "parts", quiet=True)
    parts = learn(SMALL, 40, tmp_path / "parts", quiet=True)
    assert [point.iterations for point in parts] == [10, 20, 30, 40]
    for one, other in zip(whole, parts, strict=True):
        assert (one.iterations, one.nodes, one.exploitability) == (
            other.iterations,
            other.nodes,
            other.exploitability,
        )
    _, sums, _ = read_table(tmp_path / "whole" / NODES_FILE)
    _, others, _ = read_table(tmp_path / "parts" / NODES_FILE)
    for one, other in zip(sums, others, strict=True):
        assert np.array_equal(one, other)


def test_a_stopped_run_resumes_between_two_evaluations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.cfr.run.STEP", 3)
    run = CfrRun(SMALL, 20, tmp_path / "run")
    steps = run.steps()
    for _ in range(2):
        next(steps)
    run.folder.save({**run.state(), "status": {"samples": run.done, "step": 2, "seconds": 0.0}})
    resumed = learn(SMALL, 20, tmp_path / "run", quiet=True)
    monkeypatch.undo()
    assert [point[0:2] for point in map(tuple_of, resumed)] == [
        point[0:2] for point in map(tuple_of, learn(SMALL, 20, tmp_path / "other", quiet=True))
    ]


def tuple_of(point: object) -> tuple[float, ...]:
    return tuple(getattr(point, name) for name in point.__struct_fields__)  # type: ignore[attr-defined]


def test_the_table_opens_in_any_sqlite_reader(tmp_path: Path) -> None:
    learn(SMALL, 20, tmp_path, quiet=True)
    _, sums, curve = read_table(tmp_path / NODES_FILE)
    with closing(sqlite3.connect(tmp_path / NODES_FILE)) as database:
        database.row_factory = sqlite3.Row
        nodes = database.execute("SELECT * FROM nodes").fetchall()
        rows = database.execute("SELECT iterations, exploitability FROM curve").fetchall()
        assert database.execute("SELECT value FROM run WHERE name = 'format'").fetchone()[0] == "suzaku-cfr/1"
    assert [node["key"] for node in nodes] == visited(sums).tolist()
    for node in nodes[::25]:
        assert decode(node["key"]).characters == node["characters"]
        assert sums.regrets[node["key"]][1] == node["regret_triplets"]
    assert [row["iterations"] for row in rows] == [10, 20]
    assert curve[1].exploitability == rows[1]["exploitability"]
    assert regret_bound(sums, 20) > 0.0


def test_another_run_s_folder_and_bad_tables_are_refused(tmp_path: Path) -> None:
    learn(SMALL, 10, tmp_path, quiet=True)
    with pytest.raises(ConfigError, match=r"holds another run, which differs in --seed"):
        learn(CfrPlan(epoch=10, deals=4, seed=1), 10, tmp_path, quiet=True)
    path = tmp_path / NODES_FILE
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE nodes SET strategy_pairs = -1 WHERE key = (SELECT min(key) FROM nodes)")
        database.commit()
    with pytest.raises(CheckpointCorrupt, match=r"node \d+: its sums are impossible; train one with"):
        read_table(path)
    path.write_bytes(b"no table" * 100)
    hash_beside(path).unlink()
    with pytest.raises(TrainingError, match="not a node table"):
        carry_out(CfrRun(SMALL, 10, tmp_path), quiet=True)
    with pytest.raises(CheckpointMissing, match="not found"):
        read_table(tmp_path / "nothing.sqlite")
