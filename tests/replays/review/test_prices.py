"""Prices of errors: the kind of a disagreement, and where reviews show its price."""

from __future__ import annotations

import pytest

from game.actions import PASS, RIICHI, Action, ActionKind
from policies.heuristic.danger import danger_of
from policies.play.named import Named, RandomPolicy, load_named
from replays.review.judging import opinions
from replays.review.prices import KINDS, Kind, kind_of, price_table
from replays.review.report import Reviewer
from tests.policies.fakes import Scripted
from tests.replays.review.made import first_round, followed, predictor
from tests.scene import Scene

FAR = "147m258p369s1234z"


def discard(scene: Scene, text: str) -> Action:
    return Action(ActionKind.DISCARD, scene.find(text, 1))


def kind(scene: Scene, policy: Scripted) -> Kind | None:
    """The kind of the last decision of player 0."""
    moment = followed(scene).moments[-1]
    (opinion,) = opinions([moment], policy)
    assert not opinion.agrees(moment.done)
    return kind_of(moment, opinion, danger_of(moment.record, 0, reads_melds=True))


def test_the_included_table_is_of_the_included_network() -> None:
    table = price_table()
    assert table.identity == load_named(table.policy, 12).identity
    assert tuple(each.kind for each in table.kinds) == KINDS
    assert len(set(KINDS)) == len(KINDS) <= 60


@pytest.mark.parametrize(
    ("turns", "riichi", "phase"),
    [(0, False, "early"), (5, False, "early"), (6, False, "late"), (2, True, "threat")],
)
def test_a_discard_is_of_a_category_a_shanten_and_a_phase(turns: int, riichi: bool, phase: str) -> None:
    scene = Scene(FAR)
    for drawn, others in zip(("9m", "8m", "9p", "8p", "6z", "7z")[:turns], "124578", strict=False):
        scene.own(drawn, drawn).turn(f"{others}s").turn(f"{others}s").turn(f"{others}s")
    if riichi:
        scene.own("2m", "2m").draw().riichi("7m").turn("7m").turn("7m")
    scene.draw("5z")
    policy = Scripted({discard(scene, "1z"): 0.9, discard(scene, "2z"): 0.09})
    assert kind(scene.discard("2z"), policy) == Kind("discard", "inaccuracy", 3, phase)


def test_riichi_and_calls_are_of_a_model_and_a_category() -> None:
    ready = Scene("123456m4567p5s99s").draw("8p")
    wants_riichi = Scripted({RIICHI: 0.9, discard(ready, "5s"): 1.0})
    assert kind(ready.discard("5s"), wants_riichi) == Kind("riichi", "inaccuracy")
    passed, called = (Scene("11z258m369p1478s5z", round_index=3).turn("1z") for _ in range(2))
    eager = Scripted({each: 0.9 for each in called.legal() if each != PASS})
    assert kind(passed.draw("6z"), eager) == Kind("pon", "inaccuracy")
    assert kind(called.pon(0), Scripted()) == Kind("pon", "blunder")


def test_a_decision_of_the_rules_has_no_kind() -> None:
    declined = Scene("123m456p78s11222z", round_index=3, dora="1z").turn("9s").draw("1m")
    assert kind(declined, Scripted()) is None


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
