from __future__ import annotations

import json

import pytest

from bot.measurements import GameBench, bench_fold, print_bench
from game.table.bench import Agreement, RulesSpeed
from policies.play.bench import UntrainedNetworks, bench_decisions, untrained_policy


def a_bench(different: int) -> GameBench:
    speed = RulesSpeed("shanten", "hands", (2e6, 3e6), 2e6, 2.5e6, 3e6)
    example = "3 with \x1b[31m0 melds" if different else ""
    return GameBench("a machine", (speed,), (Agreement("ours and theirs", 1000, different, example),))


def test_folding_whole_games_is_measured_both_ways() -> None:
    speeds = bench_fold(games=1, repeats=1)
    assert [speed.name for speed in speeds] == ["fold", "fold and legal actions"]
    assert all(speed.minimum > 0 for speed in speeds)


@pytest.mark.parametrize(("different", "code"), [(0, 0), (2, 1)])
def test_a_disagreement_fails_the_bench_and_is_shown(
    different: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_bench(a_bench(different), as_json=False) == code
    shown = capsys.readouterr().out
    assert "2,500,000" in shown
    assert ("3 with [31m0 melds" in shown) == bool(different)


def test_json_has_every_run(capsys: pytest.CaptureFixture[str]) -> None:
    print_bench(a_bench(0), as_json=True)
    result = json.loads(capsys.readouterr().out)
    assert result["speeds"][0]["runs"] == [2e6, 3e6]
    assert result["agreements"][0]["different"] == 0


def test_decisions_are_measured_in_whole_and_by_slot() -> None:
    bench = bench_decisions(untrained_policy(UntrainedNetworks(8, 1), 1), "a \x1bpolicy", count=60)
    assert bench.decisions.count == 60
    assert 0 < bench.decisions.median_ms <= bench.decisions.p99_ms <= bench.decisions.most_ms
    assert 0 < bench.decisions.core_median_ms <= bench.decisions.median_ms
    assert {each.name for each in bench.slots} >= {"discard", "pon"}
