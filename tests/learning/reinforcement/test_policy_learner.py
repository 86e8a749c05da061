"""Learning from blocks: towards what was rewarded, from the right decisions, with the right ratios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from game.errors import ConfigError
from learning.reinforcement.lessons import PlayLesson, lesson_of
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.policy_learner import PolicyLearner, traced
from policies.checkpoint import load, network_of
from policies.features.kinds import kinds_of
from policies.features.table import LITE
from policies.inference import Model, load_policy
from policies.networks import Network
from policies.probabilities import chances
from policies.rollout import Rollout, Seating
from policies.slots import Slot
from policies.trajectories import Recorder, Trajectory
from tests.learning.reinforcement.setting import save_start, short_plan

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def played(start: Path) -> list[Trajectory]:
    return play(start)


def play(start: Path, temperature: float = 1.0, min_p: float = 0.0) -> list[Trajectory]:
    recorder = Recorder(load_policy(start), temperature=temperature, min_p=min_p)
    games = Rollout([recorder], length="tonpuu").play(Seating(n, n, (0, 0, 0, 0)) for n in range(2))
    return [recorder.take(game) for game in games]


def a_learner(start: Path, plan: ReinforcementPlan) -> PolicyLearner:
    begin = load(start, "discard")
    network = network_of(begin)
    assert isinstance(network, Network)
    return PolicyLearner(plan, network, begin.card, threads=1)


def probabilities(learner: PolicyLearner, lesson: PlayLesson) -> np.ndarray:
    """``[N, 34]`` of the weights of the last step."""
    model = Model(learner.model.learner.network.eval(), LITE)
    logits = model.look(lesson.decisions["state"], lesson.decisions["player"], None, "tonpuu")
    return chances(logits, kinds_of(lesson.decisions["legal"]))


def test_each_decision_has_the_reward_and_the_wall_of_its_round_and_player(
    played: list[Trajectory],
) -> None:
    rewards = [np.arange(4.0 * len(game.starts)).reshape(-1, 4) for game in played]
    lesson = lesson_of(played, rewards)
    assert len(lesson.rewards) == sum(len(game.decisions) for game in played)
    expected = 4 * lesson.decisions["round"] + lesson.decisions["player"]
    assert lesson.rewards.tolist() == expected.tolist()
    first = played[0]
    assert np.array_equal(lesson.walls[0], first.walls[first.decisions["round"][0]])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_was_rewarded_becomes_likelier(start: Path, played: list[Trajectory], sign: float) -> None:
    """Discards of honours are rewarded, or punished: they become likelier, or less likely."""
    lesson = lesson_of(played, [np.zeros((len(game.starts), 4)) for game in played])
    honour = lesson.decisions["kind"] >= 27
    assert 20 < honour.sum() < len(honour) - 20
    lesson = lesson._replace(rewards=np.where(honour, sign, -sign).astype(np.float32))
    learner = a_learner(start, short_plan(baseline="none", learning_rate=3e-3, entropy=1.0, warm_up=1))
    before = probabilities(learner, lesson)[:, 27:].sum(axis=1).mean()
    for block in range(6):
        learner.learn(lesson, block)
    after = probabilities(learner, lesson)[:, 27:].sum(axis=1).mean()
    learner.close()
    assert sign * (after - before) > 0.05


@pytest.mark.parametrize(("temperature", "min_p"), [(1.0, 0.0), (0.5, 0.0), (2.0, 0.5)])
def test_on_policy_all_ratios_are_1(start: Path, temperature: float, min_p: float) -> None:
    """The learner's arithmetic gives the probabilities that the actors' did."""
    played = play(start, temperature, min_p)
    lesson = lesson_of(played, [np.ones((len(game.starts), 4)) for game in played])
    learner = a_learner(start, short_plan(steps=1, temperature=temperature))
    seen = learner.learn(lesson, 0)
    learner.close()
    assert seen["ratio_deviation"] < 1e-5
    assert seen["ratio_0.01"] == pytest.approx(1.0, abs=1e-5)
    assert seen["ratio_0.99"] == pytest.approx(1.0, abs=1e-5)
    assert seen["rejected"] == 0.0


def test_a_block_tells_what_was_gained_over_the_start(tmp_path: Path, start: Path) -> None:
    """Honours are rewarded: whoever draws them more often than the start would has gained."""
    other = save_start(tmp_path / "other", seed=1)
    played = play(other)
    lesson = lesson_of(played, [np.zeros((len(game.starts), 4)) for game in played])
    decisions = lesson.decisions
    honour = decisions["kind"] >= 27
    lesson = lesson._replace(rewards=np.where(honour, 3.0, -3.0).astype(np.float32))
    assert lesson.seats == 8  # four players in each of two games
    begun = load_policy(start).model(Slot.DISCARD)
    logits = begun.look(decisions["state"], decisions["player"], None, "tonpuu")
    theirs = chances(logits, kinds_of(decisions["legal"]))[np.arange(len(honour)), decisions["kind"]]
    share = 1.0 - np.minimum(theirs / decisions["probability"], 4.0)
    each = share * (lesson.rewards - lesson.rewards.mean())
    seen = {}
    for anchor in (0.0, 1e-6):
        learner = a_learner(start, short_plan(baseline="none", anchor=anchor))
        seen[anchor] = learner.learn(lesson, 0)
        learner.close()
    assert seen[0.0]["gain"] == 0.0  # the start is not asked where nothing is held near it
    assert seen[1e-6]["gain"] == pytest.approx(each.sum() / 8.0, rel=1e-3)
    assert seen[1e-6]["gain_error"] == pytest.approx(np.sqrt((each**2).sum()) / 8.0, rel=1e-3)


@pytest.mark.parametrize("held", ["anchor", "hold"])
def test_what_is_not_drawn_is_held(start: Path, held: str) -> None:
    """The noise of rewards moves tiles that were not drawn from, unless the policy is held near the start."""
    recorder = Recorder(load_policy(start), min_p=0.9, clear=1.0)
    games = Rollout([recorder], length="tonpuu").play(Seating(n, n, (0, 0, 0, 0)) for n in range(2))
    played = [recorder.take(game) for game in games]
    lesson = lesson_of(played, [np.random.default_rng(0).normal(size=(len(g.starts), 4)) for g in played])
    moved = []
    for weight in (0.0, 10.0):
        plan = short_plan(baseline="none", learning_rate=3e-3, warm_up=1, min_p=0.9, **{held: weight})
        learner = a_learner(start, plan)
        before = probabilities(learner, lesson)
        for block in range(4):
            learner.learn(lesson, block)
        moved.append(np.abs(probabilities(learner, lesson) - before).mean())
        learner.close()
    assert moved[1] < 0.5 * moved[0]


@pytest.mark.parametrize(("blocks", "begins"), [(0, ("head.",)), (1, ("head.", "tower.1."))])
def test_only_the_last_layers_learn_if_asked_to(
    start: Path, played: list[Trajectory], blocks: int, begins: tuple[str, ...]
) -> None:
    lesson = lesson_of(played, [np.random.default_rng(0).normal(size=(len(g.starts), 4)) for g in played])
    learner = a_learner(start, short_plan(last_blocks=blocks))
    before = {name: tensor.clone() for name, tensor in learner.acting().items()}
    gradients, _ = learner.gradients([lesson])
    learning = [
        each.numel()
        for name, each in learner.model.learner.network.named_parameters()
        if name.startswith(begins)
    ]
    assert gradients.shape == (1, sum(learning))
    learner.learn(lesson, 0)
    moved = {name for name, tensor in learner.acting().items() if not torch.equal(tensor, before[name])}
    learner.close()
    assert {begin for begin in begins for name in moved if name.startswith(begin)} == set(begins)
    assert all(name.startswith(begins) for name in moved)


def test_the_entropy_rises_along_its_gradient_as_fast_as_it_should(
    start: Path, played: list[Trajectory]
) -> None:
    lesson = lesson_of(played, [np.ones((len(game.starts), 4)) for game in played])
    learner = a_learner(start, short_plan(baseline="none"))
    direction = learner.entropy_gradient(lesson)
    other = torch.randn(len(direction), generator=torch.Generator().manual_seed(0))
    rises = [entropy_after(learner, lesson, each / each.norm()) for each in (direction, -direction, other)]
    learner.close()
    assert float(direction.norm()) == pytest.approx(1.0, abs=1e-5)
    assert rises[0] > 10.0 * abs(rises[2])
    assert rises[1] == pytest.approx(-rises[0], rel=0.2)


def entropy_after(learner: PolicyLearner, lesson: PlayLesson, direction: torch.Tensor) -> float:
    """By how much the mean entropy changes if the weights move a little."""

    def entropy() -> float:
        chance = probabilities(learner, lesson)
        each = -(chance * np.log(np.maximum(chance, 1e-12))).sum(axis=1)
        return float(np.average(each, weights=lesson.decisions["weight"]))

    before = entropy()
    weights = list(learner.model.learner.network.parameters())
    vector = torch.nn.utils.parameters_to_vector(weights).detach().clone()
    torch.nn.utils.vector_to_parameters(vector + 1e-2 * direction, weights)
    change = entropy() - before
    torch.nn.utils.vector_to_parameters(vector, weights)
    return change


def test_a_critic_learns_what_can_be_foreseen(start: Path, played: list[Trajectory]) -> None:
    """Rewards that depend on the player's wind can be foreseen; others cannot."""
    lesson = lesson_of(played, [np.zeros((len(game.starts), 4)) for game in played])
    dealer = lesson.decisions["player"] == lesson.decisions["state"]["dealer"]
    lesson = lesson._replace(rewards=np.where(dealer, 3.0, -1.0).astype(np.float32))
    learner = a_learner(start, short_plan(critic_width=8, critic_depth=2, critic_rate=1e-2, steps=8))
    explained = [learner.learn(lesson, block)["explained"] for block in range(12)]
    learner.close()
    assert abs(explained[0]) < 0.3
    assert explained[-1] > 0.8


