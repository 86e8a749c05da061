"""The web application: pages, their files, and the WebSocket for watching a game.

It is read-only: there are no forms, and messages from the browser on the socket are ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Final

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.dashboard.access import Access, RequestGuard
from bot.dashboard.connections import Limits, Seldom
from bot.dashboard.past import as_json, games_shown, replay_of
from bot.dashboard.pump import About
from bot.dashboard.show import BrowserPosition, Show
from bot.logs.redaction import clean_text
from game.errors import ReplayError
from replays.viewer.page import WEB, embed, styles

OWN: Final = files("bot.dashboard") / "web"
PAGES: Final = ("live.js", "series.js", "past.js", "replay.js")
MODULES: Final = (
    *PAGES,
    "line.js",
    "status.js",
    "session.js",
    "ladder.js",
    "learning.js",
    "chart.js",
    "texts.js",
)
_TRY_LATER: Final = 1013
_GOING_AWAY: Final = 1001

log = structlog.get_logger(__name__)


class BrowserSockets:
    """The WebSocket endpoint: serves all watching browsers.

    Args:
        show: the messages to send.
        limits: number of browsers, and the time they may take.
    """

    def __init__(self, show: Show, limits: Limits) -> None:
        self._show = show
        self._limits = limits
        self._slow = Seldom()
        self._watching: dict[WebSocket, BrowserPosition] = {}
        self._moved = asyncio.Event()

    async def watch(self, socket: WebSocket) -> None:
        """Serve one browser until it leaves, is too slow, or there is nothing more to send."""
        await socket.accept()
        if len(self._watching) >= self._limits.watching:
            await socket.close(_TRY_LATER)
            return
        asked = socket.query_params
        self._watching[socket] = self._show.place(asked.get("run", ""), asked.get("seq", ""))
        tasks = {asyncio.ensure_future(self._tell(socket)), asyncio.ensure_future(_until_gone(socket))}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._watching[socket]
            self._moved.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def all_have_seen(self) -> None:
        """Wait until every browser has received everything."""
        while any(not self._show.is_past(place) for place in self._watching.values()):
            self._moved.clear()
            await self._moved.wait()

    async def _tell(self, socket: WebSocket) -> None:
        try:
            await self._send(socket, self._show.greeting())
            while True:
                bell, over = self._show.bell, self._show.over
                text, place = self._show.since(self._watching[socket])
                if text:
                    await self._send(socket, text)
                    self._watching[socket] = place
                    self._moved.set()
                elif over:
                    await socket.close(_GOING_AWAY)
                    return
                else:
                    await bell.wait()
        except TimeoutError:
            if dropped := self._slow.due():
                log.info("dashboard.dropped", browsers=dropped, why="too slow")
        except WebSocketDisconnect:
            pass

    async def _send(self, socket: WebSocket, text: str) -> None:
        async with asyncio.timeout(self._limits.message_s):
            await socket.send_text(text)


async def _until_gone(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def make_app(access: Access, folder: Path, about: About, watching: BrowserSockets | None) -> ASGIApp:
    """The application.

    Args:
        access: the access rules.
        folder: folder of the past games.
        about: the session.
        watching: serves the WebSocket; None if no game is played.
    """
    program = about.program
    home = _page("live", "live.js" if about.shows == "game" else "series.js")
    routes = [
        Route("/", home if watching else _to_games),
        Route("/games", _listing(folder, program, live=watching is not None)),
        Route("/games/{game_id}", _replay(folder, program)),
        Route("/web/{name}", _file),
    ]
    sockets = [WebSocketRoute("/live", watching.watch)] if watching else []
    return Starlette(routes=[*routes, *sockets], middleware=[Middleware(RequestGuard, access=access)])


# --- pages ------------------------------------------------------------------------------------------------


def _page(name: str, module: str) -> Callable[[Request], Response]:
    def page(_: Request) -> Response:
        return _html(name, module, {})

    return page


def _to_games(_: Request) -> Response:
    return RedirectResponse("/games", 303)


def _listing(folder: Path, program: str, *, live: bool) -> Callable[[Request], Response]:
    def listing(_: Request) -> Response:
        try:
            return _html("past", "past.js", as_json(games_shown(folder, program) | {"live": live}))
        except ReplayError as exc:
            return _sorry(exc)

    return listing


def _replay(folder: Path, program: str) -> Callable[[Request], Response]:
    def replay(request: Request) -> Response:
        try:
            shown = replay_of(folder, request.path_params["game_id"], program)
        except ReplayError as exc:
            return _sorry(exc)
        return _html("review", "replay.js", as_json(shown))

    return replay


def _html(name: str, module: str, data: bytes | dict[str, object]) -> Response:
    text = (OWN / "page.html").read_text(encoding="utf-8")
    return HTMLResponse(text.format(name=name, data=embed(data), module=module))


def _sorry(exc: ReplayError) -> Response:
    return PlainTextResponse(f"{clean_text(str(exc))}\n", 404)


def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "style.css":
        return Response(styles() + (OWN / "dashboard.css").read_text(encoding="utf-8"), media_type="text/css")
    # none but these names, so none that leads elsewhere
    place = OWN if name in MODULES else WEB if name in _viewer_modules() else None
    if place is None:
        return PlainTextResponse("No such file.\n", 404)
    return Response((place / name).read_text(encoding="utf-8"), media_type="text/javascript")


def _viewer_modules() -> set[str]:
    return {entry.name for entry in WEB.iterdir() if entry.name.endswith(".js")}
