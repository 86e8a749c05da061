"""`suzaku eval deals`, with a player who finds most decisions close."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from kit.errors import ConfigError
from kit.reports import write_report
from learning.measure.deals import (
    DEALS,
    DealsSetup,
    close_decisions,
    differences_of,
    judge_of_games,
    make_plan,
    scores_of,
)
from learning.measure.deals_plan import DealsPlan
from learning.runs.store import RESULTS_FILE
from policies.deals.uniform import UniformDeals
from policies.play.playouts import EndValue, Unit, points_value
from tests.cli import run_cli
from tests.learning.selfplay.rl.setting import save_start
from tests.policies.fakes import Undecided


@pytest.fixture
def undecided(tmp_path: Path) -> str:
    """A player as commands name it."""
    file = tmp_path / "undecided.py"
    file.write_text("from tests.policies.fakes import Undecided\n")
    return f"python:{file}:Undecided"


def a_plan(policy: str, **changes: object) -> DealsPlan:
    plan = make_plan(
        policy=policy, samplers=("uniform", "uniform"), games=1, per_game=2, close=0.05, worlds=4, seed=3,
    )  # fmt: skip
    return msgspec.structs.replace(plan, **changes)


def test_a_game_is_judged_alike_each_time(undecided: str) -> None:
    setup = DealsSetup(a_plan(undecided), None)
    one, other = (next(iter(judge_of_games(setup)(0))) for _ in range(2))
    assert len(one.decisions) == 2
    for row, again in zip(one.decisions, other.decisions, strict=True):
        assert row.true == again.true
        assert len(row.true) == 8
        assert [each.differences for each in row.samplers] == [each.differences for each in again.samplers]
        assert row.chances[0] >= row.chances[1] >= 0.05


def test_only_decisions_from_a_go_around_on_are_taken(undecided: str) -> None:
    plan = a_plan(undecided, close=0.05, from_go_around=9, walls=6)
    (game,) = judge_of_games(DealsSetup(plan, None))(0)
    everything = close_decisions(a_plan("random", close=0.05), Undecided(), 0)
    late = close_decisions(msgspec.structs.replace(plan, policy="random"), Undecided(), 0)
    assert 0 < len(late) == game.close < len(everything)
    assert all(row.go_around >= 9 and len(row.true) == 6 for row in game.decisions)


def test_differences_are_those_of_the_two_choices_over_the_same_deal() -> None:
    plan = a_plan("random", close=0.05)
    decision = close_decisions(plan, Undecided(), 1)[-1]
    deals = decision.true_deals(6, 5)
    alike = msgspec.structs.replace(decision, options=(decision.options[0], decision.options[0]))
    end_values: dict[Unit, EndValue] = {"points": points_value}
    both = differences_of(Undecided(), alike, deals, end_values)["points"]
    assert (both == 0).all()
    swapped = msgspec.structs.replace(decision, options=decision.options[::-1])
    one, other = (
        differences_of(Undecided(), each, deals, end_values)["points"] for each in (decision, swapped)
    )
    assert np.array_equal(one, -other)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_rounds_are_compared_by_the_final_reward_too(tmp_path: Path) -> None:
    plan = make_plan(
        policy=str(save_start(tmp_path / "policy")), samplers=("uniform",), games=1, per_game=1, close=0.15,
        worlds=16, walls=4, seed=3, final=True,
    )  # fmt: skip
    figures = DEALS.run(plan, tmp_path / "run", workers=1, quiet=True).figures
    assert figures.final.samplers[0].gains.keys() == {"16"}
    assert 0.0 < figures.final.noise < 0.05 * figures.points.noise
    without = next(iter(judge_of_games(DealsSetup(msgspec.structs.replace(plan, final=False), None))(0)))
    kept = DEALS.so_far(tmp_path / "run").figures.points
    again = DEALS.report(msgspec.structs.replace(plan, final=False), [without]).figures.points
    one, other = kept.samplers[0], again.samplers[0]
    assert msgspec.structs.replace(one, play_ms=0.0) == msgspec.structs.replace(other, play_ms=0.0)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_rounds_are_cut_at_horizons_and_valued_by_the_critic() -> None:
    plan = make_plan(
        policy="network", samplers=("true",), games=1, per_game=2, close=0.15, worlds=16, walls=4,
        seed=3, horizons=(0, 4),
    )  # fmt: skip
    points = DEALS.run(plan, None, workers=1, quiet=True).figures.points
    whole, cut = points.samplers
    assert (whole.name, cut.name) == ("true", "true, 4 discards")
    assert cut.noise < whole.noise
    assert whole.bias.value == 0.0
    assert cut.bias.value != 0.0


def test_players_without_a_reward_predictor_are_refused_where_it_is_needed(undecided: str) -> None:
    with pytest.raises(ConfigError, match="not a policy of networks"):
        make_plan(
            policy=undecided, samplers=("uniform",), games=1, per_game=2, close=0.05, worlds=4,
            seed=3, final=True,
        )  # fmt: skip


def test_too_few_walls_are_refused(undecided: str) -> None:
    with pytest.raises(ConfigError, match="walls: 3 are too few"):
        make_plan(
            policy=undecided, samplers=("uniform",), games=1, per_game=2, close=0.05, worlds=4,
            seed=3, walls=3,
        )  # fmt: skip


def test_real_hands_have_no_error_and_others_do() -> None:
    decisions = close_decisions(a_plan("random", close=0.05), Undecided(), 2)[::12]
    errors = []
    for decision in decisions:
        assert set(msgspec.structs.astuple(scores_of(decision.true_deals(3, 1), decision.record))) == {0.0}
        uniform = UniformDeals().deals(decision.view, 60, 1)
        errors.append(msgspec.structs.astuple(scores_of(uniform, decision.record)))
    shanten, _, waits, held = np.mean(errors, axis=0)
    assert shanten > 0.5
    assert 0.0 <= waits < held
    assert 4.0 < held < 9.0


def test_hands_can_be_compared_without_playing(undecided: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = a_plan(undecided, play=False)
    row = next(iter(judge_of_games(DealsSetup(plan, None))(0)))
    assert {each.differences for found in row.decisions for each in found.samplers} == {()}
    report = DEALS.report(plan, [row])
    assert report.figures.points is None
    assert write_report(report, as_json=False) == 0
    text = capsys.readouterr().out
    assert "scores shanten" in text
    assert "correlation" not in text


@pytest.mark.usefixtures("here")
def test_a_run_goes_on_where_it_stopped(undecided: str, tmp_path: Path) -> None:
    DEALS.run(a_plan(undecided), tmp_path, workers=1, quiet=True)
    whole = (tmp_path / RESULTS_FILE).read_bytes()
    with (tmp_path / RESULTS_FILE).open("ab") as file:
        file.write(b'{"number": 1, "cl')
    report = DEALS.run(a_plan(undecided), tmp_path, workers=1, quiet=True)
    assert (tmp_path / RESULTS_FILE).read_bytes() == whole
    assert report.figures.decisions == 2
    assert DEALS.so_far(tmp_path) == report
    with pytest.raises(ConfigError, match=r"--close 0\.05, not 0\.1"):
        DEALS.run(a_plan(undecided, close=0.1), tmp_path, workers=1, quiet=True)


def test_the_command_refuses_samplers_that_do_not_exist(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    result = run_cli("eval", "deals", "--out", out, "--sampler", "diffusion:stops=2")
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()
