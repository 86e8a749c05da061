"""Captured traffic with one frame put in or changed: whether everything after it is still read.

``bye`` puts a BYE of each seat behind a server frame, and in another run a UN of each. ``forbidden`` changes
a discard that a rule restricts (after a chi or pon, and in riichi) into one that the rule forbids and the
tiles allow. Each run follows the capture to the second deal after the change, or to its end.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import structlog

from bot.capture_reader import CapturedFrame, Heading, read_capture
from bot.tenhou.messages import render_xml
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.parse_server import parse_server
from bot.traffic import Finding, TrafficCheck
from game.errors import RemoteProtocolError, StateMismatchError
from game.events import Discard
from game.forbidden import broken_rule
from game.layout import AT_HAND, AT_UNSEEN
from game.melds import decode_meld
from game.state import apply, clone

Change: TypeAlias = Literal["bye", "forbidden"]
Items: TypeAlias = Sequence[CapturedFrame | Heading]

_NEXT_DEALS: Final = 2
_parse = functools.lru_cache(maxsize=1 << 16)(parse_server)
_log = structlog.get_logger(__name__)


class InsertionReport(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes:
        change: what was put in or changed.
        files: captures read.
        server_frames: frames from the server in them.
        runs: places changed, each on its own.
        insertions: frames put in or changed, over all runs.
        unread: runs in which some frame could not be read that can be read without the change.
        unread_frames: the first such frame of each.
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
        every: only each so-many-th run is made.
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
    """Write the report to stdout; exit code 1 if a frame was left unread."""
    text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    if not as_json:
        lines = [
            f"{report.files} files, {report.server_frames} server frames",
            f"{report.insertions} insertions ({report.change}) in {report.runs} runs, "
            f"{report.unread} with unread frames",
            *(f"unread: {f.file}:{f.line} {f.frame}  {f.reason}" for f in report.unread_frames),
        ]
        text = "\n".join(lines)
    sys.stdout.write(text + "\n")
    return 1 if report.unread else 0


def _read(path: Path) -> Items:
    try:
        return list(read_capture(path))
    except (OSError, RemoteProtocolError):
        return []  # `suzaku traffic verify` names such files


def _first_unread(before: TrafficCheck, items: Iterable[CapturedFrame | Heading]) -> list[Finding]:
    """Follow changed items from a place on; the first that cannot be read."""
    check = before.fork()
    known = len(check.unread)
    for item in items:
        check.take(item)
        if len(check.unread) > known:
            return check.unread[known : known + 1]
    return []


def _positions(items: Items, path: Path) -> Iterator[tuple[int, CapturedFrame, TrafficCheck]]:
    """Every server frame with its place and the check as it is before it."""
    check = TrafficCheck(parse=_parse)
    check.begin(path)
    for at, item in enumerate(items):
        if isinstance(item, CapturedFrame) and item.sender == "S":
            yield at, item, check
        check.take(item)


def _following(items: Items, at: int) -> list[CapturedFrame | Heading]:
    """Items from a place to the second deal after it, without those that are unread as they stand."""
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
    """The message of a server frame; None for anything else, and for what cannot be read."""
    if isinstance(item, Heading) or item.sender != "S" or item.error:
        return None
    try:
        message = _parse(item.text)
    except RemoteProtocolError:
        return None
    return None if isinstance(message, m.Unknown) else message


# --- somebody leaves or returns ---------------------------------------------------------------------------

_COMINGS: Final = (
    tuple(f'<BYE who="{seat}"/>' for seat in range(4)),
    tuple(f'<UN n{seat}="%41"/>' for seat in range(4)),
)
"""Everybody leaves; everybody returns."""


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
        if not isinstance(message, m.TileThrown) or not before.is_followed:
            continue
        record, player = before.table
        if player < 0 or (message.seat == 0 and not before.is_watching):
            continue
        for tile, tsumogiri in _forbidden_throws(record, (message.seat + player) % 4, message):
            thrown = msgspec.structs.replace(message, tile=tile, tsumogiri=tsumogiri)
            rest = _exchanged(_following(items, at)[1:], message.tile, tile)
            if rest is not None:
                yield before, [msgspec.structs.replace(frame, text=render_xml(thrown)), *rest]
                break


def _forbidden_throws(record: np.void, who: int, message: m.TileThrown) -> Iterator[tuple[int, bool]]:
    """Tiles the player could have thrown against a rule, and whether as drawn."""
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
    """The rest of a round in a world where two tiles lay in each other's place; None if a meld holds either.

    The tile that was thrown instead may turn up later, and the one that was kept may too.
    """
    if one == other:
        return list(items)
    changed: list[CapturedFrame | Heading] = []
    for number, item in enumerate(items):
        message = _message(item)
        if isinstance(message, m.RoundDealt | m.MatchFound | m.Hello):
            return [*changed, *items[number:]]
        if isinstance(message, m.RoundSnapshot | m.Batch) or _melds_hold(message, (one, other)):
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
    """A frame with tiles renamed; as it stands if it names none of them."""

    def renamed(tiles: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(places.get(tile, tile) for tile in tiles))

    other: m.ServerMessage
    if isinstance(message, m.TileDrawn | m.TileThrown | m.IndicatorShown):
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
