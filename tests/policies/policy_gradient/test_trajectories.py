"""Trajectories of games that are played to learn from."""

from __future__ import annotations

import numpy as np
import pytest

from game.events import Discard, StartRound
from game.layout import PHASE_CALLED, PHASE_TURN
from game.table.walls import round_wall
from policies.features.draw import kinds_of
from policies.flow.slots import Policy
from policies.play.inference import chances, load_policy
from policies.play.named import RandomPolicy
from policies.play.rollout import FinishedGame, PolicyChooser, Rollout, Seating
from policies.policy_gradient.trajectories import Recorder, Trajectory
from policies.reward.encoding import round_starts
from tests.policies.fakes import Undecided
from tests.policies.models import a_model, a_policy
from tests.scale import scaled


def played(
    policy: Policy | None = None,
    games: int = 2,
    players: tuple[int, int, int, int] = (0, 0, 0, 0),
    *,
    thinned: bool = False,
) -> list[tuple[FinishedGame, Trajectory]]:
    recorder = Recorder(policy or Undecided(), thinned=thinned)
    run = Rollout([recorder, PolicyChooser(RandomPolicy())], length="tonpuu")
    return [
        (game, recorder.take(game)) for game in run.play(Seating(n, 70 + n, players) for n in range(games))
    ]


def test_rounds_scores_and_walls_are_those_of_the_game() -> None:
    for game, found in played():
        ending = game.events[-1]
        assert found.scores.tolist() == list(ending.scores)
        assert found.starts.tobytes() == round_starts(game.events).tobytes()
        assert len(found.points) == sum(isinstance(event, StartRound) for event in game.events)
        assert (found.starts["scores"][0] + found.points.sum(axis=0) == found.scores).all()
        assert [wall.tolist() for wall in found.walls] == [
            round_wall(game.seating.seed, number) for number in range(len(found.walls))
        ]


def test_every_drawn_discard_is_remembered_with_its_state_and_probability() -> None:
    model = a_model()
    for game, found in played(a_policy(), games=1):
        decisions = found.decisions
        assert len(decisions) > 50
        assert (decisions["weight"] == 1.0).all()
        assert np.isin(decisions["state"]["phase"], (PHASE_TURN, PHASE_CALLED)).all()
        assert (decisions["state"]["turn"] == decisions["player"]).all()
        assert decisions["state"]["hand_known"].all()
        legal = kinds_of(decisions["legal"])
        assert legal[np.arange(len(legal)), decisions["kind"]].all()
        assert (legal.sum(axis=1) > 1).all()
        logits = model.logits(decisions["state"], decisions["player"], None, "tonpuu")
        expected = chances(logits, legal)[np.arange(len(legal)), decisions["kind"]]
        assert decisions["probability"] == pytest.approx(expected, abs=1e-6)
        discards = [event for event in game.events if isinstance(event, Discard)]
        assert len(decisions) <= len(discards)


def test_thinned_decisions_stand_for_those_left_out() -> None:
    policy = load_policy()
    games = scaled(1, 4)
    whole = [found for _, found in played(policy, games=games)]
    thinned = [found for _, found in played(policy, games=games, thinned=True)]
    assert [found.scores.tolist() for found in whole] == [found.scores.tolist() for found in thinned]
    drawn = sum(len(found.decisions) for found in whole)
    weights = np.concatenate([found.decisions["weight"] for found in thinned])
    assert len(weights) < 0.6 * drawn
    # the weights estimate the number of decisions; the variance of each kept one is w² (1 - 1 / w)
    assert abs(weights.sum() - drawn) < 4 * np.sqrt((weights**2 * (1 - 1 / weights)).sum())


def test_only_the_recorded_seat_is_remembered() -> None:
    for _, found in played(players=(1, 1, 0, 1)):
        assert set(found.decisions["player"].tolist()) == {2}


def test_a_round_belongs_to_its_place_in_the_game() -> None:
    ((_, found), *_) = played()
    numbers = found.decisions["round"]
    assert (np.diff(numbers) >= 0).all()
    starts = found.starts[numbers]
    assert (starts["round_index"] == found.decisions["state"]["round_index"]).all()
    assert (starts["honba"] == found.decisions["state"]["honba"]).all()


def test_a_game_is_forgotten_once_taken() -> None:
    recorder = Recorder(Undecided())
    run = Rollout([recorder], length="tonpuu")
    games = run.play([Seating(0, 1, (0, 0, 0, 0))])
    game = next(games)
    assert len(recorder.take(game).decisions)
    assert not len(recorder.take(game).decisions)
