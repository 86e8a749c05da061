"""Check captured traffic with frames inserted or changed: everything after the change must still be read.

``bye`` inserts a BYE of each seat after a server frame, and in a second run a UN of each. ``forbidden``
changes a discard that a rule restricts (after a chi or pon, and in riichi) into one that the rule forbids and
the tiles allow. Each run follows the capture to the second deal after the change, or to its end.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import structlog

from bot.tenhou.messages import render_xml
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.parse_server import parse_server
from bot.traffic.capture import CapturedFrame, Heading, read_capture
from bot.traffic.report import Finding
from bot.traffic.verify import TrafficCheck
from game.events import Discard
from game.forbidden import broken_rule
from game.layout import AT_HAND, AT_UNSEEN
from game.melds import decode_meld
from game.state import apply, clone
from kit.errors import RemoteProtocolError, StateMismatchError
from kit.reports import write_report

Change: TypeAlias = Literal["bye", "forbidden"]
Items: TypeAlias = Sequence[CapturedFrame | Heading]

_NEXT_DEALS: Final = 2
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
    """

    change: Change
    files: int
    server_frames: int
    runs: int
    insertions: int
    unread: int
    unread_frames: tuple[Finding, ...]


def verify_with(change: Change, paths: Iterable[Path], *, every: int = 1) -> InsertionReport:
    """Make every change of a kind in every capture, one place at a time.

    Args:
        change: the kind.
        paths: captures.
        every: make only every N-th run.
    """
    files = frames = places = runs = 0
    unread: list[Finding] = []
    for path in paths:
        items = _read(path)
        files += 1
        frames += sum(isinstance(item, CapturedFrame) and item.sender == "S" for item in items)
        for before, changed in _BY_KIND[change](items, path):
            places += 1
            if (places - 1) % every:
                continue
            runs += 1
            unread += _first_unread(before, changed)
        _log.info("traffic.progress", file=path.name, runs=runs, unread=len(unread))
    made = runs * (len(_COMINGS[0]) if change == "bye" else 1)
    return InsertionReport(change, files, frames, runs, made, len(unread), tuple(unread))


def print_insertions(report: InsertionReport, *, as_json: bool) -> int:
    """Write the report to stdout; return exit code 1 if a frame was unread."""
    write_report(report, _text, as_json=as_json)
    return 1 if report.unread else 0


def _text(report: InsertionReport) -> str:
    lines = [
        f"{report.files} files, {report.server_frames} server frames",
        f"{report.insertions} insertions ({report.change}) in {report.runs} runs, "
        f"{report.unread} with unread frames",
        *(f"unread: {f.file}:{f.line} {f.frame}  {f.reason}" for f in report.unread_frames),
    ]
    return "\n".join(lines)


def _read(path: Path) -> Items:
    try:
        return list(read_capture(path))
    except (OSError, RemoteProtocolError):
        return []  # `suzaku traffic verify` without --insert reports such files


def _first_unread(before: TrafficCheck, items: Iterable[CapturedFrame | Heading]) -> list[Finding]:
    """Follow the changed items from a place on; return the first frame that cannot be read."""
    check = before.fork()
    known = len(check.findings.unread)
    for item in items:
        check.take(item)
        if len(check.findings.unread) > known:
            return check.findings.unread[known : known + 1]
    return []


def _positions(items: Items, path: Path) -> Iterator[tuple[int, CapturedFrame, TrafficCheck]]:
    """Every server frame with its position and the check as it stands before the frame."""
    check = TrafficCheck(parse=_parse)
    check.begin(path)
    for at, item in enumerate(items):
        if isinstance(item, CapturedFrame) and item.sender == "S":
            yield at, item, check
        check.take(item)


def _following(items: Items, at: int) -> list[CapturedFrame | Heading]:
    """Items from a position to the second deal after it, without frames that are unread in the original."""
    taken: list[CapturedFrame | Heading] = []
    deals = 0
    for item in items[at:]:
        message = _message(item)
        if isinstance(item, CapturedFrame) and item.sender == "S" and message is None:
            continue
        taken.append(item)
        deals += isinstance(message, m.RoundDealt)
        if deals == _NEXT_DEALS:
            break
    return taken


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

_COMINGS: Final = (
    tuple(f'<BYE who="{seat}"/>' for seat in range(4)),
    tuple(f'<UN n{seat}="%41"/>' for seat in range(4)),
)
"""All players leave; all players return."""


def _comings(items: Items, path: Path) -> Iterator[tuple[TrafficCheck, list[CapturedFrame | Heading]]]:
    for at, frame, before in _positions(items, path):
        if _message(frame) is None:
            continue
        following = _following(items, at)
        for texts in _COMINGS:
            inserted = [msgspec.structs.replace(frame, text=text, error="") for text in texts]
            yield before, [following[0], *inserted, *following[1:]]


# --- a discard that a rule forbids ------------------------------------------------------------------------


def _forbidden(items: Items, path: Path) -> Iterator[tuple[TrafficCheck, list[CapturedFrame | Heading]]]:
    for at, frame, before in _positions(items, path):
        message = _message(frame)
        if not isinstance(message, m.TileDiscarded) or not before.is_followed:
            continue
        record, player = before.table
        if player < 0 or (message.seat == 0 and not before.is_watching):
            continue
        for tile, tsumogiri in _forbidden_discards(record, (message.seat + player) % 4, message):
            discarded = msgspec.structs.replace(message, tile=tile, tsumogiri=tsumogiri)
            rest = _exchanged(_following(items, at)[1:], message.tile, tile)
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


_BY_KIND: Final = {"bye": _comings, "forbidden": _forbidden}
