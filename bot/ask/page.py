"""Serves the page on which positions are written."""

from __future__ import annotations

import asyncio
import re
import webbrowser
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.ask.command import AskedPolicy, PositionAnswer, answer
from bot.ask.questions import Questions
from bot.config.settings import AskPage
from bot.logs.redaction import clean_text
from bot.play.stopping import signals_call
from bot.startup.warm import warm_up_visibly
from bot.terminal.result import EXIT_DONE, EXIT_FAILED
from bot.web.access import Access
from bot.web.limits import Limits
from bot.web.pages import page_app, page_of
from bot.web.serving import PagePort, serving, token_of
from game.position import FieldError, WrittenPosition, place
from kit.distribution import program_name
from kit.errors import BotError, DecisionError
from kit.workers.child import Line
from policies.play.named import load_named
from replays.mjai.lines import render
from replays.review.report import Reviewer

LARGEST: Final = 4096
"""Longest position as JSON, in bytes; the longest possible round takes less than half of it."""

_PLACE: Final = re.compile(r"\$\.(\w+)(?:\[(\d)\])?")
"""The place of an error in JSON, as msgspec names it."""
_NUMBERS: Final = {
    "turn": "the turn is a number from 1 to 24",
    "honba": "honba is a number from 0 to 99",
    "sticks": "sticks is a number from 0 to 99",
    "scores": "points are four numbers with commas, as in 25000,31000,24000,20000",
}
"""What the fields take that hold numbers."""
_OK, _NOT_JSON, _TOO_LARGE, _FAILED, _UNAVAILABLE = 200, 400, 413, 500, 503
_WARM_UP: Final = WrittenPosition(hand="123m406p789s11z233z", turn=6)
"""Answered by each process before any question, which loads what answers need."""

log = structlog.get_logger(__name__)


class PageAnswer(msgspec.Struct, frozen=True):
    """Content of the page.

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


def make_ask_app(access: Access, program: str, policy: str, questions: Questions[Any]) -> ASGIApp:
    """The application.

    Args:
        access: the access rules.
        program: name and version of the program.
        policy: name of the policy.
        questions: answers the bodies of requests.
    """

    def home(_: Request) -> Response:
        return page_of("ask", "editor.js", {"program": program, "policy": policy})

    async def ask(request: Request) -> Response:
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST:
                    return _response(*_complaint(_TOO_LARGE, "this is too long for a position"))
            return _response(*await questions.answer(body))
        except DecisionError as exc:
            return _response(*_complaint(_UNAVAILABLE, str(exc)))

    routes = [Route("/", home), Route("/ask", ask, methods=["POST"])]
    return page_app(access, "bot.ask", routes)


def serve_answers(line: Line, asked: AskedPolicy) -> None:
    """Load the policy and answer the bodies of requests, until the connection ends."""
    reviewer = asked.reviewer()
    answered(reviewer, msgspec.json.encode(_WARM_UP))
    line.ready()
    while True:
        for body in line.hear(wait=True):
            line.send(answered(reviewer, body))


def answered(reviewer: Reviewer, body: bytes) -> tuple[int, bytes]:
    """The status and body of the response to a question.

    A mistake in the position has the status of an ordinary response, as browsers log all others as errors.
    """
    try:
        position = msgspec.json.decode(body, type=WrittenPosition)
        placed = place(position)
        told = answer(reviewer, position, placed)
    except FieldError as exc:
        return _complaint(_OK, str(exc), exc.fields)
    except BotError as exc:
        return _complaint(_OK, clean_text(str(exc)))
    except msgspec.ValidationError as exc:
        return _unfit(clean_text(str(exc)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        return _complaint(_NOT_JSON, f"not a position: {clean_text(str(exc))}")
    except Exception:  # worker loop: one question ends no other
        log.exception("ask.failed", question=clean_text(body.decode(errors="replace")))
        return _complaint(_FAILED, "this position could not be answered; the log has the details")
    messages = [message for event in placed.events if (message := render(event))]
    shown = PageAnswer(told, placed.observation.player, placed.knows_rivers, messages)
    return _OK, msgspec.json.encode(shown)


def _unfit(why: str) -> tuple[int, bytes]:
    found = _PLACE.search(why)
    if found and found[1] in _NUMBERS:
        return _complaint(_OK, f"not a position: {_NUMBERS[found[1]]}", (found[1],))
    fields = (found[1] + (f".{found[2]}" if found[2] else ""),) if found else ()
    return _complaint(_OK, f"not a position: {why}", fields)


def _complaint(status: int, error: str, fields: tuple[str, ...] = ()) -> tuple[int, bytes]:
    return status, msgspec.json.encode(PageComplaint(error, fields))


def _response(status: int, body: bytes) -> Response:
    return Response(body, status, media_type="application/json")


def ask_on_page(
    position: WrittenPosition,
    asked: AskedPolicy,
    settings: AskPage,
    environment: Mapping[str, str],
    *,
    browser: bool,
) -> int:
    """Serve the page until Ctrl-C; return the exit code.

    Args:
        position: what the page shows at first.
        asked: who is asked.
        settings: where it is served.
        environment: holds the token, if one is configured.
        browser: open the page in a browser.

    Raises:
        ConfigError: the server cannot listen on the configured address, or the policy does not exist.
    """
    named = load_named(asked.policy, asked.averaging, compute=asked.compute).name
    port = PagePort("ask", settings, token_of("ask", settings, environment))
    try:
        warm_up_visibly()
        fragment = f"#{quote(msgspec.json.encode(position))}" if position != WrittenPosition(hand="") else ""
        shown = (port.url if settings.token_env else port.link) + fragment
        return asyncio.run(_serve(port, named, asked, shown, port.link + fragment if browser else ""))
    finally:
        port.close()


async def _serve(port: PagePort, policy: str, asked: AskedPolicy, shown: str, link: str) -> int:
    """Serve the page until Ctrl-C or SIGTERM; the links are those to print and to open in a browser."""
    stopping = asyncio.Event()
    questions = Questions(serve_answers, asked)
    app = make_ask_app(port.access, program_name(), policy, questions)
    try:
        with signals_call(stopping.set, stopping.set):
            asked_to_stop = asyncio.create_task(stopping.wait())
            waited: set[asyncio.Future[Any]] = {questions.ready, asked_to_stop}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if stopping.is_set():
                return EXIT_DONE
            await questions.ready
            async with serving(port, app, Limits()) as ending:
                print(shown, flush=True)
                if link:
                    await asyncio.to_thread(webbrowser.open, link)
                await asyncio.wait({ending, asked_to_stop}, return_when=asyncio.FIRST_COMPLETED)
                questions.close()  # before the server waits for its responses
    finally:
        questions.close()
    return EXIT_DONE if stopping.is_set() else EXIT_FAILED
