"""Prices of errors: the kind of a disagreement, and where reviews show its price."""

from __future__ import annotations

import msgspec
import pytest

from game.actions import PASS, RIICHI, Action, ActionKind
from policies.heuristic.danger import danger_of
from policies.play.named import Named, RandomPolicy, load_named
from replays.review.judging import opinions
from replays.review.prices import KINDS, Kind, Situation, price_table, situation_of
from replays.review.report import Reviewer
from tests.policies.fakes import Scripted
from tests.replays.review.made import first_round, followed, predictor
from tests.scene import Scene

FAR = "147m258p369s1234z"


def discard(scene: Scene, text: str) -> Action:
    return Action(ActionKind.DISCARD, scene.find(text, 1))


def situation(scene: Scene, policy: Scripted) -> Situation | None:
    """The situation of the last decision of player 0."""
    moment = followed(scene).moments[-1]
    (opinion,) = opinions([moment], policy)
    assert not opinion.agrees(moment.done)
    return situation_of(moment, opinion, danger_of(moment.record, 0, reads_melds=True))


def test_the_included_table_is_of_the_included_network() -> None:
    table = price_table()
    assert table.identity == load_named(table.policy, 12).identity
    assert tuple(each.kind for each in table.kinds) == KINDS
    assert len(set(KINDS)) == len(KINDS) <= 60


def test_a_discard_is_of_the_kind_of_its_category_hand_and_turn() -> None:
    scene = Scene(FAR).draw("5z")
    policy = Scripted({discard(scene, "1z"): 0.9, discard(scene, "2z"): 0.09})
    found = situation(scene.discard("2z"), policy)
    assert found is not None
    assert found.ratio == pytest.approx(0.1)
    assert (found.turn, found.tenpai) == (1, 0.0)
    assert found.kind == Kind("discard", False, "inaccuracy", 3, "early")
    threatened, late = (msgspec.structs.replace(found, **other) for other in ({"tenpai": 1.0}, {"turn": 7}))
    assert (threatened.kind.phase, late.kind.phase) == ("threat", "late")
    assert msgspec.structs.replace(found, shanten=-1).kind.shanten == 0


def test_calls_and_riichi_differ_by_who_wanted_them() -> None:
    ready = Scene("123456m4567p5s99s").draw("8p")
    wants_riichi = Scripted({RIICHI: 0.9, discard(ready, "5s"): 1.0})
    silent = situation(ready.discard("5s"), wants_riichi)
    assert silent is not None
    assert silent.kind == Kind("riichi", False)
    passed, called = (Scene("11z258m369p1478s5z", round_index=3).turn("1z") for _ in range(2))
    eager = situation(passed.draw("6z"), Scripted({each: 0.9 for each in called.legal() if each != PASS}))
    assert eager is not None
    assert eager.kind == Kind("pon", False)
    tempted = situation(called.pon(0), Scripted())
    assert tempted is not None
    assert tempted.kind == Kind("pon", True)


def test_a_decision_of_the_rules_has_no_situation() -> None:
    declined = Scene("123m456p78s11222z", round_index=3, dora="1z").turn("9s").draw("1m")
    assert situation(declined, Scripted()) is None


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
    assert other.summary.price is None
    assert not any(each.price for each in other.decisions)
