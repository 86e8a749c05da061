"""Checks captured traffic: the server's frames with our session and fold.

A frame is *unread* if it cannot be parsed or does not fit the table. Frames of tables we do not play or that
were spectated, records, and frames quoted without context are not judged and are listed in the report.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from bot.logs.redaction import redact
from bot.tenhou import messages as m
from bot.tenhou.game_types import THREE_PLAYERS, refusal
from bot.tenhou.messages.element import read_element
from bot.tenhou.session import Session, SessionSettings, Stage
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
from bot.tenhou.session.translate import TABLE_MESSAGES
from game.events import GameEvent
from kit.errors import RemoteProtocolError, StateMismatchError
from tests.bot.captures import CapturedFrame, read_capture

IN_PART: Final = "the source quotes only some of the frame's members, without its tag"
NO_CONTEXT: Final = "quoted without the frames around it"
RECORD: Final = "a record, which `tests.verify_records` checks"
SPECTATED: Final = "the program never spectates"
_SHOWN: Final = 160

parsed = functools.lru_cache(maxsize=1 << 16)(m.parse_server)
"""The message of a server frame; with insertions each is read many times."""


class Finding(msgspec.Struct, frozen=True):
    """A remark about one frame, or a file if the line is 0."""

    file: str
    line: int
    frame: str
    reason: str
    explained: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.frame}  {self.reason}"


def verify(paths: Iterable[Path]) -> dict[str, Any]:
    """The report on captures; files that cannot be read count as one unread frame each."""
    check = TrafficCheck()
    for path in paths:
        check.begin(path)
        try:
            for frame in read_capture(path):
                check.take(frame)
        except (OSError, UnicodeDecodeError) as exc:
            check.counts["server_frames"] += 1
            check.unread.append(Finding(path.name, 0, "", getattr(exc, "strerror", None) or str(exc)))
    return check.report()


class TrafficCheck:
    """Checks captures frame by frame, and keeps the state of the current connection.

    Attributes:
        counts: what was seen, by the name that the report gives it.
        unread: unread server frames, in order.
        differences: differences between the server's offers or notices and our table.
        missed: the games of our seat that were left unfinished, as far as they were seen.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.unread: list[Finding] = []
        self.differences: list[Finding] = []
        self.missed: list[tuple[GameEvent, ...]] = []
        self._unjudged: Counter[tuple[str, str]] = Counter()
        self._file = ""
        self._connect()

    def _connect(self) -> None:
        self._session = Session(SessionSettings(auto_queue=False))
        self._not_played = ""  # why the current game is not followed

    def begin(self, path: Path) -> None:
        """Start another capture."""
        self._file = path.name
        self.counts["files"] += 1
        self._connect()

    def take(self, frame: CapturedFrame | None) -> None:
        """Check the next frame of a capture; None begins another connection."""
        if frame is None:
            self._connect()
        elif frame.sender == "S":
            self._server(frame)
        elif "HELO" in frame.text:
            self._session.reconnect()
            self._not_played = ""

    @property
    def is_followed(self) -> bool:
        """Whether frames of the current table are folded."""
        return not self._not_played

    @property
    def seat(self) -> Seat | None:
        """Our seat in the running or last game, None without one."""
        return self._session.seat

    def fork(self) -> TrafficCheck:
        """An independent copy; shares only immutable data."""
        return copy.deepcopy(self, {id(event): event for event in self._session.log})

    def on(self, frame: CapturedFrame, reason: str, *, explained: bool = False) -> Finding:
        """A remark about a frame of the current capture."""
        return Finding(self._file, frame.line, redact(frame.text)[:_SHOWN], redact(reason), explained)

    def report(self) -> dict[str, Any]:
        """The report on everything checked so far."""
        return {
            "files": self.counts["files"],
            "server_frames": self.counts["server_frames"],
            "unread": len(self.unread),
            **{name: self.counts[name] for name in ("rounds", "games", "resumes", "offers")},
            "differing_offers": len(self.differences),
            "unexplained": sum(not finding.explained for finding in self.unread),
            "unread_frames": self.unread,
            "differences": self.differences,
            "unjudged": [
                {"file": file, "reason": reason, "server_frames": count}
                for (file, reason), count in self._unjudged.items()
            ],
        }

    def _server(self, frame: CapturedFrame) -> None:
        self.counts["server_frames"] += 1
        try:
            tag = read_element(frame.text).tag
            if tag == "mjloggm":
                self._not_played = RECORD
            if self._not_played == RECORD or (self._not_played == SPECTATED and tag not in ("GO", "HELO")):
                self._unjudged[self._file, self._not_played] += 1
                return
            message = parsed(frame.text)
        except RemoteProtocolError as exc:
            in_part = frame.quoted and '"tag"' not in frame.text
            self.unread.append(self.on(frame, IN_PART if in_part else exc.reason, explained=in_part))
            return
        if isinstance(message, m.Unknown):
            self.unread.append(self.on(frame, "unknown tag"))
            return
        self._follow(message)
        if self._not_played:
            self._unjudged[self._file, self._not_played] += 1
        elif frame.quoted and not self._has_context(message):
            self._unjudged[self._file, NO_CONTEXT] += 1
        else:
            self._fold(frame, message)

    def _follow(self, message: m.ServerMessage) -> None:
        """Update which table the connection is at from this frame on."""
        if isinstance(message, m.Hello):
            if self._session.stage is not Stage.LOGIN:
                # Only server frames were recorded: a login means a new connection.
                self._session.reconnect()
            self._not_played = ""
        elif isinstance(message, m.MatchFound):
            if self._not_played:  # frames of the table before may follow
                self._session.reconnect()
            refused = refusal(message.game_type) if message.game_type & THREE_PLAYERS else ""
            self._not_played = SPECTATED if message.spectating else refused or ""
        elif isinstance(message, m.RoundDealt) and _is_three_player(message):
            self._not_played = self._not_played or refusal(THREE_PLAYERS) or ""

    def _fold(self, frame: CapturedFrame, message: m.ServerMessage) -> None:
        try:
            for event in self._session.take(message):
                self._note(frame, event)
        except StateMismatchError as exc:
            self.unread.append(self.on(frame, str(exc)))
        self._session.outbox()

    def _has_context(self, message: m.ServerMessage) -> bool:
        """Whether a quoted frame can be folded; a frame of a game also needs the quoted frames before it."""
        if isinstance(message, m.GameBegins) and self.seat is None:
            # The match message is not quoted; any four-player type works.
            self._session.take(m.MatchFound(9))
        return not isinstance(message, _GAME_FRAMES) or self.seat is not None

    def _note(self, frame: CapturedFrame, event: SessionEvent) -> None:
        match event:
            case RoundEnded():
                self.counts["rounds"] += 1
            case GameEnded():
                self.counts["games"] += 1
            case Resumed():
                self.counts["resumes"] += 1
            case PromptOpened():
                self.counts["offers"] += event.offered != 0
                if event.mismatch:
                    self.differences.append(self.on(frame, event.mismatch))
            case Disagreement():
                self.differences.append(self.on(frame, f"{event.subject}: {event.detail}"))
            case GameMissed():
                self.missed.append(event.events)
            case StateLost():
                self.unread.append(self.on(frame, event.reason))


_GAME_FRAMES: Final = (*TABLE_MESSAGES, m.PlayerNames, m.GameBegins, m.RoundSnapshot, m.FuritenShown)


def _is_three_player(message: m.RoundDealt) -> bool:
    """Whether this is a three-player deal quoted without its match: one seat is empty, with no points."""
    total = sum(message.scores) + 1000 * message.riichi_sticks
    return total == 105_000 and 0 in message.scores
