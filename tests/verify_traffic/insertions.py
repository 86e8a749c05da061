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
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np

from bot.tenhou.messages import render_xml
from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.seat import Seat
from game.events import Discard, GameEvent, StartGame, StartRound
from game.forbidden import broken_rule
from game.layout import AT_HAND, AT_UNSEEN
from game.melds import decode_meld
from game.state import apply, clone
from kit.errors import RemoteProtocolError, ReplayError, StateMismatchError
from replays.mjlog.reader import read_record
from replays.mjlog.writer import write
from replays.record import GameRecord
from replays.store.library import joined
from tests.bot.captures import CapturedFrame, read_capture
from tests.verify_traffic.check import Finding, TrafficCheck
from tests.verify_traffic.spectated import Batch, read_frame

Frames: TypeAlias = Sequence[CapturedFrame | None]
"""Frames of a capture, None where another connection begins."""
Changed: TypeAlias = tuple[TrafficCheck, Iterable[CapturedFrame | None]]
"""The check before a change, and the frames from there on, made when they are needed."""

_NEXT_DEALS: Final = 2
_SOME_ID: Final = "2026010203gm-0009-0000-0123abcd"
_read = functools.lru_cache(maxsize=1 << 16)(read_frame)


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
        for before, changed in CHANGES[change](capture, path):
            places += 1
            if (places - 1) % every == 0:
                runs.append(_Run(before, changed))
    unread = [found for run in runs for found in run.unread]
    return {
        "change": change,
        "files": files,
        "server_frames": frames,
        "runs": len(runs),
        "insertions": len(runs) * (len(COMINGS[0]) if change == "bye" else 1),
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


def _positions(frames: Frames, path: Path) -> Iterator[tuple[int, CapturedFrame, TrafficCheck]]:
    """Every server frame with its position and the check as it stands before the frame."""
    check = TrafficCheck(_read)
    check.begin(path)
    for at, frame in enumerate(frames):
        if frame is not None and frame.sender == "S":
            yield at, frame, check
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
        message = _read(frame.text)
    except RemoteProtocolError:
        return None
    return None if isinstance(message, m.Unknown) else message


# --- players leave or return ------------------------------------------------------------------------------

COMINGS: Final = (
    tuple(f'<BYE who="{seat}"/>' for seat in range(4)),
    tuple(f'<UN n{seat}="%41"/>' for seat in range(4)),
)
"""All players leave; all players return."""


def _comings(frames: Frames, path: Path) -> Iterator[Changed]:
    for at, _, before in _read_positions(frames, path):
        for texts in COMINGS:
            yield before, _with(frames, at, texts)


def _read_positions(frames: Frames, path: Path) -> Iterator[tuple[int, m.ServerMessage, TrafficCheck]]:
    """Every server frame that can be read, with its position and the check before it."""
    for at, frame, before in _positions(frames, path):
        message = _message(frame)
        if message is not None:
            yield at, message, before


def _with(frames: Frames, at: int, texts: Iterable[str]) -> Iterator[CapturedFrame | None]:
    """The frames from a position on, with others inserted after the first."""
    following = _following(frames, at)
    first = next(following)
    assert first is not None
    yield first
    for text in texts:
        yield msgspec.structs.replace(first, text=text)
    yield from following


# --- another match, game or round begins ------------------------------------------------------------------

_HANDS: Final = tuple(",".join(str(tile) for tile in range(seat, 52, 4)) for seat in range(4))
_INIT: Final = '<INIT seed="0,0,0,1,2,135" ten="250,250,250,250" oya="0" {}/>'
_OPEN: Final = " ".join(f'hai{seat}="{hand}"' for seat, hand in enumerate(_HANDS))
_MADE: Final[dict[str, tuple[str, type[m.ServerMessage]]]] = {
    "go": ('<GO type="9" lobby="0" gpid="AAAA1111-BBBB2222"/>', m.MatchFound),
    "taikyoku": ('<TAIKYOKU oya="0" log="2026010203gm-0009-0000-0123abcd"/>', m.GameBegins),
    "init": (_INIT.format(f'hai="{_HANDS[0]}"'), m.RoundDealt),
}
"""The made frame of each change, and the kind of frame it is."""


def _beginnings(frames: Frames, path: Path, *, change: str) -> Iterator[Changed]:
    made, kind = _MADE[change]
    last = made
    for at, message, before in _read_positions(frames, path):
        if isinstance(message, kind):
            last = frames[at].text
        open_hands = change == "init" and before.is_watching
        yield before, _with(frames, at, [_INIT.format(_OPEN) if open_hands else made])
        if last != made:
            yield before, _with(frames, at, [last])


# --- a discard that a rule forbids ------------------------------------------------------------------------


def _forbidden(frames: Frames, path: Path) -> Iterator[Changed]:
    for at, frame, before in _positions(frames, path):
        message = _message(frame)
        if not isinstance(message, m.TileDiscarded) or not before.is_followed:
            continue
        record, player = before.table
        if player < 0 or (message.seat == 0 and not before.is_watching):
            continue
        for tile, tsumogiri in _forbidden_discards(record, (message.seat + player) % 4, message):
            discarded = msgspec.structs.replace(message, tile=tile, tsumogiri=tsumogiri)
            rest = _exchanged(list(_following(frames, at))[1:], message.tile, tile)
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


def _exchanged(frames: Frames, one: int, other: int) -> list[CapturedFrame | None] | None:
    """The rest of a round with two tiles swapped; None if a meld contains either.

    The tile discarded instead may appear later in the round, and so may the tile kept.
    """
    if one == other:
        return list(frames)
    changed: list[CapturedFrame | None] = []
    for number, frame in enumerate(frames):
        message = _message(frame)
        if isinstance(message, m.RoundDealt | m.MatchFound | m.Hello):
            return [*changed, *frames[number:]]
        if isinstance(message, m.RoundSnapshot | Batch) or _melds_hold(message, (one, other)):
            return None
        if frame is not None and message is not None:
            text = _exchange(frame.text, message, {one: other, other: one})
            changed.append(msgspec.structs.replace(frame, text=text))
        else:
            changed.append(frame)
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

    if isinstance(message, m.TileDrawn | m.TileDiscarded | m.IndicatorShown):
        other = msgspec.structs.replace(message, tile=places.get(message.tile, message.tile))
    elif isinstance(message, m.RoundWon):
        other = msgspec.structs.replace(
            message, tile=places.get(message.tile, message.tile), hand=renamed(message.hand)
        )
    elif isinstance(message, m.RoundDrawn):
        hands = tuple(None if hand is None else renamed(hand) for hand in message.hands)
        other = msgspec.structs.replace(message, hands=hands)
    else:
        return text
    return text if other == message else render_xml(other)


CHANGES: Final[dict[str, Callable[[Frames, Path], Iterator[Changed]]]] = {
    "bye": _comings,
    "forbidden": _forbidden,
    **{change: functools.partial(_beginnings, change=change) for change in _MADE},
}
