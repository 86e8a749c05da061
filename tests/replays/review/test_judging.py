"""A policy's choice, its probability of each option, and where an action deviates from the choice."""

from __future__ import annotations

import pytest

from game.actions import PASS, RIICHI, Action, ActionKind
from kit.errors import ModelError
from policies.flow.slots import Slot
from replays.review.grading import THRESHOLDS, category_of
from replays.review.judging import Opinion, opinions, ranked
from replays.review.schema import Category
from tests.policies.fakes import Broken, Scripted
from tests.replays.review.made import decided, followed
from tests.scene import Scene

READY = "123m456p78s11222z"


def opinion(scene: Scene, policy: Scripted) -> tuple[Opinion, Action]:
    moment = followed(scene).moments[-1]
    return opinions([moment], policy)[0], moment.done


def discard(scene: Scene, text: str) -> Action:
    return next(
        action
        for action in scene.legal()
        if action.kind is ActionKind.DISCARD and str(action) == f"discard {text}"
    )


def test_every_discard_has_its_probability_though_the_flow_ends_with_riichi() -> None:
    scene = Scene(READY).draw("9p")
    wanted, other = discard(scene, "9p"), discard(scene, "1z")
    policy = Scripted({RIICHI: 0.8, wanted: 0.75, other: 0.25})
    scene.discard("9p")
    found, done = opinion(scene, policy)
    assert found.preferred == Action(ActionKind.RIICHI, wanted.tile)
    assert found.step == "riichi"
    assert found.reached == {"win", "nine_terminals", "kan", "riichi"}
    assert found.probabilities[wanted] == pytest.approx(0.75, abs=1e-6)
    assert sum(p for a, p in found.probabilities.items() if a.kind is ActionKind.DISCARD) == pytest.approx(1)
    assert found.parted(done) == ("riichi", pytest.approx(0.25))  # no riichi: 0.2 of 0.8
    shown = {str(action): chance for action, chance in ranked(found).items() if chance > 1e-3}
    assert shown == pytest.approx({"riichi 9p": 0.8, "discard 9p": 0.15, "discard 1z": 0.05}, abs=1e-5)


def test_an_unwanted_riichi_parts_at_riichi() -> None:
    scene = Scene(READY).draw("9p")
    policy = Scripted({RIICHI: 0.1, discard(scene, "9p"): 1.0})
    scene.riichi("9p")
    moment = followed(scene).moments[0]
    found = opinions([moment], policy)[0]
    assert not found.agrees(moment.done)
    assert found.parted(moment.done) == ("riichi", pytest.approx(0.1 / 0.9))


def test_two_riichi_part_at_the_discard() -> None:
    scene = Scene(READY).draw("7s")
    policy = Scripted({RIICHI: 0.9, discard(scene, "7s"): 0.7, discard(scene, "8s"): 0.2})
    (moment,) = followed(scene.riichi("8s")).moments  # riichi and its discard are one decision
    (found,) = opinions([moment], policy)
    assert str(found.preferred) == "riichi 7s"
    assert found.step == "riichi"
    assert found.parted(moment.done) == ("discard", pytest.approx(0.2 / 0.7))
    assert found.options[moment.done] == pytest.approx(0.9 * 0.2 / 0.9, abs=1e-5)
    assert sum(found.options.values()) == pytest.approx(1.0)


def test_discards_part_by_their_own_probabilities() -> None:
    scene = Scene("147m258p369s1234z").draw("5z")
    policy = Scripted({discard(scene, "1z"): 0.6, discard(scene, "2z"): 0.3, discard(scene, "5z"): 0.1})
    scene.discard("2z")
    found, done = opinion(scene, policy)
    assert found.parted(done) == ("discard", pytest.approx(0.5))
    assert policy.asked == [Slot.DISCARD]


def test_a_red_five_is_a_five() -> None:
    scene = Scene("05m147p258s12345z").draw("6z")
    policy = Scripted({discard(scene, "5m"): 1.0})
    scene.discard("0m")
    found, done = opinion(scene, policy)
    assert found.agrees(done)


def test_a_declined_win_has_the_worst_ratio() -> None:
    scene = Scene(READY, round_index=3, dora="1z").turn("9p").own("9p", "9p").turn("6s").turn("1p")
    found, done = opinion(scene, Scripted())
    assert done == PASS
    assert found.preferred.kind is ActionKind.RON
    assert found.parted(done) == ("win", 0.0)
    assert decided(scene).category == "blunder"


def test_a_policy_without_an_answer_is_an_error() -> None:
    moments = followed(Scene("147m258p369s1234z").own("5z", "5z")).moments
    with pytest.raises(ModelError):
        opinions(moments, Broken(lambda count: [[float("nan")] * count]))


@pytest.mark.parametrize(
    ("ratio", "category"),
    [
        (THRESHOLDS.inaccuracy, "fine"),
        (THRESHOLDS.inaccuracy - 0.01, "inaccuracy"),
        (THRESHOLDS.mistake - 0.01, "mistake"),
        (THRESHOLDS.blunder - 0.001, "blunder"),
    ],
)
def test_categories_by_the_thresholds(ratio: float, category: Category) -> None:
    assert category_of(ratio, "discard") == category


def test_nine_terminals_are_a_habit() -> None:
    scene = Scene("1459m159p159s123z").draw("6s")
    found, done = opinion(scene.discard("5p"), Scripted())
    assert found.preferred.kind is ActionKind.NINE_TERMINALS
    assert found.parted(done) == ("nine_terminals", 0.2)
    assert category_of(0.0, "nine_terminals") == "inaccuracy"
