"""The table's server: who is admitted, and what many connections do to a game."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from bot.table.seat import BROWSERS
from tests.bot.table.scenes import PATIENCE_S, ServedTable, served_table

TOKEN = "0123456789abcdefTOKEN"
SOCKETS = 200


def asked(served: ServedTable, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
    line.putrequest("GET", path, skip_host=True)
    for name, value in ({"host": f"127.0.0.1:{served.port}"} | headers).items():
        line.putheader(name, value)
    line.endheaders()
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


@contextlib.contextmanager
def opened(served: ServedTable, key: str, **options: Any) -> Iterator[ClientConnection]:
    """A connection as a page opens it."""
    options = {"origin": f"http://127.0.0.1:{served.port}", "max_size": None, "close_timeout": 0.1} | options
    with connect(f"ws://127.0.0.1:{served.port}/live?run=&seq=0&seat={key}", **options) as line:
        yield line


def key_of(served: ServedTable, person: int = 0) -> str:
    return served.hosted.host.people[person].key


def test_a_page_needs_the_key_of_its_seat() -> None:
    with served_table(people=("Anna", "Ben")) as served:
        assert key_of(served) != key_of(served, 1)
        for path in (
            "/",
            "/?seat=",
            "/?seat=wrong",
            "/?seat=%F0%9F%80%84",
            "/review/x?seat=" + key_of(served),
        ):
            assert asked(served, path)[0] == 404
        status, headers, body = asked(served, f"/?seat={key_of(served)}")
        assert status == 200
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert key_of(served, 1).encode() not in body
        assert asked(served, "/web/play.js")[0] == 200
        assert asked(served, "/web/../seat.py")[0] == 404
        with pytest.raises(InvalidStatus), opened(served, "wrong"):
            pass
        with opened(served, key_of(served)) as line:
            assert json.loads(line.recv(PATIENCE_S))["type"] == "hello"


def test_other_pages_and_other_names_are_refused() -> None:
    with served_table() as served:
        key = key_of(served)
        assert asked(served, f"/?seat={key}", host="evil.example")[0] == 403
        assert asked(served, f"/?seat={key}", origin="http://evil.example")[0] == 403
        for origin in ("http://evil.example", f"https://127.0.0.1:{served.port}", "null", None):
            with pytest.raises(InvalidStatus), opened(served, key, origin=origin):
                pass
        assert not served.call(lambda: served.hosted.host.people[0].here)


def test_outside_this_machine_a_token_is_required_as_well() -> None:
    with served_table(host="0.0.0.0", token=TOKEN) as served:
        key = key_of(served)
        assert asked(served, f"/?seat={key}")[0] == 403
        assert asked(served, f"/?seat={key}&token=wrong")[0] == 403
        with pytest.raises(InvalidStatus), opened(served, key):
            pass
        link = urlsplit(served.links[0])
        status, headers, _ = asked(served, f"{link.path}?{link.query}")
        assert status == 303
        assert headers["location"] == f"/?seat={key}"
        cookie = headers["set-cookie"].split(";")[0]
        assert asked(served, headers["location"], cookie=cookie)[0] == 200
        with opened(served, key, additional_headers={"cookie": cookie}) as line:
            assert json.loads(line.recv(PATIENCE_S))["type"] == "hello"


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
