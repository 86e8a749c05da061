"""When to try again, and how long to wait first: pure functions without sockets or clocks."""

from __future__ import annotations

import ssl
from typing import Final, Literal, TypeAlias

import msgspec
from websockets.exceptions import (
    ConnectionClosed,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    ProxyError,
    WebSocketException,
)

from kit.errors import (
    ConnectionLost,
    LoginRejected,
    NothingListens,
    RemoteProtocolError,
    SessionReplaced,
    StateMismatchError,
)

Verdict: TypeAlias = Literal["retry", "stop"]

CODE_ALREADY_CONNECTED: Final = "1004"
_BUSY_CODES: Final = (CODE_ALREADY_CONNECTED, "1021")
"""This player is already connected; the external login server does not respond. Both may be temporary."""
STEADY_S: Final = 60.0
"""A connection that lasted this long was stable."""
FORGIVEN: Final = 12
"""After this many short connections in a row, each further try waits about ten seconds."""
WEARY: Final = 4
_PASSING_STATUS: Final = (408, 425, 429, 500, 502, 503, 504)


class Waits(msgspec.Struct, frozen=True):
    """How often to try again, and how long to wait before each try.

    Attributes:
        first_s: the wait before the first try, without jitter.
        growth: factor by which each further wait grows.
        longest_s: maximum wait.
        tries: maximum number of tries in a row without progress.
    """

    first_s: float
    growth: float
    longest_s: float
    tries: int


IN_GAME: Final = Waits(first_s=0.6, growth=2.0, longest_s=30.0, tries=20)
"""A game is running: the first try comes within a second, and tries go on for about eight minutes."""
AT_LOGIN: Final = Waits(first_s=2.0, growth=2.0, longest_s=60.0, tries=8)
"""No game is running: about four minutes of tries, at long intervals."""
ID_BUSY: Final = Waits(first_s=5.0, growth=2.0, longest_s=40.0, tries=4)
"""The id is already connected, perhaps by our own connection that the server has not dropped yet."""


def process_exception(exc: BaseException) -> Verdict:
    """Whether to try again after a failure of the connection or the login.

    Unknown failures stop: a bug of ours must not cause a loop of logins.
    """
    if isinstance(exc, LoginRejected):
        return "retry" if exc.code in _BUSY_CODES else "stop"
    if isinstance(exc, SessionReplaced | ssl.SSLCertVerificationError | InvalidURI | ProxyError):
        return "stop"
    if isinstance(exc, InvalidStatus):
        return "retry" if exc.response.status_code in _PASSING_STATUS else "stop"
    if isinstance(
        exc,
        ConnectionLost
        | ConnectionClosed
        | InvalidMessage
        | NothingListens
        | RemoteProtocolError
        | StateMismatchError
        | OSError  # refused, reset, unreachable, name not found, timed out
        | EOFError,
    ):
        return "retry"
    return "stop"


class Retries:
    """Counts tries in a row. Progress resets the count, but only a limited number of times.

    A connection that keeps breaking shortly after the game resumes must not cause a login every second.

    Attributes:
        count: tries made so far without progress.
    """

    def __init__(self) -> None:
        self.count = 0
        self._forgiven = 0

    def line_ended(self, *, progress: bool, lasted_s: float) -> None:
        """Count a lost connection.

        Args:
            progress: whether we were asked for a decision on it.
            lasted_s: how long it was open.
        """
        if lasted_s >= STEADY_S:
            self._forgiven = 0
        if not progress:
            return
        if self._forgiven < FORGIVEN:
            self._forgiven += 1
            self.count = 0
        else:
            self.count = min(self.count, WEARY)


def wait_s(waits: Waits, tried: int, jitter: float) -> float | None:
    """Seconds to wait before the next try.

    Args:
        waits: parameters of the waits.
        tried: tries already made in a row without progress.
        jitter: uniform in [0, 1); varies the wait from half to one and a half times its length.

    Returns:
        The wait, or None to give up.
    """
    if tried >= waits.tries:
        return None
    length = min(waits.longest_s, waits.first_s * waits.growth ** min(tried, 64))
    return length * (0.5 + jitter)


def explain(exc: BaseException) -> str:
    """The problem and, where possible, what to do about it; contains no secret."""
    if isinstance(exc, InvalidStatus):
        return _explain_status(exc.response.status_code)
    if isinstance(exc, ConnectionClosed):
        frame = exc.rcvd or exc.sent
        return f"the connection was closed ({frame.code})" if frame else "the connection broke"
    if isinstance(exc, ssl.SSLCertVerificationError):
        return "the server's certificate is not valid; check the address and the clock of this machine"
    if isinstance(exc, ConnectionRefusedError):
        return "the server refused the connection; it may be down or restarting"
    if isinstance(exc, TimeoutError):
        return "the server did not answer in time"
    if isinstance(exc, InvalidMessage | EOFError):
        return "the server closed the connection during the handshake"
    if isinstance(exc, OSError):
        return f"the server cannot be reached: {exc.strerror or exc}"
    if isinstance(exc, WebSocketException):
        return f"the handshake failed: {type(exc).__name__}"
    return str(exc) or type(exc).__name__


def _explain_status(status: int) -> str:
    if status == 503:
        return "the server is down for maintenance (HTTP 503); try again later"
    if status in (401, 403):
        return f"the server refused access (HTTP {status})"
    return f"the server answered HTTP {status} instead of opening a WebSocket"
