"""The dashboard's thread: its pages, and the task that follows the game, which never waits for either."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from bot.config.settings import Config, DecisionSection
from bot.config.settings import Dashboard as Settings
from bot.dashboard.feed import (
    Adapting,
    Began,
    DecisionSent,
    Feed,
    Finished,
    Item,
    LineStateChanged,
    Lost,
    Missed,
)
from bot.dashboard.game_messages import GameMessages
from bot.dashboard.guesses import HandGuesses, HandQuestion
from bot.dashboard.past import PastReviews, games_shown, replay_of
from bot.dashboard.session import SessionFacts
from bot.logs.redaction import clean_text
from bot.terminal.result import EXIT_DONE, EXIT_FAILED
from bot.web.access import Access
from bot.web.limits import Limits
from bot.web.message_log import MessageLog
from bot.web.pages import page_app, page_of
from bot.web.serving import PagePort, serving, token_of
from bot.web.sockets import BrowserSockets
from kit.distribution import program_name
from kit.errors import ReplayError

log = structlog.get_logger(__name__)


class SessionInfo(msgspec.Struct, frozen=True):
    """The constant facts of a session.

    Attributes:
        program: name and version.
        policy: name of the policy that plays.
        budget_ms: per decision.
        wanted: number of games to play.
    """

    program: str
    policy: str = ""
    budget_ms: int = 0
    wanted: int = 0


class Pump:
    """Passes items from the feed to the message log.

    Args:
        feed: items from the game.
        message_log: messages for the browsers.
        about: the session.
        ask: called with every decision, to find out what the opponents may hold.
    """

    def __init__(
        self,
        feed: Feed,
        message_log: MessageLog,
        about: SessionInfo,
        ask: Callable[[HandQuestion], None] | None = None,
    ) -> None:
        self._feed = feed
        self._log = message_log
        fixed = msgspec.structs.asdict(about)
        self._messages = GameMessages(message_log.send, fixed.pop("program"), about.policy, ask)
        self._facts = SessionFacts(fixed)
        self._log.session(self._facts.facts())

    def work(self) -> None:
        """Show all new items."""
        items = self._feed.take()
        for item in items:
            try:
                self._take(item)
            except Exception:  # worker loop: on an error, show nothing until the next game
                log.exception("dashboard.failed", until="the next game; nothing is shown")
                self._messages.running = False
        if items:
            self._log.session(self._facts.facts())

    def end(self) -> None:
        """End the session."""
        self.work()
        self._facts.line = "over"
        self._log.session(self._facts.facts())
        self._log.end()

    def _take(self, item: Item) -> None:
        self._messages.take(item)
        match item:
            case Began():
                self._facts.line = "playing"
                self._facts.began(item)
            case DecisionSent():
                self._facts.decided(item)
            case Adapting(status):
                self._facts.adaptation = status
            case Finished():
                self._facts.line = "waiting"
                self._facts.finished(item)
            case Missed():
                self._facts.missed += 1
                self._messages.running = False
            case Lost():
                self._messages.running = False
            case LineStateChanged(state):
                self._facts.line = "playing" if state == "open" and self._messages.running else state


def show_past(config: Config, environment: Mapping[str, str]) -> int:
    """Serve until Ctrl-C; return the exit code.

    Raises:
        ConfigError: the server cannot listen on the configured address.
    """
    with open_dashboard(config, environment, SessionInfo(program=program_name()), None) as dashboard:
        try:
            dashboard.wait()
        except KeyboardInterrupt:
            return EXIT_DONE
    return EXIT_FAILED


def make_app(
    access: Access, folder: Path, program: str, watching: BrowserSockets | None, decision: DecisionSection
) -> ASGIApp:
    """The application. It is read-only: there are no forms, and messages from the browser are ignored.

    Args:
        access: the access rules.
        folder: folder of the past games.
        program: name and version of the program.
        watching: serves the WebSocket; None if no game is played.
        decision: how reviews compute, and what places are worth.
    """

    def home(_: Request) -> Response:
        return page_of("live", "live.js", {}) if watching else RedirectResponse("/games", 303)

    def listing(_: Request) -> Response:
        try:
            return page_of("past", "past.js", games_shown(folder, program) | {"live": watching is not None})
        except ReplayError as exc:
            return _sorry(exc, 503)  # the request is right, the folder is not

    def replay(request: Request) -> Response:
        try:
            shown = replay_of(folder, request.path_params["game_id"], program)
        except ReplayError as exc:
            return _sorry(exc, 404)
        return page_of("review", "replay.js", shown)

    async def review(request: Request) -> Response:
        try:
            made = await reviews.of(request.path_params["game_id"])
        except ReplayError as exc:
            return _sorry(exc, 404)
        return page_of("review", "main.js", made)

    reviews = PastReviews(folder, decision)
    routes = [Route("/", home), Route("/games", listing), Route("/games/{game_id}", replay)]
    routes.append(Route("/games/{game_id}/review", review))
    sockets = [WebSocketRoute("/live", watching.watch)] if watching else []
    return page_app(access, "bot.dashboard", [*routes, *sockets])


def _sorry(exc: ReplayError, status: int) -> Response:
    return PlainTextResponse(f"{clean_text(str(exc))}\n", status)


FAREWELL_S: Final = 1.5
"""Time at the end of a run for browsers to receive the last messages."""
STOP_S: Final = 5.0
PACE_S: Final = 0.03
"""Items within this time are sent together."""


class DashboardServer:
    """A web server in its own thread; a context manager that holds its port.

    Args:
        settings: of the page.
        folder: folder of the past games.
        about: the session.
        feed: items from the running game; None if no game is played.
        token: the required token, "" to admit everyone who can reach the address.
        limits: for browsers.
        decision: how reviews compute, and what places are worth.

    Attributes:
        feed: the same.
        port: its number.
        url: the address of the page, without the token.
        link: the same with the token if there is one; it is then a secret.

    Raises:
        ConfigError: it cannot listen on the address.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        about: SessionInfo,
        feed: Feed | None = None,
        *,
        token: str = "",
        limits: Limits | None = None,
        decision: DecisionSection | None = None,
    ) -> None:
        self._folder = folder
        self._decision = decision or DecisionSection()
        self._candidates = settings.candidates
        self._about = about
        self.feed = feed
        self._limits = limits or Limits()
        self._page_port = PagePort("dashboard", settings, token)
        self.port, self.url, self.link = self._page_port.port, self._page_port.url, self._page_port.link
        self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)
        self._stop: asyncio.Event | None = None
        self._over: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(STOP_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._set(self._stop)
        self._thread.join(STOP_S)
        self._page_port.close()

    def stay(self) -> None:
        """Show that the run is over, and serve its page until Ctrl-C."""
        self._set(self._over)
        sys.stderr.write("dashboard: the run is over; the page stays open until you press Ctrl-C\n")
        with contextlib.suppress(KeyboardInterrupt):
            self.wait()

    def _set(self, event: asyncio.Event | None) -> None:
        if self._loop is not None and event is not None:
            with contextlib.suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(event.set)

    def wait(self) -> None:
        """Wait until the server has ended; by itself it ends only after a fault."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    # --- on the thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:  # task root: the game goes on without the dashboard
            log.exception("dashboard.failed", until="the end of the run; nothing is shown")
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._stop, self._over = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        message_log = MessageLog(self._about.program)
        watching = BrowserSockets(message_log, self._limits) if self.feed else None
        app = make_app(self._page_port.access, self._folder, self._about.program, watching, self._decision)
        async with serving(self._page_port, app, self._limits) as ending:
            following = asyncio.create_task(self._follow(self.feed, message_log)) if self.feed else None
            self._ready.set()
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait({ending, stopping}, return_when=asyncio.FIRST_COMPLETED)
            self._over.set()
            if following is not None and watching is not None:
                await following
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(FAREWELL_S):
                        await watching.all_have_seen()

    async def _follow(self, feed: Feed, message_log: MessageLog) -> None:
        """Show items of the game until the run is over."""
        assert self._over is not None
        assert self._loop is not None
        guesses = HandGuesses(self._candidates, feed.put) if self._candidates else None
        pump = Pump(feed, message_log, self._about, guesses.ask if guesses else None)
        loop, news = self._loop, asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the game outlives its dashboard
                loop.call_soon_threadsafe(news.set)

        feed.on_put(wake)
        ending = asyncio.create_task(self._over.wait())
        try:
            while not self._over.is_set():
                pump.work()
                coming = asyncio.create_task(news.wait())
                await asyncio.wait({coming, ending}, return_when=asyncio.FIRST_COMPLETED)
                coming.cancel()
                news.clear()
                await asyncio.sleep(PACE_S)
        finally:
            feed.on_put(None)
            if guesses is not None:
                guesses.close()
            pump.end()


def open_dashboard(
    config: Config, environment: Mapping[str, str], about: SessionInfo, feed: Feed | None
) -> DashboardServer:
    """The dashboard as configured; prints its link, the only place where the token is shown.

    Raises:
        ConfigError: it cannot listen on the address, or the token is invalid.
    """
    settings = config.dashboard
    token = token_of("dashboard", settings, environment)
    dashboard = DashboardServer(
        settings, config.records.folder, about, feed, token=token, decision=config.decision
    )
    shown = dashboard.url if settings.token_env else dashboard.link
    sys.stderr.write(f"dashboard: {shown}\n")
    return dashboard
