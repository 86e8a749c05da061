"""The dashboard's thread: a web server with its own event loop, for which the game never waits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog
import uvicorn
from anyio.to_thread import current_default_thread_limiter

from bot.config.settings import Config
from bot.config.settings import Dashboard as Settings
from bot.dashboard.access import TOKEN, Access, is_loopback, new_token
from bot.dashboard.app import BrowserSockets, make_app
from bot.dashboard.connections import Connections, Limits, SeldomLogged
from bot.dashboard.feed import Feed
from bot.dashboard.learning import LearningPump
from bot.dashboard.protocols import CLOSE_S, HttpConnection, WebSocketConnection
from bot.dashboard.pump import About, Pump
from bot.dashboard.series import SeriesPump
from bot.dashboard.show import Show
from bot.logs.redaction import REDACTOR
from game.errors import ConfigError

LEAST_TOKEN: Final = 16
FAREWELL_S: Final = 1.5
"""Time at the end of a run for browsers to receive the last messages."""
STOP_S: Final = 5.0
PACE_S: Final = 0.03
"""Items within this time are sent together."""
SEND_BUFFER: Final = 256 * 1024
"""Send buffer per browser, in bytes; the system's default would be megabytes."""
BACKLOG: Final = 32
"""Connections that the system queues until they are accepted; a page opens six at a time."""
ANSWERING: Final = 4
"""Requests answered at a time; each reads files, and takes time from the game."""

_UVICORN_LOGS: Final = SeldomLogged()

log = structlog.get_logger(__name__)


class DashboardServer:
    """A web server in its own thread; a context manager that holds its port.

    Args:
        settings: address and port.
        folder: folder of the past games.
        about: the session.
        feed: items from the running game; None if no game is played.
        token: the required token, "" to admit everyone who can reach the address.
        limits: for browsers.

    Raises:
        ConfigError: it cannot listen on the address.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        about: About,
        feed: Feed | None = None,
        *,
        token: str = "",
        limits: Limits | None = None,
    ) -> None:
        self._folder = folder
        self._about = about
        self._feed = feed
        self._token = token
        self._limits = limits or Limits()
        self._host = settings.host
        self._socket = _listen(settings)
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """The address of the page, without the token."""
        host = "localhost" if self._host in ("0.0.0.0", "::") else self._host  # noqa: S104 - compared
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def link(self) -> str:
        """The address of the page, with the token if there is one; it is then a secret."""
        return self.url + (f"?{TOKEN}={self._token}" if self._token else "")

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(STOP_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_S)
        self._socket.close()

    def wait(self) -> None:
        """Wait until the server has ended; by itself it ends only after a fault."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    # --- on the thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:  # task root: the game goes on without the dashboard
            log.exception("dashboard.failed", until="the end of the run nothing is shown")
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()
        show = Show(self._about.program)
        watching = BrowserSockets(show, self._limits) if self._feed else None
        access = Access(self._host, self.port, self._token)
        config = _server_config(make_app(access, self._folder, self._about, watching), self._limits)
        server, connections = uvicorn.Server(config), Connections(self._limits)
        current_default_thread_limiter().total_tokens = ANSWERING
        serving = asyncio.create_task(server.serve(sockets=[]))  # we pass accepted connections to it
        accepting = asyncio.create_task(
            connections.serve(self._socket, lambda: HttpConnection(connections, config, server.server_state))
        )
        following = asyncio.create_task(self._follow(self._feed, show)) if self._feed else None
        self._ready.set()
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait({serving, accepting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if following is not None and watching is not None:
            await following
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_S):
                    await watching.all_have_seen()
        accepting.cancel()
        server.should_exit = True
        self._loop.call_later(CLOSE_S / 2, connections.abort)
        await serving
        with contextlib.suppress(asyncio.CancelledError):
            await accepting

    async def _follow(self, feed: Feed, show: Show) -> None:
        """Show items of the game until the end."""
        assert self._stop is not None
        assert self._loop is not None
        pump, loop, news = self._pump(feed, show), self._loop, asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the game outlives its dashboard
                loop.call_soon_threadsafe(news.set)

        feed.on_put(wake)
        stopping = asyncio.create_task(self._stop.wait())
        try:
            while not self._stop.is_set():
                pump.work()
                coming = asyncio.create_task(news.wait())
                await asyncio.wait({coming, stopping}, return_when=asyncio.FIRST_COMPLETED)
                coming.cancel()
                news.clear()
                await asyncio.sleep(PACE_S)
        finally:
            feed.on_put(None)
            pump.end()

    def _pump(self, feed: Feed, show: Show) -> Pump | SeriesPump | LearningPump:
        about = self._about
        if about.shows == "series":
            return SeriesPump(feed, show, has_past=about.has_past)
        if about.shows == "learning":
            return LearningPump(feed, show)
        return Pump(feed, show, about)


def open_dashboard(
    config: Config, environment: Mapping[str, str], about: About, feed: Feed | None
) -> DashboardServer:
    """The dashboard as configured; prints its link, the only place where the token is shown.

    Raises:
        ConfigError: it cannot listen on the address, or the token is invalid.
    """
    settings = config.dashboard
    token = _token(settings, environment)
    dashboard = DashboardServer(settings, config.records.folder, about, feed, token=token)
    shown = dashboard.url if settings.token_env else dashboard.link
    sys.stderr.write(f"dashboard: {shown}\n")
    return dashboard


def _token(settings: Settings, environment: Mapping[str, str]) -> str:
    if settings.token_env:
        token = environment.get(settings.token_env, "")
        if len(token) < LEAST_TOKEN or not token.isascii() or not token.isalnum():
            raise ConfigError(
                f"dashboard.token_env: the environment variable {settings.token_env} must hold at least "
                f"{LEAST_TOKEN} letters and digits (its value is not shown here)"
            )
    elif is_loopback(settings.host):
        return ""
    else:
        token = new_token()
    REDACTOR.register(token)
    return token


def _listen(settings: Settings) -> socket.socket:
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
            f"dashboard.host: {settings.host!r} is not an address of this machine: {exc}"
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
            f"dashboard.port: cannot listen on {settings.host} port {settings.port} ({exc.strerror}); "
            "set another dashboard.port, or 0 for a free one"
        ) from exc
    listening.setblocking(False)
    return listening


def _server_config(app: object, limits: Limits) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_UVICORN_LOGS)
    config = uvicorn.Config(
        app,  # type: ignore[arg-type] # an ASGI application, as Starlette types them
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