def test_credit_follows_the_decisions_of_one_player_in_one_round(played: list[Trajectory]) -> None:
    """What one player does changes nothing for the others; the last decision gets what is left."""
    lesson = lesson_of(played, [np.ones((len(game.starts), 4)) for game in played])
    own = lesson.decisions["round"].astype(int) * 4 + lesson.decisions["player"]
    first = len(played[0].decisions)
    assert len(set(lesson.paths[:first].tolist()) & set(lesson.paths[first:].tolist())) == 0
    for path in np.unique(lesson.paths[:first]):
        assert len(set(own[:first][lesson.paths[:first] == path].tolist())) == 1
    expected = np.random.default_rng(0).normal(size=len(own)).astype(np.float32)
    rewards = lesson.rewards
    found = traced(rewards, expected, lesson.paths, 0.5)
    for path in np.unique(lesson.paths):
        rows = np.nonzero(lesson.paths == path)[0]
        ahead = np.append(expected[rows[1:]], rewards[rows[-1]]) - expected[rows]
        by_hand = [sum(0.5**n * step for n, step in enumerate(ahead[at:])) for at in range(len(rows))]
        assert found[rows] == pytest.approx(by_hand, abs=1e-5)
    assert traced(rewards, expected, lesson.paths, 1.0) == pytest.approx(rewards - expected)


