"""Converts a record to the form that the corpus stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from game.events import Discard, EndGame, EndRound, GameEvent, PlayerLeft, PlayerReturned, StartGame
from game.packing import pack_all
from game.scoring.settlement import placements
from game.state import fold_packed, new_round
from kit.errors import ReplayError, StateMismatchError
from learning.data.layout import compress_events, is_ai, room_of, split_of
from learning.data.sources import StoredRecord, load
from replays.mjlog.reader import read_record
from replays.record import GameRecord

_HANCHAN: Final = 8
_UNSUPPORTED: Final = (
    (16, "three players"),
    (2, "no red fives"),
    (4, "no open tanyao"),
    (512 | 1024, "chips"),
)
_NOT_PACKED: Final = frozenset((StartGame, EndRound, EndGame, PlayerLeft, PlayerReturned))


class Absence(msgspec.Struct, frozen=True):
    """One player's time away: their moves were then the server's, and are no samples.

    Attributes:
        player: the player.
        first: number of the first packed event of the game after they left.
        end: number of the first packed event after their return; the number of all if they never returned.
    """

    player: int
    first: int
    end: int


class PackedGame(msgspec.Struct, frozen=True):
    """One game, ready to be written.

    Attributes:
        game_id: the game.
        source: ``owner/repository`` or file it came from.
        data: its events, compressed.
        fields: fields of `layout.GAME` that do not depend on other games.
        names: names of the players.
        absences: times when players were away.
    """

    game_id: str
    source: str
    data: bytes
    fields: dict[str, Any]
    names: tuple[str, str, str, str]
    absences: list[Absence]


class PackedPart(msgspec.Struct, frozen=True):
    """Packed form of some consecutive records.

    Attributes:
        games: games kept, in order.
        not_supported: ids of games under other rules, with the reason.
        rejected: places that hold no game, with the reason.
    """

    games: list[PackedGame]
    not_supported: list[tuple[str, str]]
    rejected: list[tuple[str, str]]


def unsupported(game_type: int) -> str:
    """Reason why games of this type are left out, "" if they are not."""
    return next((why for bits, why in _UNSUPPORTED if game_type & bits), "")


def pack_part(batch: list[StoredRecord]) -> bytes:
    """Pack some records into an encoded part."""
    part = PackedPart([], [], [])
    for stored in batch:
        try:
            loaded = load(stored)
            why = unsupported(loaded.game_type)
            record = None if why else read_record(loaded.text, loaded.game_id)
            if record is not None and not record.is_complete:
                why = "hidden hands"
            if why or record is None:
                part.not_supported.append((loaded.game_id, why))
            else:
                part.games.append(pack_game(record, _origin(loaded.source)))
        except (ReplayError, StateMismatchError) as exc:
            part.rejected.append((stored.place, str(exc)[:400]))
    return msgspec.msgpack.encode(part)


def read_part(data: bytes) -> PackedPart:
    """Decode a part from `pack_part`."""
    return msgspec.msgpack.decode(data, type=PackedPart)


def pack_game(record: GameRecord, source: str) -> PackedGame:
    """Pack a game; it is folded once here, so that every later reader can rely on its events to fit.

    Raises:
        StateMismatchError: an event does not fit.
        ReplayError: the game has no end.
    """
    codes = pack_all(record.events)
    events = fold_packed(new_round(), codes)
    ending = record.ending
    if ending is None:
        raise ReplayError("the game has no end")
    game_type, name = record.game_type, record.game_id
    away = absences(record.events)
    return PackedGame(
        game_id=name,
        source=source,
        data=compress_events(codes),
        fields={
            "events": events,
            "discards": sum(type(event) is Discard for event in record.events),
            "rounds": record.rounds,
            "split": split_of(name),
            "year": int(name[:4]) if name[:4].isdigit() else 0,
            "game_type": game_type,
            "lobby": record.lobby,
            "room": room_of(game_type),
            "hanchan": int(bool(game_type & _HANCHAN)),
            "ranks": list(record.ranks),
            "rates": list(record.rates),
            "ai": _bits(is_ai(player) for player in record.names),
            "away": _bits(any(a.player == player for a in away) for player in range(4)),
            "scores": list(ending.scores),
            "places": list(placements(ending.scores)),
        },
        names=record.names,
        absences=away,
    )


def absences(events: Sequence[GameEvent]) -> list[Absence]:
    """All absences of a game, ordered by when they began."""
    if not any(type(event) is PlayerLeft for event in events):
        return []
    found: list[Absence] = []
    left: dict[int, int] = {}
    number = 0
    for event in events:
        if isinstance(event, PlayerLeft):
            left.setdefault(event.player, number)
        elif isinstance(event, PlayerReturned):
            if event.player in left:
                found.append(Absence(event.player, left.pop(event.player), number))
        else:
            number += type(event) not in _NOT_PACKED
    found += [Absence(player, first, number) for player, first in left.items()]
    return sorted(found, key=lambda absence: (absence.first, absence.player))


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _origin(source: str) -> str:
    """The repository a game was found in, without the path inside it."""
    return "/".join(source.split("/")[:2]) if source.count("/") >= 2 else "files"
