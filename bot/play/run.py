"""`suzaku play`: connects the lobby, session, client, player, records and the live table."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import platformdirs
import structlog

from bot.adaptation.status import AdaptationStatus
from bot.config.settings import Config, login_name
from bot.dashboard.feed import Adapting, DecisionSent, Feed, LineStateChanged
from bot.logs.redaction import REDACTOR, clean_text, redact
from bot.logs.setup import hidden
from bot.play.capture import Capture
from bot.play.lobby import local_lobby, port_text
from bot.play.lock import ResumeStore, id_lock, resume_store
from bot.play.stopping import signals_call
from bot.player.clock import Clock, MonotonicClock
from bot.player.seat_player import PlayerSettings, SeatPlayer
from bot.records.keeping import RecordKeeper, closing_text
from bot.startup.models import PolicyLoader, policy_text, thoughts_of
from bot.startup.warm import warm_up_visibly
from bot.tenhou.client.core import TenhouClient
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.settings import AT_LOGIN, IN_GAME, ClientSettings, Hooks, Waits, nobody
from bot.tenhou.session.core import Session, SessionSettings
from bot.tenhou.session.events import GameEnded, GameStarted, SessionEvent, TableEvent
from bot.terminal.live import LiveTable
from bot.terminal.result import (
    EXIT_DONE,
    PlayedGame,
    RunResult,
    decisions_of,
    played_game,
    resident_mb,
    result_text,
)
from bot.terminal.table import render
from game.state import clone
from kit.errors import ConfigError, TransportError
from kit.reports import write_report
from policies.flow.decisions import Decision
from policies.flow.slots import Policy
from replays.record import DecisionRecord
from replays.store.library import Closing

if TYPE_CHECKING:
    from bot.adaptation.thoughts import Thoughts
    from bot.dashboard.server import DashboardServer


def plan_text(config: Config) -> str:
    """A summary of what `suzaku play` would do."""
    where = {
        "tenhou": f"Tenhou ({', '.join(config.tenhou.hosts)})",
        "local": config.local.url or f"the built-in lobby, {port_text(config)}",
    }[config.play.server]
    name = config.local.name if config.play.server == "local" else ""
    login = f"the id in ${config.server.user_id_env}" if config.server.user_id_env else name or "a guest"
    return "\n".join(
        [
            f"would play {config.play.games} game{'s' if config.play.games > 1 else ''} on {where}",
            f"  lobby {config.server.lobby}, type {config.server.type} ({config.game_type}), as {login}",
            f"  {config.pace} pace, {config.decision.budget_ms} ms per decision",
            f"  decisions by {policy_text(config.decision)}"
            + ("" if config.thinking_mode == "off" else f", adaptation: {config.thinking_mode}"),
            f"  records to {config.records.folder}"
            + (f", frames to {config.records.capture}" if config.records.capture else ""),
            *([f"  dashboard on {config.dashboard.host}"] if config.dashboard.enabled else []),
        ]
    )


NOTICE: Final = """\
Before you play on Tenhou with a bot, please read what its operator asks:

- Write to support@c-egg.com before you run a bot on Tenhou.
- Bots may play against people only with the operator's permission, and under a name marked as a bot's.
  The ids of bots without permission are suspended, and those of unofficial clients may be too.
- The operator receives complaints about ill-mannered bots every day. Suzaku plays at a human pace, logs
  out cleanly and never leaves a game on purpose; please keep it that way, and never run several at once.

Until you have permission, Suzaku plays only at practice tables, against the server's own players.
This notice is shown once.
"""
"""What Tenhou's operator asks of people who run bots, shown before the first game.

