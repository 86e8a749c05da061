"""The web application on which positions are written: the page, its files, and the answers."""

from __future__ import annotations

import asyncio
import re
from importlib.resources import files
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.dashboard.access import Access, RequestGuard
from bot.dashboard.files import page_of, served_file
from bot.logs.redaction import clean_text
from game.position import FieldError, WrittenPosition, place
from kit.errors import BotError
from replays.mjai.lines import render
from replays.review.asking import PositionAnswer, answer
from replays.review.report import Reviewer

OWN: Final = files("bot.ask") / "web"
MODULES: Final = ("editor.js", "fields.js", "palette.js", "answer.js", "asking.js")
LARGEST: Final = 4096
"""Longest position as JSON, in bytes; the longest possible round takes less than half of it."""

_PLACE: Final = re.compile(r"\$\.(\w+)(?:\[(\d)\])?")
"""The place of an error in JSON, as msgspec names it."""
_NOT_JSON, _TOO_LARGE = 400, 413


class PageAnswer(msgspec.Struct, frozen=True):
    """What the page shows.

    Attributes:
        answer: what the policy would do.
        player: who decides, absolute.
        knows_rivers: whether the discards are stated.
        events: the round so far as mjai messages, made-up tiles unseen.
    """

    answer: PositionAnswer
    player: int
    knows_rivers: bool
    events: list[dict[str, Any]]


class PageComplaint(msgspec.Struct, frozen=True):
    """Why there is no answer.

    Attributes:
        error: what to change.
        fields: the fields of the position that it concerns, as in `FieldError`.
    """

    error: str
    fields: tuple[str, ...] = ()


def make_ask_app(access: Access, reviewer: Reviewer) -> ASGIApp:
    """The application.

    Args:
        access: the access rules.
        reviewer: asks its policy.
    """
    turn = asyncio.Lock()  # the policy answers one question at a time

    def home(_: Request) -> Response:
        return page_of("ask", "editor.js", {"program": reviewer.program, "policy": reviewer.policy.name})

    async def ask(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST:
                return _json(PageComplaint("this is too long for a position"), _TOO_LARGE)
        async with turn:
            return await asyncio.to_thread(_answered, reviewer, body)

    routes = [Route("/", home), Route("/ask", ask, methods=["POST"]), Route("/web/{name}", _file)]
    return Starlette(routes=routes, middleware=[Middleware(RequestGuard, access=access)])


def _answered(reviewer: Reviewer, body: bytes) -> Response:
    """The response; to a mistake in the position an ordinary one, as browsers log all others as errors."""
    try:
        position = msgspec.json.decode(body, type=WrittenPosition)
        placed = place(position)
        told = answer(reviewer, position, placed)
    except FieldError as exc:
        return _json(PageComplaint(str(exc), exc.fields))
    except BotError as exc:
        return _json(PageComplaint(clean_text(str(exc))))
    except msgspec.ValidationError as exc:
        return _json(_unfit(clean_text(str(exc))))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        return _json(PageComplaint(f"not a position: {clean_text(str(exc))}"), _NOT_JSON)
    messages = [message for event in placed.events if (message := render(event))]
    return _json(PageAnswer(told, placed.observation.player, placed.knows_rivers, messages))


def _unfit(why: str) -> PageComplaint:
    found = _PLACE.search(why)
    fields = (found[1] + (f".{found[2]}" if found[2] else ""),) if found else ()
    return PageComplaint(f"not a position: {why}", fields)


def _json(content: PageAnswer | PageComplaint, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def _file(request: Request) -> Response:
    return served_file(request.path_params["name"], dict.fromkeys(MODULES, OWN), [OWN / "ask.css"])
