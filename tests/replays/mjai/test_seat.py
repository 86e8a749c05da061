from __future__ import annotations

import json
from typing import Any

import pytest

from game.actions import PASS, Action, ActionKind
from game.rules import legal_actions
from game.state import hand_tiles
from game.table.table import Table
from game.tiles import mjai_text
from kit.errors import IllegalActionError
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from policies.play.named import RandomPolicy
from replays.mjai.lines import render
from replays.mjai.reader import MjaiReader
from replays.mjai.seat import SeatFeed, read_action, seen_by, write_action
from tests.scene import Scene


def read(scene: Scene, answer: object, player: int = 0) -> Action:
    return read_action(answer, scene.legal(player), scene.record, player)


def dahai(pai: str, **more: Any) -> dict[str, Any]:
    return {"type": "dahai", "actor": 0, "pai": pai, **more}


def test_a_seat_is_shown_its_own_tiles_only() -> None:
    table = Table(seed=5, names=("A", "B", "C", "D"))
    start, deal, draw = SeatFeed(2).messages(table.events)
    assert start == {"type": "start_game", "names": ["A", "B", "C", "D"], "id": 2}
    assert [hand == ["?"] * 13 for hand in deal["tehais"]] == [True, True, False, True]
    assert draw == {"type": "tsumo", "actor": 0, "pai": "?"}
    assert seen_by(table.events[2], 0) != draw


def test_messages_are_what_engines_expect() -> None:
    start, draw, discard = map(render, Scene("123m406p789s1122z", dora="3z").own("9p", "9p").events)
    assert start["tehais"][0] == ["1m", "2m", "3m", "4p", "5pr", "6p", "7s", "8s", "9s", "E", "E", "S", "S"]
    assert start["tehais"][1] == ["?"] * 13
    assert (start["bakaze"], start["kyoku"], start["dora_marker"]) == ("E", 1, "W")
    assert draw == {"type": "tsumo", "actor": 0, "pai": "9p"}
    assert discard == {"type": "dahai", "actor": 0, "pai": "9p", "tsumogiri": True}


@pytest.mark.parametrize(
    ("scene", "action", "message"),
    [
        (Scene("123m406p789s1122z").draw("9p"), "discard 9p", dahai("9p", tsumogiri=True)),
        (Scene("123m406p789s1122z").draw("9p"), "discard 0p", dahai("5pr", tsumogiri=False)),
        (Scene("123m406p789s1122z").draw("2z"), "riichi", {"type": "reach", "actor": 0}),
        (
            Scene("123m406p789s1122z").draw("1z"),
            "tsumo 1z",
            {"type": "hora", "actor": 0, "target": 0, "pai": "E"},
        ),
        (
            Scene("1111m46p789s1122z").draw("9p"),
            "ankan with 1m 1m 1m 1m",
            {"type": "ankan", "actor": 0, "consumed": ["1m"] * 4},
        ),
        (
            Scene("19m19p19s1234z345m").draw("5z"),
            "nine_terminals",
            {"type": "ryukyoku", "actor": 0, "reason": "kyushukyuhai"},
        ),
        (
            Scene("4055p46m789s1122z").own("9p", "9p").turn("3s").turn("3s").turn("5p"),
            "pon 5p with 0p 5p",
            {"type": "pon", "actor": 0, "target": 3, "pai": "5p", "consumed": ["5pr", "5p"]},
        ),
        (
            Scene("4055p46m789s1122z").own("9p", "9p").turn("3s").turn("3s").turn("5p"),
            "daiminkan 5p with 0p 5p 5p",
            {"type": "daiminkan", "actor": 0, "target": 3, "pai": "5p", "consumed": ["5pr", "5p", "5p"]},
        ),
        (
            Scene("4055p46m789s1122z").own("9p", "9p").turn("3s").turn("3s").turn("6p"),
            "chi 6p with 4p 0p",
            {"type": "chi", "actor": 0, "target": 3, "pai": "6p", "consumed": ["4p", "5pr"]},
        ),
        (
            Scene("1234m05p789s1122z").own("9p", "9p").turn("5p").pon(0).discard("9s").turn("3s").turn("3s")
            .turn("3s").draw("5p"),
            "kakan 5p with 0p 5p 5p",
            {"type": "kakan", "actor": 0, "pai": "5p", "consumed": ["5pr", "5p", "5p"]},
        ),
        (
            Scene("123m406p789s1122z").own("9p", "9p").turn("3s").turn("1z"),
            "pass",
            {"type": "none"},
        ),
    ],
)  # fmt: skip
def test_an_action_and_its_message_match(scene: Scene, action: str, message: dict[str, Any]) -> None:
    meant = next(legal for legal in scene.legal() if str(legal) == action)
    assert write_action(meant, scene.record, 0) == message
    assert read(scene, message) == meant
    assert read(scene, {**message, "meta": {"q": [1.0]}}) == meant


