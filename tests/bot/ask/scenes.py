"""The page on which positions are written, served with the rule-based player behind it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot.ask import questions as questions_module
from bot.ask.page import AskedPolicy, make_ask_app, serve_answers
from bot.ask.questions import Questions
from bot.config.settings import AskPage
from bot.web.limits import Limits
from bot.web.serving import PagePort, serving
from kit.workers.child import START_S, Line
from policies.nets.compute import IN_PLAY
from tests.bot.child_here import ChildHere

PATIENCE_S = 240.0
HAND = "34067m345p3468s55z"


@contextlib.contextmanager
def served_page(
    host: str = "127.0.0.1",
    token: str = "",
    limits: Limits | None = None,
    life: Callable[[Line, Any], None] = serve_answers,
    answer_s: float = PATIENCE_S,
) -> Iterator[PagePort]:
    """Serve the page on a thread.

    The rules answer within this process; another life has processes of its own, and no setup.
    """
    port = PagePort("ask", AskPage(host=host, port=0), token)
    loop, stopping, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def serve() -> None:
        with pytest.MonkeyPatch.context() as patch:
            setup = None
            if life is serve_answers:
                patch.setattr(questions_module, "Child", ChildHere)
                setup = AskedPolicy("heuristic", 1, IN_PLAY)
            questions = Questions(life, setup, answer_s)
        app = make_ask_app(port.access, "suzaku test", "heuristic", questions)
        async with serving(port, app, limits or Limits()):
            await questions.ready
            ready.set()
            await stopping.wait()
            questions.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="ask", daemon=True)
    thread.start()
    try:
        assert ready.wait(START_S)
        yield port
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(PATIENCE_S)
        port.close()
        loop.close()
