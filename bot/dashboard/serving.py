"""Serving pages: the port, who is admitted to it, and the server on a running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final, Protocol

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp

from bot.dashboard.access import TOKEN, Access, is_loopback, new_token
from bot.dashboard.connections import Connections, Limits, SeldomLogged
from bot.dashboard.protocols import CLOSE_S, HttpConnection, WebSocketConnection
from bot.logs.redaction import REDACTOR
from game.errors import ConfigError

LEAST_TOKEN: Final = 16
SEND_BUFFER: Final = 256 * 1024
"""Send buffer per browser, in bytes; the system's default would be megabytes."""
BACKLOG: Final = 32
"""Connections that the system queues until they are accepted; a page opens six at a time."""
ANSWERING: Final = 4
"""Requests answered at a time; each reads files, and takes time from the game."""

_UVICORN_LOGS: Final = SeldomLogged()


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
async def serving(
    port: PagePort, app: ASGIApp, limits: Limits
) -> AsyncIterator[tuple[asyncio.Task[None], ...]]:
    """Serve an application on the running loop; yields the tasks that do, which end only after a fault.

    Args:
        port: listens for browsers.
        app: the application.
        limits: for browsers.
    """
    config = _server_config(app, limits)
    server, connections = _QuietServer(config), Connections(limits)
    current_default_thread_limiter().total_tokens = ANSWERING
    answering = asyncio.create_task(server.serve(sockets=[]))  # we pass accepted connections to it
    accepting = asyncio.create_task(
        connections.serve(port.socket, lambda: HttpConnection(connections, config, server.server_state))
    )
    try:
        yield answering, accepting
    finally:
        accepting.cancel()
        server.should_exit = True
        asyncio.get_running_loop().call_later(CLOSE_S / 2, connections.abort)
        await answering
        with contextlib.suppress(asyncio.CancelledError):
            await accepting


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
        ws=WebSocketConnection,
        ws_max_size=4096,
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
