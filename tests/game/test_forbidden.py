"""What the rules forbid but the table allows: it is folded, and the broken rule is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from game.events import Draw, Riichi
from game.forbidden import RULES, broken_rule
from game.state import apply, clone, new_round
from kit.errors import StateMismatchError
from tests.scene import Scene


def exhausted(scene: Scene) -> Scene:
    """The scene with the wall drawn to its end."""
    scene.record["wall_left"] = 0
    return scene


def after_four_kans(scene: Scene) -> Scene:
    """The scene after four kans by two other players."""
    scene.record["kan_count"] = 4
    return scene


def others_chi() -> Scene:
    return Scene().own("9p", "9p").turn("2s").chi("3s", "4s", player=2)


def triplet(drawn: str = "9p") -> Scene:
    """Three 4p in the hand; shimocha discards the fourth."""
    return Scene("123m444p789s1122z").own(drawn, drawn).turn("4p")


def in_riichi() -> Scene:
    return Scene("123m4445p78s1122z").draw("9s").riichi("5p").turn("1m").turn("1s").turn("9m")


def white_pon() -> Scene:
    return Scene("123m456p78s555z1z2z").own("9p", "9p").turn("5z").pon(0)


FORBIDDEN: dict[str, tuple[Callable[[], Scene], Callable[[Scene], Scene]]] = {
    "swap-calling (kuikae)": (others_chi, lambda s: s.discard("5s")),
    "a discard from the hand in riichi": (
        lambda: in_riichi().draw("8p"),
        lambda s: s.discard("4p", tsumogiri=False),
    ),
    "a call in riichi": (lambda: in_riichi().own("9p", "9p").turn("4p"), lambda s: s.pon(0)),
    "a closed kan in riichi that changes the hand": (
        lambda: Scene("1112345m456p789s").draw("1z").riichi("1z").turn("1s").turn("1s").turn("1s").draw("1m"),
        lambda s: s.ankan("1m"),
    ),
    "riichi with an open hand": (
        lambda: white_pon().discard("7s").turn("1m").turn("1s").turn("9m").draw("9s"),
        lambda s: s.apply(Riichi(0)),
    ),
    "riichi with fewer than 1,000 points": (
        lambda: Scene("123m456p789s1122z", scores=(900, 25000, 25000, 49100)).draw("9p"),
        lambda s: s.apply(Riichi(0)),
    ),
    "riichi with fewer than four tiles in the wall": (
        lambda: exhausted(Scene("123m456p789s1122z").draw("9p")),
        lambda s: s.apply(Riichi(0)),
    ),
    "riichi with a hand that is not ready": (
        lambda: Scene("159m159p159s1234z").draw("9p").apply(Riichi(0)),
        lambda s: s.discard("9p"),
    ),
    "a call or kan with no tile left to draw": (lambda: exhausted(triplet()), lambda s: s.daiminkan(0)),
    "a fifth kan": (lambda: after_four_kans(Scene("1112m44p456p789s1z").draw("1m")), lambda s: s.ankan("1m")),
    "a call of the discard that ends the round": (lambda: after_four_kans(triplet()), lambda s: s.pon(0)),
    "a kan straight after a call": (white_pon, lambda s: s.kakan("5z")),
    "a ron in furiten": (
        lambda: Scene("123m456p789s1122z").own("1z", "1z").turn("2z"),
        lambda s: s.win(0, 1),
    ),
    "a win with a hand that is not complete": (
        lambda: Scene("123m456p789s1122z").own("9p", "9p").turn("4m"),
        lambda s: s.win(0, 1),
    ),
    "a call that leaves only swap-calling": (
        lambda: _three_pons("3456m").turn("9m").turn("9m").turn("6m"),
        lambda s: s.chi("4m", "5m", player=0),
    ),
}


def _three_pons(rest: str) -> Scene:
    """Three pons of ours, and four tiles left."""
    scene = Scene(rest + "112233p789s").own("9p", "9p")
    for number, text in enumerate("123"):
        scene.turn(f"{text}p").pon(0).discard(f"{7 + number}s")
    return scene


@pytest.mark.parametrize("rule", FORBIDDEN)
def test_a_forbidden_move_is_folded_and_its_rule_named(rule: str) -> None:
    scene, act = FORBIDDEN[rule]
    table = scene()
    before = clone(table.record)
    act(table)
    assert broken_rule(before, table.events[-1]) == rule


def test_every_rule_has_its_case() -> None:
    assert set(FORBIDDEN) == set(RULES) - {""}


def test_moves_within_the_rules_break_none() -> None:
    scene = Scene("123m4445p78s1122z").draw("9s").riichi("5p").turn("1m").turn("1s").turn("9m").draw("4p")
    scene.ankan("4p").draw("9p", player=0).dora("5z").discard("9p").turn("5s").pon(3).discard("9s")
    record = new_round()
    for event in scene.events:
        assert broken_rule(record, event) == "", event
        apply(record, event)


def test_a_riichi_below_1000_points_leaves_a_negative_score() -> None:
    scene = Scene("123m456p789s1122z", scores=(900, 25000, 25000, 49100)).draw("9p").riichi("9p")
    assert list(scene.record["scores"]) == [-100, 25000, 25000, 49100]
    assert scene.record["riichi_sticks"] == 1


def test_a_discard_from_the_hand_in_riichi_changes_the_waits() -> None:
    scene = in_riichi()
    before = int(scene.record["waits"][0])
    scene.draw("8p").discard("4p", tsumogiri=False)
    assert int(scene.record["waits"][0]) != before
    assert scene.record["riichi"][0] == 2


def test_a_kan_with_the_last_tile_draws_its_replacement_and_the_wall_stays_empty() -> None:
    scene = exhausted(Scene("1112m44p456p789s1z").draw("1m")).ankan("1m")
    scene.draw("9p", player=0).discard("9p")
    assert scene.record["wall_left"] == 0
    with pytest.raises(StateMismatchError, match="exhausted"):
        scene.apply(Draw(1))


def test_a_fifth_meld_is_impossible_also_for_a_hidden_hand() -> None:
    scene = Scene()
    scene.own("9p", "9p").draw()
    scene.record["meld_count"][1] = 4
    with pytest.raises(StateMismatchError, match="no such meld"):
        scene.ankan("5p")


def test_a_sixth_indicator_does_not_exist() -> None:
    scene = after_four_kans(Scene("1112m44p456p789s1z").draw("1m")).ankan("1m")
    for text in ("1z", "2z", "3z", "4z"):
        scene.dora(text)
    with pytest.raises(StateMismatchError, match="no kan asks"):
        scene.dora("5z")
