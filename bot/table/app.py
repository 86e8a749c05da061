"""The web application of a table: the page of each person's seat, its WebSocket, and the reviews.

Every address of a seat contains the seat's key, so that nobody sees another's hand.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from bot.dashboard.access import POLICY_VIOLATION, Access, RequestGuard
from bot.dashboard.app import OWN as DASHBOARD
from bot.dashboard.files import page_of, served_file
from bot.table.host import TableHost
from bot.table.seat import PersonSeat

SEAT: Final = "seat"
OWN: Final = files("bot.table") / "web"
MODULES: Final = (
    "play.js",
    "actions.js",
    "hand.js",
    "panel.js",
    "clock.js",
    "sound.js",
    "wording.js",
)
SHARED: Final = ("line.js", "running.js", "status.js", "texts.js")


def make_table_app(access: Access, host: TableHost) -> ASGIApp:
    """The application.

    Args:
        access: the access rules.
        host: the table.
    """

    def home(request: Request) -> Response:
        return page_of("table", "play.js", {}) if _seat(host, request) else _unknown()

    def review(request: Request) -> Response:
        seat = _seat(host, request)
        made = host.reviews.made(request.path_params["game_id"], seat.key) if seat else None
        return page_of("review", "main.js", made) if made else _unknown()

    async def live(socket: WebSocket) -> None:
        seat = _seat(host, socket)
        if seat is None:
            await socket.close(POLICY_VIOLATION, "no such seat")
        else:
            await seat.sockets.watch(socket)

    routes = [
        Route("/", home),
        Route("/review/{game_id}", review),
        Route("/web/{name}", _file),
        WebSocketRoute("/live", live),
    ]
    return Starlette(routes=routes, middleware=[Middleware(RequestGuard, access=access)])


def _seat(host: TableHost, connection: HTTPConnection) -> PersonSeat | None:
    return host.seat_of(connection.query_params.get(SEAT, ""))


def _unknown() -> Response:
    return PlainTextResponse("No such seat or review. Open the link that `suzaku table` printed.\n", 404)


def _file(request: Request) -> Response:
    modules = dict.fromkeys(SHARED, DASHBOARD) | dict.fromkeys(MODULES, OWN)
    sheets = [DASHBOARD / "dashboard.css", OWN / "table.css"]
    return served_file(request.path_params["name"], modules, sheets)
