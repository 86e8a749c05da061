"""A person's seat without a browser: what pages may say, the clock, leaving and returning."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest

from bot.table import seat as seat_module
from bot.table.requests import Switches, automatic, furiten_of, waits_of
from bot.tenhou.game_types import GameType
from game.actions import PASS, Action, ActionKind
from game.events import Discard, EndGame, EndRound, Riichi, StartGame
from game.state import apply, new_round
from game.tiles import mjai_text
from replays.mjai.seat import seen_by
from tests.bot.table.leaks import check_only_seen, messages_in
from tests.bot.table.scenes import PATIENCE_S, QUICK, Hosted, HurriedPlan, Page, news, play_through
from tests.scene import Scene

GARBAGE = (
    "",
    "{}",
    "[]",
    "null",
    "\x00",
    '{"type":"choose"}',
    '{"type":"choose","prompt":"1","choice":0}',
    '{"type":"choose","prompt":1,"choice":0,"more":1}',
    '{"type":"choose","prompt":1.5,"choice":0}',
    '{"type":"discard","tile":"5m"}',
    '{"type":"switch","name":"cheat","on":true}',
    '{"type":"switch","name":"no_calls","on":1}',
    '{"type":"go_on","result":0}',
    '{"type":"go_on","result":99}',
    '{"type":"sit","seat":2}',
    "[" * 3000,
    '{"type":"choose","prompt":' + "9" * 3000 + ',"choice":0}',
)


async def _until(true: Callable[[], bool], pages: list[Page]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not true():
            await asyncio.sleep(0.001)
            for page in pages:
                page.read()


async def test_illegal_late_repeated_and_forged_messages_change_no_game() -> None:
    clean, noisy = Hosted(), Hosted()
    for hosted in (clean, noisy):
        (page,) = hosted.sit()
        act = page.act

        def act_noisily(page: Page = page, act: Callable[[], None] = act) -> None:
            for text in GARBAGE:
                page.seat.hear(text)
            if prompt := page.state.get("prompt"):
                number, count = prompt["number"], len(prompt["actions"])
                for forged in ((number, count), (number, -1), (number + 1, 0), (number - 1, 0), (0, 0)):
                    page.say(type="choose", prompt=forged[0], choice=forged[1])
            act()
            if prompt:
                page.say(type="choose", prompt=number, choice=count - 1)  # the second answer is too late

        if hosted is noisy:
            page.act = act_noisily  # type: ignore[method-assign]
        await play_through([page], hosted.host)
        hosted.host.close()
    assert clean.records[0].events == noisy.records[0].events


async def test_who_returns_after_the_game_sees_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_module, "AWAY_S", 0.02)
    hosted = Hosted(HurriedPlan(length="tonpuu", delay_s=0.0, seed=21))
    (page,) = hosted.sit()
    await _until(lambda: bool(page.state.get("prompt")), [page])
    page.shut()
    await _until(lambda: not hosted.host.playing, [])
    await hosted.host.ended()
    page.open()
    await _until(lambda: any(m["type"] == "over" for m in messages_in(page.texts)), [page])
    assert page.state["stage"] == "over"
    check_only_seen(page.texts, page.seat.player)
    page.say(type="sit")
    assert hosted.host.games == 2
    hosted.host.close()


async def test_the_clock_answers_for_who_stays_but_does_nothing() -> None:
    hosted = Hosted(HurriedPlan(length="tonpuu", delay_s=0.0, seed=8))
    (page,) = hosted.sit()
    await _until(lambda: bool(page.state.get("prompt")), [page])
    assert page.state["clock"]["base"] <= 0.25
    number = page.state["prompt"]["number"]
    await _until(lambda: (page.state.get("prompt") or {"number": 0})["number"] > number + 1, [page])
    hosted.host.close()


@pytest.mark.slow
async def test_games_follow_each_other_with_other_seats_and_walls_and_a_seed_repeats_them() -> None:
    hosted, again = Hosted(), Hosted()
    (page,) = hosted.sit()
    for _ in range(2):
        await play_through([page], hosted.host)
    await play_through(again.sit(), again.host)
    first, second = hosted.records
    assert first.game_id != second.game_id
    assert first.events[1] != second.events[1]
    assert hosted.host.games == 2
    assert again.records[0].events == first.events
    hosted.host.close()
    again.host.close()


def _claim(*kinds: ActionKind) -> list[Action]:
    return [*(Action(kind, 5, (4, 6)) for kind in kinds), PASS]


@pytest.mark.parametrize(
    ("legal", "switches", "answer"),
    [
        (_claim(ActionKind.PON), {}, None),
        (_claim(ActionKind.PON, ActionKind.CHI), {"no_calls": True}, ActionKind.PASS),
        (_claim(ActionKind.RON, ActionKind.PON), {"no_calls": True}, None),
        (_claim(ActionKind.RON, ActionKind.PON), {"auto_win": True}, ActionKind.RON),
        ([Action(ActionKind.TSUMO, 7), Action(ActionKind.DISCARD, 7)], {"auto_discard": True}, None),
        (
            [Action(ActionKind.DISCARD, 3), Action(ActionKind.DISCARD, 7)],
            {"auto_discard": True},
            ActionKind.DISCARD,
        ),
        ([Action(ActionKind.DISCARD, 3), Action(ActionKind.DISCARD, 5)], {"auto_discard": True}, None),
        ([Action(ActionKind.DISCARD, 3)], {}, ActionKind.DISCARD),
    ],
)
def test_switches_answer_what_they_say(
    legal: list[Action], switches: dict[str, bool], answer: ActionKind | None
) -> None:
    found = automatic(legal, Switches(**switches), 7)
    assert (found and found.kind) == answer


@pytest.mark.parametrize(
    ("scene", "waits", "furiten"),
    [
        (Scene("123m456p789s1122z").own("9p", "9p"), [("E", 2, True), ("S", 2, False)], None),
        (
            Scene("123m456p789s1122z").own("9p", "9p").turn("1z").turn("3p").turn("3p").draw("9p"),
            [("E", 1, True), ("S", 2, False)],
            "passed",
        ),
        (Scene("123m456p78s55z112z").own("9p", "9p").turn("5z").pon(0), [], None),
        (
            Scene("23m456p789s11z456m").draw("1m").discard("1m"),
            [("1m", 3, False), ("4m", 3, False), ("7m", 4, False)],
            "discarded",
        ),
        (
            Scene("123m456p789s1122z")
            .draw("9p")
            .riichi("9p")
            .turn("1z")
            .turn("3p")
            .turn("3p")
            .own("8p", "8p"),
            [("E", 1, True), ("S", 2, True)],
            "riichi",
        ),
    ],
)
def test_a_person_is_told_what_completes_the_hand_and_why_it_may_not_win(
    scene: Scene, waits: list[tuple[str, int, bool]], furiten: str | None
) -> None:
    assert [msgspec.structs.astuple(wait) for wait in waits_of(scene.record, 0)] == waits
    assert furiten_of(scene.record, 0) == furiten


async def test_with_all_switches_on_a_game_plays_itself() -> None:
    hosted = Hosted()
    (page,) = hosted.sit()
    await _until(lambda: bool(page.state.get("prompt")), [page])
    for name in ("no_calls", "auto_win", "auto_discard"):
        page.say(type="switch", name=name, on=True)
    asked = set()
    while hosted.host.playing:
        await news([page])
        if prompt := page.state.get("prompt"):
            asked.add(prompt["number"])
            page.say(type="choose", prompt=prompt["number"], choice=0)
        elif page.state.get("result"):
            page.say(type="go_on", result=page.state["result"])
    await hosted.host.ended()
    (record,) = hosted.records
    own = [e for e in record.events if isinstance(e, Discard) and e.player == page.seat.player]
    assert len(asked) < 10
    assert sum(event.tsumogiri for event in own) > 0.8 * len(own)
    hosted.host.close()


async def test_the_discards_of_a_riichi_are_told_before_it_is_declared() -> None:
    hosted = Hosted(msgspec.structs.replace(QUICK, seed=3))
    (page,) = hosted.sit(4)
    assert page.wise
    told: list[set[str]] = []
    while hosted.host.playing:
        await news([page])
        prompt = page.state.get("prompt")
        if prompt and prompt["number"] != page.answered and prompt["riichi"]:
            told.append({prompt["actions"][place]["tile"] for place in prompt["riichi"]})
            page.answered = prompt["number"]
            riichi = next(n for n, action in enumerate(prompt["actions"]) if action["kind"] == "riichi")
            page.say(type="choose", prompt=prompt["number"], choice=riichi)
        page.act()
    await hosted.host.ended()
    declared = 0
    for event, after in pairwise(hosted.records[0].events):
        if isinstance(event, Riichi) and event.player == page.seat.player:
            assert isinstance(after, Discard)
            assert mjai_text(after.tile) in told[declared]
            declared += 1
    assert declared == len(told) > 0
    hosted.host.close()


async def test_in_practice_moves_are_taken_back_and_the_record_says_so() -> None:
    hosted = Hosted(msgspec.structs.replace(QUICK, practice=True))
    (page,) = hosted.sit(4)
    rng = random.Random(1)
    backs = 0
    while hosted.host.playing:
        await news([page])
        state = page.state
        back = state.get("back")
        if back and backs < 20 and rng.random() < 0.2:
            page.say(type="take_back", prompt=back - 1)  # a late one changes nothing
            page.say(type="take_back", prompt=back)
            page.read()
            # a prompt is told a turn of the loop after it opened; until then the page names the one before
            asked = page.state["prompt"]
            backs += asked is not None and asked["number"] > back
        else:
            page.act()
    await hosted.host.ended()
    page.read()
    (record,) = hosted.records
    assert backs == 20
    assert GameType(record.game_type).is_practice
    last = max(n for n, text in enumerate(page.texts) if '"type":"game"' in text)
    messages = messages_in(page.texts[last:])
    told = [
        e for m in messages for e in (m["round"]["events"] if m["type"] == "round" else m.get("events", ()))
    ]
    seen = [seen_by(event, page.seat.player) for event in record.events]
    assert told == [
        message for message in seen if message and message["type"] not in ("start_game", "end_game")
    ]
    check_only_seen(page.texts, page.seat.player)
    folded = new_round()
    for event in record.events:
        if not isinstance(event, StartGame | EndRound | EndGame):
            apply(folded, event)
    hosted.host.close()


@pytest.mark.parametrize("practice", [True, False])
async def test_only_in_practice_a_move_taken_back_returns_to_the_same_choice(practice: bool) -> None:
    hosted = Hosted(msgspec.structs.replace(QUICK, practice=practice))
    (page,) = hosted.sit()
    await _until(lambda: bool(page.state.get("prompt")), [page])
    first = page.state["prompt"]
    assert not page.state["back"]
    page.say(type="choose", prompt=first["number"], choice=0)
    await _until(lambda: (page.state.get("prompt") or first)["number"] > first["number"], [page])
    shown = page.state["prompt"]
    page.say(type="take_back", prompt=shown["number"])
    page.read()
    assert page.state["prompt"]["actions"] == (first if practice else shown)["actions"]
    assert page.state["practice"] == practice
    assert not page.state["back"]
    hosted.host.close()


async def test_a_person_chooses_between_the_drawn_tile_and_its_twin() -> None:
    chosen: dict[bool, set[bool]] = {True: set(), False: set()}
    for seed, drawn in enumerate((True, False)):
        hosted = Hosted(msgspec.structs.replace(QUICK, seed=seed))
        (page,) = hosted.sit()
        while not chosen[drawn]:
            await news([page])
            prompt = page.state.get("prompt")
            if not prompt or prompt["number"] == page.answered:
                page.act()
                continue
            discards = [each for each in prompt["actions"] if each["kind"] == "discard"]
            tiles = [each["tile"] for each in discards]
            twins = [each for each in discards if tiles.count(each["tile"]) > 1]
            if not twins:
                page.act()
                continue
            assert len(twins) == 2
            wanted = next(each for each in twins if bool(each.get("tsumogiri")) == drawn)
            page.answered = prompt["number"]
            page.say(type="choose", prompt=prompt["number"], choice=prompt["actions"].index(wanted))
            assert hosted.host.table is not None
            events = hosted.host.table.tabletop.events
            count = len(events)
            await _until(lambda events=events, count=count: len(events) > count, [page])
            event = events[count]
            assert isinstance(event, Discard)
            assert event.player == page.seat.player
            assert mjai_text(event.tile) == wanted["tile"]
            chosen[drawn].add(event.tsumogiri)
        hosted.host.close()
    assert chosen == {True: {True}, False: {False}}
