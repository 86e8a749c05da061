"""Learning from blocks: towards what was rewarded, from the right decisions, with the right ratios."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from learning.selfplay.rl.learner import BlockSamples, PolicyLearner, samples_of
from learning.selfplay.rl.plan import ReinforcementPlan
from policies.checkpoint.store import load
from policies.features.draw import kinds_of
from policies.features.table import LITE
from policies.nets.architectures import Weights
from policies.nets.shapes import shapes_of
from policies.play.inference import Model, chances, load_policy
from policies.play.rollout import Rollout, Seating
from policies.policy_gradient.trajectories import Recorder, Trajectory
from tests.learning.selfplay.rl.setting import short_plan
from tests.policies.models import weights_of


@pytest.fixture(scope="module")
def played(start: Path) -> list[Trajectory]:
    return play(start)


def play(start: Path, temperature: float = 1.0) -> list[Trajectory]:
    recorder = Recorder(load_policy(start), temperature=temperature)
    games = Rollout([recorder], length="tonpuu").play([Seating(0, 0, (0, 0, 0, 0))])
    return [recorder.take(game) for game in games]


def a_learner(start: Path, plan: ReinforcementPlan) -> PolicyLearner:
    begin = load(start, "discard")
    return PolicyLearner(plan, begin.weights, begin.card, threads=1)


def probabilities(learner: PolicyLearner, samples: BlockSamples) -> np.ndarray:
    """``[N, 34]`` of the weights of the last step."""
    model = Model(weights_of(learner.policy.network), LITE)
    logits = model.logits(samples.decisions["state"], samples.decisions["player"], None, "tonpuu")
    return chances(logits, kinds_of(samples.decisions["legal"]))


def test_each_decision_has_the_reward_and_the_wall_of_its_round_and_player(played: list[Trajectory]) -> None:
    rewards = [np.arange(4.0 * len(game.starts)).reshape(-1, 4) for game in played]
    samples = samples_of(played, rewards)
    assert len(samples.rewards) == sum(len(game.decisions) for game in played)
    expected = 4 * samples.decisions["round"] + samples.decisions["player"]
    assert samples.rewards.tolist() == expected.tolist()
    first = played[0]
    assert np.array_equal(samples.walls[0], first.walls[first.decisions["round"][0]])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_was_rewarded_becomes_likelier(start: Path, played: list[Trajectory], sign: float) -> None:
    """Discards of honours are rewarded, or punished: they become likelier, or less likely."""
    samples = samples_of(played, [np.zeros((len(game.starts), 4)) for game in played])
    honour = samples.decisions["kind"] >= 27
    assert 20 < honour.sum() < len(honour) - 20
    samples = samples._replace(rewards=np.where(honour, sign, -sign).astype(np.float32))
    learner = a_learner(start, short_plan(baseline="none", learning_rate=6e-3, entropy=1.0, warm_up=1))
    before = probabilities(learner, samples)[:, 27:].sum(axis=1).mean()
    for block in range(3):
        learner.learn(samples, block)
    after = probabilities(learner, samples)[:, 27:].sum(axis=1).mean()
    learner.close()
    assert sign * (after - before) > 0.05


def test_a_guided_network_keeps_its_identities(start: Path) -> None:
    begin = load(start, "discard")
    shape = msgspec.structs.replace(begin.weights.architecture, identities=("7-dan", "LuckyJ"))
    added = np.ones(shapes_of(shape)["identities"], np.float32)
    weights = Weights(shape, {**begin.arrays, "identities": added})
    learner = PolicyLearner(short_plan(oracle_games=1), weights, begin.card, threads=1)
    learner.close()
    normal = learner.normal()
    assert normal.keys() == weights.arrays.keys()
    assert all(np.array_equal(array, weights.arrays[name]) for name, array in normal.items())


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_on_policy_all_ratios_are_1(start: Path, temperature: float) -> None:
    """The learner's arithmetic gives the probabilities that the actors' did."""
    played = play(start, temperature)
    samples = samples_of(played, [np.ones((len(game.starts), 4)) for game in played])
    learner = a_learner(start, short_plan(steps=1, temperature=temperature))
    seen = learner.learn(samples, 0)
    learner.close()
    assert seen["ratio_deviation"] < 1e-5
    assert seen["ratio_0.01"] == pytest.approx(1.0, abs=1e-5)
    assert seen["ratio_0.99"] == pytest.approx(1.0, abs=1e-5)
    assert seen["rejected"] == 0.0


def test_a_critic_learns_what_can_be_predicted(start: Path, played: list[Trajectory]) -> None:
    """Rewards that depend on the player's wind can be predicted; others cannot."""
    samples = samples_of(played, [np.zeros((len(game.starts), 4)) for game in played])
    dealer = samples.decisions["player"] == samples.decisions["state"]["dealer"]
    samples = samples._replace(rewards=np.where(dealer, 3.0, -1.0).astype(np.float32))
    learner = a_learner(start, short_plan(critic_width=8, critic_depth=2, critic_rate=2e-2, steps=8))
    explained = [learner.learn(samples, block)["explained"] for block in range(3)]
    learner.close()
    assert abs(explained[0]) < 0.3
    assert explained[-1] > 0.8
