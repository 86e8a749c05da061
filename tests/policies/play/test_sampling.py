"""Drawing from a policy's probabilities."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from game.actions import Action, ActionKind
from game.events import EndGame
from policies.flow.draws import drawn_share
from policies.flow.flow import SlotAnswer, most_likely
from policies.flow.slots import Slot
from policies.play.rollout import FinishedGame, PolicyChooser, Rollout, Seating
from policies.play.sampling import distribution_of, drawing
from tests.policies.fakes import Undecided

CHI = Action(ActionKind.CHI, 4, (8, 12))
PON = Action(ActionKind.PON, 4, (5, 6))
RED, PLAIN = Action(ActionKind.DISCARD, 16), Action(ActionKind.DISCARD, 17)


def claim(chi: float, pon: float) -> list[SlotAnswer]:
    return [SlotAnswer(Slot.CHI, (CHI,), (chi,)), SlotAnswer(Slot.PON, (PON,), (pon,))]


def test_chi_and_pon_that_are_both_likely_share_the_draw() -> None:
    found = distribution_of(claim(0.8, 0.8))
    assert found.options == (None, CHI, PON)
    assert found.probabilities == pytest.approx((1 / 9, 4 / 9, 4 / 9))


@pytest.mark.parametrize("chances", [(0.2, 0.3), (0.6, 0.3), (0.4, 0.7), (0.9, 0.8)])
def test_the_likeliest_option_is_what_play_takes(chances: tuple[float, float]) -> None:
    found = distribution_of(claim(*chances))
    best = found.options[int(np.argmax(found.probabilities))]
    assert best == most_likely(claim(*chances))


def test_certain_answers_have_finite_odds() -> None:
    assert sum(distribution_of(claim(1.0, 0.0)).probabilities) == pytest.approx(1.0)


def test_temperature_sharpens_and_flattens() -> None:
    discards = [SlotAnswer(Slot.DISCARD, (RED, PLAIN), (0.2, 0.8))]
    assert distribution_of(discards).probabilities == pytest.approx((0.2, 0.8))
    assert distribution_of(discards, 0.5).probabilities == pytest.approx((0.04 / 0.68, 0.64 / 0.68))
    assert distribution_of(discards, 2.0).probabilities == pytest.approx((1 / 3, 2 / 3))


def played(*, together: int, stream: int = 0) -> list[FinishedGame]:
    chooser = PolicyChooser(Undecided(), drawing(stream=stream))
    run = Rollout([chooser], tables=together, length="tonpuu")
    games = run.play(Seating(number, 50 + number % 2, (0, 0, 0, 0)) for number in (0, 1, 3))
    return sorted(games, key=lambda game: game.seating.number)


def test_a_game_with_draws_is_the_same_alone_and_among_others() -> None:
    alone, beside = played(together=1), played(together=4)
    assert [game.events for game in alone] == [game.events for game in beside]
    assert all(isinstance(game.events[-1], EndGame) for game in alone)


def test_other_streams_and_numbers_draw_differently_over_the_same_walls() -> None:
    one, other = played(together=4), played(together=4, stream=1)
    assert one[1].seating.seed == one[2].seating.seed
    assert one[1].events != one[2].events
    assert one[0].events != other[0].events


def test_draws_follow_the_probabilities() -> None:
    """Over the decisions of games, as many first options are drawn as their probabilities add up to."""
    seen: Counter[str] = Counter()
    expected = variance = 0.0

    class Counting(PolicyChooser):
        def choose(self, requests, times):  # type: ignore[no-untyped-def]
            nonlocal expected, variance
            choices = super().choose(requests, times)
            for choice in choices:
                if choice.verdict is not None and choice.verdict.step == "discard":
                    answer = choice.verdict.answers[-1]
                    first = answer.probabilities[0]
                    seen["first"] += choice.action == answer.options[0]
                    expected, variance = expected + first, variance + first * (1 - first)
            return choices

    run = Rollout([Counting(Undecided(), drawing())], length="tonpuu")
    for _ in run.play(Seating(number, number, (0, 0, 0, 0)) for number in range(3)):
        pass
    assert variance > 100
    assert abs(seen["first"] - expected) < 4 * variance**0.5


def test_numbers_that_belong_to_moments_are_independent_of_each_other() -> None:
    numbers = itertools.product(range(6), range(3), range(6), range(4), range(5))
    drawn = np.array([drawn_share(*each) for each in numbers])
    assert len(set(drawn.tolist())) == len(drawn)
    assert 0.0 <= drawn.min() < 0.01
    assert 0.99 < drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.07
