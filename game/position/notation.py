"""Tiles with marks, and melds, as players write them."""

from __future__ import annotations

from typing import Final, NamedTuple

from game.melds import MeldKind
from kit.errors import PositionError

TSUMOGIRI: Final = "_"
RIICHI: Final = "!"
CALLED: Final = "~"
ADDED: Final = "+"

_SUITS: Final = "mpsz"
_LEFT, _OPPOSITE, _RIGHT = 3, 2, 1


class MarkedTile(NamedTuple):
    """A tile in text form (``"0p"`` red), and the marks after it."""

    face: str
    marks: str = ""


class WrittenMeld(NamedTuple):
    """A meld as written.

    Attributes:
        kind: its kind.
        own: the faces from the caller's hand, without that of an added tile.
        called: the face taken from another player, "" for a closed kan.
        from_seat: its seat relative to the caller, 0 for a closed kan.
        added: the face an added kan added, else "".
    """

    kind: MeldKind
    own: tuple[str, ...]
    called: str = ""
    from_seat: int = 0
    added: str = ""

    @property
    def faces(self) -> tuple[str, ...]:
        """All its tiles."""
        return tuple(filter(None, (*self.own, self.called, self.added)))


def read_tiles(text: str, what: str, marks: str = "") -> list[MarkedTile]:
    """The tiles of a text, in order.

    >>> read_tiles("19m_ 0p!", "the river", "_!")
    [MarkedTile(face='1m', marks=''), MarkedTile(face='9m', marks='_'), MarkedTile(face='0p', marks='!')]

    Args:
        text: digits and suits; a mark follows its digit or suit; spaces separate.
        what: name of the text, for messages.
        marks: the marks that are allowed.

    Raises:
        PositionError: the text is no list of tiles.
    """
    tiles: list[MarkedTile] = []
    group: list[tuple[str, str]] = []
    for char in text:
        if char.isascii() and char.isdigit():
            group.append((char, ""))
        elif char in _SUITS and group:
            tiles += [MarkedTile(_face(digit, char, what), marked) for digit, marked in group]
            group = []
        elif char in marks and group:
            group[-1] = group[-1][0], group[-1][1] + char
        elif char in marks and tiles:
            tiles[-1] = MarkedTile(tiles[-1].face, tiles[-1].marks + char)
        elif not char.isspace() or group:
            hint = f"; the marks here are {' '.join(marks)}, each after its tile" if marks else ""
            raise PositionError(f"{what}: found {text!r}, expected tiles such as '123m406p11z'{hint}")
    if group:
        digits = "".join(digit for digit, _ in group)
        raise PositionError(f"{what}: no suit after {digits!r} in {text!r}; add m, p, s or z")
    return tiles


def _face(digit: str, suit: str, what: str) -> str:
    if suit == "z" and digit not in "1234567":
        raise PositionError(f"{what}: there is no {digit}z; 1z to 7z are E S W N white green red")
    return digit + suit


def read_melds(text: str, what: str) -> list[WrittenMeld]:
    """Melds separated by spaces.

    >>> [meld.kind.name for meld in read_melds("1~23m 55~5z 5555s", "melds")]
    ['CHI', 'PON', 'ANKAN']

    Raises:
        PositionError: a text is no meld.
    """
    return [_meld(word, f"{what}: {word!r}") for word in text.split()]


def _meld(word: str, what: str) -> WrittenMeld:
    tiles = read_tiles(word, what, CALLED + ADDED)
    # the mark + stands before the added tile, so it was read as a mark of the tile before it
    added = [at + 1 for at, tile in enumerate(tiles) if ADDED in tile.marks]
    called = [at for at, tile in enumerate(tiles) if CALLED in tile.marks]
    if len(added) > 1 or len(called) > 1 or len(tiles) not in (3, 4) or added == [len(tiles)]:
        raise PositionError(
            f"{what} is no meld; write 1~23m for a chi, 5~55z for a pon, 5~555z for an open kan, 5555z for a "
            "closed one, 5~55+5z for an added one"
        )
    if added:
        return _added_kan(tiles, called, added[0], what)
    if _is_run(tiles):
        return _split(MeldKind.CHI, tiles, called or [0], _LEFT)
    _same_kind(tiles, what)
    if len(tiles) == 4:
        if not called:
            return WrittenMeld(MeldKind.ANKAN, tuple(tile.face for tile in tiles))
        return _split(MeldKind.DAIMINKAN, tiles, called, (_LEFT, _OPPOSITE, _OPPOSITE, _RIGHT)[called[0]])
    if not called:
        raise PositionError(
            f"{what}: from whom? Mark the called tile with ~, by its place: {word_of(tiles, 0)} kamicha, "
            f"{word_of(tiles, 1)} toimen, {word_of(tiles, 2)} shimocha"
        )
    return _split(MeldKind.PON, tiles, called, (_LEFT, _OPPOSITE, _RIGHT)[called[0]])


def word_of(tiles: list[MarkedTile], called: int) -> str:
    """A pon with the mark at one of its tiles."""
    digits = "".join(tile.face[0] + CALLED * (at == called) for at, tile in enumerate(tiles))
    return digits + tiles[0].face[1]


def _added_kan(tiles: list[MarkedTile], called: list[int], added: int, what: str) -> WrittenMeld:
    _same_kind(tiles, what)
    if len(tiles) != 4 or not called or called[0] == added:
        raise PositionError(
            f"{what}: an added kan is a pon with its called tile marked ~, and + before the added tile: "
            "5~55+5z"
        )
    pon = [tile for at, tile in enumerate(tiles) if at != added]
    place = called[0] - (called[0] > added)
    meld = _split(MeldKind.KAKAN, pon, [place], (_LEFT, _OPPOSITE, _RIGHT)[place])
    return meld._replace(added=tiles[added].face)


def _split(kind: MeldKind, tiles: list[MarkedTile], called: list[int], from_seat: int) -> WrittenMeld:
    own = tuple(tile.face for at, tile in enumerate(tiles) if at != called[0])
    return WrittenMeld(kind, own, tiles[called[0]].face, from_seat)


def _number(face: str) -> int:
    return int(face[0]) or 5


def _is_run(tiles: list[MarkedTile]) -> bool:
    suits = {tile.face[1] for tile in tiles}
    numbers = sorted(_number(tile.face) for tile in tiles)
    return (
        len(tiles) == 3
        and len(suits) == 1
        and "z" not in suits
        and numbers == list(range(numbers[0], numbers[0] + 3))
    )


def _same_kind(tiles: list[MarkedTile], what: str) -> None:
    if len({(_number(tile.face), tile.face[1]) for tile in tiles}) > 1:
        raise PositionError(f"{what}: these tiles are neither a run nor of one kind")
