"""The browsers connected to one list of messages, over WebSockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.logs.setup import RateLimit
from bot.web.access import POLICY_VIOLATION
from bot.web.limits import Limits
from bot.web.message_log import BrowserPosition, MessageLog
from kit.budget import Budget

_TRY_LATER: Final = 1013
_GOING_AWAY: Final = 1001

log = structlog.get_logger(__name__)


def _ignore(_: object) -> None:
    """Ignore a text from a browser, where pages are read-only."""


class BrowserSockets:
    """The WebSocket endpoint: serves all watching browsers.

    Args:
        message_log: the messages to send.
        limits: number of browsers, and the time they may take.
        on_text: called with each text that a browser sends; it must not raise.
        on_count: called with the number of browsers whenever it changes; it must not raise.
        newest: maximum number of browsers, if not that of the limits; a further one then replaces the one
            connected longest, instead of being refused.
    """

    def __init__(
        self,
        message_log: MessageLog,
        limits: Limits,
        *,
        on_text: Callable[[str], None] = _ignore,
        on_count: Callable[[int], None] = _ignore,
        newest: int | None = None,
    ) -> None:
        self._log = message_log
        self._limits = limits
        self._on_text = on_text
        self._on_count = on_count
        self._newest = newest
        self._logged = RateLimit(limit=1)
        self._watching: dict[WebSocket, BrowserPosition] = {}
        self._leaving: dict[WebSocket, asyncio.Future[tuple[int, str]]] = {}
        self._moved = asyncio.Event()

    @property
    def browsers(self) -> int:
        """The number of watching browsers."""
        return len(self._watching)

    async def watch(self, socket: WebSocket) -> None:
        """Serve one browser until it leaves, is too slow, sends too much, or has received everything."""
        await socket.accept()
        if len(self._watching) >= (self._newest or self._limits.watching):
            if self._newest is None:
                await socket.close(_TRY_LATER)
                return
            self._dismiss(next(iter(self._watching)), _TRY_LATER)
        asked = socket.query_params
        self._watching[socket] = self._log.place(asked.get("run", ""), asked.get("seq", ""))
        leaving = self._leaving[socket] = asyncio.get_running_loop().create_future()
        self._on_count(len(self._watching))
        tasks = {asyncio.ensure_future(self._tell(socket)), asyncio.ensure_future(self._hear(socket))}
        try:
            await asyncio.wait({*tasks, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._forget(socket)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if leaving.done():
            with contextlib.suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                async with asyncio.timeout(self._limits.message_s):
                    await socket.close(*leaving.result())

    async def all_have_seen(self) -> None:
        """Wait until every browser has received everything."""
        while any(not self._log.is_past(place) for place in self._watching.values()):
            self._moved.clear()
            await self._moved.wait()

    def _dismiss(self, socket: WebSocket, code: int, reason: str = "") -> None:
        self._leaving[socket].set_result((code, reason))
        self._forget(socket)

    def _forget(self, socket: WebSocket) -> None:
        self._leaving.pop(socket, None)
        if self._watching.pop(socket, None) is not None:
            self._moved.set()
            self._on_count(len(self._watching))

    async def _tell(self, socket: WebSocket) -> None:
        try:
            await self._send(socket, self._log.greeting())
            while socket in self._watching:
                bell, over = self._log.bell, self._log.over
                text, place = self._log.since(self._watching[socket])
                if text:
                    await self._send(socket, text)
                    if socket in self._watching:
                        self._watching[socket] = place
                    self._moved.set()
                elif over:
                    await socket.close(_GOING_AWAY)
                    return
                else:
                    await bell.wait()
        except TimeoutError:
            if (unsaid := self._logged.admit("slow")) is not None:
                log.info("dashboard.dropped", browsers=unsaid + 1, why="too slow")
        except WebSocketDisconnect:
            pass

    async def _hear(self, socket: WebSocket) -> None:
        """Pass on what the browser sends, until it is gone or sends too much."""
        budget = Budget(self._limits.messages_burst, self._limits.messages_per_s)
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            if socket not in self._watching:
                return
            if not budget.spend():
                if (unsaid := self._logged.admit("flooding")) is not None:
                    log.warning("dashboard.dropped", browsers=unsaid + 1, why="too many messages")
                self._dismiss(socket, POLICY_VIOLATION, "too many messages")
                return
            if (text := message.get("text")) is not None:
                self._on_text(text)

    async def _send(self, socket: WebSocket, text: str) -> None:
        async with asyncio.timeout(self._limits.message_s):
            await socket.send_text(text)
