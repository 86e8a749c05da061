"""The wall of every round, from the seed that Tenhou publishes with a record.

Source: Tenhou's description of its shuffle (Mersenne Twister seeded with 624 words, its output hashed with
SHA-512), checked against the deals, draws and indicators of recorded games. The records of early 2009 carry
a seed of 8 words with every round, and the generator's output is used unhashed (observed, 6,955 rounds).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from game.tiles import TILES
from kit.errors import ReplayFormatError
from replays.record import GameRecord

_MAX_WORDS: Final = 624  # the first seeds, of 2009, have 32
_BASE64: Final = "mt19937ar-sha512-n288-base64,"
_HEX: Final = "mt19937ar-sha512-n288,"
_ROUND_HEX: Final = "mt19937ar,"
_BLOCKS: Final = 9
_BLOCK_WORDS: Final = 32
_FIRST_PAIR: Final = 4
"""Place in the dead wall of the first indicator and the one below it, in this or the reverse order."""


class Wall(msgspec.Struct, frozen=True):
    """The 136 tiles of one round as Tenhou numbers them, dealt from the end.

    Attributes:
        tiles: physical tiles; the dead wall is the first 14.
        dice: both dice minus one.
        upper_first: whether the upper tile of each pair in the dead wall has the lower number, as in 2009.
    """

    tiles: tuple[int, ...]
    dice: tuple[int, int]
    upper_first: bool = False

    def hands(self, dealer: int) -> tuple[tuple[int, ...], ...]:
        """The 13 tiles dealt to each player, in the order they are taken."""
        taken: list[list[int]] = [[], [], [], []]
        at = TILES
        for size in (4, 4, 4, 1):
            for turn in range(4):
                at -= size
                taken[(dealer + turn) % 4].extend(reversed(self.tiles[at : at + size]))
        return tuple(tuple(hand) for hand in taken)

    @property
    def draws(self) -> tuple[int, ...]:
        """The 70 tiles of the live wall after the deal, in the order they are drawn."""
        return tuple(reversed(self.tiles[14:84]))

    @property
    def replacements(self) -> tuple[int, ...]:
        """The four tiles drawn after kans, in order."""
        order = (0, 1, 2, 3) if self.upper_first else (1, 0, 3, 2)
        return tuple(self.tiles[place] for place in order)

    @property
    def indicators(self) -> tuple[int, ...]:
        """The five dora indicators, in the order they are revealed."""
        return self._layer(_FIRST_PAIR + (not self.upper_first))

    @property
    def ura_indicators(self) -> tuple[int, ...]:
        """The five indicators below them."""
        return self._layer(_FIRST_PAIR + self.upper_first)

    def _layer(self, first: int) -> tuple[int, ...]:
        return self.tiles[first : first + 10 : 2]


def game_walls(record: GameRecord) -> Iterator[Wall]:
    """The walls of a record's rounds; none if it carries no seed.

    Raises:
        ReplayFormatError: the form of a seed is unknown.
    """
    if record.shuffle:
        yield from islice(walls(record.shuffle), record.rounds)
    else:
        yield from map(round_wall, record.round_shuffles)


def walls(seed: str) -> Iterator[Wall]:
    """The walls of a game's rounds, endlessly, from the text of its ``SHUFFLE`` seed.

    Raises:
        ReplayFormatError: the form of the seed is unknown.
    """
    # NumPy's legacy seeding with an array is the generator's own init_by_array.
    generator = np.random.RandomState(_words(seed))
    upper_first = seed.startswith(_HEX)
    while True:
        yield _next_wall(generator, upper_first)


def round_wall(seed: str) -> Wall:
    """The wall of a single round, from that round's seed.

    Raises:
        ReplayFormatError: the form of the seed is unknown.
    """
    if not seed.startswith(_ROUND_HEX):
        raise ReplayFormatError(f"unknown form of seed: {seed[:40]!r}")
    generator = np.random.RandomState(_words(seed))
    return _shuffled(generator.randint(0, 1 << 32, size=TILES + 1, dtype=np.uint32).tolist(), True)


def _words(seed: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    try:
        if seed.startswith(_BASE64):
            data = base64.b64decode(seed[len(_BASE64) :], validate=True)
        elif seed.startswith((_HEX, _ROUND_HEX)):
            words = seed[seed.index(",") + 1 :].split(",")
            data = b"".join(int(word, 16).to_bytes(4, "little") for word in words)
        else:
            raise ReplayFormatError(f"unknown form of seed: {seed[:40]!r}")
    except (ValueError, OverflowError, binascii.Error) as exc:
        raise ReplayFormatError(f"the seed cannot be read: {exc}") from None
    if len(data) % 4 or not 0 < len(data) <= 4 * _MAX_WORDS:
        raise ReplayFormatError(f"the seed has {len(data)} bytes; expected up to {_MAX_WORDS} words of 4")
    return np.frombuffer(data, dtype="<u4")


def _next_wall(generator: np.random.RandomState, upper_first: bool) -> Wall:
    words = generator.randint(0, 1 << 32, size=_BLOCKS * _BLOCK_WORDS, dtype=np.uint32).astype("<u4")
    digests = b"".join(
        hashlib.sha512(words[at : at + _BLOCK_WORDS].tobytes()).digest()
        for at in range(0, len(words), _BLOCK_WORDS)
    )
    return _shuffled(np.frombuffer(digests, dtype="<u4").tolist(), upper_first)


def _shuffled(numbers: list[int], upper_first: bool) -> Wall:
    tiles = list(range(TILES))
    for at in range(TILES - 1):
        other = at + numbers[at] % (TILES - at)
        tiles[at], tiles[other] = tiles[other], tiles[at]
    return Wall(tuple(tiles), (numbers[TILES - 1] % 6, numbers[TILES] % 6), upper_first)
