"""The table's server: who is admitted, and what many connections do to a game."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from bot.table.seat import BROWSERS
from tests.bot.table.scenes import ServedTable, served_table
from tests.bot.web.requests import PATIENCE_S, TOKEN, asked

SOCKETS = 200


@contextlib.contextmanager
def opened(served: ServedTable, key: str, **options: Any) -> Iterator[ClientConnection]:
    """A connection as a page opens it."""
    options = {"origin": f"http://127.0.0.1:{served.port}", "max_size": None, "close_timeout": 0.1} | options
    with connect(f"ws://127.0.0.1:{served.port}/live?run=&seq=0&seat={key}", **options) as line:
        yield line


def key_of(served: ServedTable) -> str:
    return served.hosted.host.people[0].key


def test_a_page_needs_the_key_of_its_seat_and_our_own_name() -> None:
    with served_table(people=("Anna", "Ben")) as served:
        key, other = (seat.key for seat in served.hosted.host.people)
        assert key != other
        for path in ("/", "/?seat=", "/?seat=wrong", "/?seat=%F0%9F%80%84", f"/review/x?seat={key}"):
            assert asked(served.port, path).status == 404
        status, headers, body = asked(served.port, f"/?seat={key}")
        assert status == 200
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert other.encode() not in body
        assert asked(served.port, f"/?seat={key}", host="evil.example").status == 403
        for refused in ({"key": "wrong"}, {"key": key, "origin": "http://evil.example"}):
            with pytest.raises(InvalidStatus), opened(served, **refused):
                pass
        assert not served.call(lambda: served.hosted.host.people[0].here)
        with opened(served, key) as line:
            assert json.loads(line.recv(PATIENCE_S))["type"] == "hello"


def test_outside_this_machine_a_token_is_required_as_well() -> None:
    with served_table(host="0.0.0.0", token=TOKEN) as served:
        key = key_of(served)
        assert asked(served.port, f"/?seat={key}").status == 403
        link = urlsplit(served.links[0])
        status, headers, _ = asked(served.port, f"{link.path}?{link.query}")
        assert status == 303
        assert headers["location"] == f"/?seat={key}"
        cookie = headers["set-cookie"].split(";")[0]
        assert asked(served.port, headers["location"], cookie=cookie).status == 200


@pytest.mark.slow
def test_two_hundred_sockets_leave_room_for_the_newest_page() -> None:
    with served_table() as served, contextlib.ExitStack() as stack:
        key = key_of(served)
        lines = [stack.enter_context(opened(served, key)) for _ in range(SOCKETS)]
        lines[-1].send(json.dumps({"type": "sit"}))
        served.until(lambda: served.hosted.host.playing)
        while True:
            heard = json.loads(lines[-1].recv(PATIENCE_S))
            if isinstance(heard, list) and any(message.get("prompt") for message in heard):
                break
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                lines[0].recv(PATIENCE_S)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013  # the page tries again later
        assert served.hosted.host.people[0].sockets.browsers == BROWSERS
        lines[0].close()


def test_a_message_longer_than_any_of_a_page_ends_its_connection() -> None:
    with served_table() as served, opened(served, key_of(served)) as line:
        line.send(b"\x00" * 1000)
        with contextlib.suppress(ConnectionClosed):
            line.send("x" * 10_000)
        served.until(lambda: served.hosted.host.people[0].sockets.browsers == 0)


def test_a_flood_of_messages_is_cut_off_and_harms_no_game() -> None:
    with (
        served_table() as served,
        opened(served, key_of(served)) as line,
        opened(served, key_of(served)) as other,
    ):
        line.send(json.dumps({"type": "sit"}))
        served.until(lambda: served.hosted.host.playing)
        with contextlib.suppress(ConnectionClosed):
            for number in range(2000):
                other.send(json.dumps({"type": "switch", "name": "no_calls", "on": number % 2 == 0}))
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                other.recv(PATIENCE_S)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "too many messages")
        served.until(lambda: served.hosted.host.people[0].sockets.browsers == 1)
        assert served.hosted.host.playing
        state: dict[str, Any] = {}
        while not state.get("prompt"):
            heard = json.loads(line.recv(PATIENCE_S))
            state = next((m for m in heard if m["type"] == "session"), {}) if isinstance(heard, list) else {}
        before = served.call(lambda: len(served.hosted.host.table.tabletop.events))  # type: ignore[union-attr]
        line.send(json.dumps({"type": "choose", "prompt": state["prompt"]["number"], "choice": 0}))
        served.until(lambda: len(served.hosted.host.table.tabletop.events) > before)  # type: ignore[union-attr]
