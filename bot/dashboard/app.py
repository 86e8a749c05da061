"""The web application: pages, their files, and the WebSocket for watching a game.

It is read-only: there are no forms, and messages from the browser on the socket are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from bot.dashboard.past import as_json, games_shown, replay_of
from bot.dashboard.pump import SessionInfo
from bot.logs.redaction import clean_text
from bot.web.access import Access
from bot.web.pages import page_app, page_of
from bot.web.sockets import BrowserSockets
from kit.errors import ReplayError


def make_app(access: Access, folder: Path, about: SessionInfo, watching: BrowserSockets | None) -> ASGIApp:
    """The application.

    Args:
        access: the access rules.
        folder: folder of the past games.
        about: the session.
        watching: serves the WebSocket; None if no game is played.
    """
    program = about.program
    home = _page("live", "live.js")
    routes = [
        Route("/", home if watching else _to_games),
        Route("/games", _listing(folder, program, live=watching is not None)),
        Route("/games/{game_id}", _replay(folder, program)),
    ]
    sockets = [WebSocketRoute("/live", watching.watch)] if watching else []
    return page_app(access, "bot.dashboard", [*routes, *sockets])


# --- pages ------------------------------------------------------------------------------------------------


def _page(name: str, module: str) -> Callable[[Request], Response]:
    def page(_: Request) -> Response:
        return page_of(name, module, {})

    return page


def _to_games(_: Request) -> Response:
    return RedirectResponse("/games", 303)


def _listing(folder: Path, program: str, *, live: bool) -> Callable[[Request], Response]:
    def listing(_: Request) -> Response:
        try:
            return page_of("past", "past.js", as_json(games_shown(folder, program) | {"live": live}))
        except ReplayError as exc:
            return _sorry(exc, 503)  # the request is right, the folder is not

    return listing


def _replay(folder: Path, program: str) -> Callable[[Request], Response]:
    def replay(request: Request) -> Response:
        try:
            shown = replay_of(folder, request.path_params["game_id"], program)
        except ReplayError as exc:
            return _sorry(exc, 404)
        return page_of("review", "replay.js", as_json(shown))

    return replay


def _sorry(exc: ReplayError, status: int) -> Response:
    return PlainTextResponse(f"{clean_text(str(exc))}\n", status)