def test_a_trace_changes_what_is_learned_and_needs_a_critic(start: Path, played: list[Trajectory]) -> None:
    dice = np.random.default_rng(0)
    lesson = lesson_of(played, [dice.normal(size=(len(game.starts), 4)) for game in played])
    weights = []
    for trace in (1.0, 0.5):
        learner = a_learner(start, short_plan(trace=trace))
        for block in range(2):
            learner.learn(lesson, block)
        weights.append(learner.acting())
        learner.close()
    assert any(not torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())
    with pytest.raises(ConfigError, match="trace: below 1 it needs a baseline"):
        short_plan(trace=0.5, baseline="none")
    with pytest.raises(ConfigError, match=r"trace: 1\.5 must be at least 0 and at most 1"):
        short_plan(trace=1.5)


def test_learning_resumes_with_the_same_numbers(start: Path, played: list[Trajectory]) -> None:
    rewards = np.random.default_rng(0)
    lesson = lesson_of(played, [rewards.normal(size=(len(game.starts), 4)) for game in played])
    whole, stopped, resumed = (a_learner(start, short_plan()) for _ in range(3))
    for block in range(2):
        whole.learn(lesson, block)
    stopped.learn(lesson, 0)
    resumed.restore(stopped.state())
    assert resumed.learn(lesson, 1).keys() >= {"alpha", "explained", "divergence"}
    theirs = resumed.acting()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in whole.acting().items())
    for learner in (whole, stopped, resumed):
        learner.close()


