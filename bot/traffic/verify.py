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

import msgspec
import numpy as np

from bot.logs.redaction import redact
from bot.tenhou.game_types import THREE_PLAYERS, refusal
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.client_messages import ClientMessage, Leave, Login
from bot.tenhou.messages.parse_client import parse_client
from bot.tenhou.messages.parse_server import parse_server
from bot.tenhou.session.conduct import SECOND_ANSWER, ClientConduct, Objection
from bot.tenhou.session.events import (
    Disagreement,
    GameEnded,
    PromptOpened,
    Resumed,
    RoundEnded,
    SessionEvent,
    StateLost,
)
from bot.tenhou.session.spectated_game import SpectatedGame
from bot.traffic.reader import CapturedFrame, Heading, read_capture
from game.errors import RemoteProtocolError, StateMismatchError
from game.events import EndGame, EndRound
from game.reports import write_report

EXPLANATIONS: Final = {
    SECOND_ANSWER: "the recorded bot claimed a win and then answered the same offer's other choices too; "
    "the server ignored the second answer, and our session sends only one answer",
    "quoted in part": "the source quotes only some of the frame's members, without its tag",
}
"""Known exceptions: recorded behaviour that our session does not have."""

NO_CONTEXT: Final = "quoted without the frames around it"
_SHOWN: Final = 160


class Finding(msgspec.Struct, frozen=True):
    """A remark about one frame; ``kind`` names a known exception."""

    file: str
    line: int
    frame: str
    reason: str
    kind: str = ""


class Unjudged(msgspec.Struct, frozen=True):
    """Frames of one file that were read but neither folded nor judged."""

    file: str
    reason: str
    server_frames: int
    client_frames: int


class TrafficReport(msgspec.Struct, frozen=True):
    """The result of a check.

    Attributes:
        files: captures read.
        server_frames: frames from the server.
        unread: server frames that could not be read or did not fit; listed in ``unread_frames``.
        client_frames: frames from clients: ``allowed`` + ``not_allowed`` + ``not_judged``.
        rounds: rounds folded to their end.
        games: games folded to their end.
        resumes: rounds resumed from a snapshot.
        offers: prompts with an offer from the server.
        differing_offers: offers that differ from our legal set; listed in ``differences``.
        unexplained: entries of ``unread_frames`` and ``not_allowed_frames`` that are not known exceptions.
    """

    files: int
    server_frames: int
    unread: int
    client_frames: int
    allowed: int
    not_allowed: int
    not_judged: int
    rounds: int
    games: int
    resumes: int
    offers: int
    differing_offers: int
    unexplained: int
    unread_frames: tuple[Finding, ...]
    not_allowed_frames: tuple[Finding, ...]
    differences: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]
    explanations: dict[str, str]


def verify(paths: Iterable[Path | str]) -> TrafficReport:
    """Check captures; files that cannot be opened count as one unread frame each."""
    check = TrafficCheck()
    for path in paths:
        check.file(Path(path))
    return check.report()


def print_report(report: TrafficReport, *, as_json: bool) -> int:
    """Write the report to stdout; return exit code 1 if an entry is unexplained."""
    write_report(report, render, as_json=as_json)
    return 1 if report.unexplained else 0


def render(report: TrafficReport) -> str:
    """The report as text."""
    lines = [
        f"{report.files} files: {report.rounds} rounds, {report.games} games, {report.resumes} resumed",
        f"server frames {report.server_frames}, unread {report.unread}",
        f"client frames {report.client_frames}, allowed {report.allowed}, not allowed {report.not_allowed}, "
        f"not judged {report.not_judged}",
        f"offers {report.offers}, differing from our legal set {report.differing_offers}",
    ]
    for title, findings in (
        ("unread", report.unread_frames),
        ("not allowed", report.not_allowed_frames),
        ("differs", report.differences),
    ):
        lines += [
            f"{title}: {f.file}:{f.line} {f.frame}  {f.reason}" + (f" [{f.kind}]" if f.kind else "")
            for f in findings
        ]
    lines += [
        f"not judged: {u.file}: {u.reason} ({u.server_frames} server, {u.client_frames} client frames)"
        for u in report.unjudged
    ]
    lines += [f"[{kind}] {text}" for kind, text in report.explanations.items()]
    return "\n".join(lines)


