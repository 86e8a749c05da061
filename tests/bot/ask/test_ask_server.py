"""The server of the page on which positions are written: answers, errors by field, and who is admitted."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from bot.ask import page as page_module
from bot.ask.command import AskedPolicy
from bot.ask.page import LARGEST
from bot.ask.questions import PROCESSES, WAITING, Questions
from bot.config.settings import AskPage
from bot.web.limits import Limits
from bot.web.serving import PagePort
from game.position import WrittenPosition
from kit.errors import ModelError
from policies.nets.compute import IN_PLAY
from tests.bot.ask.moody import moody
from tests.bot.ask.scenes import HAND, served_page
from tests.bot.child_here import ChildHere
from tests.bot.web import requests
from tests.bot.web.requests import PATIENCE_S
from tests.replays.review.made import reviewer

HARD = ("888~s 7~777m", "3333s 6~66z", "22~2z 1111s", "555~m 2~34m")
"""Melds that no order of play leads to, which takes a search of all of them to find out."""


@pytest.fixture(scope="module")
def page() -> Iterator[PagePort]:
    with served_page() as port:
        yield port


def sent(port: PagePort, body: bytes, **headers: str) -> tuple[int, bytes]:
    status, _, answer = requests.asked(port.port, "/ask", "POST", body, **headers)
    return status, answer


def asked(port: PagePort, **position: Any) -> tuple[int, dict[str, Any]]:
    status, body = sent(port, json.dumps(position).encode())
    return status, json.loads(body)


def test_a_legal_position_is_answered_with_its_options_and_its_table(page: PagePort) -> None:
    status, told = asked(page, hand=HAND, turn=6, seat_wind=1, round_index=1, dora="4z")
    decision = told["answer"]["decision"]
    assert (status, told["player"], told["knows_rivers"]) == (200, 2, False)
    assert len(decision["options"]) == 13
    assert decision["opponents"]
    assert all(option["danger"] for option in decision["options"])
    assert told["answer"]["indicators"] == ["N"]
    events = told["events"]
    assert events[0]["type"] == "start_kyoku"
    assert events[-1] == {"type": "tsumo", "actor": 2, "pai": "P"}
    assert {event["pai"] for event in events if event["type"] == "dahai"} == {"?"}


def test_stated_discards_are_on_the_table(page: PagePort) -> None:
    status, told = asked(page, hand="34067m345p346s55z", rivers=["1z", "9m", "9p", ""], offered="5z")
    thrown = [(event["actor"], event["pai"]) for event in told["events"] if event["type"] == "dahai"]
    assert (status, told["knows_rivers"]) == (200, True)
    assert thrown == [(0, "E"), (1, "9m"), (2, "9p"), (3, "P")]
    assert {option["action"]["kind"] for option in told["answer"]["decision"]["options"]} == {"pon", "pass"}


@pytest.mark.parametrize(
    ("position", "fields"),
    [
        ({"hand": "123m"}, ["hand"]),
        ({"hand": "123x"}, ["hand"]),
        ({"hand": HAND, "dora": "4z4z"}, ["dora"]),
        (
            {"hand": HAND, "dora": "5z", "rivers": ["5z", "5z", "", ""]},
            ["hand", "dora", "rivers.0", "rivers.1"],
        ),
        ({"hand": HAND, "rivers": ["", "3m8", "", ""]}, ["rivers.1"]),
        ({"hand": HAND, "rivers": ["", "", "3m~", ""]}, ["rivers.2"]),
        ({"hand": HAND, "rivers": ["1m", "", "", ""]}, [f"rivers.{seat}" for seat in range(4)]),
        ({"hand": HAND, "melds": ["", "", "", "123z"]}, ["melds.3"]),
        ({"hand": HAND, "scores": [25000, 25000, 25000, 20000], "sticks": 1}, ["scores", "sticks"]),
        ({"hand": HAND, "turn": 99}, ["turn"]),
        ({"hand": HAND, "honba": 10**9}, ["honba", "sticks"]),
        ({"hand": HAND, "scores": [10**12, 100000 - 10**12, 0, 0]}, ["scores"]),
        ({"hand": HAND, "offered": "1z"}, ["hand"]),
        ({"hand": "147m258p369s1234z", "offered": "9p"}, ["offered"]),
    ],
)
def test_an_impossible_position_names_its_fields(
    page: PagePort, position: dict[str, Any], fields: list[str]
) -> None:
    status, told = asked(page, **position)
    assert (status, told["fields"]) == (200, fields)
    assert told["error"]


@pytest.mark.parametrize(
    ("body", "expected", "fields"),
    [
        (b"", 400, []),
        (b"{", 400, []),
        (b"[" * 4000, 200, []),
        (b'{"hand": "\xff"}', 400, []),
        (b"[]", 200, []),
        (b'{"hand": 5}', 200, ["hand"]),
        (b'{"hand": "1m", "rivers": ["", 3, "", ""]}', 200, ["rivers.1"]),
        (b'{"hand": "1m", "scores": [1, 2]}', 200, ["scores"]),
        (b'{"hand": "1m", "turn": "soon"}', 200, ["turn"]),
        (b'{"hand": "1m", "__proto__": {}}', 200, []),
        (b'{"hand": "1m", "length": "<script>"}', 200, ["length"]),
    ],
)
def test_what_is_no_position_is_refused(
    page: PagePort, body: bytes, expected: int, fields: list[str]
) -> None:
    status, answer = sent(page, body)
    told = json.loads(answer)
    assert (status, told["fields"]) == (expected, fields)
    assert told["error"].startswith("not a position: ")
    assert asked(page, hand=HAND)[0] == 200


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [("turn", "abc", "turn is a number from 1 to 24"), ("scores", [1, "x", 2, 3], "points are four numbers")],
)
def test_what_is_no_number_is_told_what_the_field_takes(
    page: PagePort, field: str, value: Any, says: str
) -> None:
    told = asked(page, hand=HAND, **{field: value})[1]
    assert says in told["error"]
    assert told["fields"] == [field]


@pytest.mark.parametrize(
    ("hand", "melds", "message"),
    [
        ("123m456p789s22z", ("8888m", "8888p 1111z", "3333s", "9999m"), "found 5 kans; a round has at most"),
        (
            "123m456p789s22z",
            ("8888m", "1~11z 3~33z 5~55z 6~66z 7~77z", "", ""),
            "found 5, a hand has at most",
        ),
        (
            "7p3z4p6z5s4z8p6p",
            HARD,
            "in 3,000 steps; check from whom each tile was called, or give the right turn",
        ),
    ],
)
def test_positions_that_take_forever_to_search_are_explained(
    page: PagePort, hand: str, melds: tuple[str, ...], message: str
) -> None:
    status, told = asked(page, hand=hand, melds=melds, dora="1m9m6s2z", turn=14, after_call=True)
    assert (status, message in told["error"]) == (200, True), told
    assert asked(page, hand=HAND)[0] == 200


def test_one_question_that_never_ends_and_one_that_kills_leave_the_others_their_answers() -> None:
    with served_page(life=moody, answer_s=1.0) as port:
        assert sent(port, b"hello") == (200, b"hello")
        late: list[tuple[int, bytes]] = []
        asking = threading.Thread(target=lambda: late.append(sent(port, b"hang")))
        asking.start()
        assert sent(port, b"hello") == (200, b"hello")
        asking.join(PATIENCE_S)
        assert [status for status, _ in late] == [503]
        assert b"no answer within 1 s" in late[0][1]
        status, why = sent(port, b"die")
        assert (status, b"has ended" in why) == (503, True)
        assert sent(port, b"hello") == (200, b"hello")


@pytest.mark.parametrize("before", [0, 2 * PROCESSES])
async def test_questions_that_come_while_the_page_stops_get_an_error_at_once(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.ask.questions.Child", ChildHere)
    questions = Questions(moody, None)
    await questions.ready
    asked = [asyncio.create_task(questions.answer(b"hang")) for _ in range(before)]
    await asyncio.sleep(0)
    questions.close()
    asked.append(asyncio.create_task(questions.answer(b"hello")))
    async with asyncio.timeout(PATIENCE_S / 2):
        found = await asyncio.gather(*asked, return_exceptions=True)
    assert {str(each) for each in found} == {"Suzaku is stopping"}


async def test_a_question_that_nobody_waits_for_is_not_answered_and_only_so_many_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered: list[bytes] = []
    go_on = threading.Event()

    def slow(line: Any, _: object) -> None:
        line.ready()
        while True:
            for body in line.hear(wait=True):
                go_on.wait(PATIENCE_S)
                answered.append(body)
                line.send((200, body))

    async def ask(body: bytes) -> asyncio.Task[Any]:
        asking = asyncio.create_task(questions.answer(body))
        await asyncio.sleep(0)
        return asking

    monkeypatch.setattr("bot.ask.questions.Child", ChildHere)
    questions = Questions(slow, None)
    await questions.ready
    begun = [await ask(b"begun") for _ in range(PROCESSES)]
    left = [await ask(b"left") for _ in range(WAITING)]
    with pytest.raises(ModelError, match="32 questions are waiting; ask again"):
        await questions.answer(b"too many")
    for asking in (*begun, *left):
        asking.cancel()
    await asyncio.gather(*begun, *left, return_exceptions=True)
    asking = await ask(b"stays")
    go_on.set()
    async with asyncio.timeout(PATIENCE_S):
        assert await asking == (200, b"stays")
    assert b"left" not in answered
    questions.close()


def test_a_fault_while_a_question_is_answered_is_an_error_for_its_asker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise StopIteration

    monkeypatch.setattr(page_module, "place", fail)
    status, body = page_module.answered(reviewer(), json.dumps({"hand": HAND}).encode())
    assert (status, b"could not be answered" in body) == (500, True)


def test_what_is_too_long_is_refused(page: PagePort) -> None:
    assert sent(page, b" " * (LARGEST + 1))[0] == 413
    assert asked(page, hand=HAND)[0] == 200


def test_a_question_that_does_not_come_to_its_end_ends_its_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        served_page(limits=Limits(message_s=0.5)) as port,
        socket.create_connection(("127.0.0.1", port.port), PATIENCE_S) as line,
    ):
        line.sendall(
            f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port.port}\r\nContent-Length: 9\r\n\r\n{{".encode()
        )
        assert line.recv(1) == b""
    assert not caplog.records


def test_the_page_is_served_and_strangers_are_refused(page: PagePort) -> None:
    assert b'id="ask"' in requests.asked(page.port, "/").body
    assert requests.asked(page.port, "/web/../page.py").status == 404
    assert requests.asked(page.port, "/ask").status == 405
    assert sent(page, b"{}", origin="http://evil.example")[0] == 403


def test_the_command_serves_until_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[bytes] = []

    def browse(link: str) -> None:
        seen.append(requests.asked(urlsplit(link).port or 0, "/").body)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("bot.ask.questions.Child", ChildHere)
    monkeypatch.setattr(page_module, "warm_up_visibly", lambda: None)
    monkeypatch.setattr("webbrowser.open", browse)
    code = page_module.ask_on_page(
        WrittenPosition(hand=HAND),
        AskedPolicy("heuristic", 1, IN_PLAY),
        AskPage(port=0),
        {},
        browser=True,
    )
    link = capsys.readouterr().out.strip()
    assert code == 0
    assert b'id="ask"' in seen[0]
    assert json.loads(unquote(urlsplit(link).fragment))["hand"] == HAND
