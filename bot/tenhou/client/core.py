"""The client: connects, logs in, plays its games, and reconnects whenever the connection is lost.

The session interprets frames, the player chooses answers, `client.opening` decides where we may connect,
`client.recovery` when to try again, and `client.connection` when a connection is dead.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection

from bot.logs.redaction import redact
from bot.player.clock import Clock
from bot.player.decision_maker import SeatPrompt
from bot.player.pace import ready_delay_s
from bot.player.seat_player import SeatPlayer
from bot.tenhou.client.connection import TenhouConnection
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.opening import open_connection
from bot.tenhou.client.recovery import Recovery
from bot.tenhou.client.settings import ClientSettings, Hooks
from bot.tenhou.gate import PlayTerms
from bot.tenhou.messages import ClientMessage, Ready, render_json
from bot.tenhou.session.core import Session
from bot.tenhou.session.events import (
    GameEnded,
    GameMissed,
    GameStarted,
    LoggedIn,
    LoginAgainLater,
    PromptClosed,
    PromptOpened,
    Rejected,
    Replaced,
    Resumed,
    SessionEvent,
    TableEvent,
)
from game.actions import Action, ActionKind
from game.events import Draw, EndRound
from game.observation import Observation
from game.state import clone
from kit.errors import (
    ConnectionLost,
    LocalProtocolError,
    LoginRejected,
    RemoteProtocolError,
    SessionReplaced,
    StateMismatchError,
)

RIICHI_PATIENCE_S: Final = 2.0
"""Source: `docs/tenhou-protocol.md`, section 5; servers also accepted both frames without a pause."""

LOBBY_SILENCE_S: Final = 300.0
"""Maximum silence of the server outside a game."""
BROKEN_LIMIT: Final = 3
"""Unreadable frames on one connection before we reconnect."""

_CLAIMS: Final = (ActionKind.PASS, ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN, ActionKind.RON)
"""Answers to another player's tile: the server may wait for other players before it goes on."""


