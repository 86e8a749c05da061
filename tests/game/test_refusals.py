"""Why an action is not legal: one case for each rule, and whole games in which a reason is never missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from game.actions import ActionKind
from game.errors import IllegalActionError
from game.refusals import refusal
from policies.random_play import RandomPolicy
from policies.rollout import Choice, PolicyChooser, Request, Rollout, Seating, Times
from replays.mjai_seat import read_action
from tests.scene import Scene

READY = "123m406p789s1122z"
CALLER = "4055p46m89s11224z"


def poor() -> Scene:
    scene = Scene(READY).draw("9p")
    scene.record["scores"][0] = 900
    return scene


def late() -> Scene:
    scene = Scene(READY).draw("9p")
    scene.record["wall_left"] = 3
    return scene


def furiten() -> Scene:
    scene = Scene("123456m406p1122z").own("9p", "9p").turn("3s")
    scene.record["missed_turn"][0] = 1
    return scene.turn("1z")


def with_kans() -> Scene:
    scene = Scene("1111m406p789s112z").draw("9p")
    scene.record["kan_count"] = 4
    return scene


def offered() -> Scene:
    return Scene(CALLER).own("9p", "9p").turn("3s").turn("3s").turn("5p")


def in_riichi() -> Scene:
    return Scene(READY).draw("9p").riichi("9p").turn("3s").turn("3s").turn("3s").draw("7s")


def called() -> Scene:
    scene = Scene("2334s406p789m112z").own("9p", "9p").turn("1s").turn("1s").turn("2s")
    return scene.chi("3s", "4s", player=0)


def changed(scene: Scene, field: str, value: int, player: int | None = None) -> Scene:
    """A scene late in a round, told by the one field a rule looks at."""
    if player is None:
        scene.record[field] = value
    else:
        scene.record[field][player] = value
    return scene


CASES = [
    (
        lambda: changed(Scene(READY).draw("9p"), "is_open", 1, player=0),
        {"type": "reach"},
        "the hand is open",
    ),
    (
        lambda: changed(Scene(READY).draw("9p"), "unbroken", 0),
        {"type": "ryukyoku"},
        "nine terminals is for the first turn, before any call",
    ),
    (
        lambda: changed(Scene("1111m406p789s112z").draw("9p"), "wall_left", 0),
        {"type": "ankan", "consumed": ["1m"] * 4},
        "the wall is exhausted",
    ),
    (
        lambda: Scene("1111m406p789s112z").draw("9p"),
        {"type": "ankan", "consumed": ["1m"] * 3},
        "a closed kan takes all four tiles of a kind",
    ),
    (
        lambda: changed(offered(), "wall_left", 0),
        {"type": "chi", "consumed": ["4p", "0p"]},
        "the last discard can only be won on",
    ),
    (
        lambda: changed(Scene("4055p46m89s11224z").own("9p", "9p").turn("5p"), "kan_count", 4),
        {"type": "pon", "consumed": ["5p", "5p"]},
        "after the fourth kan the round ends unless the discard is won on",
    ),
    (
        lambda: changed(Scene("4055p46m89s11224z").own("9p", "9p").turn("5p"), "kan_count", 4),
        {"type": "daiminkan"},
        "four kans have been made already",
    ),
    (lambda: Scene(CALLER).own("9p", "9p").turn("1s"), {"type": "pon"}, "the hand lacks the tiles for it"),
    (lambda: Scene(CALLER).own("9p", "9p").turn("1s"), {"type": "daiminkan"}, "the hand lacks three of it"),
    (lambda: changed(offered(), "riichi", 2, player=0), {"type": "pon"}, "no call is allowed in riichi"),
    (
        lambda: changed(offered(), "riichi", 2, player=0),
        {"type": "daiminkan"},
        "no call is allowed in riichi",
    ),
    (
        lambda: Scene("123m789p345s24p44z").own("9p", "9p").turn("3p"),
        {"type": "hora"},
        "the hand has no yaku",
    ),
    (
        lambda: (
            Scene("1112m456p789s111z").draw("9p").riichi("9p").turn("3s").turn("3s").turn("3s").draw("1m")
        ),
        {"type": "ankan", "consumed": ["1m"] * 4},
        "in riichi a closed kan takes the drawn tile and may not change the waits",
    ),
    (called, {"type": "reach"}, "after a call or riichi only a discard is possible"),
    (poor, {"type": "reach"}, "it has fewer than 1,000 points"),
    (late, {"type": "reach"}, "fewer than four tiles are left in the wall"),
    (lambda: Scene("147m258p369s1234z").draw("5z"), {"type": "reach"}, "the hand is not ready"),
    (in_riichi, {"type": "reach"}, "riichi has been declared already"),
    (in_riichi, {"type": "dahai", "pai": "1m"}, "in riichi only the drawn tile may be discarded"),
    (
        lambda: Scene(READY).draw("9p"),
        {"type": "dahai", "pai": "9s", "tsumogiri": True},
        "9s is not the tile",
    ),
    (lambda: Scene(READY).draw("9p"), {"type": "dahai", "pai": "5s"}, "5s is not in hand"),
    (lambda: Scene(READY).draw("9p"), {"type": "dahai"}, "names no tile"),
    (lambda: Scene(READY).draw("9p"), {"type": "none"}, "it must discard"),
    (lambda: Scene(READY).draw("9p"), {"type": "hora"}, "the hand is not complete"),
    (lambda: Scene(READY).draw("9p"), {"type": "pon"}, "there is no tile of another player to claim"),
    (
        lambda: Scene(READY).draw("9p"),
        {"type": "ryukyoku"},
        "the hand has fewer than nine kinds of terminals and honours",
    ),
    (lambda: Scene(READY).draw("9p"), {"type": "kakan", "pai": "9p"}, "there is no pon to add the tile to"),
    (
        lambda: Scene(READY).draw("9p"),
        {"type": "ankan", "consumed": ["W", "W", "W", "W"]},
        "W is not in hand",
    ),
    (with_kans, {"type": "ankan", "consumed": ["1m"] * 4}, "four kans have been made already"),
    (furiten, {"type": "hora"}, "it is furiten"),
    (offered, {"type": "hora"}, "the hand does not win on this tile"),
    (offered, {"type": "reach"}, "it is not its turn"),
    (offered, {"type": "pon", "actor": 1}, "it plays for player 0"),
    (offered, {"type": "pon", "pai": "4p"}, "the discard is 5p, not 4p"),
    (offered, {"type": "pon", "consumed": ["4p", "4p"]}, "4p is not in hand"),
    (offered, {"type": "chi", "consumed": ["4m", "6m"]}, "5p and 4m 6m make no meld"),
    (
        lambda: Scene(CALLER).own("9p", "9p").turn("5p"),
        {"type": "chi", "consumed": ["4p", "5p"]},
        "5p and 4p 5p make no meld",
    ),
    (
        lambda: Scene("4055p46m89s11224z").own("9p", "9p").turn("5m"),
        {"type": "chi", "consumed": ["4m", "6m"]},
        "chi is only from the player to the left",
    ),
    (
        called,
        {"type": "dahai", "pai": "2s"},
        r"2s may not be discarded after this call \(kuikae\)",
    ),
]


@pytest.mark.parametrize(("scene", "answer", "why"), CASES)
def test_each_rule_has_its_reason(scene: Callable[[], Scene], answer: dict[str, Any], why: str) -> None:
    here = scene()
    with pytest.raises(IllegalActionError, match=f", but {why}"):
        read_action(answer, here.legal(0), here.record, 0)


class Asking(PolicyChooser):
    """Asks for the reason of every illegal action, whenever a player is asked."""

    asked = 0

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        for request in requests:
            record, legal = request.table.state, {action.kind for action in request.legal}
            for kind in set(ActionKind) - legal:
                assert refusal(record, request.player, kind), (kind, request.legal)
                self.asked += 1
        return super().choose(requests, times)


def test_no_kind_of_action_is_refused_without_a_reason() -> None:
    chooser = Asking(RandomPolicy())
    for seed in range(4):
        list(Rollout([chooser], length="tonpuu").play([Seating(0, seed, (0, 0, 0, 0))]))
    assert chooser.asked > 1_000
