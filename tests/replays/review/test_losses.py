"""Losses with their errors: what is clear, what is noise, and how they add up."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import pytest

from bot.review.text import review_text
from game.actions import PASS, RIICHI, Action, ActionKind
from policies.play.named import RandomPolicy
from replays.review import grading
from replays.review.grading import CLEAR, RISK_ERROR, SHARE, SPREAD, Loss, losses
from replays.review.report import as_json
from replays.review.schema import Review, ReviewDecision
from replays.review.worth import Worth
from tests.replays.review.made import reviewed, whole

FIRST, SECOND, THIRD, FOURTH = (Action(ActionKind.DISCARD, 4 * kind) for kind in range(4))


@pytest.fixture(scope="module")
def made() -> Review:
    """A game held against a policy that has no idea."""
    return reviewed(whole(), 0, RandomPolicy())


def disagreements(review: Review) -> Iterator[ReviewDecision]:
    return (each for each in review.decisions if not each.agrees and each.loss is not None)


def test_what_hands_are_worth_counts_most_where_one_is_tenpai() -> None:
    worth = {FIRST: Worth(onward=20.0, shanten=1), SECOND: Worth(onward=10.0, shanten=1)}
    worth[THIRD] = Worth(onward=10.0, shanten=2)
    worth[FOURTH] = Worth(onward=30.0, shanten=0)
    lost = losses(worth, FIRST)
    assert lost[FIRST] == Loss(0.0, 0.0)
    assert lost[SECOND] == Loss(10.0 * SHARE["same_shanten"], SPREAD["same_shanten"])
    assert lost[THIRD] == Loss(10.0 * SHARE["other_shanten"], SPREAD["other_shanten"])
    assert lost[FOURTH] == Loss(-10.0 * SHARE["tenpai"], SPREAD["tenpai"])
    assert abs(lost[SECOND].value) < lost[THIRD].value < -lost[FOURTH].value


def test_the_risk_of_dealing_in_counts_in_full_and_is_not_known_exactly() -> None:
    worth = {FIRST: Worth(onward=5.0, shanten=1), SECOND: Worth(risk=20.0, onward=5.0, shanten=1)}
    lost = losses(worth, FIRST)[SECOND]
    assert lost == Loss(20.0, math.hypot(SPREAD["same_shanten"], 20.0 * RISK_ERROR))
    assert lost.clear
    assert losses(worth, SECOND)[FIRST].value == -20.0


def test_a_win_counts_in_full() -> None:
    ron = Action(ActionKind.RON, 0)
    lost = losses({ron: Worth(certain=30.0), PASS: Worth(onward=10.0)}, ron)
    assert lost[PASS] == Loss(20.0, SPREAD["win"])


def test_riichi_is_measured_against_silence() -> None:
    worth = {RIICHI: Worth(onward=12.0), FIRST: Worth(onward=8.0, shanten=0)}
    assert losses(worth, RIICHI)[FIRST] == Loss(4.0 * SHARE["riichi"], SPREAD["riichi"])


def test_without_a_value_of_what_is_preferred_nothing_has_a_loss() -> None:
    assert losses({FIRST: Worth(onward=1.0, shanten=1)}, PASS) == {}


@pytest.mark.parametrize(("value", "clear"), [(2.0, False), (-2.0, False), (4.0, True), (-4.0, True)])
def test_a_loss_within_its_error_is_noise(value: float, clear: bool) -> None:
    assert Loss(value, 3.0 / CLEAR).clear is clear


def test_what_is_preferred_loses_nothing_for_certain() -> None:
    assert not Loss(0.0, 0.0).clear


def test_every_loss_of_a_review_has_its_error(made: Review) -> None:
    for decision in made.decisions:
        for option in decision.options:
            assert (option.loss is None) == (option.loss_error is None)
            if option.action == decision.preferred and option.loss is not None:
                assert (option.loss, option.loss_error) == (0.0, 0.0)
        (done,) = (option for option in decision.options if option.action == decision.done)
        assert decision.agrees or (decision.loss, decision.loss_error) == (done.loss, done.loss_error)
    assert any(each.loss_error for each in disagreements(made))


def test_errors_add_up_as_independent_ones(made: Review) -> None:
    squares = sum(each.loss_error**2 for each in disagreements(made) if each.loss_error is not None)
    assert made.summary.loss_error == pytest.approx(math.sqrt(squares), abs=0.01)
    twice = grading.together([made.summary, made.summary])
    assert twice.loss == pytest.approx(2 * made.summary.loss, abs=0.02)
    assert twice.loss_error == pytest.approx(math.sqrt(2) * made.summary.loss_error, abs=0.02)


def test_the_terminal_gives_numbers_only_to_clear_losses(made: Review) -> None:
    number = made.summary.worst[0]

    def worst_line(loss: float, error: float) -> str:
        decisions = list(made.decisions)
        decisions[number] = msgspec.structs.replace(decisions[number], loss=loss, loss_error=error)
        text = review_text(msgspec.structs.replace(made, decisions=tuple(decisions)), ())
        return text.split("worst decisions:\n")[1].splitlines()[0]

    assert worst_line(8.25, 3.0).endswith(", loss 8.3 ± 3.0")
    assert worst_line(-8.0, 3.0).endswith(", loss -8.0 ± 3.0")
    assert "loss" not in worst_line(2.0, 3.0)


def test_reviews_made_before_losses_had_errors_can_be_read(made: Review) -> None:
    document = msgspec.json.decode(as_json(made))
    for each in (document["summary"], *document["decisions"]):
        del each["loss_error"]
    old = msgspec.convert(document, Review)
    assert old.summary.loss == made.summary.loss
    assert old.summary.loss_error == 0.0
