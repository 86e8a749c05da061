"""What is remembered of games that are played to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from game.events import Discard, EndGame, StartRound
from game.layout import PHASE_CALLED, PHASE_TURN
from game.walls import round_wall
from policies.features.kinds import kinds_of
from policies.features.table import LITE
from policies.inference import Model, NetworkPolicy, load_policy
from policies.probabilities import chances
from policies.random_play import RandomPolicy
from policies.reward import round_starts
from policies.rollout import FinishedGame, PolicyChooser, Rollout, Seating
from policies.slots import Policy, Slot
from policies.trajectories import ANSWERING, OPTIONS, Recorder, Trajectory
from tests.policies.fakes import Undecided
from tests.policies.models import a_network, a_policy


def played(
    policy: Policy | None = None,
    thinning: float = 0.0,
    games: int = 2,
    players: tuple[int, int, int, int] = (0, 0, 0, 0),
    slots: Sequence[Slot] = (Slot.DISCARD,),
    temperature: float = 1.0,
    min_p: float = 0.0,
    explore: float = 1.0,
    clear: float = 0.0,
) -> list[tuple[FinishedGame, Trajectory]]:
    recorder = Recorder(
        policy or Undecided(),
        thinning=thinning,
        slots=slots,
        temperature=temperature,
        min_p=min_p,
        explore=explore,
        clear=clear,
    )
    run = Rollout([recorder, PolicyChooser(RandomPolicy())], length="tonpuu")
    return [
        (game, recorder.take(game)) for game in run.play(Seating(n, 70 + n, players) for n in range(games))
    ]


def test_rounds_scores_and_walls_are_those_of_the_game() -> None:
    for game, found in played():
        ending = game.events[-1]
        assert isinstance(ending, EndGame)
        assert found.scores.tolist() == list(ending.scores)
        assert found.starts.tobytes() == round_starts(game.events).tobytes()
        assert len(found.points) == sum(isinstance(event, StartRound) for event in game.events)
        assert (found.starts["scores"][0] + found.points.sum(axis=0) == found.scores).all()
        assert [wall.tolist() for wall in found.walls] == [
            round_wall(game.seating.seed, number) for number in range(len(found.walls))
        ]


def test_every_drawn_discard_is_remembered_with_its_state_and_probability() -> None:
    model = Model(a_network(), LITE)
    for game, found in played(a_policy(), games=1):
        decisions = found.decisions
        assert len(decisions) == found.drawn > 50
        assert (decisions["weight"] == 1.0).all()
        assert np.isin(decisions["state"]["phase"], (PHASE_TURN, PHASE_CALLED)).all()
        assert (decisions["state"]["turn"] == decisions["player"]).all()
        assert decisions["state"]["hand_known"].all()
        legal = kinds_of(decisions["legal"])
        assert legal[np.arange(len(legal)), decisions["kind"]].all()
        assert (legal.sum(axis=1) > 1).all()
        logits = model.look(decisions["state"], decisions["player"], None, "tonpuu")
        expected = chances(logits, legal)[np.arange(len(legal)), decisions["kind"]]
        assert decisions["probability"] == pytest.approx(expected, abs=1e-6)
        discards = [event for event in game.events if isinstance(event, Discard)]
        assert len(decisions) <= len(discards)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_every_drawn_answer_is_remembered_with_its_calls_and_its_probability(temperature: float) -> None:
    """A claim of chi and pon has two rows, and for each the other is part of none of its own."""
    policy = load_policy()
    rows = [found.answers for _, found in played(policy, slots=tuple(Slot), temperature=temperature, games=3)]
    answers = np.concatenate(rows)
    assert set(answers["slot"].tolist()) == set(range(len(ANSWERING)))
    scores = [scores_in(policy, row) / temperature for row in answers]
    for row, own in zip(answers, scores, strict=True):
        others = np.exp(row["others"] / temperature)
        total = np.exp(own).sum() + others
        taken = others if row["chosen"] < 0 else np.exp(own[row["chosen"]])
        assert row["probability"] == pytest.approx(taken / total, rel=1e-4)
    claims = {Slot.CHI, Slot.PON, Slot.KAN}
    moments = [
        (row["player"], *(row["state"][name] for name in ("round_index", "honba", "discard_count", "turn")))
        for row in answers
    ]
    alone = 0
    for place, row in enumerate(answers):
        near = set(range(max(0, place - 2), min(len(answers), place + 3))) - {place}
        same = [other for other in near if moments[other] == moments[place]]
        asked = {ANSWERING[answers[each]["slot"]] for each in (place, *same)}
        if not same or not asked <= claims:
            alone += 1
            assert row["others"] == pytest.approx(0.0, abs=1e-6)
            continue
        pass_and_others = 1.0 + sum(np.exp(scores[other]).sum() for other in same)
        assert row["others"] == pytest.approx(temperature * np.log(pass_and_others), rel=1e-3, abs=1e-6)
        assert sum(int(answers[each]["chosen"]) >= 0 for each in (place, *same)) <= 1
    assert 0 < alone < len(answers)
    yes = answers["chosen"] >= 0
    assert 0 < yes.sum() < len(answers)


def test_only_close_decisions_are_drawn_and_remembered_with_min_p() -> None:
    policy, least = load_policy(), 0.3
    rows = [found for _, found in played(policy, slots=tuple(Slot), min_p=least, games=3)]
    decisions = np.concatenate([found.decisions for found in rows])
    logits = policy.model(Slot.DISCARD).look(decisions["state"], decisions["player"], None, "tonpuu")
    drawn = kinds_of(decisions["drawn"])
    assert (drawn <= kinds_of(decisions["legal"])).all()
    each = chances(logits, drawn)
    assert len(decisions) > 30
    assert (np.where(drawn, each, np.inf).min(axis=1) >= 0.99 * least * each.max(axis=1)).all()
    assert decisions["probability"] == pytest.approx(each[np.arange(len(each)), decisions["kind"]], rel=1e-4)
    answers = np.concatenate([found.answers for found in rows])
    assert {ANSWERING[number] for number in answers["slot"]} >= {Slot.RIICHI, Slot.CHI, Slot.PON}
    for row in answers[answers["others"] == 0.0]:
        odds = np.append(np.exp(scores_in(policy, row)), 1.0)
        among, likely = drawn_from(row), odds >= least * odds.max()
        assert (among[:-1] == likely[:-1]).all()
        assert among[-1] and among.sum() > 1
        assert row["probability"] == pytest.approx(odds[row["chosen"]] / odds[among].sum(), rel=1e-4)


def drawn_from(row: np.void) -> np.ndarray:
    """``[K + 1]`` bool: the options of an answer that were drawn from, none of them last."""
    places = [*range(row["options"]), OPTIONS]
    return np.array([row["drawn"] >> place & 1 for place in places], bool)


def test_clear_answers_are_kept_if_asked_for() -> None:
    policy, least = load_policy(), 0.3
    settings = {"min_p": least, "games": 3, "slots": tuple(Slot)}
    close = np.concatenate([found.answers for _, found in played(policy, **settings)])
    whole = np.concatenate([found.answers for _, found in played(policy, **settings, clear=1.0)])
    among = [drawn_from(row) for row in whole]
    clear = np.array([mask.sum() == 1 for mask in among])
    assert np.array_equal(whole[~clear], close)
    said = set()
    for row, mask in zip(whole[clear], (among[place] for place in np.nonzero(clear)[0]), strict=True):
        assert row["probability"] == 1.0
        assert row["chosen"] == (-1 if mask[-1] else mask.argmax())
        scores = scores_in(policy, row)
        # what the others said may be likelier; if it is not, none of them is
        if mask[-1]:
            assert scores.max() < row["others"] - np.log(least) or row["others"] > 0.0
        else:
            assert scores.argmax() == row["chosen"]
            assert scores.max() > row["others"]
        said.add((ANSWERING[row["slot"]], bool(mask[-1])))
    assert said >= {(Slot.CHI, True), (Slot.PON, True), (Slot.RIICHI, True), (Slot.RIICHI, False)}


def test_clear_discards_are_kept_if_asked_for() -> None:
    """The same draws as without them; the clear discards are the likeliest ones, and have one kind drawn."""
    policy, least = load_policy(), 0.3
    ((_, close),) = played(policy, min_p=least, games=1)
    ((_, whole),) = played(policy, min_p=least, games=1, clear=1.0)
    clear = kinds_of(whole.decisions["drawn"]).sum(axis=1) == 1
    assert np.array_equal(whole.decisions[~clear], close.decisions)
    assert whole.drawn == close.drawn == len(close.decisions)
    found = whole.decisions[clear]
    assert len(found) > 10
    assert (found["probability"] == 1.0).all()
    logits = policy.model(Slot.DISCARD).look(found["state"], found["player"], None, "tonpuu")
    assert (np.where(kinds_of(found["legal"]), logits, -np.inf).argmax(axis=1) == found["kind"]).all()
    ((_, some),) = played(policy, min_p=least, games=1, clear=0.25)
    kept = len(some.decisions) - len(close.decisions)
    assert 0 < kept < 0.6 * len(found)
    assert some.decisions["weight"].max() == 4.0


def test_only_a_share_of_the_decisions_is_drawn_if_asked_for() -> None:
    """In the others the likeliest option is taken, and nothing is remembered of them."""
    policy, kept = load_policy(), 0.25
    settings = {"games": 3, "slots": tuple(Slot), "temperature": 2.0, "min_p": 0.2}
    drawn = sum(found.drawn for _, found in played(policy, **settings))
    rows = [found for _, found in played(policy, **settings, explore=kept)]
    assert abs(sum(found.drawn for found in rows) / drawn - kept) < 0.08
    decisions = np.concatenate([found.decisions for found in rows])
    assert (kinds_of(decisions["drawn"]).sum(axis=1) > 1).all()
    assert (decisions["weight"] == 1.0).all()
    logits = policy.model(Slot.DISCARD).look(decisions["state"], decisions["player"], None, "tonpuu")
    likeliest = np.where(kinds_of(decisions["drawn"]), logits, -np.inf).argmax(axis=1)
    assert 0.2 < (likeliest != decisions["kind"]).mean() < 0.7
    # nothing drawn: the game is that of the likeliest options
    barely = {game.seating.number: game.events for game, _ in played(policy, **settings, explore=1e-9)}
    plain = Rollout([PolicyChooser(policy)], length="tonpuu")
    seatings = (Seating(n, 70 + n, (0, 0, 0, 0)) for n in range(3))
    assert {game.seating.number: game.events for game in plain.play(seatings)} == barely


def scores_in(policy: NetworkPolicy, row: np.void) -> np.ndarray:
    """``yes - no`` of each option of an answer, by the model that was asked."""
    model = policy.model(ANSWERING[row["slot"]])
    count = int(row["options"])
    calls = row["calls"][:count] if model.of_calls else None
    states, players = np.repeat(row["state"][None], count), np.full(count, row["player"])
    logits = model.look(states, players, calls, "tonpuu")
    scores: np.ndarray = logits[:, 1] - logits[:, 0]
    return scores


def test_what_is_not_drawn_from_is_not_remembered() -> None:
    ((_, found),) = played(games=1, slots=(Slot.DISCARD, Slot.PON))
    assert {ANSWERING[number] for number in found.answers["slot"]} == {Slot.PON}
    assert len(found.of(Slot.PON)) == len(found.answers)
    assert not len(found.of(Slot.CHI))
    ((_, alone),) = played(games=1)
    assert not len(alone.answers)


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


def test_thinned_decisions_stand_for_those_left_out() -> None:
    whole = [found for _, found in played(games=6)]
    thinned = [found for _, found in played(thinning=0.4, games=6)]
    assert [found.scores.tolist() for found in whole] == [found.scores.tolist() for found in thinned]
    drawn = sum(found.drawn for found in whole)
    assert drawn == sum(found.drawn for found in thinned)
    weights = np.concatenate([found.decisions["weight"] for found in thinned])
    assert len(weights) < 0.6 * drawn
    # the weights estimate the number of decisions; the variance of each kept one is w² (1 - 1 / w)
    assert abs(weights.sum() - drawn) < 4 * np.sqrt((weights**2 * (1 - 1 / weights)).sum())


def test_a_game_is_forgotten_once_taken() -> None:
    recorder = Recorder(Undecided())
    run = Rollout([recorder], length="tonpuu")
    games = run.play([Seating(0, 1, (0, 0, 0, 0))])
    game = next(games)
    assert len(recorder.take(game).decisions)
    assert not len(recorder.take(game).decisions)
