"""The tags of Tenhou's record format: names and attributes, strictly checked; `mjlog_reader` reads them."""

from __future__ import annotations

import re
from typing import Final

from game.errors import ReplayFormatError, ReplayTooLarge
from game.tiles import TILES, UNSEEN
from replays.tenhou_attributes import Attributes

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

    def player(self, key: str = "who") -> int:
        """The player named by an attribute."""
        return self.number(key, 0, 3)

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
