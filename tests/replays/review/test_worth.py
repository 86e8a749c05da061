"""What options are worth in final reward: signs and sizes that are known without counting."""

from __future__ import annotations

import pytest

from game.actions import RIICHI
from game.events import EndGame
from game.scoring.settlement import final_results, final_scores
from policies.heuristic.outlook import danger_of, look
from policies.reward import round_starts
from replays.review.prospects import Prospects, RoundSituation
from replays.review.schema import ReviewDecision, ReviewOption
from replays.review.worth import Pricer, prices_of
from tests.policies.fakes import Scripted
from tests.replays.review.made import decided, followed, predictor, record_of, reviewed
from tests.scene import Scene

FAR = "147m258p369s1234z"


def prospects(scene: Scene) -> Prospects:
    return Prospects(predictor(), round_starts(scene.events), "hanchan")


def option(decision: ReviewDecision, tile: str) -> ReviewOption:
    return next(each for each in decision.options if each.action.tile == tile)


def test_points_won_are_worth_more_than_points_lost() -> None:
    asked = prospects(Scene())
    standing = RoundSituation(0, 0, 0, 0, (25000,) * 4)
    won = asked.after(standing, (8000, -8000, 0, 0), 0)
    lost = asked.after(standing, (-8000, 8000, 0, 0), 1)
    asked.answer()
    first, second = asked.reward([won, lost], 0).tolist()
    assert first > 5.0 > -5.0 > second


def test_a_game_that_ends_brings_what_its_places_bring() -> None:
    asked = prospects(Scene(round_index=7))
    standing = RoundSituation(0, 7, 0, 1, (30000, 29000, 21000, 19000))
    row = asked.after(standing, (0, 9000, 0, -8000), 1)
    asked.answer()
    assert [asked.reward([row], player)[0] for player in range(4)] == [45.0, 90.0, 0.0, -135.0]


def test_a_dealer_who_wins_without_being_first_plays_on() -> None:
    asked = prospects(Scene(round_index=7))
    standing = RoundSituation(0, 7, 0, 0, (40000, 22000, 19000, 19000))
    by_dealer = asked.after(standing, (0, -1500, 0, 1500), 3)
    by_other = asked.after(standing, (0, -1500, 1500, 0), 2)
    asked.answer()
    assert asked.reward([by_other], 0)[0] == 90.0
    assert asked.reward([by_dealer], 0)[0] < 90.0


def test_sticks_are_gone_once_somebody_has_won() -> None:
    asked = prospects(Scene())
    standing = RoundSituation(0, 0, 0, 2, (24000, 24000, 25000, 25000))
    won = asked.after(standing, (4000, -2000, 0, 0), 0)
    assert won == asked.after(standing._replace(sticks=0), (4000, -2000, 0, 0), 0)
    assert asked.after(standing, (0,) * 4) != asked.after(standing._replace(sticks=0), (0,) * 4)


def test_riichi_is_worth_more_than_the_same_hand_silent() -> None:
    scene = Scene("123m456p78s11222z").draw("9p")
    decision = decided(scene.discard("9p"), Scripted({RIICHI: 1.0}))
    assert decision.preferred.kind == "riichi"
    assert decision.loss is not None
    assert decision.loss > 0.5


def test_a_stick_that_is_not_won_back_costs_reward() -> None:
    scene = Scene("123m456p78s11222z").draw("9p")
    moment = followed(scene.discard("9p")).moments[-1]
    asked = prospects(scene)
    outlook = look(moment.record, 0, "hanchan")
    wanted = Pricer(asked).ask(moment, 0, danger_of(moment.record, 0, outlook))
    asked.answer()
    assert 200.0 < prices_of(wanted, asked).stick < 3000.0


def test_the_same_outcome_is_predicted_once() -> None:
    asked = prospects(Scene())
    standing = RoundSituation(0, 0, 0, 0, (25000,) * 4)
    assert asked.after(standing, (1000, -1000, 0, 0), 0) == asked.after(standing, (1000, -1000, 0, 0), 0)


def test_a_dangerous_tile_against_riichi_costs_reward() -> None:
    scene = Scene(FAR).own("5z", "5z").draw().riichi("1m").turn("9p").turn("9p").draw("5p")
    safe = next(action for action in scene.legal() if str(action) == "discard 1m")
    decision = decided(scene.discard("5p"), Scripted({safe: 1.0}))
    assert decision.preferred.tile == "1m"
    assert option(decision, "1m").danger == (0.0, pytest.approx(0, abs=0.02), pytest.approx(0, abs=0.02))
    threat = option(decision, "5p").danger
    assert threat is not None
    assert threat[0] > 0.05
    assert decision.opponents[0].player == 1
    assert decision.opponents[0].tenpai == 1.0
    assert decision.loss is not None
    assert decision.loss > 1.0
    assert decision.category == "blunder"


def test_the_preferred_option_loses_nothing_and_calls_have_no_value() -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m").draw("9m")
    decision = decided(scene)
    assert [each.loss for each in decision.options] == [None] * len(decision.options)
    turn = decided(Scene(FAR).own("5z", "1m"))
    assert turn.options[0].loss == 0.0
    assert turn.options[0].action == turn.preferred
    assert turn.loss == next(each.loss for each in turn.options if each.action == turn.done)


def test_without_a_predictor_nothing_has_a_loss() -> None:
    from replays.review.report import Reviewer
    from tests.replays.review.made import named

    made = Reviewer("test", named(), None).review(record_of(Scene(FAR).own("5z", "1m")), 0)
    assert made.decisions[0].loss is None
    assert made.rounds[0].expected.reward is None
    assert reviewed(record_of(Scene(FAR).own("5z", "1m")), 0).rounds[0].expected.reward is not None


def test_the_end_of_a_game_is_what_it_brought() -> None:
    scores = final_scores((30000, 29000, 21000, 20000), 0)
    scene = Scene(FAR, round_index=7, scores=scores).turn("9p")
    made = reviewed(record_of(scene, EndGame(scores, final_results(scores))), 0)
    after = made.rounds[-1].after
    assert after is not None
    assert after.reward == (90.0, 45.0, 0.0, -135.0)
    assert after.placement == (1.0, 2.0, 3.0, 4.0)
