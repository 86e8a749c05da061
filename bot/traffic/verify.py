"""Check captured traffic: server frames with our session and fold, client frames against our session.

A frame is *unread* if it cannot be parsed or does not fit the table. A client frame is judged at its position
among the server's frames. Frames of tables we do not play, and frames quoted without context, are not judged
and are listed in the report.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import numpy as np

from bot.tenhou.game_types import THREE_PLAYERS, refusal
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.client_messages import Leave, Login
from bot.tenhou.messages.parse_client import parse_client
from bot.tenhou.messages.parse_server import parse_server
from bot.tenhou.session.conduct import ClientConduct
from bot.tenhou.session.events import (
    Disagreement,
    GameEnded,
    GameMissed,
    PromptOpened,
    Resumed,
    RoundEnded,
    SessionEvent,
    StateLost,
)
from bot.tenhou.session.seat import Seat
from bot.tenhou.session.spectated_game import SpectatedGame
from bot.traffic.capture import CapturedFrame, Heading, read_capture
from bot.traffic.report import Findings, TrafficReport
from game.events import EndGame, EndRound, GameEvent
from kit.errors import RemoteProtocolError, StateMismatchError

NO_CONTEXT: Final = "quoted without the frames around it"


def verify(paths: Iterable[Path | str]) -> TrafficReport:
    """Check captures; files that cannot be opened count as one unread frame each."""
    check = TrafficCheck()
    for path in paths:
        check.file(Path(path))
    return check.findings.report()


class TrafficCheck:
    """Checks captures frame by frame, and keeps the state of the current connection.

    Attributes:
        findings: what was found so far.
        missed: the games of our seat that were left unfinished, as far as they were seen.
    """

    def __init__(self, parse: Callable[[str], m.ServerMessage] = parse_server) -> None:
        self._parse = parse
        self.findings = Findings()
        self.missed: list[tuple[GameEvent, ...]] = []
        self._begin()

    def _begin(self) -> None:
        """Start a new connection."""
        self._conduct = ClientConduct()
        self._spectated: SpectatedGame | None = None
        self._not_played = ""  # why the current game is not followed

    def begin(self, path: Path) -> None:
        """Start another capture."""
        self.findings.begin(path.name)
        self._begin()

    def file(self, path: Path) -> None:
        """Check a whole capture."""
        self.begin(path)
        try:
            for item in read_capture(path):
                self.take(item)
        except (OSError, RemoteProtocolError) as exc:
            self.findings.counts["server_frames"] += 1
            reason = exc.reason if isinstance(exc, RemoteProtocolError) else str(exc.strerror)
            self.findings.unread.append(self.findings.on_file(reason))

    def take(self, item: CapturedFrame | Heading) -> None:
        """Check the next frame of a capture."""
        if isinstance(item, Heading):
            self._begin()
        elif item.sender == "S":
            self._server(item)
        else:
            self._client(item)

    @property
    def is_followed(self) -> bool:
        """Whether frames of the current table are folded."""
        return not self._not_played

    @property
    def is_watching(self) -> bool:
        """Whether all hands are visible and no seat is ours."""
        return self._spectated is not None

    @property
    def table(self) -> tuple[np.void, int]:
        """The round's record as far as known, and the player at seat 0; -1 if there is none yet."""
        if self._spectated is not None:
            return self._spectated.record, 0
        return self._conduct.session.state, self._conduct.session.player

    @property
    def seat(self) -> Seat | None:
        """Our seat in the running or last game, None without one."""
        return self._conduct.session.seat

    def fork(self) -> TrafficCheck:
        """An independent copy; shares only immutable data."""
        logs = [self._conduct.session.log] + ([self._spectated.log] if self._spectated is not None else [])
        shared: dict[int, object] = {id(event): event for log in logs for event in log}
        return copy.deepcopy(self, shared)

    # --- server frames -------------------------------------------------------------------------------

    def _server(self, frame: CapturedFrame) -> None:
        self.findings.counts["server_frames"] += 1
        try:
            if frame.error:
                raise RemoteProtocolError(frame.error)
            message = self._parse(frame.text)
        except RemoteProtocolError as exc:
            kind = "quoted in part" if frame.quoted and '"tag"' not in frame.text else ""
            self.findings.unread.append(self.findings.on(frame, exc.reason, kind))
            return
        if isinstance(message, m.Unknown):
            self.findings.unread.append(self.findings.on(frame, "unknown tag"))
            return
        self._follow(message)
        if self._not_played:
            self.findings.leave_unjudged(self._not_played, server=1)
            return
        try:
            self._fold(frame, message)
        except StateMismatchError as exc:
            self.findings.unread.append(self.findings.on(frame, str(exc)))

    def _follow(self, message: m.ServerMessage) -> None:
        """Update which table the connection is at from this frame on."""
        if isinstance(message, m.RecordHeader):
            self._begin()
            self._spectated = SpectatedGame()
        elif isinstance(message, m.Hello):
            if not self._conduct.session.awaits_login:
                # Only server frames were recorded: a login means a new connection.
                self._conduct.session.reconnect()
            self._spectated, self._not_played = None, ""
        elif isinstance(message, m.MatchFound):
            self._match(message)
        elif isinstance(message, m.RoundDealt) and _is_three_player(message):
            self._not_played = self._not_played or refusal(THREE_PLAYERS) or ""

    def _match(self, message: m.MatchFound) -> None:
        changes = bool(self._not_played) or self.is_watching  # frames of the table before may follow
        self._not_played = (refusal(message.game_type) or "") if message.game_type & THREE_PLAYERS else ""
        if message.spectating or (changes and self.is_watching):
            self._spectated = SpectatedGame(doubtful=changes)
        elif changes:
            self._conduct.session.reconnect()
        if message.spectating:
            self._conduct.watch()

    def _fold(self, frame: CapturedFrame, message: m.ServerMessage) -> None:
        if self._spectated is not None:
            for event in self._spectated.take(message):
                self.findings.counts["rounds"] += isinstance(event, EndRound)
                self.findings.counts["games"] += isinstance(event, EndGame)
            return
        if frame.quoted and not self._has_context(message):
            self.findings.leave_unjudged(NO_CONTEXT, server=1)
            return
        for told in self._conduct.server(message):
            self._note(frame, told)

    def _has_context(self, message: m.ServerMessage) -> bool:
        """Whether a quoted frame can be folded; a frame of a game also needs the quoted frames before it."""
        if isinstance(message, m.GameBegins) and self._conduct.session.seat is None:
            # The match message is not quoted; any four-player type works.
            self._conduct.server(m.MatchFound(9))
        return not isinstance(message, _GAME_FRAMES) or self._conduct.session.seat is not None

    def _note(self, frame: CapturedFrame, event: SessionEvent) -> None:
        self.findings.counts["rounds"] += isinstance(event, RoundEnded)
        self.findings.counts["games"] += isinstance(event, GameEnded)
        self.findings.counts["resumes"] += isinstance(event, Resumed)
        if isinstance(event, PromptOpened):
            self.findings.counts["offers"] += event.offered != 0
            if event.mismatch:
                self.findings.differences.append(self.findings.on(frame, event.mismatch))
        elif isinstance(event, Disagreement):
            self.findings.differences.append(self.findings.on(frame, f"{event.subject}: {event.detail}"))
        elif isinstance(event, GameMissed):
            self.missed.append(event.events)
        elif isinstance(event, StateLost):
            self.findings.unread.append(self.findings.on(frame, event.reason))

    # --- client frames -------------------------------------------------------------------------------

    def _client(self, frame: CapturedFrame) -> None:
        self.findings.counts["client_frames"] += 1
        try:
            if frame.error:
                raise RemoteProtocolError(frame.error)
            message = parse_client(frame.text)
        except RemoteProtocolError as exc:
            self.findings.refused.append(self.findings.on(frame, exc.reason))
            return
        if isinstance(message, Login | Leave):
            self._spectated, self._not_played = None, ""
        if self._not_played or (frame.quoted and self._conduct.session.seat is None):
            self.findings.leave_unjudged(self._not_played or NO_CONTEXT, client=1)
            return
        objection = self._conduct.client(message)
        if objection is None:
            self.findings.counts["allowed"] += 1
        else:
            self.findings.refused.append(self.findings.on(frame, objection.reason, objection.kind))


_GAME_FRAMES: Final = (
    m.PlayerNames,
    m.GameBegins,
    m.RoundDealt,
    m.RoundSnapshot,
    m.TileDrawn,
    m.TileDiscarded,
    m.MeldMade,
    m.RiichiStep,
    m.IndicatorShown,
    m.FuritenShown,
    m.RoundWon,
    m.RoundDrawn,
)


def _is_three_player(message: m.RoundDealt) -> bool:
    """Whether this is a three-player deal quoted without its match: one seat is empty, with no points."""
    total = sum(message.scores) + 1000 * message.riichi_sticks
    return total == 105_000 and 0 in message.scores
