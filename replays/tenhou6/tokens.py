"""The notation of tenhou.net/6 records: tiles as numbers, calls as texts, results as sentences.

11–19 are 1m–9m, 21–29 1p–9p, 31–39 1s–9s, 41–47 the honours, 51–53 the red fives of m, p, s. A call replaces
the draw whose turn it took; the position of its letter shows whose tile it was.

Source: records downloaded from Tenhou, and its description of the format as understood by open converters.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

import msgspec

from game.melds import Meld, MeldKind
from game.tiles import RED_FIVES, TILES, copies_by
from replays.names import COUNTED, LIMITS, YAKU_NAMES, is_north, limit_of, yaku_id
from replays.record import THREE_PLAYERS

TSUMOGIRI: Final = 60
NOTHING: Final = 0

_CALL: Final = re.compile(r"(?:[1-5][1-9])*[cpmak](?:[1-5][1-9])+")
_RIICHI: Final = re.compile(r"r([1-6][0-9])")
# Number of tiles in a text, by its letter.
_SIZES: Final = {"c": 3, "p": 3, "m": 4, "a": 4, "k": 4}
_KINDS: Final = {
    "c": MeldKind.CHI,
    "p": MeldKind.PON,
    "m": MeldKind.DAIMINKAN,
    "a": MeldKind.ANKAN,
    "k": MeldKind.KAKAN,
}
# Tiles before the letter, by the tile's owner: 1 the next player, 2 across, 3 the previous player.
_PLACES: Final = {
    MeldKind.CHI: {3: 0},
    MeldKind.PON: {3: 0, 2: 1, 1: 2},
    MeldKind.KAKAN: {3: 0, 2: 1, 1: 2},
    MeldKind.DAIMINKAN: {3: 0, 2: 1, 1: 3},
    MeldKind.ANKAN: {0: 3},
}


class Take(msgspec.Struct, frozen=True):
    """A tile drawn."""

    number: int


class Call(msgspec.Struct, frozen=True):
    """A tile taken from another player instead of drawing.

    Attributes:
        kind: chi, pon or open kan.
        from_seat: whose tile, relative to the caller: 1 next, 2 across, 3 previous.
        called: number of the tile taken.
        own: numbers of the caller's tiles.
    """

    kind: MeldKind
    from_seat: int
    called: int
    own: tuple[int, ...]


class WrittenDiscard(msgspec.Struct, frozen=True):
    """A discard; ``number`` is `TSUMOGIRI` for the tile just drawn."""

    number: int
    riichi: bool = False


class OwnKan(msgspec.Struct, frozen=True):
    """A closed or added kan in place of a discard.

    Attributes:
        kind: one of the two.
        number: the tile that was added, or that denotes the closed kan.
        others: numbers of the other three tiles.
    """

    kind: MeldKind
    number: int
    others: tuple[int, ...]


class Gap(msgspec.Struct, frozen=True):
    """Placeholder for the discard of an open kan."""


DrawToken: TypeAlias = Take | Call
DiscardToken: TypeAlias = WrittenDiscard | OwnKan | Gap


class Faces:
    """Numbers and physical tiles of a game with these red fives (m, p, s)."""

    def __init__(self, reds: tuple[bool, bool, bool] = (True, True, True)) -> None:
        self.reds = reds
        self._numbers = [self._number(tile) for tile in range(TILES)]
        self.copies = copies_by(self._number) | {51 + suit: (tile,) for suit, tile in enumerate(RED_FIVES)}
        """The physical tiles for each number."""

    def _number(self, tile: int) -> int:
        if tile in RED_FIVES and self.reds[RED_FIVES.index(tile)]:
            return 51 + RED_FIVES.index(tile)
        return 10 * (tile // 36 + 1) + tile % 36 // 4 + 1

    def number(self, tile: int) -> int:
        """The number of a physical tile.

        Raises:
            ValueError: the tile is unseen.
        """
        if tile < 0:
            raise ValueError("an unseen tile; this format shows all hands")
        return self._numbers[tile]


def tile_name(number: int) -> str:
    """A tile as players write it.

    >>> tile_name(11), tile_name(47), tile_name(52), tile_name(99)
    ('1m', '7z', '0p', 'such tile')
    """
    if 51 <= number <= 53:
        return f"0{'mps'[number - 51]}"
    suit, rank = divmod(number, 10)
    return (
        f"{rank}{' mpsz'[suit]}" if 1 <= suit <= 4 and 1 <= rank <= (7 if suit == 4 else 9) else "such tile"
    )


def parse_draw(token: int | str) -> DrawToken:
    """Parse one entry of a draw list.

    >>> parse_draw(35), parse_draw("47p4747").from_seat
    (Take(number=35), 2)

    Raises:
        ValueError: it is neither a draw nor a call.
    """
    if isinstance(token, int):
        return Take(token)
    letter, before, numbers = _split(token)
    kind = _KINDS[letter]
    if kind in (MeldKind.ANKAN, MeldKind.KAKAN):
        raise ValueError(f"{token!r} replaces a discard, not a draw")
    called = numbers.pop(before)
    return Call(kind, _from_seat(kind, before, token), called, tuple(numbers))


def parse_discard(token: int | str) -> DiscardToken:
    """Parse one entry of a discard list.

    >>> parse_discard("r60"), parse_discard(0)
    (WrittenDiscard(number=60, riichi=True), Gap())

    Raises:
        ValueError: it is neither a discard nor a kan on the player's own turn.
    """
    if isinstance(token, int):
        return Gap() if token == NOTHING else WrittenDiscard(token)
    riichi = _RIICHI.fullmatch(token)
    if riichi:
        return WrittenDiscard(int(riichi[1]), riichi=True)
    letter, before, numbers = _split(token)
    kind = _KINDS[letter]
    if kind not in (MeldKind.ANKAN, MeldKind.KAKAN):
        raise ValueError(f"{token!r} replaces a draw, not a discard")
    _from_seat(kind, before, token)
    number = numbers.pop(before)
    return OwnKan(kind, number, tuple(numbers))


def _split(token: str) -> tuple[str, int, list[int]]:
    """The letter of a call, the number of tiles before it, and all its tiles."""
    if re.fullmatch("[1-5]?[0-9]?f44", token):
        raise ValueError(THREE_PLAYERS)
    if len(token) > 9 or not _CALL.fullmatch(token):
        raise ValueError(f"{token[:20]!r} is not a call")
    at = next(place for place, char in enumerate(token) if char.isalpha())
    digits = token[:at] + token[at + 1 :]
    if len(digits) != 2 * _SIZES[token[at]]:
        raise ValueError(f"{token!r} has {len(digits) // 2} tiles")
    return token[at], at // 2, [int(digits[i : i + 2]) for i in range(0, len(digits), 2)]


def _from_seat(kind: MeldKind, before: int, token: str) -> int:
    for seat, place in _PLACES[kind].items():
        if place == before:
            return seat
    raise ValueError(f"{token!r} has its letter in a position that matches no player")


def meld_text(meld: Meld, faces: Faces) -> str:
    """A meld in the notation of the draw and discard lists.

    Args:
        meld: as on the table; a kakan with the pon's called tile and the added one.
        faces: the game's red fives.
    """
    letter = next(letter for letter, kind in _KINDS.items() if kind is meld.kind)
    before = _PLACES[meld.kind][meld.from_seat]
    if meld.kind is MeldKind.ANKAN:
        named, own = [meld.tiles[0]], list(meld.tiles[1:])
    elif meld.kind is MeldKind.KAKAN:
        # The added tile comes before the called one.
        named, own = [meld.added, meld.called], list(meld.consumed)
    else:
        named, own = [meld.called], list(meld.consumed)
    # A red five comes after the plain ones, as Tenhou writes it: 1551p15.
    own.sort(key=lambda tile: (tile >> 2, faces.number(tile) > 50, tile))
    texts = [str(faces.number(tile)) for tile in own]
    texts.insert(before, letter + "".join(str(faces.number(tile)) for tile in named))
    return "".join(texts)


# --- results ----------------------------------------------------------------------------------------------

_HAN: Final = "(?:[飜翻番]|[HhFf]an)"
_VALUE: Final = re.compile(
    rf"(?:(?:(?P<fu>[0-9]{{1,3}}) ?(?:符|Fu|fu) ?)?[0-9]{{1,3}} ?{_HAN})?"
    r"(?P<limit>(?:[0-9]{1,2} ?[倍xX])?[^0-9]{0,24})"
    r"(?:(?P<points>[0-9]{1,6})(?:[-/](?P<dealer>[0-9]{1,6}))? ?(?:[点點]|[Pp]oints?)?"
    r" ?(?P<all>∀|オール|all)?)?"
)
_YAKU: Final = re.compile(
    rf"(?P<name>[^()]{{1,48}})\((?:(?P<han>[0-9]{{1,2}}) ?{_HAN}|[^()]{{0,12}}(?:役[満满滿]|[Yy]akuman) ?)\)"
)
_CHIPS: Final = re.compile(r"[0-9]枚")
_CHIPS_REFUSED: Final = "chip games are not supported"


class Value(msgspec.Struct, frozen=True):
    """Value of a win, from its text.

    Attributes:
        fu: minipoints; -1 if the text does not contain them.
        points: without honba and sticks; for a tsumo the sum of all payments; 0 if they are not stated.
        limit: 0 none, 1 mangan … 5 yakuman; -1 if the text has neither fu nor a known limit.
    """

    fu: int
    points: int
    limit: int


def parse_value(text: str) -> Value:
    """Parse the points of a win; a limit that Tenhou does not have is none.

    >>> parse_value("30符4飜3900点∀"), parse_value("跳満3000-6000点").points
    (Value(fu=30, points=11700, limit=0), 12000)

    Raises:
        ValueError: the text is not valid.
    """
    found = _VALUE.fullmatch(text)
    if found is None or _CHIPS.search(text):
        raise ValueError(_CHIPS_REFUSED if _CHIPS.search(text) else f"unreadable points: {text[:40]!r}")
    points = int(found["points"] or 0)
    if found["dealer"]:
        points = 2 * points + int(found["dealer"])
    elif found["all"]:
        points *= 3
    fu = int(found["fu"] or -1)
    return Value(fu, points, limit_of(found["limit"]) or min(fu, 0))


def value_text(
    fu: int, han: int, points: int, limit: int, *, is_tsumo: bool, is_dealer: bool, counted: bool
) -> str:
    """Write the points of a win as text; with ``limit`` -1 nothing but the points.

    >>> value_text(30, 2, 2000, 0, is_tsumo=True, is_dealer=False, counted=False)
    '30符2飜500-1000点'
    """
    if limit < 0:
        name = ""
    elif limit == 0:
        name = f"{fu}符{han}飜"
    else:
        name = COUNTED if counted and limit == len(LIMITS) - 1 else LIMITS[limit]
    if not is_tsumo:
        return f"{name}{points}点"
    if is_dealer:
        return f"{name}{points // 3}点∀"
    # Both payments are rounded up to hundreds, so that the dealer's is twice the others' or 100 less.
    other = -(-points // 400) * 100
    return f"{name}{other}-{points - 2 * other}点"


def parse_yaku(text: str) -> tuple[int | str, int]:
    """Tenhou's id (see `replays.names.yaku_id`) and the han of a yaku; 0 han for a yakuman, -1 if not stated.

    A yaku that Tenhou does not have keeps its name.

    >>> parse_yaku("場風 東(1飜)"), parse_yaku("国士無双(役満)"), parse_yaku("Red Five(1Han)")
    ((14, 1), (47, 0), (54, 1))
    >>> parse_yaku("一色三順(2飜)")
    ('一色三順', 2)

    Raises:
        ValueError: it is of another game: with chips, or for three players.
    """
    if _CHIPS.search(text):
        raise ValueError(_CHIPS_REFUSED)
    found = _YAKU.fullmatch(text)
    name = found["name"] if found else re.sub("[()]", " ", text)[:48].strip() or "?"
    if is_north(name):
        raise ValueError(THREE_PLAYERS)
    number = yaku_id(name)
    if found is None and number is not None:
        return number, -1
    return name if number is None else number, int((found and found["han"]) or 0)


def yaku_text(number: int, han: int) -> str:
    """A yaku as text; ``han`` is 0 for a yakuman.

    Raises:
        ValueError: there is no such id.
    """
    if not 0 <= number < len(YAKU_NAMES):
        raise ValueError(f"no name for the yaku {number}")
    return with_han(YAKU_NAMES[number], han)


def with_han(name: str, han: int) -> str:
    """The name of a yaku with its han; ``han`` is 0 for a yakuman."""
    return f"{name}({f'{han}飜' if han else '役満'})"