Source: the operator's posts of 2015-07-03 and 2023-06-30.
"""
AT_HOME: Final = Waits(first_s=0.5, growth=2.0, longest_s=4.0, tries=0)
"""Waits for a local lobby: retries disturb no other users, and a lobby starts in seconds or not at all."""

log = structlog.get_logger(__name__)


def play_games(
    config: Config, environment: Mapping[str, str], *, as_json: bool, dry_run: bool, started: float
) -> int:
    """Play as configured and print the result; return the exit code.

    The dashboard stays until Ctrl-C, unless that ended the games.

    Args:
        config: what to play.
        environment: contains the id.
        as_json: print one JSON object.
        dry_run: only print what would be done.
        started: start of the program, by the monotonic clock.

    Raises:
        ConfigError: the id is in use, the capture or lock file cannot be written, or a model cannot be used.
    """
    login = login_name(config, environment)
    is_guest = not config.server.user_id_env
    if not is_guest:
        REDACTOR.register(login)
    if dry_run:
        print(plan_text(config))
        return EXIT_DONE
    with _dashboard(config, environment) as dashboard:
        result = _played(config, login, dashboard.feed if dashboard else None, started)
        write_report(result, result_text, as_json=as_json)
        if dashboard is not None and result.failure is None and not result.interrupted:
            sys.stdout.flush()
            dashboard.stay()
    return result.exit_code


def _played(config: Config, login: str, feed: Feed | None, started: float) -> RunResult:
    """Play as configured."""
    is_guest = not config.server.user_id_env
    with contextlib.ExitStack() as stack:
        if not is_guest or config.play.server == "tenhou":
            stack.enter_context(id_lock(_state_folder() / "locks", login))
        if config.play.server == "tenhou":
            say_once(_state_folder(), lambda text: print(text, file=sys.stderr))
        capture = stack.enter_context(_open_capture(config))
        # An account rejoins by its id, and the built-in lobby ends with this process.
        has_code = is_guest and bool(config.local.url or config.play.server == "tenhou")
        server = config.local.url if config.play.server == "local" else config.tenhou.hosts[0]
        store = stack.enter_context(resume_store(_state_folder() / "seats", server)) if has_code else None
        models = PolicyLoader(config.decision)
        clock = MonotonicClock()
        thoughts = thoughts_of(config, models.policy, clock, config.pace)
        run = PlayRun(config, login, capture, models, started, clock, store, feed, thoughts)
        stack.callback(run.close)
        warm_up_visibly(policy=models.policy, rest_later=True)
        if thoughts is not None:
            stack.callback(thoughts.close)
            thoughts.start()  # it joins the game when it is ready
        asyncio.run(run.play())
    return run.result()


class PlayRun:
    """One run of `suzaku play`: one or more games with one login."""

    def __init__(
        self,
        config: Config,
        login: str,
        capture: Capture | None,
        models: Callable[[], Policy],
        started: float,
        clock: Clock,
        store: ResumeStore | None = None,
        feed: Feed | None = None,
        thoughts: Thoughts | None = None,
    ) -> None:
        self._started = started
        self._feed = feed
        self._store = store
        self._config = config
        self._login = login
        self._capture = capture
        self._records = RecordKeeper(config.records.folder)
        self._records.check()
        self._journal = Journal(keep=self._records.keep)
        self._clock = clock
        self._names: tuple[str, str, str, str] = ("", "", "", "")
        self._games: list[tuple[tuple[str, str, str, str], float | None]] = []
        self._decision: Decision | None = None
        self._thoughts = thoughts
        self._adaptation: AdaptationStatus | None = None
        self._first_move_s: float | None = None
        self._table: LiveTable | None = None
        self._interrupted = False
        self._closing = Closing()
        self._unfinished: str | None = None
        self._failure: str | None = None
        self._session = Session(
            SessionSettings(
                name=login,
                sex=config.tenhou.sex,
                lobby=config.server.lobby,
                game_type=config.server.type,
                gpid=store.load() if store else "",
            )
        )
        self._player = SeatPlayer(
            models,
            PlayerSettings(
                budget_ms=config.decision.budget_ms,
                failures=config.decision.failures_before_rules,
                pace=config.pace,
            ),
            self._clock,
            self._random(),
            on_decision=self._on_decision,
            thoughts=thoughts,
        )

    async def play(self) -> None:
        """Play all games; `result` returns the outcome."""
        async with self._server() as urls:
            client = TenhouClient(
                self._client_settings(urls),
                self._session,
                self._player,
                self._journal,
                self._clock,
                self._random(),
                Hooks(
                    on_frame=self._capture.frame if self._capture else nobody,
                    on_event=self._on_event,
                    on_resume_code=self._store.save if self._store else nobody,
                    on_line=self._on_line,
                ),
            )
            with self._picture():
                await self._until_done(client)

    def close(self) -> None:
        """Save pending records and let the decision threads end; the program must not exit before this."""
        self._closing = self._records.close()
        if not self._player.join():
            log.warning("decision.worker_hung", until="the program ends")

    def result(self) -> RunResult:
        """The result of the run; call it after `close`."""
        closing = self._closing
        games: list[PlayedGame] = [
            played_game(result, names, rss_mb, self._records.late(result.game_id))
            for result, (names, rss_mb) in zip(self._journal.results, self._games, strict=True)
        ]
        places = [game.placement for game in games]
        return RunResult(
            games=tuple(games),
            decisions=decisions_of(self._player.tally),
            average_placement=round(sum(places) / len(places), 4) if places else None,
            first_move_s=self._first_move_s,
            missed=tuple(
                msgspec.structs.replace(game, record=game.record or self._records.late(game.game_id))
                for game in self._journal.missed_games
            ),
            interrupted=self._interrupted and self._journal.games < self._config.play.games,
            unfinished=self._unfinished,
            failure=self._failure,
            rescued=tuple(map(str, closing.rescued)),
            lost=closing.lost,
            unwritten=closing_text(closing, self._config.records.folder),
        )

    async def _until_done(self, client: TenhouClient) -> None:
        task = asyncio.ensure_future(client.run())

        def finish() -> None:
            self._interrupted = True
            log.warning("program.stopping", hint="finishing the running game; press Ctrl-C again to stop now")
            client.finish()

        def stop() -> None:
            self._interrupted = True
            task.cancel()

        with signals_call(finish, stop):
            try:
                await task
            except asyncio.CancelledError:
                pass
            except TransportError as exc:
                # the results so far are still printed
                self._failure = redact(clean_text(str(exc)))
                log.error("program.failed", reason=self._failure)  # noqa: TRY400 - expected: the reason is enough
        if self._session.in_game:
            self._unfinished = self._journal.game_id

    @contextlib.asynccontextmanager
    async def _server(self) -> AsyncIterator[tuple[str, ...]]:
        """The addresses to connect to; opens the built-in lobby if it is used."""
        config = self._config
        if config.play.server == "tenhou":
            yield tuple(f"wss://{host}/" for host in config.tenhou.hosts)
        elif config.local.url:
            yield (config.local.url,)
        else:
            # the client logs the same events
            with hidden(side="lobby"):
                async with local_lobby(config, self._records) as lobby:
                    yield (lobby.url,)

    def _client_settings(self, urls: tuple[str, ...]) -> ClientSettings:
        connection = self._config.connection
        at_home = self._config.play.server == "local"
        at_login, in_game = (AT_HOME, AT_HOME) if at_home else (AT_LOGIN, IN_GAME)
        return ClientSettings(
            urls=urls,
            gate=self._config.gate,
            games=self._config.play.games,
            pace=self._config.pace,
            keepalive_s=connection.keepalive_s,
            silence_s=connection.silence_s,
            at_login=msgspec.structs.replace(at_login, tries=connection.login_tries),
            in_game=msgspec.structs.replace(in_game, tries=connection.resume_tries),
        )

    def _random(self) -> random.Random:
        return random.Random(self._config.play.seed)  # noqa: S311 - randomizes delays, not for security

    # --- event handlers --------------------------------------------------------------------------

    def _on_line(self, state: Literal["open", "lost"]) -> None:
        if self._feed is not None:
            self._feed.put(LineStateChanged(state))

    def _on_event(self, event: SessionEvent) -> None:
        if self._feed is not None:
            self._feed.hear(event, self._session.log, self._journal.game_id, self._session.player)
        self._look_at_adaptation()
        match event:
            case GameStarted():
                self._names = event.names
                self._decision = None
            case GameEnded():
                self._games.append((self._names, resident_mb()))
            case TableEvent():
                self._show()

    def _on_decision(self, made: DecisionRecord) -> None:
        if self._first_move_s is None:
            self._first_move_s = round(time.monotonic() - self._started, 2)
        self._decision = made.decision
        if self._feed is not None:
            tally = self._player.tally
            self._feed.put(DecisionSent(made, tally.latest_ms, tally.late))
        self._look_at_adaptation()
        self._show()

    def _look_at_adaptation(self) -> None:
        """Pass on the progress of adapting to the round."""
        status = None if self._thoughts is None else self._thoughts.status
        if self._feed is not None and status != self._adaptation:
            self._feed.put(Adapting(status))
        self._adaptation = status

    def _show(self) -> None:
        if self._table is not None:
            state, player = clone(self._session.state), self._session.player
            self._table.update(partial(render, state, player, self._names, self._decision, self._adaptation))

    @contextlib.contextmanager
    def _picture(self) -> Iterator[None]:
        """The live table, if stderr is a terminal."""
        if not sys.stderr.isatty() or self._config.logs.format == "json":
            yield
            return
        with hidden(event="decision.made"), LiveTable(sys.stderr) as self._table:
            yield


def _open_capture(config: Config) -> contextlib.AbstractContextManager[Capture | None]:
    if not config.records.capture:
        return contextlib.nullcontext()
    try:
        return contextlib.closing(Capture(Path(config.records.capture)))
    except OSError as exc:
        raise ConfigError(
            f"records.capture: cannot write {config.records.capture!r} ({exc.strerror}); name another file"
        ) from exc


@contextlib.contextmanager
def _dashboard(config: Config, environment: Mapping[str, str]) -> Iterator[DashboardServer | None]:
    """The dashboard, or None if it is off."""
    if not config.dashboard.enabled:
        yield None
        return
    # imports the web server and the review of games, needed only with a dashboard
    from bot.dashboard.server import SessionInfo, open_dashboard  # noqa: PLC0415
    from kit.distribution import program_name  # noqa: PLC0415

    about = SessionInfo(
        program=program_name(),
        policy=config.decision.policy,
        budget_ms=config.decision.budget_ms,
        wanted=config.play.games,
    )
    with open_dashboard(config, environment, about, Feed()) as dashboard:
        yield dashboard


def say_once(folder: Path, say: Callable[[str], None]) -> bool:
    """Show the notice unless a file in ``folder`` marks it as shown; return whether it was shown.

    If the folder is not writable, the notice is shown again the next time.
    """
    mark = folder / "tenhou-notice-said"
    if mark.exists():
        return False
    say(NOTICE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        return True
    return True


def _state_folder() -> Path:
    return Path(platformdirs.user_state_path("suzaku"))
