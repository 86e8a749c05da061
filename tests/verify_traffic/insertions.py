"""Check captured traffic with frames inserted: everything after them must still be read.

``bye`` inserts a BYE of each seat after a server frame, and in a second run a UN of each. ``go``,
``taikyoku`` and ``init`` begin another match, game or round after a server frame: with a made frame, and in a
second run with the last one of the capture. The record of a game that this cuts short must be complete. Each
run follows the capture to the second deal after the change, or to its end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.seat import Seat
from game.events import GameEvent, StartGame, StartRound
from kit.errors import RemoteProtocolError, ReplayError
from replays.mjlog.reader import read_record
from replays.mjlog.writer import write
from replays.record import GameRecord
from replays.store.library import joined
from tests.bot.captures import CapturedFrame, read_capture
from tests.verify_traffic.check import Finding, TrafficCheck, parsed

Frames: TypeAlias = Sequence[CapturedFrame | None]
"""Frames of a capture, None where another connection begins."""
Changed: TypeAlias = tuple[TrafficCheck, Iterable[CapturedFrame | None]]
"""The check before a change, and the frames from there on, made when they are needed."""

_NEXT_DEALS: Final = 2
_SOME_ID: Final = "2026010203gm-0009-0000-0123abcd"


def verify_with(change: str, paths: Iterable[Path], *, every: int = 1) -> dict[str, Any]:
    """Make every change of a kind in every capture, one place at a time; captures must be readable.

    Args:
        change: the kind, of `CHANGES`.
        paths: captures.
        every: make only every N-th run.

    Returns:
        ``unread`` counts runs in which a frame could not be read that can be read without the change, and
        ``unread_frames`` lists the first of each; ``cut`` counts runs that left a game unfinished, and
        ``lost`` lists the frames after which its record was not complete.
    """
    files = frames = places = 0
    runs: list[_Run] = []
    for path in paths:
        capture = list(read_capture(path))
        files += 1
        frames += sum(frame is not None and frame.sender == "S" for frame in capture)
        for before, changed in _changes(change, capture, path):
            places += 1
            if (places - 1) % every == 0:
                runs.append(_Run(before, changed))
    unread = [found for run in runs for found in run.unread]
    return {
        "change": change,
        "files": files,
        "server_frames": frames,
        "runs": len(runs),
        "insertions": len(runs) * len(CHANGES[change][0]),
        "unread": len(unread),
        "unread_frames": unread,
        "cut": sum(run.cut for run in runs),
        "lost": [found for run in runs for found in run.lost],
    }


class _Run:
    """Changed frames followed from a place on, up to the first that cannot be read.

    Args:
        before: the check as it stands before them.
        frames: the frames.

    Attributes:
        unread: the first frame that cannot be read, if any.
        lost: the first frame that left a game unfinished whose record is not complete, if any.
        cut: whether a frame left a game unfinished.
    """

    def __init__(self, before: TrafficCheck, frames: Iterable[CapturedFrame | None]) -> None:
        self.lost: list[Finding] = []
        self.cut = False
        check = before.fork()
        known = len(check.unread)
        for frame in frames:
            seat, missed = check.seat, len(check.missed)
            check.take(frame)
            if frame is not None and seat is not None and seat is not check.seat:
                self._look_back(seat, check.on(frame, ""), check.missed[missed:])
            if len(check.unread) > known:
                break
        self.unread = check.unread[known : known + 1]

    def _look_back(self, seat: Seat, found: Finding, missed: Sequence[tuple[GameEvent, ...]]) -> None:
        """Look at the game of a seat that a frame took from us."""
        game = seat.events_so_far()
        if seat.is_over or not any(isinstance(event, StartRound) for event in game):
            return
        self.cut = True
        why = _incomplete(game) if game in missed else "the game is forgotten"
        if why and not self.lost:
            self.lost = [msgspec.structs.replace(found, reason=why)]


def _incomplete(game: tuple[GameEvent, ...]) -> str:
    """Why the record of an unfinished game does not hold its events; empty if it does."""
    assert isinstance(game[0], StartGame)
    record = GameRecord(game_id=_SOME_ID, game_type=9, names=game[0].names, events=game)
    try:
        kept = read_record(write(record), _SOME_ID)
    except ReplayError as exc:
        return str(exc)
    same = joined(kept.events[1:], game[1:]) == game[1:]
    return "" if same else "the record differs from the game"


def _positions(frames: Frames, path: Path) -> Iterator[tuple[int, m.ServerMessage, TrafficCheck]]:
    """Every server frame of a table we play, with its position and the check as it stands before it."""
    check = TrafficCheck()
    check.begin(path)
    for at, frame in enumerate(frames):
        message = _message(frame)
        if message is not None and check.is_followed:
            yield at, message, check
        check.take(frame)


def _following(frames: Frames, at: int) -> Iterator[CapturedFrame | None]:
    """Frames from a position to the second deal after it, without those that are unread in the original."""
    deals = 0
    for frame in itertools.islice(frames, at, None):
        message = _message(frame)
        if frame is not None and frame.sender == "S" and message is None:
            continue
        yield frame
        deals += isinstance(message, m.RoundDealt)
        if deals == _NEXT_DEALS:
            return


def _message(frame: CapturedFrame | None) -> m.ServerMessage | None:
    """The message of a server frame; None for others and for unreadable ones."""
    if frame is None or frame.sender != "S":
        return None
    try:
        message = parsed(frame.text)
    except RemoteProtocolError:
        return None
    return None if isinstance(message, m.Unknown) else message


def _inserted(frames: Frames, at: int, texts: Iterable[str]) -> Iterator[CapturedFrame | None]:
    """The frames from a position on, with others inserted after the first."""
    following = _following(frames, at)
    first = next(following)
    assert first is not None
    yield first
    for text in texts:
        yield msgspec.structs.replace(first, text=text)
    yield from following


def _changes(change: str, frames: Frames, path: Path) -> Iterator[Changed]:
    inserted = CHANGES[change]
    for at, message, before in _positions(frames, path):
        if _KINDS.get(type(message)) == change:
            inserted = (inserted[0], [frames[at].text])
        for texts in inserted:
            yield before, _inserted(frames, at, texts)


_HAND: Final = ",".join(map(str, range(0, 52, 4)))
CHANGES: Final[dict[str, tuple[Sequence[str], ...]]] = {
    "bye": ([f'<BYE who="{seat}"/>' for seat in range(4)], [f'<UN n{seat}="%41"/>' for seat in range(4)]),
    "go": (['<GO type="9" lobby="0" gpid="AAAA1111-BBBB2222"/>'],),
    "taikyoku": ([f'<TAIKYOKU oya="0" log="{_SOME_ID}"/>'],),
    "init": ([f'<INIT seed="0,0,0,1,2,135" ten="250,250,250,250" oya="0" hai="{_HAND}"/>'],),
}
"""What is inserted, one group in each run."""
_KINDS: Final[dict[type[m.ServerMessage], str]] = {
    m.MatchFound: "go",
    m.GameBegins: "taikyoku",
    m.RoundDealt: "init",
}
"""Frames of the capture that are inserted again later."""
