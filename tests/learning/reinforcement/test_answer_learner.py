"""Models that answer yes or no learn from blocks as the discard model does."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import torch

from game.errors import ConfigError
from learning.reinforcement.actors import model_with
from learning.reinforcement.answer_learner import AnswerLearner
from learning.reinforcement.beginning import load_starting
from learning.reinforcement.lessons import PlayLesson
from learning.reinforcement.plan import ReinforcementPlan, make_reinforcement_plan
from policies.checkpoint import Card, save
from policies.included import PHOENIX
from policies.inference import load_policy
from policies.rollout import Rollout, Seating
from policies.slots import Slot
from policies.trajectories import ANSWERING, Recorder, Trajectory
from tests.learning.reinforcement.setting import short_plan
from tests.policies.models import a_network, features_of

pytestmark = pytest.mark.usefixtures("one_thread")


@functools.cache
def games(temperature: float, min_p: float = 0.0) -> list[Trajectory]:
    """Games in which all five included models are drawn from; clear answers are kept."""
    recorder = Recorder(
        load_policy(PHOENIX), slots=tuple(Slot), temperature=temperature, min_p=min_p, clear=1.0
    )
    finished = Rollout([recorder], length="tonpuu").play(Seating(n, n, (0, 0, 0, 0)) for n in range(3))
    return [recorder.take(game) for game in finished]


def answers(slot: Slot, temperature: float = 1.0, min_p: float = 0.0) -> np.ndarray:
    return np.concatenate([game.of(slot) for game in games(temperature, min_p)])


def a_learner(slot: Slot, plan: ReinforcementPlan, start: Path = PHOENIX) -> AnswerLearner:
    begun = load_starting(start, slot)
    return AnswerLearner(slot, plan, begun.network, begun.card, threads=1)


def lesson(found: np.ndarray, rewards: np.ndarray | None = None) -> PlayLesson:
    """These answers, each in a round of its own, of four players' games."""
    size = len(found)
    worth = np.zeros(size, np.float32) if rewards is None else rewards
    return PlayLesson(found, worth, np.zeros((size, 136), np.int16), np.arange(size), worth, 4)


@pytest.mark.parametrize("slot", ANSWERING)
@pytest.mark.parametrize(("temperature", "min_p"), [(1.0, 0.0), (0.5, 0.0), (2.0, 0.02)])
def test_on_policy_all_ratios_are_1(slot: Slot, temperature: float, min_p: float) -> None:
    """The learner's arithmetic gives the probabilities that the actors' did, with all that others said."""
    found = answers(slot, temperature, min_p)
    assert len(found) > 1
    assert (found["others"] > 0.0).any() == (slot is not Slot.RIICHI)
    learner = a_learner(slot, short_plan(steps=1, temperature=temperature))
    seen = learner.learn(lesson(found), np.ones(len(found), np.float32), 0)
    learner.close()
    assert seen["ratio_deviation"] < 1e-4
    assert seen["rejected"] == 0.0
    assert seen["decisions"] == len(found)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_calls_that_were_rewarded_become_likelier(sign: float) -> None:
    found = answers(Slot.CHI)
    called = found["chosen"] >= 0
    assert 5 < called.sum() < len(called) - 5
    plan = short_plan(learning_rate=3e-3, entropy=0.5, warm_up=1)
    learner = a_learner(Slot.CHI, plan)
    advantages = np.where(called, sign, -sign).astype(np.float32)
    before = score_of_calls(learner, found)
    for block in range(6):
        learner.learn(lesson(found), advantages, block)
    after = score_of_calls(learner, found)
    learner.close()
    assert sign * (after - before) > 0.2


def score_of_calls(learner: AnswerLearner, found: np.ndarray) -> float:
    """Mean of ``yes - no`` of the first call of each decision, by the weights of the last step."""
    model = model_with(load_starting(PHOENIX, Slot.CHI), learner.acting(), learner.plan, 0.0)
    logits = model.look(found["state"], found["player"], found["calls"][:, 0], "tonpuu")
    return float((logits[:, 1] - logits[:, 0]).mean())


