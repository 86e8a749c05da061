"""The built-in lobby, inside a run of `suzaku play` or alone."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

import structlog

from bot.config.settings import Config
from bot.play.stopping import signals_call
from bot.records.keeping import RecordKeeper, closing_text
from bot.startup.warm import warm_up_visibly
from bot.tenhou.lobby import Lobby, LobbySettings
from bot.terminal.result import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from kit.errors import ConfigError

log = structlog.get_logger(__name__)


def run_lobby(config: Config, *, dry_run: bool) -> int:
    """Run only the lobby until it is told to stop; return the exit code."""
    if dry_run:
        print(f"would open a lobby on 127.0.0.1, {port_text(config)}; records to {config.records.folder}")
        return EXIT_DONE
    records = RecordKeeper(config.records.folder)
    records.check()
    warm_up_visibly()
    try:
        code = asyncio.run(_serve(config, records))
    finally:
        unwritten = closing_text(records.close(), config.records.folder)
        if unwritten:
            print(unwritten, file=sys.stderr)
    return EXIT_FAILED if unwritten else code


@contextlib.asynccontextmanager
async def local_lobby(config: Config, records: RecordKeeper) -> AsyncIterator[Lobby]:
    """The lobby as configured, open.

    Raises:
        ConfigError: its port is in use.
    """
    settings = LobbySettings(
        port=config.local.port,
        own_host=config.local.own_host,
        seed=config.play.seed,
        clients_per_table=config.local.clients_per_table,
    )
    async with contextlib.AsyncExitStack() as stack:
        try:
            lobby = await stack.enter_async_context(Lobby(settings, on_record=records.keep))
        except OSError as exc:
            raise ConfigError(
                f"local.port: cannot listen on {config.local.port} ({exc.strerror}); use 0 for a free port"
            ) from exc
        yield lobby


def port_text(config: Config) -> str:
    """The port the lobby would listen on, as text."""
    return f"port {config.local.port}" if config.local.port else "a free port"


async def _serve(config: Config, records: RecordKeeper) -> int:
    stopping = asyncio.Event()
    forced = asyncio.Event()
    async with local_lobby(config, records) as lobby:
        print(lobby.url, flush=True)

        def finish() -> None:
            log.warning(
                "program.stopping", hint="finishing the running games; press Ctrl-C again to stop now"
            )
            stopping.set()

        def stop() -> None:
            forced.set()
            stopping.set()

        with signals_call(finish, stop):
            await stopping.wait()
            if not forced.is_set():
                waiting = {asyncio.ensure_future(lobby.finish()), asyncio.ensure_future(forced.wait())}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in waiting:
                    task.cancel()
    return EXIT_INTERRUPTED if forced.is_set() else EXIT_DONE
