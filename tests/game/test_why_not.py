"""Why an action is not legal: one case for each rule, and whole games in which a reason is never missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from game.actions import Action, ActionKind
from game.forbidden import why_not
from kit.errors import IllegalActionError
from policies.play.named import RandomPolicy
from policies.play.rollout import Choice, PolicyChooser, Request, Rollout, Seating, Times
from replays.mjai.seat import read_action
from tests.scale import scaled
from tests.scene import Scene

READY = "123m406p789s1122z"
CALLER = "4055p46m89s11224z"


def furiten() -> Scene:
    scene = Scene("123456m406p1122z").own("9p", "9p").turn("3s")
    scene.record["missed_turn"][0] = 1
    return scene.turn("1z")


def offered() -> Scene:
    return Scene(CALLER).own("9p", "9p").turn("3s").turn("3s").turn("5p")


def in_riichi() -> Scene:
    return Scene(READY).draw("9p").riichi("9p").turn("3s").turn("3s").turn("3s").draw("7s")


def called() -> Scene:
    scene = Scene("2334s406p789m112z").own("9p", "9p").turn("1s").turn("1s").turn("2s")
    return scene.chi("3s", "4s", player=0)


CASES = [
    (
        lambda: Scene("1111m406p789s112z").draw("9p"),
        {"type": "ankan", "consumed": ["1m"] * 3},
        "no tiles of the hand may be used for it",
    ),
    (
        lambda: Scene(CALLER).own("9p", "9p").turn("1s"),
        {"type": "pon"},
        "no tiles of the hand may be used for it",
    ),
    (
        lambda: Scene("123m789p345s24p44z").own("9p", "9p").turn("3p"),
        {"type": "hora"},
        "the hand has no yaku",
    ),
    (called, {"type": "reach"}, "not possible at this moment of the round"),
    (in_riichi, {"type": "reach"}, "riichi has been declared already"),
    (in_riichi, {"type": "dahai", "pai": "1m"}, "the rules forbid a discard from the hand in riichi"),
    (
        lambda: Scene(READY).draw("9p"),
        {"type": "dahai", "pai": "9s", "tsumogiri": True},
        "9s is not the tile",
    ),
    (lambda: Scene(READY).draw("9p"), {"type": "dahai", "pai": "5s"}, "5s is not in the hand"),
    (lambda: Scene(READY).draw("9p"), {"type": "dahai"}, "it names no tile"),
    (lambda: Scene(READY).draw("9p"), {"type": "none"}, "a discard is due"),
    (lambda: Scene(READY).draw("9p"), {"type": "pon"}, "not possible at this moment of the round"),
    (lambda: Scene(READY).draw("9p"), {"type": "ryukyoku"}, "it takes nine kinds of terminals and honours"),
    (
        lambda: Scene(READY).draw("9p"),
        {"type": "kakan", "pai": "9p"},
        "no tiles of the hand may be used for it",
    ),
    (
        lambda: Scene(READY).draw("9p"),
        {"type": "ankan", "consumed": ["W", "W", "W", "W"]},
        "3z is not in the hand",
    ),
    (furiten, {"type": "hora"}, "the rules forbid a ron in furiten"),
    (offered, {"type": "hora"}, "the rules forbid a win with a hand that is not complete"),
    (offered, {"type": "reach"}, "not possible at this moment of the round"),
    (offered, {"type": "pon", "actor": 1}, "it plays for player 0"),
    (offered, {"type": "pon", "pai": "4p"}, "the tile is not the one just drawn or discarded"),
    (offered, {"type": "pon", "consumed": ["4p", "4p"]}, "4p is not in the hand"),
    (offered, {"type": "chi", "consumed": ["4m", "6m"]}, "these tiles make no such meld"),
    (
        lambda: Scene(CALLER).own("9p", "9p").turn("5p"),
        {"type": "pon", "consumed": ["4p", "5p"]},
        "these tiles make no such meld",
    ),
    (
        lambda: Scene("4055p46m89s11224z").own("9p", "9p").turn("5m"),
        {"type": "chi", "consumed": ["4m", "6m"]},
        "not this player's move",
    ),
    (called, {"type": "dahai", "pai": "2s"}, r"the rules forbid swap-calling \(kuikae\)"),
]


@pytest.mark.parametrize(("scene", "answer", "why"), CASES)
def test_each_rule_has_its_reason(scene: Callable[[], Scene], answer: dict[str, Any], why: str) -> None:
    here = scene()
    with pytest.raises(IllegalActionError, match=f": {why}.*; it may only: "):
        read_action(answer, here.legal(0), here.record, 0)


class Asking(PolicyChooser):
    """Asks for the reason of every illegal action, whenever a player is asked."""

    asked = 0

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        for request in requests:
            record, legal = request.table.state, {action.kind for action in request.legal}
            for kind in set(ActionKind) - legal:
                assert why_not(record, request.player, Action(kind)), (kind, request.legal)
                self.asked += 1
        return super().choose(requests, times)


def test_no_kind_of_action_is_refused_without_a_reason() -> None:
    chooser = Asking(RandomPolicy())
    for seed in range(scaled(2, 4)):
        list(Rollout([chooser], length="tonpuu").play([Seating(0, seed, (0, 0, 0, 0))]))
    assert chooser.asked > scaled(500, 1_000)
