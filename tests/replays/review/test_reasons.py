"""The reasons of an error, in positions where a strong player knows the right ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from game.actions import RIICHI
from replays.review.schema import NoteValue, ReviewDecision
from tests.policies.fakes import Scripted
from tests.replays.review.made import decided
from tests.scene import Scene

Reasons: TypeAlias = dict[str, dict[str, NoteValue]]

FOLDING = "24456m56p14567s9s"
"""With a 9s drawn: 1-shanten without the 1s, a step back without a 9s."""
EVEN = 25000, 25000, 25000, 25000
AHEAD = 52000, 16000, 16000, 16000


def reasons_of(decision: ReviewDecision) -> Reasons:
    """The parameters of the reasons and prices by key, in their order."""
    return {note.key: note.params for note in decision.notes if note.key.startswith(("reason_", "cost_"))}


def reasons(scene: Scene, preferred: str, played: str, riichi: float = 0.0) -> Reasons:
    """Why one discard is better than another one."""
    wanted = next(each for each in scene.legal() if str(each) == f"discard {preferred}")
    return reasons_of(decided(scene.discard(played), Scripted({wanted: 1.0, RIICHI: riichi})))


def claimed(hand: str, tile: str, call: Callable[[Scene], Scene]) -> Reasons:
    """Why a pass is better than a call of kamicha's discard."""
    scene = Scene(hand).own("4z", "4z").turn("4z").turn("4z").turn(tile)
    return reasons_of(decided(call(scene), Scripted()))


def against_riichi() -> Scene:
    """Shimocha has declared riichi with a 9s."""
    scene = Scene(FOLDING).own("1z", "1z").draw()
    return scene.riichi("9s").turn("1z").turn("1z").draw("9s")


def test_against_a_riichi_safety_comes_first_and_the_step_back_is_the_price() -> None:
    found = reasons(against_riichi(), "9s", "1s")
    assert [*found] == ["reason_safety", "cost_shanten"]
    assert found["reason_safety"]["better_danger"] == 0.0


def test_the_danger_of_the_preferred_tile_is_a_price() -> None:
    found = reasons(against_riichi(), "1s", "9s")
    assert [*found] == ["reason_shanten", "cost_danger"]
    assert found["cost_danger"]["better_danger"] > found["cost_danger"]["worse_danger"] == 0.0


def test_a_tile_safe_against_one_is_not_safer_if_it_costs_more_against_another() -> None:
    scene = Scene("24456m156p4567s9s", round_index=2).turn("1p").turn("1z").own("1z", "1z")
    scene.draw().riichi("9s").draw().riichi("2z")  # the 1p is safe only against the second, the dealer
    found = reasons(scene.turn("2z").draw("3z"), "9s", "1p")
    assert "reason_safety" not in found
    assert found["cost_danger"]["player"] == 2


@pytest.mark.parametrize(("scores", "first"), [(AHEAD, "reason_lead"), (EVEN, "reason_tanyao")])
def test_in_the_last_round_a_safe_first_place_explains_the_slower_tile(
    scores: tuple[int, int, int, int], first: str
) -> None:
    scene = Scene("2479m235678p46s8s", round_index=7, scores=scores).turn("1z").draw("8s")
    assert next(iter(reasons(scene, "9m", "8p"))) == first


@pytest.mark.parametrize(
    ("hand", "draw", "preferred", "played", "improves"),
    [
        ("348m13347p678s77z", "1z", "1z", "8m", True),  # both accept 17 tiles
        ("2479m235678p46s8s", "8s", "9m", "8p", False),  # 16 instead of 20
    ],
)
def test_shapes_are_compared_only_where_both_accept_about_as_many(
    hand: str, draw: str, preferred: str, played: str, *, improves: bool
) -> None:
    assert ("reason_improve" in reasons(Scene(hand).draw(draw), preferred, played)) == improves


def test_the_waits_without_a_yaku_are_named() -> None:
    def silent(hand: str) -> tuple[NoteValue, NoteValue]:
        found = reasons(Scene(hand).draw("1z"), "1z", "1z", riichi=0.95)["reason_riichi"]
        return found["waits"], found["no_yaku"]

    assert silent("222m567m345p66s78s") == (["6s", "9s"], ["9s"])
    assert silent("222m567m345p44s68s") == (["7s"], [])
    assert silent("999m567m345p44s68s") == (["7s"], ["7s"])


def test_a_riichi_keeps_no_tiles_for_later() -> None:
    found = reasons(Scene("123m456p78s11222z").draw("9p"), "9p", "1z", riichi=0.95)
    assert [*found] == ["reason_riichi", "reason_shanten"]


def test_an_open_hand_without_yaku_is_not_to_be_opened() -> None:
    def chi(scene: Scene) -> Scene:
        return scene.chi("6p", "7p", player=0)

    assert "reason_no_yaku" in claimed("123m1122367p456s", "5p", chi)
    assert "reason_no_yaku" not in claimed("123m1122367p4s55z", "5p", chi)  # a pair of dragons


def test_a_call_that_sets_the_hand_back_is_not_said_to_leave_it_as_it_is() -> None:
    found = claimed("1199m2288p4477s3z", "1m", lambda scene: scene.pon(0))
    assert [*found] == ["reason_shanten", "reason_closed"]
    assert found["reason_shanten"]["worse_shanten"] == 2


@pytest.mark.parametrize("call", [lambda scene: scene.pon(0), lambda scene: scene.daiminkan(0)])
def test_against_a_riichi_a_call_leaves_little_to_fold_with(call: Callable[[Scene], Scene]) -> None:
    scene = Scene("111m24568p3577s2z").own("1z", "1z").draw().riichi("9s").turn("1z").turn("1m")
    assert reasons_of(decided(call(scene), Scripted()))["reason_defence"]["tiles"] == 10  # a kan draws first


def test_figures_that_differ_are_not_called_alike() -> None:
    found = reasons(Scene("345m8m1p578p1s344s7s").draw("4z"), "1p", "4z")
    assert [*found] == ["reason_policy", "cost_ukeire"]
    assert not found["reason_policy"]["alike"]
