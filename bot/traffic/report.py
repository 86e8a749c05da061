"""The report on checked traffic, and the findings it is made from."""

from __future__ import annotations

from typing import Final

import msgspec

from bot.logs.redaction import redact
from bot.tenhou.session.conduct import SECOND_ANSWER
from bot.traffic.capture import CapturedFrame
from kit.reports import write_report

EXPLANATIONS: Final = {
    SECOND_ANSWER: "the recorded bot claimed a win and then answered the same offer's other choices too; "
    "the server ignored the second answer, and our session sends only one answer",
    "quoted in part": "the source quotes only some of the frame's members, without its tag",
}
"""Known exceptions: recorded behaviour that our session does not have."""

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


class Findings:
    """Everything found in the captures checked so far.

    Attributes:
        counts: by the name that `TrafficReport` gives them.
        unread: unread server frames, in order.
        refused: client frames that our session would not have sent.
        differences: differences between the server's offers or notices and our table.
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys(
            ("files", "server_frames", "client_frames", "allowed", "rounds", "games", "resumes", "offers"), 0
        )
        self.unread: list[Finding] = []
        self.refused: list[Finding] = []
        self.differences: list[Finding] = []
        self._unjudged: dict[tuple[str, str], list[int]] = {}
        self._file = ""

    def begin(self, file: str) -> None:
        """Start another capture."""
        self._file = file
        self.counts["files"] += 1

    def leave_unjudged(self, reason: str, *, server: int = 0, client: int = 0) -> None:
        """Count frames that were read but neither folded nor judged."""
        counts = self._unjudged.setdefault((self._file, reason), [0, 0])
        counts[0] += server
        counts[1] += client

    def on(self, frame: CapturedFrame, reason: str, kind: str = "") -> Finding:
        """A remark about a frame of the current capture."""
        return Finding(self._file, frame.line, redact(frame.text)[:_SHOWN], redact(reason), kind)

    def on_file(self, reason: str) -> Finding:
        """A remark about the whole capture."""
        return Finding(self._file, 0, "", reason)

    def report(self) -> TrafficReport:
        """The report on everything checked so far."""
        listed = [*self.unread, *self.refused]
        kinds = {finding.kind for finding in listed if finding.kind}
        return TrafficReport(
            unread=len(self.unread),
            not_allowed=len(self.refused),
            not_judged=sum(client for _, client in self._unjudged.values()),
            differing_offers=len(self.differences),
            unexplained=sum(not finding.kind for finding in listed),
            unread_frames=tuple(self.unread),
            not_allowed_frames=tuple(self.refused),
            differences=tuple(self.differences),
            unjudged=tuple(Unjudged(*key, *counts) for key, counts in self._unjudged.items()),
            explanations={kind: EXPLANATIONS[kind] for kind in sorted(kinds)},
            **self.counts,
        )