def with_afterstates(**settings: Any) -> ReinforcementPlan:
    return short_plan(credit="afterstates", anchor=0.01, warm_up=1, learning_rate=3e-3, **settings)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_critic_of_afterstates_finds_which_discards_were_rewarded(start: Path, sign: float) -> None:
    """And the policy follows it, in the second half; in the first, only the critic learns."""
    lesson = honours_rewarded(play(start, 2.0, 0.5), sign)
    learner = a_learner(
        start, with_afterstates(critic_games=40, min_p=0.5, temperature=2.0, critic_rate=1e-2)
    )
    assert learner.critic is None
    begin = probabilities(learner, lesson)
    for block in range(20):
        seen = learner.learn(lesson, block)
    assert np.array_equal(probabilities(learner, lesson), begin)
    assert seen["loss"] == 0.0
    assert seen["entropy"] > 0.0
    for block in range(20, 24):
        seen = learner.learn(lesson, block)
    after = probabilities(learner, lesson)
    learner.close()
    assert seen["explained"] > 0.3
    assert seen["divergence"] > 0.0
    assert sign * (after - begin)[:, 27:].sum(axis=1).mean() > 0.02


def honours_rewarded(played: list[Trajectory], sign: float) -> PlayLesson:
    """Decisions whose reward says whether an honour was discarded."""
    lesson = lesson_of(played, [np.zeros((len(game.starts), 4)) for game in played])
    rewards = np.where(lesson.decisions["kind"] >= 27, sign, -sign).astype(np.float32)
    return lesson._replace(rewards=rewards, points=4000.0 * rewards)


def test_afterstates_are_compared_within_their_decision(start: Path) -> None:
    lesson = honours_rewarded(play(start, 2.0, 0.5), 1.0)
    learner = a_learner(start, with_afterstates(min_p=0.5))
    assert learner.afterstates is not None
    values = learner.afterstates.compare(lesson)
    learner.close()
    drawn = kinds_of(lesson.decisions["drawn"])
    several = drawn.sum(1) > 1
    assert values.sum(1) == pytest.approx(0.0, abs=1e-5)
    assert (values[~drawn] == 0.0).all()
    assert (values[~several] == 0.0).all()
    assert (np.abs(values[several]).max(1) > 0.0).mean() > 0.9


def test_a_critic_of_afterstates_resumes_with_the_same_numbers(start: Path) -> None:
    lesson = honours_rewarded(play(start, 2.0, 0.5), 1.0)
    plan = with_afterstates(min_p=0.5, temperature=2.0, critic_games=2)
    whole, stopped, resumed = (a_learner(start, plan) for _ in range(3))
    for block in range(3):
        whole.learn(lesson, block)
    for block in range(2):
        stopped.learn(lesson, block)
    resumed.restore(stopped.state())
    resumed.learn(lesson, 2)
    theirs = resumed.acting()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in whole.acting().items())
    for learner in (whole, stopped, resumed):
        learner.close()


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"hold": 0.1}, "hold: needs min_p"),
        ({"credit": "afterstates"}, "anchor: must be above 0 with afterstates"),
        ({"credit": "afterstates", "anchor": 0.03, "trace": 0.5}, "trace: credits rewards"),
        ({"credit": "afterstates", "anchor": 0.03, "also": ("pon",)}, "also: only discards have afterstates"),
        ({"credit": "afterstates", "anchor": 0.03, "fade_games": 2}, "oracle_games, fade_games: a critic of"),
        ({"critic_games": 2}, "critic_games: only a critic of afterstates"),
    ],
)
def test_what_does_not_go_together_is_said(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        short_plan(**settings)