class TenhouClient:
    """Plays games with one login, over as many connections as needed.

    Args:
        settings: settings of the connection.
        session: interprets frames; keeps the running game across reconnections.
        player: answers the prompts; closed when the run ends.
        journal: logs events and collects results.
        clock: measures time.
        rng: seeded; randomizes the waits.
        hooks: callbacks for other listeners.
    """

    def __init__(
        self,
        settings: ClientSettings,
        session: Session,
        player: SeatPlayer,
        journal: Journal,
        clock: Clock,
        rng: random.Random,
        hooks: Hooks,
    ) -> None:
        self._settings = settings
        self._session = session
        self._player = player
        self._journal = journal
        self._clock = clock
        self._rng = rng
        self._hooks = hooks
        self._connection: TenhouConnection | None = None
        self._logged_in = False
        self._progress = False
        self._finishing = asyncio.Event()
        self._recovery = Recovery(settings, journal, clock, rng, self._finishing)
        self._host = 0
        self._broken = 0
        self._moved_at: float | None = None  # on our own turn, and not confirmed yet
        self._resume_code = session.resume_code
        self._delayed: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Play the games; returns when they are over, or after `finish`.

        Raises:
            TransportError: the connection, login or seat is lost for good; the message states what to do.
        """
        try:
            while not self._is_done():
                began = self._clock.now()
                try:
                    await self._converse()
                    if not self._progress and not self._is_done():
                        raise ConnectionLost("the game ended before we were asked for a decision")
                except Exception as exc:  # task root: retry or stop, as `process_exception` decides
                    self._player.withdraw()
                    self._recovery.line_ended(progress=self._progress, lasted_s=self._clock.now() - began)
                    self._hooks.on_line("lost")
                    await self._recovery.after(exc, in_game=self._session.in_game)
                else:
                    self._recovery.reset()
        finally:
            await self._player.close()

    def finish(self) -> None:
        """Stop after the running game, or at once if none is running."""
        self._finishing.set()
        if not self._session.in_game:
            self._leave()

    # --- one connection -----------------------------------------------------------------------------

    async def _converse(self) -> None:
        """One connection from its handshake to its end; returns after we log out."""
        self._progress = self._logged_in = False
        self._broken = 0
        self._moved_at = None
        wire = await self._connect()
        if self._is_done():  # told to finish during the handshake
            await wire.close()
            return
        self._journal.log.info("conn.opened", host=urlsplit(self._url).netloc, in_game=self._session.in_game)
        self._hooks.on_line("open")
        self._connection = TenhouConnection(
            wire, self._clock, self._settings.keepalive_s, self._say_we_are_there, self._patience_s
        )
        try:
            for message in self._session.reconnect() if self._session.in_game else self._session.start():
                self._post(message)
            await self._connection.run(self._receive)
        except BaseException:
            wire.transport.abort()  # no closing handshake on a dead connection
            raise
        else:
            await wire.close()
        finally:
            self._connection = None
            for task in self._delayed:
                task.cancel()

    async def _connect(self) -> ClientConnection:
        settings = self._settings
        paces = (settings.pace, self._player.pace)
        conduct = PlayTerms(
            game_type=self._session.settings.game_type,
            games=settings.games,
            pace="human" if paces == ("human", "human") else "instant",
        )
        try:
            return await open_connection(self._url, settings.gate, conduct, settings.open_s)
        except Exception:
            self._host += 1  # try the other server next
            raise

    def _patience_s(self) -> float:
        if not self._logged_in:
            return self._settings.login_s
        if not self._session.in_game:
            return LOBBY_SILENCE_S
        if self._broken:
            return self._settings.broken_silence_s
        if self._moved_at is not None and self._connection is not None:
            return min(
                self._settings.silence_s, self._moved_at - self._connection.heard_at + self._settings.echo_s
            )
        return self._settings.silence_s

    # --- frames in ----------------------------------------------------------------------------------

    def _receive(self, frame: str | bytes) -> None:
        arrived_at = self._clock.now()
        self._moved_at = None
        try:
            if isinstance(frame, bytes):
                raise RemoteProtocolError("a binary frame")
            self._hooks.on_frame("S", frame)
            events = self._session.receive(frame)
        except RemoteProtocolError as exc:
            self._count_broken(exc)
            events = []
        except StateMismatchError as exc:
            self._journal.log.warning("state.mismatch", reason=redact(str(exc)))
            raise
        self._tell_resume_code()
        for event in events:
            self._handle(event, arrived_at)
        self._flush()

    def _tell_resume_code(self) -> None:
        code = self._session.resume_code
        if code != self._resume_code:
            self._hooks.on_resume_code(code)
        self._resume_code = code

    def _count_broken(self, exc: RemoteProtocolError) -> None:
        self._broken += 1
        self._journal.log.warning(
            "proto.rejected", reason=redact(exc.reason), excerpt=redact(exc.excerpt), count=self._broken
        )
        if self._broken >= BROKEN_LIMIT:
            raise ConnectionLost(f"{self._broken} unreadable frames on one connection") from exc

    def _handle(self, event: SessionEvent, arrived_at: float) -> None:
        self._journal.write(event)
        self._hooks.on_event(event)
        match event:
            case LoggedIn():
                self._logged_in = True
            case LoginAgainLater(delay_s):
                self._recovery.pause(delay_s)
                raise ConnectionLost("the server asked us to log in again")
            case Rejected(code, text):
                raise LoginRejected(text, code)
            case Replaced():
                raise SessionReplaced("this id has logged in elsewhere, and that login now has the seat")
            case GameStarted():
                self._settings.gate.check_table(event.game_type if event.is_named else None)
                self._logged_in = True
                self._player.begin_game(self._journal.game_id)
            case Resumed():
                self._logged_in = True
            case TableEvent(event=Draw()) if self._session.state["discard_count"] == 0:
                session = self._session  # the round as our seat sees it, between two decisions
                seen = Observation(clone(session.state), session.player, (), session.length)
                self._player.see(seen, tuple(session.log))
            case TableEvent(event=EndRound()):
                self._player.round_over()
            case PromptOpened():
                self._progress = True
                self._open_prompt(event, arrived_at)
            case PromptClosed(prompt_id):
                self._player.withdraw(prompt_id)
            case GameEnded():
                self._player.withdraw()
                self._journal.end_game(event, self._session.log, self._player.decisions)
                self._leave()
            case GameMissed():
                self._player.withdraw()
                self._journal.miss_game(event, self._player.decisions)
                if self._is_done():  # else we are in the lobby already, and queued for the next
                    self._leave()

    def _open_prompt(self, event: PromptOpened, arrived_at: float) -> None:
        session = self._session
        prompt = SeatPrompt(
            prompt_id=event.prompt_id,
            record=clone(session.state),
            player=session.player,
            legal=event.legal,
            length=session.length,
            opened_at=arrived_at,
            events=tuple(session.log),
        )
        self._player.ask(prompt, self._answer)

    # --- frames out ---------------------------------------------------------------------------------

    def _answer(self, prompt_id: int, action: Action) -> None:
        if self._connection is None:
            raise LocalProtocolError("the connection is down")
        self._session.answer(prompt_id, action)
        self._flush()
        if action.kind not in _CLAIMS:
            self._moved_at = self._clock.now()
        if action.kind is ActionKind.RIICHI:
            self._spawn(self._insist_on_riichi())

    def _say_we_are_there(self) -> None:
        self._session.keepalive()
        self._flush()

    def _leave(self) -> None:
        if self._connection is not None:
            self._session.leave()
            self._flush()
            self._connection.post(None)

    def _flush(self) -> None:
        for message in self._session.outbox():
            delay_s = ready_delay_s(self._settings.pace, self._rng) if isinstance(message, Ready) else 0.0
            if delay_s > 0:
                self._spawn(self._post_later(message, delay_s))
            else:
                self._post(message)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task for the rest of this connection; it is cancelled when the connection ends."""
        task = asyncio.create_task(work)
        self._delayed.add(task)
        task.add_done_callback(self._delayed.discard)

    async def _post_later(self, message: ClientMessage, delay_s: float) -> None:
        await self._clock.sleep(delay_s)
        self._post(message)

    async def _insist_on_riichi(self) -> None:
        """Send the discard after a while even if the server does not confirm the riichi."""
        await self._clock.sleep(RIICHI_PATIENCE_S)
        if self._session.riichi_pending:
            for event in self._session.assume_riichi():
                self._handle(event, self._clock.now())
            self._flush()

    def _post(self, message: ClientMessage) -> None:
        if self._connection is not None:
            frame = render_json(message)
            self._hooks.on_frame("C", frame)
            self._connection.post(frame)

    # --- the end -------------------------------------------------------------------------------------

    def _is_done(self) -> bool:
        if self._session.in_game:
            return False
        return self._finishing.is_set() or self._journal.games >= self._settings.games

    @property
    def _url(self) -> str:
        return self._settings.urls[self._host % len(self._settings.urls)]
