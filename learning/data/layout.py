"""Layout of a built corpus: its files, the rows of its index, the split."""

from __future__ import annotations

import hashlib
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import zstandard

from game.packing import Packed
from kit.errors import ReplayFormatError

FORMAT: Final = "suzaku-corpus/2"
"""Name of the whole layout; a change of files, rows or packed events needs another name."""

EVENTS_FILE: Final = "events.bin"
"""All games in sequence, each as written by `compress_events`."""
INDEX_FILE: Final = "index.npy"
"""One `GAME` per game."""
ABSENCES_FILE: Final = "absences.npy"
"""One `ABSENCE` for each time a player was away."""
PLAYERS_FILE: Final = "players.json"
"""Player names, in the order of their numbers."""
CARD_FILE: Final = "card.json"
"""Contents, sources and hash of the corpus; written last, so its presence means the other files are whole."""
PARTS_FOLDER: Final = "parts"
"""Finished parts of a build in progress."""

Split: TypeAlias = Literal["train", "validation", "test"]
Room: TypeAlias = Literal["ippan", "joukyuu", "tokujou", "houou"]
Part: TypeAlias = Literal[Split, "all"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
ROOMS: Final[tuple[Room, ...]] = get_args(Room)
"""In the order of their numbers in the index; games of a private lobby are classed by their type bits."""

GAME: Final = np.dtype(
    [
        ("id", "S40"),
        ("offset", "<u8"),  # in the events file
        ("size", "<u4"),  # bytes there
        ("events", "<u4"),  # packed events
        ("discards", "<u2"),
        ("rounds", "u1"),
        ("split", "u1"),  # place in SPLITS
        ("year", "<u2"),  # 0 if unknown
        ("game_type", "<u2"),
        ("lobby", "<u2"),
        ("room", "u1"),  # place in ROOMS
        ("hanchan", "u1"),
        ("ranks", "i1", (4,)),  # dan index 0-20 by player
        ("rates", "<f4", (4,)),
        ("players", "<u4", (4,)),  # place in the players file
        ("ai", "u1"),  # bit per player: an official AI account, whose name begins with a circled n
        ("away", "u1"),  # bit per player: away for part of the game
        ("scores", "<i4", (4,)),  # final
        ("places", "u1", (4,)),  # 1-4
    ]
)
"""One game in the index."""

ABSENCE: Final = np.dtype([("game", "<u4"), ("player", "u1"), ("first", "<u4"), ("end", "<u4")])
"""One absence: packed events ``first`` to ``end`` (exclusive) of a game happened without the player."""

_LEVEL: Final = 3
"""Higher levels take up to forty times as long and save a sixth."""
_TRAIN: Final = 90
_VALIDATION: Final = 95
SPLIT_RULE: Final = "sha256 of the game's id: 90 % train, 5 % validation, 5 % test"
"""How games are split, in words."""
_AI_MARK: Final = "ⓝ"


def compress_events(codes: Packed) -> bytes:
    """One game's packed events as a Zstandard frame with a checksum."""
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(codes.tobytes())


def expand_events(data: bytes) -> Packed:
    """The packed events of `compress_events`.

    Raises:
        ReplayFormatError: the bytes are damaged.
    """
    try:
        # A copy, because the kernels are compiled for writable arrays.
        return np.frombuffer(zstandard.decompress(data), np.int16).copy()
    except (zstandard.ZstdError, ValueError) as exc:
        raise ReplayFormatError(str(exc)) from None


def split_of(game_id: str) -> int:
    """Part of the corpus a game always belongs to: 90 % train, 5 % validation, 5 % test.

    >>> [SPLITS[split_of(f"game {n}")] for n in range(6)]
    ['train', 'train', 'test', 'train', 'train', 'train']
    """
    part = int.from_bytes(hashlib.sha256(game_id.encode()).digest()[:8], "big") % 100
    return int(part >= _TRAIN) + int(part >= _VALIDATION)


def room_of(game_type: int) -> int:
    """Place in `ROOMS`, from the type bits.

    >>> [ROOMS[room_of(bits)] for bits in (9, 137, 41, 169)]
    ['ippan', 'joukyuu', 'tokujou', 'houou']
    """
    return (2 if game_type & 32 else 0) + (1 if game_type & 128 else 0)


def is_ai(name: str) -> bool:
    """Whether a name is that of an official AI account."""
    return name.startswith(_AI_MARK)


def ai_name(name: str) -> str:
    """The name of an official AI account without its mark; "" for the names of people.

    >>> ai_name("ⓝLuckyJ"), ai_name("LuckyJ")
    ('LuckyJ', '')
    """
    return name.removeprefix(_AI_MARK) if is_ai(name) else ""
