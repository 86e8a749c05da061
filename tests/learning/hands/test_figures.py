from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from game.layout import ROUND_STATE
from learning.hands.figures import danger_figures, model_figures, platt_scaled, true_shares
from learning.hands.foresight import Foresight, HandDecisions
from learning.samples.hidden import no_hands

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
        np.zeros(COUNT, ROUND_STATE),
        np.zeros(COUNT, np.int64),
        numbers % 40,
        numbers % 15,
        kinds[:, 0],
        hands,
    )


def foresight(shanten: NDArray[np.float64], waits: NDArray[np.float64], samples: int = 0) -> Foresight:
    return Foresight(shanten, waits, np.nan, np.zeros((0, 3)), 1.0, samples, None)


def test_whoever_knows_the_hands_makes_no_error() -> None:
    truth = decisions()
    found = model_figures("oracle", foresight(true_shares(truth), truth.hands.waits.astype(float)), truth)
    assert found.l2.value == found.root_square.value == found.distribution.value == 0.0
    assert found.shanten_loss.value == pytest.approx(0.0)
    before, after = found.waits["all"]
    assert before.ece.value == pytest.approx(0.0, abs=1e-5)
    assert before.log_loss.value == pytest.approx(0.0, abs=1e-5)
    assert after.cases == COUNT * 3 * 34


def test_a_constant_has_the_error_of_a_constant() -> None:
    truth = decisions()
    shanten = np.zeros((COUNT, 3, 7))
    shanten[:, :, :4] = 0.25
    rate = truth.hands.waits.mean()
    found = model_figures("constant", foresight(shanten, np.full((COUNT, 3, 34), rate)), truth)
    assert found.l2.value == pytest.approx(1.0, abs=0.02)
    assert found.l2.low is not None and found.l2.high is not None
    assert found.l2.low < 1.0 < found.l2.high
    assert found.shanten_loss.value == pytest.approx(np.log(4))
    before, _ = found.waits["all"]
    assert before.ece.value == pytest.approx(0.0, abs=1e-9)
    assert before.log_loss.value == pytest.approx(-rate * np.log(rate) - (1 - rate) * np.log(1 - rate))
    riichi, others = found.waits["riichi"][0], found.waits["other"][0]
    assert riichi.cases + others.cases == before.cases


def test_a_probability_twice_too_high_is_seen_and_scaled_back() -> None:
    truth = decisions()
    dice = np.random.default_rng(1)
    chance = dice.choice((0.1, 0.4), truth.hands.waits.shape)
    waits = dice.random(chance.shape) < chance / 2
    truth = truth._replace(hands=truth.hands._replace(waits=waits))
    found = foresight(true_shares(truth), chance)
    before, after = model_figures("bold", found, truth).waits["all"]
    assert before.ece.value == pytest.approx(0.125, abs=0.002)
    assert after.ece.value is not None and after.ece.value < 0.005
    assert after.log_loss.value is not None and before.log_loss.value is not None
    assert after.log_loss.value < before.log_loss.value
    scaled = platt_scaled(found, truth)
    assert scaled[chance == 0.4].mean() == pytest.approx(0.2, abs=0.01)


def test_deal_ins_foreseen_better_have_less_loss_and_more_area() -> None:
    truth = decisions()
    dealt_in = truth.hands.deal_ins[np.arange(COUNT), 0, truth.discards]
    blind, sharp = np.full((COUNT, 3), 0.03), np.full((COUNT, 3), 0.001)
    sharp[:, 0] = np.where(dealt_in, 0.9, 0.01)
    everybody, riichi, others = danger_figures(blind, sharp, truth)
    assert everybody.cases == 3 * COUNT == riichi.cases + others.cases
    assert everybody.deal_ins == riichi.deal_ins + others.deal_ins >= dealt_in.sum()
    assert everybody.auc[0].value == pytest.approx(0.5)
    assert everybody.auc[1].value is not None and everybody.auc[1].value > 0.95
    assert everybody.gain.low is not None and everybody.gain.low > 0.0
    assert everybody.auc_gain.value == pytest.approx(everybody.auc[1].value - 0.5)
    assert everybody.foreseen[0] == pytest.approx(0.03 * 3 * COUNT)
