"""Melds, and encoding and decoding of Tenhou's 16-bit meld codes.

Source: the codes as documented by several open clients and checked against recorded games; each decoder
describes its bit layout.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from game.events import Ankan, Chi, Daiminkan, Kakan, Pon, four
from game.tiles import TILES


class MeldKind(IntEnum):
    """The five kinds of meld; the numbers are those of the state record."""

    CHI = 1
    PON = 2
    DAIMINKAN = 3
    ANKAN = 4
    KAKAN = 5

    @property
    def is_kan(self) -> bool:
        """Whether it is a kan of any kind."""
        return self >= MeldKind.DAIMINKAN


class Meld(msgspec.Struct, frozen=True):
    """One meld as it lies on the table.

    Attributes:
        kind: chi, pon or one of the kans.
        tiles: its physical tiles, ascending; for an ankan the copy that names it on the wire comes first.
        called: the tile taken from another player (for a kakan, that of the pon), -1 for an ankan.
        from_seat: seat it was taken from, relative to the caller: 1 shimocha, 2 toimen, 3 kamicha; 0 for an
            ankan.
        added: the tile a kakan added, else -1.
    """

    kind: MeldKind
    tiles: tuple[int, ...]
    called: int = -1
    from_seat: int = 0
    added: int = -1

    @property
    def is_open(self) -> bool:
        """Whether the meld opens the hand."""
        return self.kind is not MeldKind.ANKAN

    @property
    def consumed(self) -> tuple[int, ...]:
        """The tiles from the caller's hand when the meld was first made."""
        return tuple(t for t in self.tiles if t not in (self.called, self.added))


def meld_event(player: int, meld: Meld) -> Chi | Pon | Daiminkan | Ankan | Kakan:
    """The event of a player's meld.

    >>> meld_event(2, decode_meld(27031))
    Chi(player=2, from_player=1, tile=51, consumed=(42, 44))
    """
    source = (player + meld.from_seat) % 4
    match meld.kind:
        case MeldKind.CHI | MeldKind.PON:
            first, second = meld.consumed
            call = Chi if meld.kind is MeldKind.CHI else Pon
            return call(player, source, meld.called, (first, second))
        case MeldKind.DAIMINKAN:
            first, second, third = meld.consumed
            return Daiminkan(player, source, meld.called, (first, second, third))
        case MeldKind.ANKAN:
            return Ankan(player, four(meld.tiles))
        case MeldKind.KAKAN:
            first, second, third = (tile for tile in meld.tiles if tile != meld.added)
            return Kakan(player, meld.added, (first, second, third))


def decode_meld(code: int) -> Meld:
    """The meld of a 16-bit code.

    >>> decode_meld(27031)
    Meld(kind=<MeldKind.CHI: 1>, tiles=(42, 44, 51), called=51, from_seat=3, added=-1)

    Raises:
        ValueError: the code is out of range, is a three-player north, or names no meld.
    """
    if not 0 <= code < 1 << 16:
        raise ValueError(f"meld code {code} is not a 16-bit number")
    if code & 0x4:
        return _decode_chi(code)
    if code & 0x18:
        return _decode_pon(code)
    if code & 0x20:
        raise ValueError(f"meld code {code} is a three-player north")
    return _decode_kan(code)


def encode_meld(meld: Meld) -> int:
    """The 16-bit code of a meld; the inverse of `decode_meld`."""
    if meld.kind is MeldKind.CHI:
        low = meld.tiles[0] >> 2
        place = 7 * (low // 9) + low % 9
        copies = sum((tile & 3) << shift for tile, shift in zip(meld.tiles, (3, 5, 7), strict=True))
        return (3 * place + meld.tiles.index(meld.called)) << 10 | copies | 0x4 | meld.from_seat
    if meld.kind in (MeldKind.PON, MeldKind.KAKAN):
        kind = meld.tiles[0] >> 2
        pon = tuple(t for t in meld.tiles if t != meld.added)
        spare = next(t for t in range(4 * kind, 4 * kind + 4) if t not in pon)
        mark = 0x8 if meld.kind is MeldKind.PON else 0x10
        return (3 * kind + pon.index(meld.called)) << 9 | (spare & 3) << 5 | mark | meld.from_seat
    tile = meld.tiles[0] if meld.kind is MeldKind.ANKAN else meld.called
    return tile << 8 | meld.from_seat


def _decode_chi(code: int) -> Meld:
    # bits 0-1 from, 2 set, 3-4 5-6 7-8 copies, 10-15 3 * (7 * suit + lowest) + index of the called tile
    if code & 0x3 != 3 or code & 0x200:
        raise ValueError(f"meld code {code}: a chi must be from kamicha, with bit 9 clear")
    place, called = divmod(code >> 10, 3)
    if place >= 21:
        raise ValueError(f"meld code {code} names no sequence")
    low = 9 * (place // 7) + place % 7
    tiles = tuple(4 * (low + i) + (code >> (3 + 2 * i) & 3) for i in range(3))
    return Meld(MeldKind.CHI, tiles, tiles[called], 3)


def _decode_pon(code: int) -> Meld:
    # bits 0-1 from, 3 pon or 4 kakan, 5-6 the copy outside the pon, 9-15 3 * kind + index of the called tile
    kind, called = divmod(code >> 9, 3)
    if kind >= 34 or code & 0x3 == 0 or code & 0x18 == 0x18 or code & 0x180:
        raise ValueError(f"meld code {code} names no pon or added kan")
    spare = 4 * kind + (code >> 5 & 3)
    pon = tuple(t for t in range(4 * kind, 4 * kind + 4) if t != spare)
    if code & 0x8:
        return Meld(MeldKind.PON, pon, pon[called], code & 3)
    return Meld(MeldKind.KAKAN, tuple(range(4 * kind, 4 * kind + 4)), pon[called], code & 3, spare)


def _decode_kan(code: int) -> Meld:
    # bits 0-1 from (0 closed), 8-15 a tile: the called one of an open kan, any of a closed one
    tile = code >> 8
    if tile >= TILES or code & 0xFC:
        raise ValueError(f"meld code {code} names no kan")
    tiles = tuple(range(tile & ~3, (tile & ~3) + 4))
    if code & 0x3 == 0:
        return Meld(MeldKind.ANKAN, (tile, *(t for t in tiles if t != tile)))
    return Meld(MeldKind.DAIMINKAN, tiles, tile, code & 3)
