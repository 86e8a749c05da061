"""Adaptation to a dealt hand, on goals that are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from game.table.table import Table
from game.tiles import parse_hand
from kit.errors import ModelError
from policies.adaptation.pmcpa import PolicyAdaptation
from policies.adaptation.settings import AdaptationSettings
from policies.checkpoint.store import load_predictor
from policies.deals.deal import Deals, RoundView
from policies.deals.uniform import UniformDeals
from policies.flow.flow import flow, run_flows
from policies.flow.slots import Slot
from policies.nets.compute import choose_compute
from policies.play.included import SHIPPED
from policies.play.inference import NetworkPolicy, load_policy
from policies.play.playouts import EndValue, RewardValue, points_value
from policies.play.sampling import chances_of
from policies.reward.encoding import round_starts
from tests.policies.adaptation.test_thinking import first_discard
from tests.policies.deals.positions import Position, self_play
from tests.policies.fakes import Undecided
from tests.policies.models import a_model
from tests.scale import scaled
from tests.scene import Scene

DEALS = scaled(40, 200)
FEATURES = dict.fromkeys((Slot.DISCARD, Slot.RIICHI), "lite-239/1")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def policy() -> NetworkPolicy:
    return NetworkPolicy(
        {slot: a_model(slot, FEATURES.get(slot, "lite-287/1"), tower="suits") for slot in Slot}
    )


@pytest.fixture(scope="module")
def position() -> Position:
    """A discard late in a round, with several kinds in hand."""
    return next(
        each
        for each in self_play(1, 1.0, Undecided())
        if each.record["phase"] == 2 and each.record["discard_count"] >= 56
    )


def chance_of(policy: NetworkPolicy, position: Position, kind: int) -> float:
    """Probability of discarding a kind in the position."""
    view, deals = position.view, UniformDeals().deals(position.view, 1, 0)
    (done,) = run_flows([flow(deals.table(0).observe(view.player))], policy.answer)
    found = done.result().probabilities
    return sum(chance for action, chance in found.items() if action.tile >> 2 == kind)


def deals_for(position: Position, count: int, seed: int = 0) -> Deals:
    return UniformDeals().deals(position.view, count, seed)


def likes(kind: int, player: int) -> EndValue:
    """1 if the player discards a kind first, else 0."""

    def value(tables: Sequence[Table], _: int) -> NDArray[np.float64]:
        return np.array([float(first_discard(table, player) == kind) for table in tables])

    return value


def test_what_ends_well_becomes_likelier_within_the_divergence(
    policy: NetworkPolicy, position: Position
) -> None:
    player = position.view.player
    kind = int(np.flatnonzero(position.record["hand34"][player])[0])
    settings = AdaptationSettings(divergence=0.3, steps=3)
    adapted = PolicyAdaptation(policy, likes(kind, player), settings)
    before = chance_of(policy, position, kind)
    weights = {name: array.copy() for name, array in policy.model(Slot.DISCARD).weights.arrays.items()}
    chances = [before]
    for number in range(2):
        adapted.play(deals_for(position, DEALS, number))
        adapted.learn()
        assert 0.0 < adapted.figures.divergence <= 1.4 * 0.3 * adapted.figures.signal**2
        chances.append(chance_of(adapted.policy(), position, kind))
    assert min(chances[1:]) > 1.2 * before
    assert adapted.figures.playouts == 2 * DEALS * settings.replays
    kept = policy.model(Slot.DISCARD).weights.arrays
    assert all(np.array_equal(array, weights[name]) for name, array in kept.items())


@pytest.mark.parametrize("good", [True, False])
def test_what_was_learned_is_kept_only_if_it_gains_when_played(
    policy: NetworkPolicy, position: Position, good: bool
) -> None:
    """In the trial the ends are worth what they were to learn from, or the opposite."""
    player = position.view.player
    kind = int(np.flatnonzero(position.record["hand34"][player])[0])
    liked, learning = likes(kind, player), True

    def value(tables: Sequence[Table], player: int) -> NDArray[np.float64]:
        found = liked(tables, player)
        return found if learning or good else -found

    settings = AdaptationSettings(divergence=4.0)
    adapted = PolicyAdaptation(policy, value, settings)
    adapted.play(deals_for(position, DEALS))
    adapted.learn(divergence=4.0)
    moved = chance_of(adapted.policy(), position, kind)
    assert moved > chance_of(policy, position, kind)
    learning = False
    adapted.prove(deals_for(position, 24, 1))
    assert (adapted.figures.gain > 0.0) == good
    assert (adapted.figures.divergence > 0.0) == good
    after = chance_of(adapted.policy(), position, kind)
    assert after == (moved if good else pytest.approx(chance_of(policy, position, kind)))


@pytest.mark.parametrize(("step", "luck"), [(0.0, 0.0), (1.0, 1.0)])
def test_ends_that_are_alike_or_decided_by_the_tiles_teach_nothing(
    policy: NetworkPolicy, position: Position, step: float, luck: float
) -> None:
    def value(tables: Sequence[Table], _: int) -> NDArray[np.float64]:
        return step * (np.arange(len(tables)) // 3)

    adapted = PolicyAdaptation(policy, value, AdaptationSettings(replays=3))
    adapted.play(deals_for(position, 8))
    adapted.learn()
    assert adapted.figures.playouts == 24
    assert adapted.figures.luck == pytest.approx(luck)
    assert adapted.figures.divergence == 0.0
    before = policy.model(Slot.DISCARD).weights.arrays
    after = adapted.policy().model(Slot.DISCARD).weights.arrays
    assert all(np.array_equal(array, after[name]) for name, array in before.items())


def test_noise_is_not_followed(policy: NetworkPolicy, position: Position) -> None:
    """Ends that have nothing to do with what was played leave the policy nearly as it was."""
    dice = np.random.default_rng(4)
    found, settings = [], AdaptationSettings(divergence=0.3)
    for seed in range(3):
        adapted = PolicyAdaptation(policy, lambda tables, _: dice.normal(size=len(tables)), settings, seed)
        adapted.play(deals_for(position, 24, seed))
        adapted.learn()
        found.append(adapted.figures.divergence)
    assert max(found) < 0.05


def test_a_value_that_is_not_a_number_is_refused(policy: NetworkPolicy, position: Position) -> None:
    settings = AdaptationSettings()
    adapted = PolicyAdaptation(policy, lambda tables, _: np.full(len(tables), np.nan), settings)
    adapted.play(deals_for(position, 4))
    with pytest.raises(ModelError, match="finite"):
        adapted.learn()


def test_the_same_seed_adapts_alike(policy: NetworkPolicy, position: Position) -> None:
    found = []
    for _ in range(2):
        adapted = PolicyAdaptation(policy, points_value, AdaptationSettings(), seed=5)
        adapted.play(deals_for(position, 16))
        adapted.learn()
        found.append(adapted.policy().model(Slot.DISCARD).weights.arrays)
    assert all(np.array_equal(array, found[1][name]) for name, array in found[0].items())


@pytest.mark.slow
def test_a_cheap_win_that_does_not_help_is_given_up_for_one_that_does() -> None:
    """The situation of the paper's figure 10: last round, fourth, 7,900 points behind.

    The hand is complete, but worth 2,000 points, so the rule for wins declines. The initial policy stays
    tenpai all the same. Without the pair of honours it becomes a flush worth 8,000: rarer, and enough.
    """
    scene = Scene("11p23456789p77z9m", dora="1z", round_index=7, scores=(12_500, 40_000, 27_100, 20_400))
    scene.draw(player=3).discard("1p").pon(0).discard("9m")
    for others, own in (
        (("9m", "1z", "2z"), "3s"),
        (("1m", "9s", "4z"), "8s"),
        (("3z", "1s", "9m"), "9s"),
        (("1m", "4z", "9s"), "4z"),
        (("2z", "1s", "3z"), "2m"),
        (("8s", "2m", "8m"), ""),
    ):
        for tile in others:
            scene.turn(tile)
        if own:
            scene.own(own, own)
    scene.draw("4p")
    observation, policy = scene.observe(), load_policy(compute=choose_compute("cpu", "fp32"))
    view, predictor = RoundView.of(observation), load_predictor(SHIPPED)
    before = chances_of(observation, policy)
    assert before[0][0].tile >> 2 == parse_hand("4p")[0] >> 2

    adapted = PolicyAdaptation(
        policy,
        RewardValue(predictor, round_starts(scene.events)),
        AdaptationSettings(),
        seed=4,
    )
    adapted.play(UniformDeals().deals(view, 96, 4))
    adapted.learn()
    adapted.prove(UniformDeals().deals(view, 128, 1_004))
    assert adapted.figures.gain > 20.0, "half of what a place is worth"
    after = chances_of(observation, adapted.policy())
    assert after[0][0].tile >> 2 == parse_hand("7z")[0] >> 2
    assert chances_of(observation, policy) == before
