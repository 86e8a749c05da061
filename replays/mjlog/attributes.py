"""Tenhou's tags and their attributes, read with checks; the wire and record files share them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from game.events import Four, four
from game.tiles import TILES, UNSEEN
from kit.errors import ReplayFormatError, ReplayTooLarge

_INTEGER: Final = re.compile(r"-?[0-9]{1,9}")
_INTEGERS: Final = re.compile(r"-?[0-9]{1,9}(?:,-?[0-9]{1,9})*+")
_TENTHS: Final = re.compile(r"-?[0-9]{1,5}(\.[0-9])?")
_COMMON: Final = {str(value): value for value in range(-999, 2000)}
"""The usual numbers as they are written: a lookup is faster than a check and a conversion."""
_RATING: Final = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,4})?")
_SHOWN: Final = 80


class Attributes:
    """Attributes as text, read by name.

    Bad attributes raise what `fail` returns: each subclass has its own error and its own way to name the tag.

    Args:
        attributes: by name.
    """

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.attributes = attributes
        self._read: set[str] = set()

    def fail(self, reason: str) -> Exception:
        """The error for these attributes."""
        raise NotImplementedError

    def has(self, name: str) -> bool:
        """Whether the attribute is there."""
        return name in self.attributes

    def take(self, name: str, default: str | None = None, limit: int = 8192) -> str:
        """An attribute's text; without a default it must be there."""
        value = self.attributes.get(name, default)
        self._read.add(name)
        if value is None:
            raise self.fail(f"{name} is missing")
        if len(value) > limit:
            raise self.fail(f"{name} has {len(value)} characters, at most {limit} are read")
        return value

    def rest(self) -> tuple[tuple[str, str], ...]:
        """Attributes not read so far, in the tag's order."""
        return tuple((name, value) for name, value in self.attributes.items() if name not in self._read)

    def integer(self, name: str, text: str, low: int, high: int) -> int:
        """The integer in a part of an attribute, within bounds."""
        value = _COMMON.get(text)
        if value is None:
            if not _INTEGER.fullmatch(text):
                raise self.fail(f"{name} has {text[:20]!r}, which is not a number")
            value = int(text)
        if not low <= value <= high:
            raise self._outside(name, value, low, high)
        return value

    def number(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """One integer within bounds."""
        if default is not None and name not in self.attributes:
            return default
        return self.integer(name, self.take(name, limit=16), low, high)

    def numbers(self, name: str, low: int, high: int, counts: Collection[int]) -> tuple[int, ...]:
        """A comma list of integers within bounds; a missing attribute is an empty list."""
        text = self.take(name, "" if 0 in counts else None, limit=4096)
        values = self._integers(name, text) if text else ()
        if len(values) not in counts:
            raise self.fail(f"{name} has {len(values)} numbers instead of {_listed(counts)}")
        if values and (min(values) < low or max(values) > high):
            outside = next(value for value in values if not low <= value <= high)
            raise self._outside(name, outside, low, high)
        return values

    def _integers(self, name: str, text: str) -> tuple[int, ...]:
        parts = text.split(",")
        try:
            return tuple([_COMMON[part] for part in parts])
        except KeyError:
            if not _INTEGERS.fullmatch(text):
                raise self.fail(f"{name} is not a list of numbers: {text[:_SHOWN]!r}") from None
            return tuple(map(int, parts))

    def four(self, name: str, low: int, high: int, scale: int = 1) -> Four:
        """Four integers, one for each seat or player, times ``scale``."""
        return four(scale * value for value in self.numbers(name, low, high, (4,)))

    def tiles(self, name: str, counts: Collection[int]) -> tuple[int, ...]:
        """A list of distinct tiles; a missing attribute is an empty list."""
        tiles = self.numbers(name, 0, TILES - 1, counts)
        if len(set(tiles)) != len(tiles):
            raise self.fail(f"{name} names a tile twice")
        return tiles

    def tenths(self, name: str, text: str) -> int:
        """A number with at most one decimal, in tenths."""
        if not _TENTHS.fullmatch(text):
            raise self.fail(f"{name} contains an invalid result: {text[:20]!r}")
        whole, _, part = text.partition(".")
        value = 10 * abs(int(whole)) + int(part or 0)
        return -value if text.startswith("-") else value

    def ratings(self, name: str) -> tuple[float, float, float, float]:
        """Four ratings, one for each seat or player; if the attribute is missing, those of beginners."""
        parts = self.take(name, "1500.00,1500.00,1500.00,1500.00", limit=64).split(",")
        if len(parts) != 4 or not all(_RATING.fullmatch(part) for part in parts):
            raise self.fail(f"{name} is not a list of four ratings")
        return four(map(float, parts))

    def _outside(self, name: str, value: int, low: int, high: int) -> Exception:
        return self.fail(f"{name} is {value}, outside {low}–{high}")


def _listed(counts: Collection[int]) -> str:
    if isinstance(counts, range) and counts.step == 1:
        return f"{counts.start} to {counts.stop - 1}" if len(counts) > 1 else str(counts.start)
    listed = [*map(str, counts)]
    return " or ".join(listed if len(listed) < 12 else (*listed[:2], "…", listed[-1]))


MAX_ATTRIBUTES: Final = 32
MAX_VALUE: Final = 8192

_TAG: Final = re.compile(  # without the "<" that texts are split at: values never contain one
    r"(?P<close>/?+)(?P<name>[A-Za-z]++)(?P<tile>[0-9]{0,3}+)"
    r'(?P<attributes>(?:\s++[A-Za-z][A-Za-z0-9]{0,20}+="[^"<>]*+")*+)\s*+/?+>\s*+'
)
_ATTRIBUTE: Final = re.compile(r'([A-Za-z][A-Za-z0-9]*+)="([^"]*+)"')


class MjlogTag(Attributes):
    """One tag with its attributes as text, and checked access to them."""

    def __init__(self, name: str, tile: str, attributes: dict[str, str]) -> None:
        super().__init__(attributes)
        self.name = name
        self.tile_text = tile

    def fail(self, reason: str) -> ReplayFormatError:
        """The error that names this tag."""
        return ReplayFormatError(f"<{self.name}{self.tile_text}>: {reason}")

    def player(self) -> int:
        """The player whose tag it is."""
        return self.number("who", 0, 3)

    def own_tile(self, *, may_be_unseen: bool = False) -> int:
        """The tile number in the tag's name."""
        if not self.tile_text and may_be_unseen:
            return UNSEEN
        if not self.tile_text or int(self.tile_text) >= TILES:
            raise self.fail("no such tile")
        return int(self.tile_text)


def no_tag(text: str, at: int) -> ReplayFormatError:
    """The error of a text in which no tag begins at this place."""
    return ReplayFormatError(f"not a tag at character {at}: {text[at : at + 80]!r}")


def parse_tag(text: str) -> MjlogTag | None:
    """Parse a tag without its "<"; None for a closing tag.

    Raises:
        ReplayFormatError: it is not a tag.
        ReplayTooLarge: a value is longer than any can be.
    """
    found = _TAG.fullmatch(text)
    if found is None:
        raise no_tag("<" + text, 0)
    pairs = _ATTRIBUTE.findall(found["attributes"])
    attributes = dict(pairs)
    if len(attributes) != len(pairs) or len(pairs) > MAX_ATTRIBUTES:
        raise ReplayFormatError(f"<{found['name']}>: a repeated attribute, or too many")
    if len(text) > MAX_VALUE and any(len(value) > MAX_VALUE for value in attributes.values()):
        raise ReplayTooLarge(f"<{found['name']}>: a value of more than {MAX_VALUE} characters")
    return None if found["close"] else MjlogTag(found["name"], found["tile"], attributes)
