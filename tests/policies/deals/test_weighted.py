"""Weighted deals against what Bayes' rule says, and the parts of the sampler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import comb, prod

import numpy as np
import pytest

from game.errors import ConfigError
from game.layout import AT_UNSEEN
from game.tiles import parse_hand
from policies.deals import Evidence, RoundView, UniformDeals, WeightedDeals, WeightSettings
from policies.deals.combining import combined, thinned
from policies.deals.deal import effective_size, shares
from policies.deals.named import load_sampler, settings_of
from policies.deals.past import Past
from policies.deals.steps_back import steps_back
from policies.slots import Question, Slot, Source
from tests.policies.fakes import Undecided
from tests.scene import Scene

RED = 33
"""The kind of the red dragon, which tells a player what to discard."""


class Telling:
    """Discards 1p with probability 0.8 if it holds a red dragon, else with 0.1."""

    source: Source = "model"

    def __init__(self) -> None:
        self.rows = 0

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        self.rows += len(questions)
        return [self._row(slot, question) for question in questions]

    def _row(self, slot: Slot, question: Question) -> list[float]:
        if slot is not Slot.DISCARD:
            return [0.3] * len(question.options)
        wanted = 0.8 if question.record["hand34"][question.player][RED] else 0.1
        wished = [action.tile >> 2 == 9 for action in question.options]
        others = (1.0 - wanted) / (len(wished) - sum(wished))
        return [wanted / sum(wished) if wish else others for wish in wished]


def after_1p() -> RoundView:
    """Shimocha has drawn and discarded 1p from the hand; the others have discarded what they drew."""
    scene = Scene("123456789m1122z")
    scene.own("9s", "9s").turn("1p").draw().discard("9p", tsumogiri=True).draw().discard("9p", tsumogiri=True)
    scene.draw("7s")
    return RoundView.of(scene.observe(), scene.events)


def share_with_red(deals_tiles: np.ndarray) -> float:
    return float((deals_tiles[:, :13] >> 2 == RED).any(axis=1).mean())


@pytest.mark.parametrize(("drawn", "moves"), [(0, 0), (0, 2), (4_096, 0)])
def test_the_hand_that_explains_a_discard_has_the_probability_of_bayes(drawn: int, moves: int) -> None:
    view = after_1p()
    unseen = int((view.record["where"] == AT_UNSEEN).sum())
    none = comb(unseen - 4, 13) / comb(unseen, 13)
    expected = 0.8 * (1 - none) / (0.8 * (1 - none) + 0.1 * none)
    settings = WeightSettings(
        drawn=drawn, candidates=1_024, kept=256, power=1.0, moves=moves, evidence=Evidence(("discard",))
    )
    deals = WeightedDeals(Telling(), settings).deals(view, 600, 3)
    assert 1 - none < 0.6
    assert share_with_red(deals.tiles) == pytest.approx(expected, abs=0.06)


def test_weights_of_given_deals_are_the_likelihoods() -> None:
    view = after_1p()
    settings = WeightSettings(candidates=0, evidence=Evidence(("discard",)))
    sampler = WeightedDeals(Telling(), settings)
    deals = sampler.deals(view, 200, 1)
    has_red = (deals.tiles[:, :13] >> 2 == RED).any(axis=1)
    ratio = deals.weights[has_red].mean() / deals.weights[~has_red].mean()
    assert deals.effective_size < 200
    assert ratio > 3.0
    assert 3 * 200 <= sampler.evaluations < 3 * 220


def test_power_and_floor_hold_back() -> None:
    view = after_1p()
    sizes = []
    for power, floor in ((1.0, 1e-3), (0.5, 1e-3), (1.0, 0.7)):
        evidence = Evidence(("discard",), floor=floor)
        settings = WeightSettings(candidates=0, power=power, evidence=evidence)
        sizes.append(WeightedDeals(Telling(), settings).deals(view, 300, 2).effective_size)
    assert sizes[0] < sizes[1] < sizes[2]


def test_only_the_latest_decisions_count_if_asked() -> None:
    view = after_1p()
    for last, rows in ((0, 3), (1, 3), (2, 3)):
        policy = Telling()
        settings = WeightSettings(candidates=0, evidence=Evidence(("discard",), last=last))
        WeightedDeals(policy, settings).deals(view, 1, 0)
        assert policy.rows == rows


def test_without_events_nothing_is_known() -> None:
    view = after_1p()
    unknown = RoundView(view.record, view.player)
    deals = WeightedDeals(Telling()).deals(unknown, 5, 9)
    assert np.array_equal(deals.tiles, UniformDeals().deals(unknown, 5, 9).tiles)


def test_thinning_keeps_every_weight_in_the_mean() -> None:
    rng = np.random.default_rng(4)
    logs = rng.normal(0.0, 2.0, 40)
    sums = np.zeros(40)
    for _ in range(4_000):
        kept, weights = thinned(logs, 10, rng)
        assert len(kept) <= 10
        sums[kept] += np.exp(weights)
    assert sums / 4_000 == pytest.approx(shares(logs), abs=0.006)


def test_likely_guesses_survive_thinning() -> None:
    logs = np.log([0.4, 0.3, *[0.3 / 20] * 20])
    for seed in range(20):
        kept, weights = thinned(logs, 6, np.random.default_rng(seed))
        assert {0, 1} <= set(kept.tolist())
        assert effective_size(weights) > effective_size(logs) / 4


def test_combined_hands_are_as_likely_as_the_deals_they_stand_for() -> None:
    copies = np.zeros(37, np.int8)
    copies[:3] = 4, 3, 2
    wanted = [[(2, 0, 0), (0, 2, 0), (1, 0, 1)], [(1, 1, 0), (2, 0, 0), (0, 0, 2)], [(1, 1, 0), (0, 2, 0)]]
    faces = []
    for hands in wanted:
        padded = np.zeros((len(hands), 37), np.int8)
        padded[:, :3] = hands
        faces.append(padded)
    logs = [np.log([0.5, 0.3, 0.2]), np.log([0.2, 0.3, 0.5]), np.log([0.6, 0.4])]
    expected = {}
    for chosen in product(*(range(len(each)) for each in logs)):
        hands = np.array([faces[n][place] for n, place in enumerate(chosen)])
        left = copies - hands.sum(axis=0)
        if (left >= 0).all():
            ways = prod(
                prod(comb(int(copies[f] - hands[:n, f].sum()), int(hands[n, f])) for n in range(3))
                / prod(comb(int(copies[f]), int(hands[n, f])) for n in range(3))
                for f in range(3)
            )
            expected[chosen] = ways * np.exp(sum(logs[n][place] for n, place in enumerate(chosen)))
    starts = np.repeat(np.array([[faces[0][0], faces[1][2], faces[2][1]]]), 6_000, axis=0)
    found = combined(faces, logs, copies, starts, 5)
    seen = Counter(
        tuple(int(np.flatnonzero((faces[n] == hands[n]).all(axis=1))[0]) for n in range(3)) for hands in found
    )
    assert set(seen) == set(expected)
    total = sum(expected.values())
    for chosen, ways in expected.items():
        assert seen[chosen] / 6_000 == pytest.approx(ways / total, abs=0.025)


def test_moves_need_uniform_proposals() -> None:
    with pytest.raises(ConfigError, match="set moves to 0"):
        WeightedDeals(Undecided(), WeightSettings(moves=1), UniformDeals())


def test_samplers_have_names() -> None:
    assert isinstance(load_sampler("uniform", Undecided()), UniformDeals)
    assert isinstance(load_sampler("weighted", Undecided()), WeightedDeals)
    found = settings_of("weighted:power=0.5,moves=2,doings=discard+pass,last=3")
    assert found.weights == WeightSettings(power=0.5, moves=2, evidence=Evidence(("discard", "pass"), last=3))


@pytest.mark.parametrize(
    "text",
    [
        "diffuse",
        "diffusion:steps=-1",
        "autoregressive:steps=3",
        "uniform:drawn=3",
        "weighted:power=x",
        "weighted:powr=1",
        "weighted:doings=dance",
        "weighted:power=0",
        "weighted:hands=diffusion,moves=1",
    ],
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="give uniform, autoregressive"):
        load_sampler(text, Undecided())


@pytest.mark.parametrize(("hand", "steps"), [("23456789p11122s", 1), ("234567p111222s5z", 0)])
def test_a_step_back_is_a_discard_that_raises_the_shanten(hand: str, steps: int) -> None:
    scene = Scene("123456789m1122z")
    scene.own("9s", "9s").turn("1p").turn("3z").turn("3z").draw("7s")
    view = RoundView.of(scene.observe(), scene.events)
    past = Past(view, 1)
    held = np.array([sorted(parse_hand(hand))], np.int16)
    order = held[:, :1]
    assert (view.record["where"][held] == AT_UNSEEN).all()
    assert steps_back(past, held, order, past.decisions).tolist() == [steps]
