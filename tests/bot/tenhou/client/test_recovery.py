from __future__ import annotations

import asyncio
import random
import socket
import ssl

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import (
    ConnectionClosedError,
    ConnectionClosedOK,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
)
from websockets.frames import Close
from websockets.http11 import Response

from bot.player.clock import MonotonicClock
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.recovery import Recovery, explain, process_exception
from bot.tenhou.client.settings import ClientSettings
from kit.errors import (
    ConnectionLost,
    LocalProtocolError,
    LoginRejected,
    NotAllowed,
    NothingListens,
    RemoteProtocolError,
    SessionReplaced,
    StateMismatchError,
)


def status(code: int) -> InvalidStatus:
    return InvalidStatus(Response(code, "", Headers(), b""))


RETRY = [
    ConnectionLost("silent"),
    ConnectionRefusedError(111, "Connection refused"),
    NothingListens("start a lobby"),
    ConnectionResetError(104, "reset"),
    TimeoutError(),
    socket.gaierror(-2, "Name or service not known"),
    EOFError(),
    InvalidMessage("did not receive a valid HTTP response"),
    ConnectionClosedOK(Close(1000, ""), Close(1000, ""), True),
    ConnectionClosedError(Close(1011, "ping timed out"), None),
    ConnectionClosedError(None, None),
    ssl.SSLError(1, "record layer failure"),
    RemoteProtocolError("not JSON", "{"),
    StateMismatchError("no such tile"),
    LoginRejected("already connected", code="1004"),
    LoginRejected("external login server silent", code="1021"),
    status(429),
    status(500),
    status(502),
    status(503),
    status(504),
]
STOP = [
    NotAllowed("this is Tenhou"),
    SessionReplaced("logged in elsewhere"),
    LoginRejected("id invalid", code="1003"),
    LoginRejected("name belongs to an id", code="1002"),
    LoginRejected("no code"),
    ssl.SSLCertVerificationError(1, "self-signed"),
    InvalidURI("x", "not a WebSocket address"),
    status(301),
    status(400),
    status(403),
    status(404),
    LocalProtocolError("our mistake"),
    ValueError("a bug"),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize(
    ("exc", "verdict"),
    [*((exc, "retry") for exc in RETRY), *((exc, "stop") for exc in STOP)],
    ids=lambda value: repr(value) if isinstance(value, BaseException) else "",
)
def test_passing_failures_are_tried_again_lasting_ones_stop_and_all_are_explained(
    exc: BaseException, verdict: str
) -> None:
    assert process_exception(exc) == verdict
    assert len(explain(exc)) > 3
    assert "\n" not in explain(exc)


def test_a_line_that_lasted_makes_good_for_those_before() -> None:
    settings = ClientSettings(urls=())
    tries = Recovery(settings, Journal(), MonotonicClock(), random.Random(1), asyncio.Event())
    for _ in range(40):
        tries.line_ended(progress=True, lasted_s=0.5)
        tries.count += 1
    assert tries.count > 1
    tries.line_ended(progress=True, lasted_s=120)
    assert tries.count == 0
