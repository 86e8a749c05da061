"""What the rounds of a game are worth."""

from __future__ import annotations

import numpy as np
import pytest

from learning.selfplay.rl.learner import rewards_of
from policies.checkpoint.store import load_predictor
from policies.play.included import PHOENIX
from policies.play.rollout import Rollout, Seating
from policies.policy_gradient.trajectories import DECISION, Recorder, Trajectory
from policies.reward.encoding import ROUND_START, final_rewards, together
from policies.reward.predictor import Predictor, predict
from tests.policies.fakes import Undecided


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return load_predictor(PHOENIX)


@pytest.fixture(scope="module")
def games() -> list[Trajectory]:
    recorder = Recorder(Undecided())
    run = Rollout([recorder])
    return [recorder.take(game) for game in run.play(Seating(n, n, (0, 0, 0, 0)) for n in range(3))]


def test_the_rewards_of_a_game_add_up_to_its_own_less_the_first_expectation(
    games: list[Trajectory], predictor: Predictor
) -> None:
    rewards = rewards_of(games, "global", predictor, "hanchan")
    for game, rows in zip(games, rewards, strict=True):
        assert rows.shape == (len(game.starts), 4)
        first = predict(predictor, together([(game.starts, "hanchan")]))[0, 0]
        final = final_rewards(game.scores, predictor.uma)
        assert rows.sum(axis=0) == pytest.approx(final - first)
        assert rows.sum(axis=1) == pytest.approx(0.0, abs=1e-6)


def test_points_are_counted_in_thousands(games: list[Trajectory], predictor: Predictor) -> None:
    for game, rows in zip(games, rewards_of(games, "points", predictor, "hanchan"), strict=True):
        assert 1_000 * rows.sum(axis=0) == pytest.approx(game.scores - 25_000)


def ended(before: tuple[int, ...], after: tuple[int, ...]) -> Trajectory:
    """A game of which only the last round was seen: South 4."""
    return Trajectory(
        number=0,
        starts=np.array([(7, 0, 0, before)], ROUND_START),
        scores=np.array(after, np.int32),
        decisions=np.empty(0, DECISION),
        walls=np.empty((1, 136), np.int16),
    )


def test_a_leader_who_gives_up_a_small_round_to_end_the_game_is_rewarded(predictor: Predictor) -> None:
    """Player 0 leads narrowly, and pays 1,300 to the last, which ends the game before anyone passes."""
    game = ended((34_000, 30_000, 26_000, 10_000), (32_700, 30_000, 26_000, 11_300))
    (points,) = rewards_of([game], "points", predictor, "hanchan")
    (rewards,) = rewards_of([game], "global", predictor, "hanchan")
    assert points[0, 0] < 0 < points[0, 3]
    assert rewards[0, 0] > 10
