"""What the rounds of a game are worth."""

from __future__ import annotations

import numpy as np
import pytest

from learning.reinforcement.actors import seating
from learning.reinforcement.rewards import less_wall_luck, rewards_of
from policies.checkpoint import load, network_of
from policies.included import PHOENIX
from policies.reward import ROUND_START, PredictorNetwork, final_rewards, predict, together
from policies.rollout import Rollout, Seating
from policies.trajectories import ANSWER, DECISION, Recorder, Trajectory
from tests.learning.reinforcement.setting import short_plan
from tests.policies.fakes import Undecided


@pytest.fixture(scope="module")
def predictor() -> PredictorNetwork:
    network = network_of(load(PHOENIX, "reward"))
    assert isinstance(network, PredictorNetwork)
    return network


@pytest.fixture(scope="module")
def games() -> list[Trajectory]:
    recorder = Recorder(Undecided())
    run = Rollout([recorder])
    return [recorder.take(game) for game in run.play(Seating(n, n, (0, 0, 0, 0)) for n in range(3))]


def test_the_rewards_of_a_game_add_up_to_its_own_less_the_first_expectation(
    games: list[Trajectory], predictor: PredictorNetwork
) -> None:
    rewards = rewards_of(games, "global", predictor, "hanchan")
    for game, rows in zip(games, rewards, strict=True):
        assert rows.shape == (len(game.starts), 4)
        first = predict(predictor, together([(game.starts, "hanchan")]))[0, 0]
        final = final_rewards(game.scores, predictor.architecture.rewards)
        assert rows.sum(axis=0) == pytest.approx(final - first)
        assert rows.sum(axis=1) == pytest.approx(0.0, abs=1e-6)


def test_points_are_counted_in_thousands(games: list[Trajectory], predictor: PredictorNetwork) -> None:
    for game, rows in zip(games, rewards_of(games, "points", predictor, "hanchan"), strict=True):
        assert 1_000 * rows.sum(axis=0) == pytest.approx(game.scores - 25_000)


def ended(before: tuple[int, ...], after: tuple[int, ...]) -> Trajectory:
    """A game of which only the last round was seen: South 4."""
    return Trajectory(
        number=0,
        starts=np.array([(7, 0, 0, before)], ROUND_START),
        scores=np.array(after, np.int32),
        decisions=np.empty(0, DECISION),
        answers=np.empty(0, ANSWER),
        walls=np.empty((1, 136), np.int16),
        drawn=0,
    )


def test_a_leader_who_gives_up_a_small_round_to_end_the_game_is_rewarded(predictor: PredictorNetwork) -> None:
    """Player 0 leads narrowly, and pays 1,300 to the last, which ends the game before anyone passes."""
    game = ended((34_000, 30_000, 26_000, 10_000), (32_700, 30_000, 26_000, 11_300))
    (points,) = rewards_of([game], "points", predictor, "hanchan")
    (rewards,) = rewards_of([game], "global", predictor, "hanchan")
    assert points[0, 0] < 0 < points[0, 3]
    assert rewards[0, 0] > 10


def over_the_same_walls(
    count: int, replays: int, luck: float
) -> tuple[list[Trajectory], list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]]:
    """Games of two rounds whose rewards are those of the place at the wall, times ``luck``, and noise."""
    dice = np.random.default_rng(0)
    starts = [(0, 0, 0, (25_000,) * 4), (1, 0, 0, (25_000,) * 4)]
    games, rewards = [], []
    for number in range(count):
        if number % replays == 0:
            dealt = luck * dice.normal(size=(2, 4))
        places = np.array([[(player - index) % 4 for player in range(4)] for index in range(2)])
        games.append(
            Trajectory(
                number=number,
                starts=np.array(starts, ROUND_START),
                scores=np.full(4, 25_000, np.int32),
                decisions=np.empty(0, DECISION),
                answers=np.empty(0, ANSWER),
                walls=np.empty((2, 136), np.int16),
                drawn=0,
            )
        )
        rewards.append(np.take_along_axis(dealt, places, axis=1) + dice.normal(size=(2, 4)))
    return games, rewards


def test_what_others_made_of_the_same_walls_takes_luck_out_of_rewards() -> None:
    games, rewards = over_the_same_walls(800, 8, luck=1.0)
    less, explained = less_wall_luck(games, rewards, 8)
    before, after = np.concatenate(rewards).var(), np.concatenate(less).var()
    # half the variance is luck: ρ = 0.5 and seven others, so ρ² · 7 / (1 + 6 ρ) is taken out
    assert explained == pytest.approx(1.0 - after / before) == pytest.approx(0.4375, abs=0.03)


def test_a_reward_does_not_change_its_own_baseline() -> None:
    games, rewards = over_the_same_walls(16, 8, luck=1.0)
    less, _ = less_wall_luck(games, rewards, 8)
    rewards[3] = rewards[3] + np.array([[1e-3, 0.0, 0.0, 0.0], [0.0] * 4])
    moved, _ = less_wall_luck(games, rewards, 8)
    # the shrinking depends on all rewards, and so on this one by a little
    assert (moved[3] - less[3])[0, 0] == pytest.approx(1e-3, rel=0.05)


def test_without_luck_or_other_games_rewards_stay_as_they_are() -> None:
    games, rewards = over_the_same_walls(800, 8, luck=0.0)
    _, explained = less_wall_luck(games, rewards, 8)
    assert explained == pytest.approx(0.0, abs=0.01)
    alone, nothing = less_wall_luck(games, rewards, 1)
    assert nothing == 0.0
    assert all(np.array_equal(*pair) for pair in zip(alone, rewards, strict=True))


def test_replays_share_walls_but_not_draws() -> None:
    plan = short_plan(games=8, block_games=4, replays=4)
    first, second, fifth = (seating(plan, number) for number in (0, 1, 4))
    assert first.seed == second.seed != fifth.seed
    assert first.number != second.number
