"""Serves the page on which positions are written."""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from starlette.types import ASGIApp

from bot.ask.app import make_ask_app
from bot.config.settings import AskPage
from bot.dashboard.connections import Limits
from bot.dashboard.serving import PagePort, serving, token_of
from bot.play.stopping import signals_call
from bot.review.command import make_reviewer
from bot.startup.warm import warm_up_visibly
from bot.terminal.result import EXIT_DONE, EXIT_FAILED
from game.position import WrittenPosition
from policies.nets.compute import Compute

if TYPE_CHECKING:
    from policies.play.inference import Averaging


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