def test_a_ron_names_whose_tile_it_is() -> None:
    scene = Scene("123456m406p1122z").own("9p", "9p").turn("3s").turn("1z")
    [ron] = [action for action in scene.legal() if action.kind is ActionKind.RON]
    message = {"type": "hora", "actor": 0, "target": 2, "pai": "E"}
    assert write_action(ron, scene.record, 0) == message
    assert read(scene, {"type": "hora", "actor": 0}) == ron
    with pytest.raises(IllegalActionError):
        read(scene, {**message, "target": 1})


def test_a_twin_of_the_tile_just_drawn_can_be_discarded_from_the_hand() -> None:
    scene = Scene("123m406p789s1122z").draw("2z")
    drawn = int(scene.record["drawn"])
    assert read(scene, dahai("S", tsumogiri=True)) == Action(ActionKind.DISCARD, drawn)
    assert read(scene, dahai("S")) == Action(ActionKind.DISCARD, drawn)
    discarded = read(scene, dahai("S", tsumogiri=False))
    assert discarded.tile != drawn
    assert discarded.tile in scene.hand()
    table = Table(wall=_wall_with_a_twin())
    first = table.events[-1].tile  # type: ignore[union-attr]
    twin = read_action(dahai("E", tsumogiri=False), table.legal(0), table.state, 0)
    discard_event = table.step({0: twin})[0]
    assert (discard_event.tile, discard_event.tsumogiri) == (twin.tile, False)  # type: ignore[union-attr]
    assert twin.tile != first


def _wall_with_a_twin() -> list[int]:
    """The dealer is dealt an East and draws another one."""
    wall = [tile for tile in range(136) if tile not in (108, 109)]
    return [108, *wall[:51], 109, *wall[51:]]


def test_an_answer_that_leaves_out_what_is_clear_is_understood() -> None:
    scene = Scene("123m06p789s11224z").own("9p", "9p").turn("3s").turn("1z")
    assert read(scene, {"type": "pon"}).kind is ActionKind.PON
    assert read(scene, {"type": "none", "actor": 0}) == PASS


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"type": "pon", "actor": 0}, "may mean any of: pon 5p with 5p 5p, pon 5p with 0p 5p"),
        ({"type": "pon", "actor": 0, "consumed": ["5p"]}, "may only"),
        ({"type": "pon", "actor": 0, "consumed": "5p5p"}, "may only"),
        ({"type": "pon", "actor": 1, "consumed": ["5p", "5p"]}, "may only"),
        ({"type": "pon", "actor": 0, "pai": "5pr", "consumed": ["5p", "5p"]}, "may only"),
        ({"type": "chi", "actor": 0, "consumed": [["4p"], 6]}, "may only"),
        ({"type": "dahai", "actor": 0, "pai": "4p"}, "may only"),
        ({"type": "reach"}, "may only"),
        ({"type": "sing"}, "may only"),
        ({"type": ["pon"]}, "may only"),
        ({}, "may only"),
        ([{"type": "none"}], "not an mjai message"),
        (None, "not an mjai message"),
        ("none", "not an mjai message"),
    ],
)
def test_an_answer_without_a_legal_action_is_refused(answer: object, says: str) -> None:
    scene = Scene("4055p46m89s11224z").own("9p", "9p").turn("3s").turn("3s").turn("5p")
    with pytest.raises(IllegalActionError, match=says):
        read(scene, answer)


def test_an_endless_answer_makes_a_short_error() -> None:
    scene = Scene("123m406p789s1122z").draw("9p")
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for answer in ({"type": "x" * 1_000_000}, deep):
        with pytest.raises(IllegalActionError) as caught:
            read(scene, answer)
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("policy_type", "seed"), [(RandomPolicy, 1), (HeuristicPolicy, 33)])
def test_every_choice_of_whole_games_crosses_the_wire(policy_type: type[Policy], seed: int) -> None:
    """A seat's messages give it the same choices that the table offers, and each choice is understood."""
    table = Table(seed=seed, length="tonpuu")
    policy = policy_type()
    feeds = [SeatFeed(player) for player in range(4)]
    readers = [MjaiReader() for _ in range(4)]
    told: dict[SeatFeed, dict[str, Any]] = {}
    while not table.done:
        for feed, reader in zip(feeds, readers, strict=True):
            for message in feed.messages(table.events):
                reader.read(json.loads(json.dumps(message)))
                if message["type"] != "dora":  # due after a kan, and told after what may follow it
                    told[feed] = message
        answers = {}
        for player in table.waiting():
            legal = table.legal(player)
            there = readers[player].state
            said = [write_action(action, there, player) for action in legal_actions(there, player)]
            assert said == [write_action(action, table.state, player) for action in legal]
            assert [read_action(answer, legal, table.state, player) for answer in said] == legal
            discards = {message["pai"] for message in said if message["type"] == "dahai"}
            if "cannot_dahai" in told[feeds[player]]:
                held = {mjai_text(tile) for tile in hand_tiles(there, player)}
                assert set(told[feeds[player]]["cannot_dahai"]) == held - discards
            else:
                more = [message for message in said if message["type"] not in ("dahai", "none")]
                assert told[feeds[player]]["possible_actions"] == more
            answers[player] = decide(table.observe(player), policy).action
        table.step(answers)
    assert len(table.results) >= 4
