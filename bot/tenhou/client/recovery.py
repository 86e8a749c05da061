"""When the client tries again after a failure, how long it waits first, and when it gives up."""

from __future__ import annotations

import asyncio
import random
import ssl
from typing import Final, Literal, TypeAlias

from websockets.exceptions import (
    ConnectionClosed,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    ProxyError,
    WebSocketException,
)

from bot.player.clock import Clock
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.settings import ClientSettings, Waits
from bot.tenhou.messages import ALREADY_CONNECTED
from kit.errors import (
    BotError,
    ConnectionLost,
    LoginRejected,
    NothingListens,
    RemoteProtocolError,
    SessionReplaced,
    StateMismatchError,
    TransportError,
)

Verdict: TypeAlias = Literal["retry", "stop"]

_BUSY_CODES: Final = (ALREADY_CONNECTED, "1021")
"""This player is already connected; the external login server does not respond. Both may be temporary."""
STEADY_S: Final = 60.0
"""A connection that lasted this long was stable."""
FORGIVEN: Final = 12
"""After this many short connections in a row, each further try waits about ten seconds."""
WEARY: Final = 4
_PASSING_STATUS: Final = (408, 425, 429, 500, 502, 503, 504)

_EXPLAINED: Final = {
    ssl.SSLCertVerificationError: "the server's certificate is not valid; check the address and the clock "
    "of this machine",
    ConnectionRefusedError: "the server refused the connection; it may be down or restarting",
    TimeoutError: "the server did not answer in time",
    InvalidMessage: "the server closed the connection during the handshake",
    EOFError: "the server closed the connection during the handshake",
}


class Recovery:
    """Waits between connections, and counts tries in a row.

    Progress resets the count, but only a limited number of times: a connection that keeps breaking shortly
    after the game resumes must not cause a login every second.

    Args:
        settings: the waits.
        journal: logs each failure and each wait.
        clock: measures time.
        rng: randomizes the waits.
        finishing: ends a wait while no game is running.

    Attributes:
        count: tries made so far without progress.
    """

    def __init__(
        self,
        settings: ClientSettings,
        journal: Journal,
        clock: Clock,
        rng: random.Random,
        finishing: asyncio.Event,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._clock = clock
        self._rng = rng
        self._finishing = finishing
        self._pause_s = 0.0
        self.reset()

    def reset(self) -> None:
        """Reset the counts after a connection that ended normally."""
        self.count = self._forgiven = 0

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

    def pause(self, seconds: float) -> None:
        """Wait at least this long before the next try, as the server asked."""
        self._pause_s = seconds

    async def after(self, exc: Exception, *, in_game: bool) -> None:
        """Wait for the next try, or raise the error that ends the run.

        Raises:
            TransportError: the connection, login or seat is lost for good.
        """
        why = explain(exc)
        log = self._journal.log
        if isinstance(exc, ConnectionLost | ConnectionClosed | StateMismatchError):
            log.warning("conn.lost", reason=why, in_game=in_game)
        if isinstance(exc, LoginRejected):
            log.error("login.rejected", reason=why, code=exc.code)
        if isinstance(exc, SessionReplaced):
            log.error("session.replaced", reason=why)
        if process_exception(exc) == "stop":
            raise exc if isinstance(exc, BotError) else TransportError(why) from exc
        waits = self._waits(exc, in_game=in_game)
        if self.count >= waits.tries:
            raise ConnectionLost(f"gave up after {self.count} tries: {why}") from exc
        usual_s = min(waits.longest_s, waits.first_s * waits.growth**self.count)
        wait, self._pause_s = max(usual_s * (0.5 + self._rng.random()), self._pause_s), 0.0
        self.count += 1
        log.info("conn.retry", reason=why, wait_s=round(wait, 2), attempt=self.count, of=waits.tries)
        await self._wait(wait, in_game=in_game)

    def _waits(self, exc: Exception, *, in_game: bool) -> Waits:
        if in_game:
            return self._settings.in_game
        return self._settings.id_busy if isinstance(exc, LoginRejected) else self._settings.at_login

    async def _wait(self, seconds: float, *, in_game: bool) -> None:
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        wish = asyncio.ensure_future(self._finishing.wait())
        try:
            await asyncio.wait({timer} if in_game else {timer, wish}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            wish.cancel()


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


def explain(exc: BaseException) -> str:
    """The problem and, where possible, what to do about it; contains no secret."""
    if isinstance(exc, InvalidStatus):
        return _explain_status(exc.response.status_code)
    if isinstance(exc, ConnectionClosed):
        frame = exc.rcvd or exc.sent
        return f"the connection was closed ({frame.code})" if frame else "the connection broke"
    for kind, words in _EXPLAINED.items():
        if isinstance(exc, kind):
            return words
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