@pytest.mark.parametrize("hold", [0.0, 3.0])
def test_clear_answers_stay_as_they_are_if_they_are_held(hold: float) -> None:
    """Close calls are rewarded, which makes the clear ones likelier too: the weights are shared."""
    found = answers(Slot.CHI, min_p=0.2)
    clear = is_clear(found)
    assert 20 < clear.sum() < len(found) - 20
    called = found["chosen"] >= 0
    advantages = np.where(clear, 0.0, np.where(called, 1.0, -1.0)).astype(np.float32)
    plan = short_plan(learning_rate=1e-3, warm_up=1, min_p=0.2, hold=hold, entropy=0.5, entropy_step=0.0)
    learner = a_learner(Slot.CHI, plan)
    before = [score_of_calls(learner, found[some]) for some in (clear, ~clear)]
    for block in range(6):
        learner.learn(lesson(found), advantages, block)
    moved, learned = (
        score_of_calls(learner, found[some]) - old for some, old in zip((clear, ~clear), before, strict=True)
    )
    learner.close()
    assert learned > 0.2
    assert (moved < 0.1) == (hold > 0.0), (moved, learned)


def is_clear(found: np.ndarray) -> np.ndarray:
    drawn: np.ndarray = found["drawn"]
    return drawn & (drawn - 1) == 0


def test_what_was_gained_over_the_start_is_told() -> None:
    """All chi was rewarded, and the policy that drew called more often than that of the start."""
    found = answers(Slot.CHI)
    called = found["chosen"] >= 0
    learner = a_learner(Slot.CHI, short_plan(anchor=0.001))
    rewards = np.where(called, 10.0, 0.0).astype(np.float32)
    first = learner.learn(lesson(found, rewards), np.zeros(len(found), np.float32), 0)
    assert abs(first["gain"]) < 0.01
    more = found.copy()
    more["probability"] = np.where(called, 1.5 * found["probability"], found["probability"])
    second = learner.learn(lesson(more, rewards), np.zeros(len(found), np.float32), 1)
    learner.close()
    share = called.mean()
    expected = 10.0 * (1 - share) * (1 - 1 / 1.5) * called.sum() / 4
    assert second["gain"] == pytest.approx(expected, rel=0.01)
    assert second["gain_error"] > 0.0


def test_learning_resumes_with_the_same_numbers() -> None:
    found = answers(Slot.PON)
    advantages = np.random.default_rng(0).normal(size=len(found)).astype(np.float32)
    whole, stopped, resumed = (a_learner(Slot.PON, short_plan(anchor=0.1)) for _ in range(3))
    for block in range(2):
        whole.learn(lesson(found), advantages, block)
    stopped.learn(lesson(found), advantages, 0)
    resumed.restore(stopped.state())
    assert resumed.learn(lesson(found), advantages, 1).keys() >= {"alpha", "entropy", "divergence"}
    theirs = resumed.acting()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in whole.acting().items())
    for learner in (whole, stopped, resumed):
        learner.close()


def test_a_block_in_which_it_was_not_asked_teaches_it_nothing() -> None:
    learner = a_learner(Slot.KAN, short_plan())
    before = {name: tensor.clone() for name, tensor in learner.acting().items()}
    nothing = answers(Slot.KAN)[:0]
    assert learner.learn(lesson(nothing), np.zeros(0, np.float32), 0) == {}
    assert all(torch.equal(tensor, before[name]) for name, tensor in learner.acting().items())
    learner.close()


def test_a_model_that_does_not_answer_yes_or_no_is_refused(tmp_path: Path) -> None:
    network = a_network(Slot.CHI, tower="hosei")
    card = Card(model="chi", architecture=network.architecture, features=features_of(Slot.CHI, "hosei"))
    save(tmp_path, card, network.state_dict())
    with pytest.raises(ConfigError, match="the chi model of the start cannot learn"):
        a_learner(Slot.CHI, short_plan(also=("chi",)), tmp_path)


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="also: no 'reward'; there are riichi, chi, pon, kan"):
        make_reinforcement_plan(also=("chi", "reward"))
    assert make_reinforcement_plan(also=("kan", "riichi")).slots == (Slot.DISCARD, Slot.RIICHI, Slot.KAN)
