"""`suzaku table`: a table on a web page."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import platformdirs
import structlog
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from bot.config.settings import Config
from bot.play.stopping import signals_call
from bot.records.keeping import RecordKeeper, closing_text
from bot.review.command import make_reviewer
from bot.startup.models import compute_of, folder_of, load
from bot.startup.warm import warm_up_visibly
from bot.table.host import TableHost
from bot.table.plan import Opponents, TableBot, TableSetup
from bot.table.reviews import Advisor, TableReviews
from bot.table.saved import GameFile, GameStart, SavedGame, SavedGames
from bot.table.seat import PersonSeat
from bot.terminal.result import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from bot.web.access import POLICY_VIOLATION, Access
from bot.web.limits import Limits
from bot.web.pages import page_app, page_of
from bot.web.serving import PagePort, serving, token_of
from game.ranking import parse_uma
from kit.distribution import program_name
from replays.review.report import Reviewer

SEAT: Final = "seat"


def make_table_app(access: Access, host: TableHost) -> ASGIApp:
    """The application.

    Args:
        access: the access rules.
        host: the table.
    """

    def home(request: Request) -> Response:
        return page_of("table", "play.js", {}) if _seat(host, request) else _unknown()

    def review(request: Request) -> Response:
        seat = _seat(host, request)
        made = host.reviews.made(request.path_params["game_id"], seat.key) if seat else None
        return page_of("review", "main.js", made) if made else _unknown()

    async def live(socket: WebSocket) -> None:
        seat = _seat(host, socket)
        if seat is None:
            await socket.close(POLICY_VIOLATION, "no such seat")
        else:
            await seat.sockets.watch(socket)

    routes = [Route("/", home), Route("/review/{game_id}", review), WebSocketRoute("/live", live)]
    return page_app(access, "bot.table", routes)


def _seat(host: TableHost, connection: HTTPConnection) -> PersonSeat | None:
    return host.seat_of(connection.query_params.get(SEAT, ""))


def _unknown() -> Response:
    return PlainTextResponse("No such seat or review. Open the link that `suzaku table` printed.\n", 404)


FAREWELL_S: Final = 1.5
"""Time at the end for the pages to receive the last messages."""
JOIN_S: Final = 5.0
"""Longer than any answer of a network takes."""
REVIEW_S: Final = 60.0
"""Time at the end for the record and the reviews of a game that has just finished."""

log = structlog.get_logger(__name__)


def run_table(
    config: Config,
    environment: Mapping[str, str],
    setup: TableSetup,
    people: Sequence[str],
    load_bots: Callable[[Sequence[str]], Sequence[TableBot]],
    saved: SavedGame | None,
    *,
    browser: bool,
) -> int:
    """Serve a table until Ctrl-C; return the exit code.

    Args:
        config: the configuration.
        environment: holds the token, if one is configured.
        setup: what is played.
        people: names of the persons, that of this machine's user first.
        load_bots: loads programs for the other seats.
        saved: the game to continue, if there is one.
        browser: open the first person's page in a browser.

    Raises:
        ConfigError: the server cannot listen on the configured address, a player cannot be loaded, or the
            game cannot be continued.
    """
    games = saved_games()
    if saved is None and (notice := games.notice()):
        print(notice, file=sys.stderr)
    records = RecordKeeper(config.records.folder)
    records.check()
    port = PagePort("table", config.table, token_of("table", config.table, environment))
    try:
        opponents = Opponents(setup, load_bots)
        policy = load(config.decision)
        warm_up_visibly(policy=policy, rest_later=True)

        def save(seed: int, number: int, game_id: str) -> GameFile | None:
            return games.begin(GameStart(setup=opponents.setup, seed=seed, number=number, game_id=game_id))

        def make_host() -> TableHost:
            host = TableHost(
                opponents,
                people,
                program=program_name(),
                keep=records.keep,
                reviews=TableReviews(lambda: _reviewer(config)),
                advisor=Advisor(policy),
                save=save,
            )
            if saved is not None:
                host.resume(saved, games.reopen(saved))
            return host

        code = asyncio.run(_serve(config, port, make_host, browser=browser))
    finally:
        port.close()
        unwritten = closing_text(records.close(), config.records.folder)
        if unwritten:
            print(unwritten, file=sys.stderr)
    return EXIT_FAILED if unwritten else code


def saved_games() -> SavedGames:
    """The games that this user's tables save while they are played."""
    return SavedGames(Path(platformdirs.user_state_path("suzaku")) / "tables")


def _reviewer(config: Config) -> Reviewer:
    decision = config.decision
    folder = folder_of(decision) if decision.policy == "network" else None
    asked, uma = str(folder or decision.policy), parse_uma(decision.uma)
    return make_reviewer(asked, "", decision.permutations, compute_of(decision), uma=uma)


async def _serve(config: Config, port: PagePort, make_host: Callable[[], TableHost], *, browser: bool) -> int:
    """Serve until told to stop; return the exit code."""
    host, stopping = make_host(), asyncio.Event()

    def finish() -> None:
        if host.playing and not host.saved:
            log.warning("program.stopping", hint="a game is running; press Ctrl-C again to abandon it")
        else:
            stopping.set()

    app = make_table_app(port.access, host)
    async with serving(port, app, Limits()) as ending:
        try:
            with signals_call(finish, stopping.set):
                _announce(config, port, host.people)
                if browser:
                    await asyncio.to_thread(webbrowser.open, _link(port.link, host.people[0]))
                asked = asyncio.create_task(stopping.wait())
                await asyncio.wait({ending, asked}, return_when=asyncio.FIRST_COMPLETED)
            abandoned = host.playing
            if host.saved:
                print("The game is saved: `suzaku table --resume` continues it.", file=sys.stderr, flush=True)
            if not abandoned:
                if host.reviewing:
                    print(
                        "Waiting for the record and the review of the last game.", file=sys.stderr, flush=True
                    )
                await _in_time(host.ended(), REVIEW_S)
        finally:
            host.close()
            await _in_time(host.all_have_seen(), FAREWELL_S)
    host.join(JOIN_S)
    return EXIT_INTERRUPTED if abandoned else EXIT_DONE


async def _in_time(work: Awaitable[None], limit_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(work, limit_s)


def _announce(config: Config, port: PagePort, people: Sequence[PersonSeat]) -> None:
    """Print the link of every person; with a token of the user's own, the links do not show it."""
    base = port.url if config.table.token_env else port.link
    for seat in people:
        print(f"{seat.name}: {_link(base, seat)}", flush=True)


def _link(base: str, seat: PersonSeat) -> str:
    return f"{base}{'&' if '?' in base else '?'}{SEAT}={seat.key}"
