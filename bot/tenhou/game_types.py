"""Tenhou's game types: the number on the wire, the words for them, and which of them we play.

A type is a set of bits: 1 against people (clear: against the server's own players), 2 without red fives,
4 without open tanyao, 8 hanchan, 16 three players, 32 and 128 the room, 64 the fast clock, 256 the hidden
option, 512 and 1024 chips, 2048 a three-player variant.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

AGAINST_PEOPLE: Final = 1
NO_RED_FIVES: Final = 2
NO_OPEN_TANYAO: Final = 4
HANCHAN: Final = 8
THREE_PLAYERS: Final = 16
ROOM_TOKUJOU: Final = 32
FAST: Final = 64
ROOM_JOUKYUU: Final = 128
HIDDEN: Final = 256
CHIPS: Final = 512 | 1024
THREE_PLAYER_VARIANT: Final = 2048
ALL_BITS: Final = 4095

_ROOMS: Final = {
    "ippan": 0,
    "joukyuu": ROOM_JOUKYUU,
    "tokujou": ROOM_TOKUJOU,
    "houou": ROOM_TOKUJOU | ROOM_JOUKYUU,
}
_REFUSED_BITS: Final = (
    (THREE_PLAYERS | THREE_PLAYER_VARIANT, "three-player tables"),
    (NO_RED_FIVES, "tables without red fives"),
    (NO_OPEN_TANYAO, "tables without open tanyao"),
    (CHIPS, "chip tables"),
    (HIDDEN, "the hidden option (256)"),
)
_REFUSED_WORDS: Final = {
    "sanma": THREE_PLAYERS,
    "threeplayer": THREE_PLAYERS,
    "3p": THREE_PLAYERS,
    "nored": NO_RED_FIVES,
    "akanashi": NO_RED_FIVES,
    "noopentanyao": NO_OPEN_TANYAO,
    "notanyao": NO_OPEN_TANYAO,
    "kuitannashi": NO_OPEN_TANYAO,
    "chips": 1024,
    "shuugi": 1024,
}
_LENGTHS: Final = ("hanchan", "tonpuu")
WORDS: Final = "hanchan, tonpuu, fast, practice, ippan, joukyuu, tokujou, houou"


class GameType(msgspec.Struct, frozen=True):
    """A game type, by its number on the wire."""

    number: int

    @property
    def is_practice(self) -> bool:
        """Whether the opponents are the server's own players."""
        return not self.number & AGAINST_PEOPLE

    @property
    def is_fast(self) -> bool:
        """Whether it uses the fast clock."""
        return bool(self.number & FAST)

    @property
    def length(self) -> Literal["hanchan", "tonpuu"]:
        """East and South, or East only."""
        return "hanchan" if self.number & HANCHAN else "tonpuu"

    @property
    def room(self) -> str:
        """``practice`` or the room's name."""
        if self.is_practice:
            return "practice"
        bits = self.number & (ROOM_TOKUJOU | ROOM_JOUKYUU)
        return next(name for name, value in _ROOMS.items() if value == bits)

    @property
    def clock_s(self) -> tuple[int, int]:
        """Seconds for each decision, and the time bank, which is refilled every round."""
        return (3, 5) if self.is_fast else (5, 10)

    def __str__(self) -> str:
        return f"{self.room} {self.length}{' fast' if self.is_fast else ''}"


def describe(number: int) -> str:
    """The type in words, including types we do not play.

    >>> describe(9), describe(193), describe(64), describe(19)
    ('ippan hanchan', 'joukyuu tonpuu fast', 'practice tonpuu fast', 'ippan tonpuu, three-player tables, tables without red fives')
    """  # noqa: E501
    return ", ".join([str(GameType(number)), *_refused(number)])


def refusal(number: int) -> str | None:
    """Why we do not play a type, or None if we do.

    >>> refusal(9) is None, refusal(17)
    (True, 'three-player tables are not supported')
    """
    if not 0 <= number <= ALL_BITS:
        return f"there is no game type {number}; types are 0 to {ALL_BITS}"
    refused = _refused(number)
    return f"{' and '.join(refused)} are not supported" if refused else None


def game_type(number: int) -> GameType:
    """The type with this number.

    Raises:
        ValueError: we do not play it.
    """
    reason = refusal(number)
    if reason is not None:
        raise ValueError(reason)
    return GameType(number)


def parse_game_type(text: str | int) -> GameType:
    """Parse a type given as a number, or as words in any order.

    The default room is ippan and the default length hanchan; ``fast`` and ``practice`` without a length are
    East only, as on Tenhou.

    >>> [parse_game_type(t).number for t in ("hanchan", "tonpuu", "fast", "practice", "houou", "fast hanchan", "9")]
    [9, 1, 65, 0, 169, 73, 9]

    Raises:
        ValueError: a word is unknown, words contradict each other, or we do not play the type.
    """  # noqa: E501
    if isinstance(text, int) or text.strip().isdecimal():
        return game_type(int(text))
    words = re.split(r"[\s+_-]+", text.strip().lower())
    for refused, bit in _REFUSED_WORDS.items():
        if refused in "".join(words):
            raise ValueError(refusal(bit))
    return game_type(_bits(words, text))


def _bits(words: list[str], text: str) -> int:
    unknown = [word for word in words if word not in (*_LENGTHS, *_ROOMS, "fast", "practice")]
    if unknown or not words:
        raise ValueError(f"unknown game type {text!r}; write a number, or words from: {WORDS}")
    rooms = [word for word in words if word in _ROOMS or word == "practice"]
    lengths = [word for word in words if word in _LENGTHS]
    if len(set(rooms)) > 1 or len(set(lengths)) > 1:
        raise ValueError(f"game type {text!r} names two {'rooms' if len(set(rooms)) > 1 else 'lengths'}")
    practice = rooms == ["practice"]
    short_by_default = practice or (not rooms and "fast" in words)
    length = lengths[0] if lengths else "tonpuu" if short_by_default else "hanchan"
    return (
        (0 if practice else AGAINST_PEOPLE | _ROOMS.get(rooms[0] if rooms else "ippan", 0))
        | (HANCHAN if length == "hanchan" else 0)
        | (FAST if "fast" in words else 0)
    )


def _refused(number: int) -> list[str]:
    return [name for bits, name in _REFUSED_BITS if number & bits]
