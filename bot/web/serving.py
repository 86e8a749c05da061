"""Serving pages: the port, who is admitted to it, and the server on a running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias

import structlog
import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.config.settings import Dashboard, TablePage
from bot.logs.redaction import REDACTOR
from bot.logs.setup import RateLimit
from bot.web.access import TOKEN, Access, is_loopback
from bot.web.limits import Limits
from kit.errors import ConfigError

LEAST_TOKEN: Final = 16
TOKEN_BYTES: Final = 24
SEND_BUFFER: Final = 256 * 1024
"""Send buffer per browser, in bytes; the system's default would be megabytes."""
BACKLOG: Final = 32
"""Connections that the system queues until they are accepted; a page opens six at a time."""
ACCEPTED: Final = 2
"""Connections accepted at a time; few, as some three times as many are open before the first is counted."""
LARGEST_HEAD: Final = 16 * 1024
"""Bytes of a request's first line and headers."""
LARGEST_MESSAGE: Final = 4096
"""Bytes of a message that a browser sends on a WebSocket."""
IDLE_S: Final = 5
"""Time that a connection stays open between two requests."""
CLOSE_S: Final = 1.0
"""Time at the end to read the last responses and messages."""
ANSWERING: Final = 4
"""Requests answered at a time; each reads files, and takes time from the game."""

_NO_MORE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Errors after which asyncio waits a second before it accepts again."""
_TICKS_PER_S: Final = 10
"""How often uvicorn calls `on_tick`."""
PageAddress: TypeAlias = Dashboard | TablePage
"""The settings of a page: where it is served, and to whom."""

_SELDOM: Final = RateLimit(limit=1)
"""Of log lines about events that can happen a thousand times a second, one a minute."""

log = structlog.get_logger(__name__)


class PagePort:
    """A port that listens for browsers.

    Args:
        section: the section of the configuration, for messages.
        settings: address and port.
        token: the required token, "" to admit everyone who can reach the address.

    Attributes:
        port: its number.

    Raises:
        ConfigError: it cannot listen on the address.
    """

    def __init__(self, section: str, settings: PageAddress, token: str = "") -> None:
        self._host = settings.host
        self._token = token
        self.socket = _listen(section, settings)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """The address of the page, without the token."""
        host = "localhost" if self._host in ("0.0.0.0", "::") else self._host  # noqa: S104 - compared
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def link(self) -> str:
        """The address of the page, with the token if there is one; it is then a secret."""
        return self.url + (f"?{TOKEN}={self._token}" if self._token else "")

    @property
    def access(self) -> Access:
        """Who is admitted."""
        return Access(self._host, self.port, self._token)

    def close(self) -> None:
        """Stop listening."""
        self.socket.close()


@contextlib.asynccontextmanager
async def serving(port: PagePort, app: ASGIApp, limits: Limits) -> AsyncIterator[asyncio.Task[None]]:
    """Serve an application on the running loop; yields the task that does, which ends only after a fault.

    Args:
        port: listens for browsers.
        app: the application.
        limits: for browsers.
    """
    server = _PageServer(_server_config(app, limits), limits)
    current_default_thread_limiter().total_tokens = ANSWERING
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(functools.partial(_log_error, port.socket))
    answering = asyncio.create_task(server.serve(sockets=[port.socket]))
    try:
        yield answering
    finally:
        server.should_exit = True
        loop.call_later(CLOSE_S, server.drop, server.server_state.connections)
        await answering
        loop.set_exception_handler(None)


class _PageConnection(H11Protocol):
    """uvicorn's connection, closed at once if there are too many; uvicorn itself waits for their requests."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Note a new connection."""
        super().connection_made(transport)
        assert self.limit_concurrency is not None
        if len(self.connections) > self.limit_concurrency:
            transport.abort()
            _log_crowd(f"{self.limit_concurrency} connections are open")


class _PageServer(uvicorn.Server):
    """uvicorn's server; drops peers that neither send nor read, and leaves the signals to the program."""

    def __init__(self, config: uvicorn.Config, limits: Limits) -> None:
        super().__init__(config)
        self._ticks = round(limits.message_s * _TICKS_PER_S)
        self._waiting: dict[Any, int] = {}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections; asyncio would queue only as many as it accepts at a time."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def on_tick(self, counter: int) -> bool:
        """Every `message_s`, drop the connections whose peers have sent and read nothing since then."""
        if counter % self._ticks == 0:
            waiting = {
                each: unread
                for each in self.server_state.connections
                if (unread := each.transport.get_write_buffer_size()) or _expects_request(each)
            }
            self.drop([each for each, unread in waiting.items() if self._waiting.get(each) == unread])
            self._waiting = waiting
        return await super().on_tick(counter)

    def drop(self, connections: Collection[Any]) -> None:
        """Drop connections, whatever their peers have yet to read."""
        for each in connections:
            each.transport.abort()


def _expects_request(connection: object) -> bool:
    """Whether a connection waits for a request or for the rest of one."""
    if not isinstance(connection, H11Protocol):
        return False
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or cycle.more_body


def _log_error(listening: socket.socket, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error of the event loop; those for want of descriptors once a minute."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in _NO_MORE:
        _log_crowd(str(error.strerror))
    elif not (isinstance(error, ValueError) and listening.fileno() < 0):
        # asyncio tries again to accept from a socket that has been closed in the meantime
        loop.default_exception_handler(context)


def _log_crowd(reason: str) -> None:
    if (unsaid := _SELDOM.admit("crowded")) is not None:
        log.warning("dashboard.crowded", times=unsaid + 1, reason=reason, hint="no others until some end")


def _is_due(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn's is due."""
    return _SELDOM.admit(f"{record.pathname}:{record.lineno}") is not None


def token_of(section: str, settings: PageAddress, environment: Mapping[str, str]) -> str:
    """The token that a page requires as configured, "" for none.

    Raises:
        ConfigError: the token in the environment is invalid.
    """
    if settings.token_env:
        token = environment.get(settings.token_env, "")
        if len(token) < LEAST_TOKEN or not token.isascii() or not token.isalnum():
            raise ConfigError(
                f"{section}.token_env: the environment variable {settings.token_env} must hold at least "
                f"{LEAST_TOKEN} letters and digits (its value is not shown here)"
            )
    elif is_loopback(settings.host):
        return ""
    else:
        token = secrets.token_urlsafe(TOKEN_BYTES)
    REDACTOR.register(token)
    return token


def _listen(section: str, settings: PageAddress) -> socket.socket:
    """A socket that listens on the configured address.

    Raises:
        ConfigError: it cannot listen there.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as exc:
        raise ConfigError(
            f"{section}.host: {settings.host!r} is not an address of this machine: {exc}"
        ) from exc
    listening = socket.socket(family, kind)
    try:
        if os.name == "posix":  # on other systems it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)  # for accepted connections too
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as exc:
        listening.close()
        if exc.errno == errno.EADDRNOTAVAIL:
            raise ConfigError(f"{section}.host: {settings.host!r} is not an address of this machine") from exc
        raise ConfigError(
            f"{section}.port: cannot listen on {settings.host} port {settings.port} ({exc.strerror}); "
            f"set another {section}.port, or 0 for a free one"
        ) from exc
    listening.setblocking(False)
    return listening


def _server_config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_is_due)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=_PageConnection,
        ws="websockets-sansio",
        backlog=ACCEPTED,
        limit_concurrency=limits.connections,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_keep_alive=IDLE_S,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=limits.ping_s,
        ws_ping_timeout=limits.ping_s,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,  # addresses may contain a token
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    config.load()
    return config
