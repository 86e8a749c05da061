"""Checks captured traffic: server frames with our session and fold, client frames against our session.

A frame is *unread* if it cannot be parsed or does not fit the table. A client frame is judged at its position
among the server's frames. Frames of tables we do not play, and frames quoted without context, are not judged
and are listed in the report.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from bot.logs.redaction import redact
from bot.tenhou.game_types import THREE_PLAYERS, refusal
from bot.tenhou.messages import parse_client
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.client_messages import Leave, Login
from bot.tenhou.session.core import Stage
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
from game.events import EndGame, EndRound, GameEvent
from kit.errors import RemoteProtocolError, StateMismatchError
from tests.bot.captures import CapturedFrame, read_capture
from tests.verify_traffic.conduct import SECOND_ANSWER, ClientConduct
from tests.verify_traffic.spectated import Remark, SpectatedGame, read_frame

IN_PART: Final = "quoted in part"
NO_CONTEXT: Final = "quoted without the frames around it"
EXPLANATIONS: Final = {
    IN_PART: "the source quotes only some of the frame's members, without its tag",
    SECOND_ANSWER: "the recorded bot claimed a win and then answered the same offer's other choices too; "
    "the server ignored the second answer, and our session sends only one answer",
}
"""Known exceptions: recorded behaviour that our session does not have."""
_SHOWN: Final = 160


class Finding(msgspec.Struct, frozen=True):
    """A remark about one frame, or a file if the line is 0; ``kind`` names a known exception."""

    file: str
    line: int
    frame: str
    reason: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.frame}  {self.reason}" + (self.kind and f" [{self.kind}]")


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
        refused: client frames that our session would not have sent.
        differences: differences between the server's offers or notices and our table.
        missed: the games of our seat that were left unfinished, as far as they were seen.
    """

    def __init__(self, read: Callable[[str], m.ServerMessage] = read_frame) -> None:
        self._read = read
        self.counts: Counter[str] = Counter()
        self.unread: list[Finding] = []
        self.refused: list[Finding] = []
        self.differences: list[Finding] = []
        self.missed: list[tuple[GameEvent, ...]] = []
        self._unjudged: dict[tuple[str, str], Counter[str]] = {}
        self._file = ""
        self._connect()

    def _connect(self) -> None:
        self._conduct = ClientConduct()
        self._spectated: SpectatedGame | None = None
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
        else:
            self._client(frame)

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
        logs = [self._conduct.session.log, self._spectated.log if self._spectated is not None else []]
        return copy.deepcopy(self, {id(event): event for log in logs for event in log})

    def on(self, frame: CapturedFrame, reason: str, kind: str = "") -> Finding:
        """A remark about a frame of the current capture."""
        return Finding(self._file, frame.line, redact(frame.text)[:_SHOWN], redact(reason), kind)

    def _leave_unjudged(self, reason: str, frame: CapturedFrame) -> None:
        self._unjudged.setdefault((self._file, reason), Counter())[frame.sender] += 1

    def report(self) -> dict[str, Any]:
        """The report on everything checked so far."""
        listed = [*self.unread, *self.refused]
        unjudged = [
            {"file": file, "reason": reason, "server_frames": by["S"], "client_frames": by["C"]}
            for (file, reason), by in self._unjudged.items()
        ]
        return {
            "files": self.counts["files"],
            "server_frames": self.counts["server_frames"],
            "unread": len(self.unread),
            "client_frames": self.counts["client_frames"],
            "allowed": self.counts["allowed"],
            "not_allowed": len(self.refused),
            "not_judged": sum(entry["client_frames"] for entry in unjudged),
            **{name: self.counts[name] for name in ("rounds", "games", "resumes", "offers")},
            "differing_offers": len(self.differences),
            "unexplained": sum(not finding.kind for finding in listed),
            "unread_frames": self.unread,
            "not_allowed_frames": self.refused,
            "differences": self.differences,
            "unjudged": unjudged,
            "explanations": {
                kind: text for kind, text in EXPLANATIONS.items() if kind in {each.kind for each in listed}
            },
        }

    # --- server frames -------------------------------------------------------------------------------

    def _server(self, frame: CapturedFrame) -> None:
        self.counts["server_frames"] += 1
        try:
            message = self._read(frame.text)
        except RemoteProtocolError as exc:
            kind = IN_PART if frame.quoted and '"tag"' not in frame.text else ""
            self.unread.append(self.on(frame, exc.reason, kind))
            return
        if isinstance(message, m.Unknown):
            self.unread.append(self.on(frame, "unknown tag"))
            return
        self._follow(message)
        if self._not_played:
            self._leave_unjudged(self._not_played, frame)
            return
        try:
            self._fold(frame, message)
        except StateMismatchError as exc:
            self.unread.append(self.on(frame, str(exc)))

    def _follow(self, message: m.ServerMessage) -> None:
        """Update which table the connection is at from this frame on."""
        if isinstance(message, Remark) and message.tag == "mjloggm":
            self._connect()
            self._spectated = SpectatedGame()
        elif isinstance(message, m.Hello):
            if self._conduct.session.stage is not Stage.LOGIN:
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
            self._conduct.matches = 1  # to be accepted; our session never spectates

    def _fold(self, frame: CapturedFrame, message: m.ServerMessage) -> None:
        if self._spectated is not None:
            for event in self._spectated.take(message):
                self.counts["rounds"] += isinstance(event, EndRound)
                self.counts["games"] += isinstance(event, EndGame)
        elif frame.quoted and not self._has_context(message):
            self._leave_unjudged(NO_CONTEXT, frame)
        else:
            for event in self._conduct.server(message):
                self._note(frame, event)

    def _has_context(self, message: m.ServerMessage) -> bool:
        """Whether a quoted frame can be folded; a frame of a game also needs the quoted frames before it."""
        if isinstance(message, m.GameBegins) and self.seat is None:
            # The match message is not quoted; any four-player type works.
            self._conduct.server(m.MatchFound(9))
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

    # --- client frames -------------------------------------------------------------------------------

    def _client(self, frame: CapturedFrame) -> None:
        self.counts["client_frames"] += 1
        try:
            message = parse_client(frame.text)
        except RemoteProtocolError as exc:
            self.refused.append(self.on(frame, exc.reason))
            return
        if isinstance(message, Login | Leave):
            self._spectated, self._not_played = None, ""
        if self._not_played or (frame.quoted and self.seat is None):
            self._leave_unjudged(self._not_played or NO_CONTEXT, frame)
            return
        objection = self._conduct.client(message)
        if objection is None:
            self.counts["allowed"] += 1
        else:
            self.refused.append(self.on(frame, objection.reason, objection.kind))


_GAME_FRAMES: Final = (*TABLE_MESSAGES, m.PlayerNames, m.GameBegins, m.RoundSnapshot, m.FuritenShown)


def _is_three_player(message: m.RoundDealt) -> bool:
    """Whether this is a three-player deal quoted without its match: one seat is empty, with no points."""
    total = sum(message.scores) + 1000 * message.riichi_sticks
    return total == 105_000 and 0 in message.scores
