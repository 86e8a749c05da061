"""Check captured traffic with frames inserted or changed: everything after the change must still be read.

``bye`` inserts a BYE of each seat after a server frame, and in a second run a UN of each. ``go``,
``taikyoku`` and ``init`` begin another match, game or round after a server frame: with a made frame, and in a
second run with the last one of the capture. The record of a game that this cuts short must be complete.
``forbidden`` changes a discard that a rule restricts (after a chi or pon, and in riichi) into one that the
rule forbids and the tiles allow. Each run follows the capture to the second deal after the change, or to its
end.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import structlog

from bot.tenhou.messages import render_xml
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.parse_server import parse_server
from bot.tenhou.session.seat import Seat
from bot.traffic.capture import CapturedFrame, Heading, read_capture
from bot.traffic.report import Finding
from bot.traffic.verify import TrafficCheck
from game.events import Discard, GameEvent, StartGame, StartRound
from game.forbidden import broken_rule
from game.layout import AT_HAND, AT_UNSEEN
from game.melds import decode_meld
from game.state import apply, clone
from kit.errors import RemoteProtocolError, ReplayError, StateMismatchError
from kit.reports import write_report
from replays.mjlog.writer import read_record, write
from replays.record import GameRecord
from replays.store.library import joined

Change: TypeAlias = Literal["bye", "go", "taikyoku", "init", "forbidden"]
Items: TypeAlias = Sequence[CapturedFrame | Heading]
Game: TypeAlias = tuple[GameEvent, ...]
Changed: TypeAlias = tuple[TrafficCheck, Iterable[CapturedFrame | Heading]]
"""The check before a change, and the items from there on, made when they are needed."""

_NEXT_DEALS: Final = 2
_SOME_ID: Final = "2026010203gm-0009-0000-0123abcd"
_parse = functools.lru_cache(maxsize=1 << 16)(parse_server)
_log = structlog.get_logger(__name__)


class InsertionReport(msgspec.Struct, frozen=True):
    """The result of a check.

    Attributes:
        change: the kind of change.
        files: captures read.
        server_frames: frames from the server in them.
        runs: places changed, one per run.
        insertions: frames inserted or changed, over all runs.
        unread: runs in which a frame could not be read that can be read without the change.
        unread_frames: the first such frame of each of these runs.
        cut: runs in which a game was left unfinished.
        lost: the inserted frames after which its record was not complete.
    """

    change: Change
    files: int
    server_frames: int
    runs: int
    insertions: int
    unread: int
    unread_frames: tuple[Finding, ...]
    cut: int = 0
    lost: tuple[Finding, ...] = ()


def verify_with(change: Change, paths: Iterable[Path], *, every: int = 1) -> InsertionReport:
    """Make every change of a kind in every capture, one place at a time.

    Args:
        change: the kind.
        paths: captures.
        every: make only every N-th run.
    """
    files = frames = places = runs = 0
    cut = 0
    unread: list[Finding] = []
    lost: list[Finding] = []
    for path in paths:
        items = _read(path)
        files += 1
        frames += sum(isinstance(item, CapturedFrame) and item.sender == "S" for item in items)
        for before, changed in _BY_KIND[change](items, path):
            places += 1
            if (places - 1) % every:
                continue
            runs += 1
            run = _Run(before)
            run.follow(changed)
            cut += run.cut
            unread += run.unread
            lost += run.lost
        _log.info("traffic.progress", file=path.name, runs=runs, unread=len(unread))
    made = runs * (len(COMINGS[0]) if change == "bye" else 1)
    return InsertionReport(change, files, frames, runs, made, len(unread), tuple(unread), cut, tuple(lost))


def print_insertions(report: InsertionReport, *, as_json: bool) -> int:
    """Write the report to stdout; return exit code 1 if a frame was unread or a record lost."""
    write_report(report, _text, as_json=as_json)
    return 1 if report.unread or report.lost else 0


def _text(report: InsertionReport) -> str:
    lines = [
        f"{report.files} files, {report.server_frames} server frames",
        f"{report.insertions} insertions ({report.change}) in {report.runs} runs, "
        f"{report.unread} with unread frames",
        *([f"{report.cut} games cut, {len(report.lost)} records not complete"] if report.cut else []),
        *(f"unread: {f.file}:{f.line} {f.frame}  {f.reason}" for f in report.unread_frames),
        *(f"lost: {f.file}:{f.line} {f.frame}  {f.reason}" for f in report.lost),
    ]
    return "\n".join(lines)


def _read(path: Path) -> Items:
    try:
        return list(read_capture(path))
    except (OSError, RemoteProtocolError):
        return []  # `suzaku traffic verify` without --insert reports such files


class _Run:
    """Changed items followed from a place on.

    Args:
        before: the check as it stands before them.

    Attributes:
        unread: the first frame that cannot be read, if any.
        lost: the first frame that left a game unfinished whose record is not complete, if any.
        cut: whether a frame left a game unfinished.
    """

    def __init__(self, before: TrafficCheck) -> None:
        self.unread: list[Finding] = []
        self.lost: list[Finding] = []
        self.cut = False
        self._check = before.fork()

    def follow(self, items: Iterable[CapturedFrame | Heading]) -> None:
        """Take the items, up to the first frame that cannot be read."""
        check = self._check
        known = len(check.findings.unread)
        for item in items:
            seat, missed = check.seat, len(check.missed)
            check.take(item)
            if seat is not None and seat is not check.seat and isinstance(item, CapturedFrame):
                self._look_back(seat, item, check.missed[missed:])
            if len(check.findings.unread) > known:
                self.unread = check.findings.unread[known : known + 1]
                return

    def _look_back(self, seat: Seat, item: CapturedFrame, missed: Sequence[Game]) -> None:
        """Look at the game of a seat that a frame took from us."""
        game = seat.events_so_far()
        if seat.is_over or not any(isinstance(event, StartRound) for event in game):
            return
        self.cut = True
        why = _incomplete(game) if game in missed else "the game is forgotten"
        if why and not self.lost:
            self.lost = [self._check.findings.on(item, why)]


def _incomplete(game: Game) -> str:
    """Why the record of an unfinished game does not hold its events; empty if it does."""
    assert isinstance(game[0], StartGame)
    record = GameRecord(game_id=_SOME_ID, game_type=9, names=game[0].names, events=game)
    try:
        kept = read_record(write(record), _SOME_ID)
    except ReplayError as exc:
        return str(exc)
    same = joined(kept.events[1:], game[1:]) == game[1:]
    return "" if same else "the record differs from the game"


def _positions(items: Items, path: Path) -> Iterator[tuple[int, CapturedFrame, TrafficCheck]]:
    """Every server frame with its position and the check as it stands before the frame."""
    check = TrafficCheck(parse=_parse)
    check.begin(path)
    for at, item in enumerate(items):
        if isinstance(item, CapturedFrame) and item.sender == "S":
            yield at, item, check
        check.take(item)


def _following(items: Items, at: int) -> Iterator[CapturedFrame | Heading]:
    """Items from a position to the second deal after it, without frames that are unread in the original."""
    deals = 0
    for item in itertools.islice(items, at, None):
        message = _message(item)
        if isinstance(item, CapturedFrame) and item.sender == "S" and message is None:
            continue
        yield item
        deals += isinstance(message, m.RoundDealt)
        if deals == _NEXT_DEALS:
            return


def _message(item: CapturedFrame | Heading) -> m.ServerMessage | None:
    """The message of a server frame; None for other items and for unreadable frames."""
    if isinstance(item, Heading) or item.sender != "S" or item.error:
        return None
    try:
        message = _parse(item.text)
    except RemoteProtocolError:
        return None
    return None if isinstance(message, m.Unknown) else message


# --- players leave or return ------------------------------------------------------------------------------

COMINGS: Final = (
    tuple(f'<BYE who="{seat}"/>' for seat in range(4)),
    tuple(f'<UN n{seat}="%41"/>' for seat in range(4)),
)
"""All players leave; all players return."""


def _comings(items: Items, path: Path) -> Iterator[Changed]:
    for at, _, before in _read_positions(items, path):
        for texts in COMINGS:
            yield before, _with(items, at, texts)


def _read_positions(items: Items, path: Path) -> Iterator[tuple[int, m.ServerMessage, TrafficCheck]]:
    """Every server frame that can be read, with its position and the check before it."""
    for at, frame, before in _positions(items, path):
        message = _message(frame)
        if message is not None:
            yield at, message, before


def _with(items: Items, at: int, texts: Iterable[str]) -> Iterator[CapturedFrame | Heading]:
    """The items from a position on, with frames inserted after the first."""
    following = _following(items, at)
    first = next(following)
    assert isinstance(first, CapturedFrame)
    yield first
    for text in texts:
        yield msgspec.structs.replace(first, text=text, error="")
    yield from following


# --- another match, game or round begins ------------------------------------------------------------------

_HANDS: Final = tuple(",".join(str(tile) for tile in range(seat, 52, 4)) for seat in range(4))
_INIT: Final = '<INIT seed="0,0,0,1,2,135" ten="250,250,250,250" oya="0" {}/>'
_OPEN: Final = " ".join(f'hai{seat}="{hand}"' for seat, hand in enumerate(_HANDS))
_MADE: Final[dict[Change, tuple[str, type[m.ServerMessage]]]] = {
    "go": ('<GO type="9" lobby="0" gpid="AAAA1111-BBBB2222"/>', m.MatchFound),
    "taikyoku": ('<TAIKYOKU oya="0" log="2026010203gm-0009-0000-0123abcd"/>', m.GameBegins),
    "init": (_INIT.format(f'hai="{_HANDS[0]}"'), m.RoundDealt),
}
"""The made frame of each change, and the kind of frame it is."""


def _beginnings(items: Items, path: Path, *, change: Change) -> Iterator[Changed]:
    made, kind = _MADE[change]
    last = made
    for at, message, before in _read_positions(items, path):
        item = items[at]
        if isinstance(message, kind) and isinstance(item, CapturedFrame):
            last = item.text
        open_hands = change == "init" and before.is_watching
        yield before, _with(items, at, [_INIT.format(_OPEN) if open_hands else made])
        if last != made:
            yield before, _with(items, at, [last])


# --- a discard that a rule forbids ------------------------------------------------------------------------


def _forbidden(items: Items, path: Path) -> Iterator[Changed]:
    for at, frame, before in _positions(items, path):
        message = _message(frame)
        if not isinstance(message, m.TileDiscarded) or not before.is_followed:
            continue
        record, player = before.table
        if player < 0 or (message.seat == 0 and not before.is_watching):
            continue
        for tile, tsumogiri in _forbidden_discards(record, (message.seat + player) % 4, message):
            discarded = msgspec.structs.replace(message, tile=tile, tsumogiri=tsumogiri)
            rest = _exchanged(list(_following(items, at))[1:], message.tile, tile)
            if rest is not None:
                yield before, [msgspec.structs.replace(frame, text=render_xml(discarded)), *rest]
                break


def _forbidden_discards(record: np.void, who: int, message: m.TileDiscarded) -> Iterator[tuple[int, bool]]:
    """Tiles that the player could have discarded against a rule, each with whether it is tsumogiri."""
    known = bool(record["hand_known"][who])
    place = AT_HAND + who if known else AT_UNSEEN
    for tile in (message.tile, *np.flatnonzero(record["where"] == place).tolist()):
        event = Discard(who, tile, known and tile == record["drawn"])
        if broken_rule(record, event) and _fits(record, event):
            yield tile, event.tsumogiri


def _fits(record: np.void, event: Discard) -> bool:
    try:
        apply(clone(record), event)
    except StateMismatchError:
        return False
    return True


def _exchanged(items: Items, one: int, other: int) -> list[CapturedFrame | Heading] | None:
    """The rest of a round with two tiles swapped; None if a meld contains either.

    The tile discarded instead may appear later in the round, and so may the tile kept.
    """
    if one == other:
        return list(items)
    changed: list[CapturedFrame | Heading] = []
    for number, item in enumerate(items):
        message = _message(item)
        if isinstance(message, m.RoundDealt | m.MatchFound | m.Hello):
            return [*changed, *items[number:]]
        if isinstance(message, m.RoundSnapshot | m.WatchedFrames) or _melds_hold(message, (one, other)):
            return None
        if isinstance(item, CapturedFrame) and message is not None:
            text = _exchange(item.text, message, {one: other, other: one})
            changed.append(msgspec.structs.replace(item, text=text))
        else:
            changed.append(item)
    return changed


def _melds_hold(message: m.ServerMessage | None, tiles: tuple[int, int]) -> bool:
    codes: tuple[int, ...] = ()
    if isinstance(message, m.MeldMade):
        codes = (message.code,)
    elif isinstance(message, m.RoundWon):
        codes = message.melds
    return any(tile in decode_meld(code).tiles for code in codes for tile in tiles)


def _exchange(text: str, message: m.ServerMessage, places: dict[int, int]) -> str:
    """A frame with tiles replaced; unchanged if it contains none of them."""

    def renamed(tiles: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(places.get(tile, tile) for tile in tiles))

    other: m.ServerMessage
    if isinstance(message, m.TileDrawn | m.TileDiscarded | m.IndicatorShown):
        other = msgspec.structs.replace(message, tile=places.get(message.tile, message.tile))
    elif isinstance(message, m.RoundWon):
        other = msgspec.structs.replace(
            message, tile=places.get(message.tile, message.tile), hand=renamed(message.hand)
        )
    elif isinstance(message, m.RoundDrawn):
        a, b, c, d = (None if hand is None else renamed(hand) for hand in message.hands)
        other = msgspec.structs.replace(message, hands=(a, b, c, d))
    else:
        return text
    return text if other == message else render_xml(other)


_BY_KIND: Final[dict[Change, Callable[[Items, Path], Iterator[Changed]]]] = {
    "bye": _comings,
    "forbidden": _forbidden,
    **{change: functools.partial(_beginnings, change=change) for change in _MADE},
}
