"""Requests whose clients have left are dropped, whatever page they are for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message

from bot.web.access import Access
from bot.web.pages import page_app
from tests.bot.web.requests import PATIENCE_S

HALF: Message = {"type": "http.request", "body": b"{", "more_body": True}
WHOLE: Message = {"type": "http.request", "body": b"}", "more_body": False}
GONE: Message = {"type": "http.disconnect"}


async def waiting(request: Request) -> Response:
    await request.body()
    await asyncio.Event().wait()
    return Response()


async def told(request: Request) -> Response:
    return Response(await request.body())


async def answers(page: Callable[[Request], Awaitable[Response]], *heard: Message) -> list[Message]:
    """What a page sends after what it has heard; nothing more comes."""
    messages, sent = list(heard), list[Message]()

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    app = page_app(Access("127.0.0.1", 80, ""), "bot.ask", [Route("/", page, methods=["POST"])])
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    async with asyncio.timeout(PATIENCE_S):
        await app({**scope, "query_string": b"", "root_path": ""}, receive, send)
    return sent


@pytest.mark.parametrize("heard", [(GONE,), (HALF, GONE), (HALF, WHOLE, GONE)])
async def test_a_request_whose_client_has_left_is_dropped(heard: tuple[Message, ...]) -> None:
    assert await answers(waiting, *heard) == []


async def test_a_request_that_came_in_parts_is_answered() -> None:
    assert [message.get("body") for message in await answers(told, HALF, WHOLE)] == [None, b"{}"]
