"""Each benchmark measures what it claims to; how fast anything is, is no matter for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.errors import ConfigError
from learning.measure.bench import (
    UntrainedNetworks,
    bench_decisions,
    bench_features,
    bench_selfplay,
    bench_training,
)
from learning.selfplay.series import BLOCK_GAMES
from learning.train.plan import make_plan
from policies.features.table import LITE, SUPHX
from tests.cli import run_cli


def test_decisions_are_measured_in_whole_and_by_slot() -> None:
    found = bench_decisions(UntrainedNetworks(8, 1).policy(1), "a policy", number=60)
    assert found.decisions.count == 60
    assert 0 < found.decisions.median_ms <= found.decisions.p99_ms <= found.decisions.most_ms
    assert 0 < found.decisions.core_median_ms <= found.decisions.median_ms
    assert {each.name for each in found.slots} >= {"discard", "pon"}


@pytest.mark.slow
def test_a_game_gives_the_speed_of_every_encoder() -> None:
    found = bench_features(games=1, repeats=1)
    assert 10 < found.calls < found.decisions
    assert [speed.name for speed in found.speeds if speed.minimum <= 0] == []
    assert [each.name for each in found.latencies] == [LITE, SUPHX]


@pytest.mark.slow
def test_self_play_has_a_line_for_each_number_of_tables_and_of_processes() -> None:
    found = bench_selfplay(["random"], games=8, workers=2, tables=(1, 8))
    assert [(speed.workers, speed.tables) for speed in found.speeds] == [(1, 1), (1, 8), (2, 8)]
    assert [speed.games for speed in found.speeds] == [8, 8, 2 * BLOCK_GAMES]
    assert all(speed.core_ms > 0 for speed in found.speeds)


@pytest.mark.slow
def test_training_is_measured_in_parts_and_together(folder: Path) -> None:
    args = ["--corpus", str(folder), "--preset", "tiny", "--seconds", "0.1", "--json"]
    result = run_cli("bench", "training", *args)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["share"] == pytest.approx(found["together"]["median"] / found["network_alone"]["median"])
    assert all(0 < found[name]["minimum"] <= found[name]["maximum"] for name in ("loader", "together"))


def test_training_of_what_nobody_decides_is_refused(folder: Path) -> None:
    plan = make_plan("kan", preset="tiny", selection={"player": "メカゼットン"})
    with pytest.raises(ConfigError, match=r"no chosen game of the train split .* for the kan model"):
        bench_training(plan, folder)
