"""Prices of errors: what they depend on, and where reviews show its price."""

from __future__ import annotations

import msgspec
import pytest

from game.actions import RIICHI, Action, ActionKind
from policies.play.named import Named, RandomPolicy, load_named
from replays.review import grading
from replays.review.judging import opinions
from replays.review.prices import Unlikeness, included_prices, unlikeness_of
from replays.review.report import Reviewer
from tests.policies.fakes import Scripted
from tests.replays.review.made import first_round, followed, predictor
from tests.scene import Scene

FAR = "147m258p369s1234z"


def discard(scene: Scene, text: str) -> Action:
    return Action(ActionKind.DISCARD, scene.find(text, 1))


def unlikeness(scene: Scene, policy: Scripted) -> Unlikeness | None:
    """What the price of the last decision of player 0 depends on."""
    moment = followed(scene).moments[-1]
    (opinion,) = opinions([moment], policy)
    assert not opinion.agrees(moment.done)
    return unlikeness_of(moment, opinion)


def test_the_included_prices_are_of_the_included_network() -> None:
    prices = included_prices()
    assert prices.identity == load_named(prices.policy, 12).identity


def test_a_price_rises_with_how_unlikely_a_choice_is_and_falls_with_the_distance() -> None:
    prices = included_prices()
    by_ratio = [prices.price(Unlikeness(ratio, 2)) for ratio in (0.1, 0.01, 0.001, 1e-4, 1e-9)]
    points = [each.points for each in by_ratio]
    assert points == sorted(points)
    assert points[-1] == points[-2] > 2 * points[0] > 0.0
    assert by_ratio[0].error < by_ratio[-1].error
    by_distance = [prices.price(Unlikeness(0.01, distance)).points for distance in range(5)]
    assert by_distance[0] == by_distance[1] > by_distance[2] > by_distance[3] == by_distance[4] > 0.0


def test_a_disagreement_has_a_ratio_and_a_shanten() -> None:
    scene = Scene(FAR).draw("5z")
    policy = Scripted({discard(scene, "1z"): 0.9, discard(scene, "2z"): 0.09})
    assert unlikeness(scene.discard("2z"), policy) == Unlikeness(0.1, 6)
    ready = Scene("123456m4567p5s99s").draw("8p")
    wants_riichi = Scripted({RIICHI: 0.9, discard(ready, "5s"): 1.0})
    assert unlikeness(ready.discard("5s"), wants_riichi) == Unlikeness(0.111111, 0)


def test_a_decision_of_the_rules_has_no_price() -> None:
    declined = Scene("123m456p78s11222z", round_index=3, dora="1z").turn("9s").draw("1m")
    assert unlikeness(declined, Scripted()) is None


def test_errors_by_the_measured_policy_have_prices_and_the_dearest_is_the_worst() -> None:
    by_name = (Named(name, "", RandomPolicy()) for name in ("network:6", "heuristic"))
    priced, other = (
        Reviewer("suzaku test", policy, predictor()).review(first_round(), 1) for policy in by_name
    )
    errors = [each for each in priced.decisions if each.category != "fine"]
    models = [each for each in errors if each.judged not in ("win", "nine_terminals")]
    assert errors
    assert all(each.price is not None for each in models)
    assert not any(each.price for each in priced.decisions if each.category == "fine")
    total = sum(each.price.points for each in errors if each.price)
    summary = priced.summary
    assert summary.price == pytest.approx(total)
    assert sum(each.price or 0.0 for each in summary.rounds) == pytest.approx(total)
    worst = [priced.decisions[number].price for number in summary.worst]
    prices = [each.points for each in worst if each]
    assert prices == sorted(prices, reverse=True)
    dearest = priced.decisions[summary.worst[0]]
    dear_slip = msgspec.structs.replace(dearest, category="inaccuracy")
    cheap_blunder = msgspec.structs.replace(dearest, category="blunder", price=None)
    assert grading.worst([cheap_blunder, dear_slip]) == (1, 0)
    assert other.summary.price is None
    assert not any(each.price for each in other.decisions)
