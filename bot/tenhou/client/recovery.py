"""Recovery of the client from a failure: wait for the next try, or give up."""

from __future__ import annotations

import asyncio
import random

from websockets.exceptions import ConnectionClosed

from bot.player.clock import Clock
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.retry import Waits, explain, process_exception, wait_s
from bot.tenhou.client.settings import ClientSettings
from kit.errors import (
    BotError,
    ConnectionLost,
    LoginRejected,
    SessionReplaced,
    StateMismatchError,
    TransportError,
)


class Recovery:
    """Waits between connections.

    Args:
        settings: the waits.
        journal: logs each failure and each wait.
        clock: measures time.
        rng: randomizes the waits.
        finishing: ends a wait while no game is running.
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

    def pause(self, seconds: float) -> None:
        """Wait at least this long before the next try, as the server asked."""
        self._pause_s = seconds

    async def after(self, exc: Exception, tried: int, *, in_game: bool) -> None:
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
        wait = wait_s(waits, tried, self._rng.random())
        if wait is None:
            raise ConnectionLost(f"gave up after {tried} tries: {why}") from exc
        wait, self._pause_s = max(wait, self._pause_s), 0.0
        log.info("conn.retry", reason=why, wait_s=round(wait, 2), attempt=tried + 1, of=waits.tries)
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
