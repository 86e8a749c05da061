from __future__ import annotations

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

from bot.tenhou.client.retry import (
    AT_LOGIN,
    ID_BUSY,
    IN_GAME,
    Retries,
    Waits,
    explain,
    process_exception,
    wait_s,
)
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


@pytest.mark.parametrize("exc", RETRY, ids=repr)
def test_passing_failures_are_tried_again(exc: BaseException) -> None:
    assert process_exception(exc) == "retry"


@pytest.mark.parametrize("exc", STOP, ids=repr)
def test_lasting_failures_stop(exc: BaseException) -> None:
    assert process_exception(exc) == "stop"


@pytest.mark.parametrize("exc", RETRY + STOP, ids=repr)
def test_every_failure_is_explained_in_words(exc: BaseException) -> None:
    assert len(explain(exc)) > 3
    assert "\n" not in explain(exc)


def test_waits_grow_up_to_their_longest() -> None:
    waits = [wait_s(AT_LOGIN, tried, 0.5) for tried in range(AT_LOGIN.tries)]
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert waits == sorted(waits)  # type: ignore[type-var]
    assert waits[-1] == AT_LOGIN.longest_s


@pytest.mark.parametrize("waits", [IN_GAME, AT_LOGIN, ID_BUSY])
def test_tries_are_bounded(waits: Waits) -> None:
    assert wait_s(waits, waits.tries - 1, 0.0) is not None
    assert wait_s(waits, waits.tries, 0.0) is None
    assert wait_s(Waits(1.0, 2.0, 10.0, 10**6), 5000, 0.0) == 5.0  # no overflow for large counts


def broken(tries: Retries, *, progress: bool, lasted_s: float = 0.5) -> int:
    tries.line_ended(progress=progress, lasted_s=lasted_s)
    count = tries.count
    tries.count += 1
    return count


def test_progress_forgives_the_tries_before_it() -> None:
    tries = Retries()
    assert [broken(tries, progress=False) for _ in range(4)] == [0, 1, 2, 3]
    assert broken(tries, progress=True) == 0


def test_a_line_that_lasted_makes_good_for_those_before() -> None:
    tries = Retries()
    for _ in range(40):
        broken(tries, progress=True)
    assert broken(tries, progress=True, lasted_s=120) == 0
