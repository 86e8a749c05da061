"""Pages and the files they load: a page's own, those that pages share, and the viewer's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from anyio import CancelScope
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.web.access import Access, RequestGuard
from replays.viewer.page import WEB, embed, styles

_SHARED: Final = files("bot.web") / "static"


def page_app(access: Access, package: str, routes: Sequence[BaseRoute]) -> ASGIApp:
    """The application of some pages, with the files that they load.

    Args:
        access: the access rules.
        package: the package whose folder ``web`` has the pages' own style sheet and modules.
        routes: the pages.
    """
    own = files(package) / "web"

    def file(request: Request) -> Response:
        return _file(request.path_params["name"], own)

    guard = Middleware(RequestGuard, access=access)
    return Starlette(routes=[*routes, Route("/web/{name}", file)], middleware=[guard, Middleware(attended)])


def attended(app: ASGIApp) -> ASGIApp:
    """The application, which drops a request when its client has left, waiting or sending."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        came = asyncio.Queue[Message](1)  # no more of a long request than the application takes
        attending = CancelScope()

        async def listen() -> None:
            while (message := await receive())["type"] != "http.disconnect":
                await came.put(message)
            attending.cancel()

        listening = asyncio.create_task(listen())
        try:
            with attending:
                await app(scope, came.get, send)
        finally:
            listening.cancel()

    return answer


def page_of(name: str, module: str, data: bytes | dict[str, object]) -> HTMLResponse:
    """A page.

    Args:
        name: id of the element with its data.
        module: the module that starts it.
        data: a JSON object for it.
    """
    return HTMLResponse(_text(_SHARED / "page.html").format(name=name, data=embed(data), module=module))


def _file(name: str, own: Traversable) -> Response:
    if name == "style.css":
        entries = (*_SHARED.iterdir(), *own.iterdir())
        sheets = (_text(each) for each in entries if each.name.endswith(".css"))
        return Response(styles() + "".join(sheets), media_type="text/css")
    for folder in (own, _SHARED, WEB):
        for module in folder.iterdir():  # none but these names, so none that leads elsewhere
            if module.name == name and name.endswith(".js"):
                return Response(_text(module), media_type="text/javascript")
    return PlainTextResponse("No such file.\n", 404)


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")
