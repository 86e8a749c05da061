"""The page on which positions are written, served with the rule-based player behind it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from bot.ask import questions as questions_module
from bot.ask.command import AskedPolicy
from bot.ask.page import make_ask_app, serve_answers
from bot.ask.questions import Questions
from bot.config.settings import AskPage
from bot.web.limits import Limits
from bot.web.serving import PagePort, serving
from kit.workers.child import Line
from policies.nets.compute import IN_PLAY
from tests.bot.beside import beside
from tests.bot.child_here import ChildHere
from tests.bot.web.requests import PATIENCE_S

HAND = "34067m345p3468s55z"


def served_page(
    limits: Limits | None = None,
    life: Callable[[Line, Any], None] = serve_answers,
    answer_s: float = PATIENCE_S,
) -> AbstractContextManager[PagePort]:
    """Serve the page on a thread.

    The rules answer within this process; another life has processes of its own, and no setup.
    """

    @contextlib.asynccontextmanager
    async def serve() -> AsyncIterator[PagePort]:
        with pytest.MonkeyPatch.context() as patch:
            setup = None
            if life is serve_answers:
                patch.setattr(questions_module, "Child", ChildHere)
                setup = AskedPolicy("heuristic", 1, IN_PLAY)
            questions = Questions(life, setup, answer_s)
        port = PagePort("ask", AskPage(port=0))
        app = make_ask_app(port.access, "suzaku test", "heuristic", questions)
        async with serving(port, app, limits or Limits()):
            await questions.ready
            yield port
            questions.close()
        port.close()

    return beside(serve())
