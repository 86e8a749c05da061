"""Serves the page on which positions are written."""

from __future__ import annotations

import asyncio
import re
import webbrowser
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.config.settings import AskPage
from bot.dashboard.access import Access, RequestGuard
from bot.dashboard.connections import Limits
from bot.dashboard.files import page_of, served_file
from bot.dashboard.serving import PagePort, serving, token_of
from bot.logs.redaction import clean_text
from bot.play.stopping import signals_call
from bot.review.command import make_reviewer
from bot.startup.warm import warm_up_visibly
from bot.terminal.result import EXIT_DONE, EXIT_FAILED
from game.position import FieldError, WrittenPosition, place
from kit.errors import BotError
from policies.nets.compute import Compute
from replays.mjai.lines import render
from replays.review.asking import PositionAnswer, answer
from replays.review.report import Reviewer

if TYPE_CHECKING:
    from policies.play.inference import Averaging


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


def ask_on_page(
    position: WrittenPosition,
    settings: AskPage,
    environment: Mapping[str, str],
    *,
    policy: str,
    averaging: Averaging,
    compute: Compute,
    browser: bool,
) -> int:
    """Serve the page until Ctrl-C; return the exit code.

    Args:
        position: what the page shows at first.
        settings: where it is served.
        environment: holds the token, if one is configured.
        policy: as for `bot.ask.command.ask`.
        averaging: the same.
        compute: the same.
        browser: open the page in a browser.

    Raises:
        ConfigError: the server cannot listen on the configured address, or the policy does not exist.
    """
    port = PagePort("ask", settings, token_of("ask", settings, environment))
    try:
        app = make_ask_app(port.access, make_reviewer(policy, "", averaging, compute))
        warm_up_visibly()
        fragment = f"#{quote(msgspec.json.encode(position))}" if position != WrittenPosition(hand="") else ""
        print(f"{port.url if settings.token_env else port.link}{fragment}", flush=True)
        return asyncio.run(_serve(port, app, port.link + fragment if browser else ""))
    finally:
        port.close()


async def _serve(port: PagePort, app: ASGIApp, link: str) -> int:
    stopping = asyncio.Event()
    async with serving(port, app, Limits()) as ending:
        with signals_call(stopping.set, stopping.set):
            if link:
                await asyncio.to_thread(webbrowser.open, link)
            asked = asyncio.create_task(stopping.wait())
            await asyncio.wait({ending, asked}, return_when=asyncio.FIRST_COMPLETED)
    return EXIT_DONE if stopping.is_set() else EXIT_FAILED
