"""Tiles: physical ids 0–135, kinds 0–33, and their text forms.

Kinds 0–8 are 1m–9m, 9–17 1p–9p, 18–26 1s–9s, 27–30 East South West North, 31–33 white green red.
A physical id is ``4 * kind + copy``; copy 0 of each five is the red one (16, 52, 88).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

KINDS: Final = 34
TILES: Final = 136
UNSEEN: Final = -1
"""Stands for a tile whose identity is unknown."""

RED_FIVES: Final = (16, 52, 88)
EAST: Final = 27
WHITE: Final = 31
TERMINALS_AND_HONOURS: Final = (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33)

_SUITS: Final = "mpsz"
_HONOURS_MJAI: Final = "ESWNPFC"
_MJAI: Final = tuple(f"{n}{s}" for s in "mps" for n in range(1, 10)) + tuple(_HONOURS_MJAI)
_TEXT: Final = tuple(f"{n}{s}" for s in "mps" for n in range(1, 10)) + tuple(f"{n}z" for n in range(1, 8))
_TEXT_OF_MJAI: Final = dict(zip(_MJAI, _TEXT, strict=True)) | {f"5{suit}r": f"0{suit}" for suit in "mps"}


def is_red(tile136: int) -> bool:
    """Whether a physical tile is a red five.

    >>> [is_red(t) for t in (16, 17, 52)]
    [True, False, True]
    """
    return tile136 in RED_FIVES


def face_of(tile136: int) -> int:
    """A tile as a player sees it: its kind, or 34, 35, 36 for the red five of m, p, s.

    >>> [face_of(t) for t in (16, 17, 88, 0)]
    [34, 4, 36, 0]
    """
    return 34 + RED_FIVES.index(tile136) if tile136 in RED_FIVES else tile136 >> 2


def tile_text(tile136: int) -> str:
    """``"3p"``, ``"1z"``, ``"0m"`` for a red five, ``"?"`` for an unseen tile."""
    if tile136 < 0:
        return "?"
    return f"0{_SUITS[tile136 // 36]}" if is_red(tile136) else _TEXT[tile136 >> 2]


def kind_text(tile34: int) -> str:
    """Text of a kind: ``"5m"``, ``"7z"``."""
    return _TEXT[tile34]


def mjai_text(tile136: int) -> str:
    """The tile in mjai's notation: ``"5mr"``, ``"E"``, ``"?"``."""
    if tile136 < 0:
        return "?"
    return _MJAI[tile136 >> 2] + ("r" if is_red(tile136) else "")


def text_of_mjai(text: str) -> str:
    """A tile in mjai's notation, as players write it; any other text is returned unchanged.

    >>> [text_of_mjai(text) for text in ("5mr", "E", "3p", "?")]
    ['0m', '1z', '3p', '?']
    """
    return _TEXT_OF_MJAI.get(text, text)


def copies_by(name: Callable[[int], T]) -> dict[T, tuple[int, ...]]:
    """The physical tiles of each name, ascending.

    >>> copies_by(tile_text)["0m"], copies_by(face_of)[4]
    ((16,), (17, 18, 19))
    """
    copies: dict[T, tuple[int, ...]] = {}
    for tile in range(TILES):
        copies[name(tile)] = (*copies.get(name(tile), ()), tile)
    return copies


COPIES: Final = copies_by(tile_text)
"""By text."""


def parse_hand(text: str) -> list[int]:
    """Physical tiles of a hand in text form, lowest free copies first, ``0`` the red five.

    >>> parse_hand("055m1z")
    [16, 17, 18, 108]

    Raises:
        ValueError: the text is not a hand, or names a tile more often than it exists.
    """
    tiles: list[int] = []
    digits = ""
    for char in text:
        if char.isascii() and char.isdigit():
            digits += char
            continue
        if char not in _SUITS or not digits:
            raise ValueError(f"not a hand: {text!r}; write it like '123m406p11z'")
        for digit in digits:
            tile = next((copy for copy in COPIES.get(digit + char, ()) if copy not in tiles), None)
            if tile is None:
                raise ValueError(f"no tile left for {digit}{char} in {text!r}")
            tiles.append(tile)
        digits = ""
    if digits:
        raise ValueError(f"no suit after {digits!r} in {text!r}")
    return tiles
