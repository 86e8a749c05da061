from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from game.layout import ROUND_STATE
from learning.data.hidden import no_hands
from learning.measure.games import Measured
from learning.measure.hands import HandsReport
from learning.measure.hands_figures import (
    HandDecisions,
    HandPredictions,
    model_figures,
    platt_scaled,
    shares_by_turn,
    true_shares,
)
from tests.cli import run_cli

COUNT = 4000


def decisions(seed: int = 0) -> HandDecisions:
    """Decisions of 40 games with random hands: a tenth of the opponents waits on a kind drawn at random."""
    dice = np.random.default_rng(seed)
    hands = no_hands(COUNT)
    hands.shanten[:] = dice.integers(0, 4, (COUNT, 3))
    ready = dice.random((COUNT, 3)) < 0.1
    kinds = dice.integers(0, 34, (COUNT, 3))
    for row, seat in np.argwhere(ready):
        hands.waits[row, seat, kinds[row, seat]] = hands.deal_ins[row, seat, kinds[row, seat]] = True
    hands.riichi[:] = dice.random((COUNT, 3)) < 0.2
    numbers = np.arange(COUNT)
    return HandDecisions(
        np.zeros(COUNT, ROUND_STATE), np.zeros(COUNT, np.int64), numbers % 40, numbers % 15, hands
    )


def predictions(shanten: NDArray[np.float64], waits: NDArray[np.float64]) -> HandPredictions:
    return HandPredictions(shanten, waits, seconds=1.0, samples=0)


def test_whoever_knows_the_hands_makes_no_error() -> None:
    truth = decisions()
    found = model_figures("oracle", predictions(true_shares(truth), truth.hands.waits.astype(float)), truth)
    assert found.l2.value == 0.0
    assert np.array_equal(found.by_turn, shares_by_turn(true_shares(truth), truth), equal_nan=True)
    assert found.waits.ece.value == pytest.approx(0.0, abs=1e-5)
    assert sum(cases for cases, _, _ in found.waits.curve) == COUNT * 3 * 34


def test_a_constant_has_the_error_of_a_constant() -> None:
    truth = decisions()
    shanten = np.zeros((COUNT, 3, 7))
    shanten[:, :, :4] = 0.25
    rate = truth.hands.waits.mean()
    found = model_figures("constant", predictions(shanten, np.full((COUNT, 3, 34), rate)), truth)
    assert found.l2.value == pytest.approx(1.0, abs=0.02)
    assert found.l2.low < 1.0 < found.l2.high
    assert found.ready == 0.25
    assert found.waits.ece.value == pytest.approx(0.0, abs=1e-9)


def test_a_probability_twice_too_high_is_seen_and_scaled_back() -> None:
    truth = decisions()
    dice = np.random.default_rng(1)
    chance = dice.choice((0.1, 0.4), truth.hands.waits.shape)
    waits = dice.random(chance.shape) < chance / 2
    truth = truth._replace(hands=truth.hands._replace(waits=waits))
    found = predictions(true_shares(truth), chance)
    figures = model_figures("bold", found, truth)
    assert figures.waits.ece.value == pytest.approx(0.125, abs=0.002)
    assert figures.scaled_waits.ece.value is not None and figures.scaled_waits.ece.value < 0.005
    scaled = platt_scaled(found, truth)
    assert scaled[chance == 0.4].mean() == pytest.approx(0.2, abs=0.01)


def test_the_report_has_a_row_for_the_games_and_for_each_model() -> None:
    truth = decisions()
    found = predictions(true_shares(truth), truth.hands.waits.astype(float))
    models = tuple(model_figures(name, found, truth) for name in ("direct", "diffusion, 4 steps"))
    games = Measured(("corpus",), "0" * 64, "test", "all players", 40, 0, {})
    report = HandsReport(models, models[0].by_turn, 0.25, COUNT, 100, games)
    verdict, _, names, first, direct, diffusion, _, *plan = str(report).splitlines()
    assert verdict.startswith("direct expects the shanten with an L2 error of 0.000 (0.000–0.000), the least")
    assert re.split("  +", names)[:3] == ["model", "L2 of shanten ± deviation", "paper"]
    assert first.split() == ["games", "25.0"]
    assert re.split("  +", direct)[1:3] == ["0.000 (0.000–0.000) ± 0.000", "0.86 ± 0.64"]
    assert re.split("  +", diffusion)[1:3] == ["0.000 (0.000–0.000) ± 0.000", "1.00 ± 0.75"]
    assert " ".join(plan).startswith("4,000 decisions, 100 hands each; 40 games of corpus (content 00000000")


@pytest.mark.usefixtures("restore_logs")
def test_plots_need_matplotlib_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run_cli("eval", "hands", "--data", tmp_path, "--plots", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--plots needs matplotlib, which is not installed" in done.stderr
