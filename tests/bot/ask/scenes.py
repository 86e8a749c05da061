"""The page on which positions are written, served with the rule-based player behind it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from bot.ask.page import make_ask_app
from bot.config.settings import AskPage
from bot.dashboard.connections import Limits
from bot.dashboard.serving import PagePort, serving
from tests.replays.review.made import reviewer

PATIENCE_S = 60.0
HAND = "34067m345p3468s55z"


@contextlib.contextmanager
def served_page(host: str = "127.0.0.1", token: str = "", limits: Limits | None = None) -> Iterator[PagePort]:
    """Serve the page on a thread."""
    port = PagePort("ask", AskPage(host=host, port=0), token)
    loop, stopping, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def serve() -> None:
        async with serving(port, make_ask_app(port.access, reviewer()), limits or Limits()):
            ready.set()
            await stopping.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="ask", daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield port
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(PATIENCE_S)
        port.close()
        loop.close()