class TrafficCheck:
    """Checks captures frame by frame, and keeps the counts and the state of the current connection."""

    def __init__(self, parse: Callable[[str], m.ServerMessage] = parse_server) -> None:
        self._parse = parse
        self._counts = dict.fromkeys(
            ("files", "server_frames", "client_frames", "allowed", "rounds", "games", "resumes", "offers"), 0
        )
        self._unread: list[Finding] = []
        self._refused: list[Finding] = []
        self._differences: list[Finding] = []
        self._unjudged: dict[tuple[str, str], list[int]] = {}
        self._file = ""
        self._begin()

    def _begin(self) -> None:
        """Start a new connection."""
        self._conduct = ClientConduct()
        self._spectated: SpectatedGame | None = None
        self._not_played = ""  # why the current game is not followed

    def begin(self, path: Path) -> None:
        """Start another capture."""
        self._file = path.name
        self._counts["files"] += 1
        self._begin()

    def file(self, path: Path) -> None:
        """Check a whole capture."""
        self.begin(path)
        try:
            for item in read_capture(path):
                self.take(item)
        except (OSError, RemoteProtocolError) as exc:
            self._counts["server_frames"] += 1
            reason = exc.reason if isinstance(exc, RemoteProtocolError) else str(exc.strerror)
            self._unread.append(Finding(self._file, 0, "", reason))

    def take(self, item: CapturedFrame | Heading) -> None:
        """Check the next frame of a capture."""
        if isinstance(item, Heading):
            self._begin()
        elif item.sender == "S":
            self._server(item)
        else:
            self._client(item)

    @property
    def unread(self) -> list[Finding]:
        """Unread server frames, in order."""
        return self._unread

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

    def fork(self) -> TrafficCheck:
        """An independent copy; shares only immutable data."""
        logs = [self._conduct.session.log] + ([self._spectated.log] if self._spectated is not None else [])
        shared: dict[int, object] = {id(event): event for log in logs for event in log}
        return copy.deepcopy(self, shared)

    # --- server frames -------------------------------------------------------------------------------

    def _server(self, frame: CapturedFrame) -> None:
        self._counts["server_frames"] += 1
        try:
            if frame.error:
                raise RemoteProtocolError(frame.error)
            message = self._parse(frame.text)
        except RemoteProtocolError as exc:
            kind = "quoted in part" if frame.quoted and '"tag"' not in frame.text else ""
            self._unread.append(self._finding(frame, exc.reason, kind))
            return
        if isinstance(message, m.Unknown):
            self._unread.append(self._finding(frame, "unknown tag"))
            return
        self._follow(message)
        if self._not_played:
            self._leave_unjudged(self._not_played, server=1)
            return
        try:
            self._fold(frame, message)
        except StateMismatchError as exc:
            self._unread.append(self._finding(frame, str(exc)))

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
            self._not_played = (refusal(message.game_type) or "") if message.game_type & THREE_PLAYERS else ""
            if message.spectating:
                self._spectated = SpectatedGame()
                self._conduct.watch()
        elif isinstance(message, m.RoundDealt) and _is_three_player(message):
            self._not_played = self._not_played or refusal(THREE_PLAYERS) or ""

    def _fold(self, frame: CapturedFrame, message: m.ServerMessage) -> None:
        if self._spectated is not None:
            for event in self._spectated.take(message):
                self._counts["rounds"] += isinstance(event, EndRound)
                self._counts["games"] += isinstance(event, EndGame)
            return
        if frame.quoted and not self._has_context(message):
            self._leave_unjudged(NO_CONTEXT, server=1)
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
        self._counts["rounds"] += isinstance(event, RoundEnded)
        self._counts["games"] += isinstance(event, GameEnded)
        self._counts["resumes"] += isinstance(event, Resumed)
        if isinstance(event, PromptOpened):
            self._counts["offers"] += event.offered != 0
            if event.mismatch:
                self._differences.append(self._finding(frame, event.mismatch))
        elif isinstance(event, Disagreement):
            self._differences.append(self._finding(frame, f"{event.subject}: {event.detail}"))
        elif isinstance(event, StateLost):
            self._unread.append(self._finding(frame, event.reason))

    # --- client frames -------------------------------------------------------------------------------

    def _client(self, frame: CapturedFrame) -> None:
        self._counts["client_frames"] += 1
        try:
            if frame.error:
                raise RemoteProtocolError(frame.error)
            message = parse_client(frame.text)
        except RemoteProtocolError as exc:
            self._refused.append(self._finding(frame, exc.reason))
            return
        if isinstance(message, Login | Leave):
            self._spectated, self._not_played = None, ""
        if self._not_played or (frame.quoted and self._conduct.session.seat is None):
            self._leave_unjudged(self._not_played or NO_CONTEXT, client=1)
            return
        objection = self._judge(message)
        if objection is None:
            self._counts["allowed"] += 1
        else:
            self._refused.append(self._finding(frame, objection.reason, objection.kind))

    def _judge(self, message: ClientMessage) -> Objection | None:
        return self._conduct.client(message)

    # --- the report ----------------------------------------------------------------------------------

    def _leave_unjudged(self, reason: str, *, server: int = 0, client: int = 0) -> None:
        counts = self._unjudged.setdefault((self._file, reason), [0, 0])
        counts[0] += server
        counts[1] += client

    def _finding(self, frame: CapturedFrame, reason: str, kind: str = "") -> Finding:
        return Finding(self._file, frame.line, redact(frame.text)[:_SHOWN], redact(reason), kind)

    def report(self) -> TrafficReport:
        """The report on everything checked so far."""
        listed = [*self._unread, *self._refused]
        kinds = {finding.kind for finding in listed if finding.kind}
        return TrafficReport(
            unread=len(self._unread),
            not_allowed=len(self._refused),
            not_judged=sum(client for _, client in self._unjudged.values()),
            differing_offers=len(self._differences),
            unexplained=sum(not finding.kind for finding in listed),
            unread_frames=tuple(self._unread),
            not_allowed_frames=tuple(self._refused),
            differences=tuple(self._differences),
            unjudged=tuple(Unjudged(*key, *counts) for key, counts in self._unjudged.items()),
            explanations={kind: EXPLANATIONS[kind] for kind in sorted(kinds)},
            **self._counts,
        )


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
