"""Serving pages: the port, who is admitted to it, and the server on a running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final, Protocol

import structlog
import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp

from bot.dashboard.access import TOKEN, Access, is_loopback, new_token
from bot.dashboard.connections import (
    CLOSE_S,
    Connections,
    Limits,
    ListeningSocket,
    OncePerMinute,
    OncePerMinuteFilter,
    PeerWaits,
)
from bot.logs.redaction import REDACTOR
from kit.errors import ConfigError

LEAST_TOKEN: Final = 16
SEND_BUFFER: Final = 256 * 1024
"""Send buffer per browser, in bytes; the system's default would be megabytes."""
BACKLOG: Final = 32
"""Connections that the system queues until they are accepted; a page opens six at a time."""
LARGEST_HEAD: Final = 16 * 1024
"""Bytes of a request's first line and headers."""
LARGEST_MESSAGE: Final = 4096
"""Bytes of a message that a browser sends on a WebSocket."""
IDLE_S: Final = 5
"""Time that a connection stays open between two requests."""
ANSWERING: Final = 4
"""Requests answered at a time; each reads files, and takes time from the game."""

_NO_MORE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""Errors after which asyncio waits a second before it accepts again."""
_UVICORN_LOGS: Final = OncePerMinuteFilter()

log = structlog.get_logger(__name__)


class PageAddress(Protocol):
    """The settings of a page: where it is served, and to whom."""

    @property
    def host(self) -> str:
        """An address of this machine."""

    @property
    def port(self) -> int:
        """0 for any free port."""

    @property
    def token_env(self) -> str:
        """Name of the environment variable with the token, "" for none."""


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
    connections = port.socket.connections = Connections(limits.connections)
    server = _QuietServer(_server_config(PeerWaits(app, connections), limits))
    current_default_thread_limiter().total_tokens = ANSWERING
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_AcceptErrors(port.socket))
    answering = asyncio.create_task(server.serve(sockets=[port.socket]))
    try:
        yield answering
    finally:
        server.should_exit = True
        loop.call_later(CLOSE_S / 2, connections.drop_all)
        await answering
        loop.set_exception_handler(None)


class _AcceptErrors:
    """Handles errors of an event loop: connections that cannot be accepted are logged once a minute.

    Args:
        listening: the socket that accepts them.
    """

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._crowded = OncePerMinute()

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NO_MORE:
            if times := self._crowded.due():
                log.warning(
                    "dashboard.crowded",
                    times=times,
                    reason=error.strerror,
                    hint="further connections wait; those without requests are closed first",
                )
        elif not (isinstance(error, ValueError) and self._listening.fileno() < 0):
            # asyncio tries again to accept from a socket that has been closed in the meantime
            loop.default_exception_handler(context)


class _QuietServer(uvicorn.Server):
    """uvicorn's server, which leaves the signals to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


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
        token = new_token()
    REDACTOR.register(token)
    return token


def _listen(section: str, settings: PageAddress) -> ListeningSocket:
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
    listening = ListeningSocket(family, kind)
    try:
        if os.name == "posix":  # on other systems it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)  # for accepted connections too
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as exc:
        listening.close()
        raise ConfigError(
            f"{section}.port: cannot listen on {settings.host} port {settings.port} ({exc.strerror}); "
            f"set another {section}.port, or 0 for a free one"
        ) from exc
    listening.setblocking(False)
    return listening


def _server_config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_UVICORN_LOGS)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="websockets-sansio",
        backlog=BACKLOG,
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
