"""A position as a user writes it, and with its texts read and checked and a physical copy for each tile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from game.events import Four
from game.melds import Meld
from game.position.notation import CALLED, RIICHI, TSUMOGIRI, MarkedTile, WrittenMeld, read_melds, read_tiles
from game.scoring.dora import dora_of
from game.scoring.settlement import RIICHI_STICK, START_SCORE, GameLength
from game.tiles import COPIES, KINDS, UNSEEN, kind_text
from kit.errors import PositionError

SEATS: Final = ("you", "shimocha", "toimen", "kamicha")
"""The seats, relative to the player who decides: 0 to 3."""

Texts: TypeAlias = tuple[str, str, str, str]


class FieldError(PositionError):
    """A position is impossible because of certain fields.

    Args:
        message: names what to change.
        fields: the fields of the `WrittenPosition` that it concerns; ``"rivers.1"`` for that of one seat.
    """

    def __init__(self, message: str, *fields: str) -> None:
        super().__init__(message)
        self.fields = fields


class WrittenPosition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A position as one player sees it. Tuples of four are by seat, starting with that player.

    Attributes:
        hand: the concealed tiles (``"123m406p11z"``, ``0`` a red five); a tile just drawn last.
        rivers: the discards in order. A mark follows its tile: ``_`` tsumogiri, ``!`` riichi, ``~`` called.
            If all are empty they are unknown, and ``turn`` tells how many there are.
        melds: separated by spaces. ``~`` follows the called tile, whose place shows from whom it is, as on a
            table: first kamicha, middle toimen, last shimocha; a chi is always from kamicha. ``5~55+5z`` is
            an added kan, ``5555z`` a closed one.
        dora: the indicators, one and one more for each kan; "" for one that has nothing to do with the hand.
        round_index: 0 is East 1, 4 South 1.
        seat_wind: 0 East to 3 North.
        honba: repeat counters.
        sticks: riichi sticks on the table; None for what scores and riichi imply.
        scores: points now, paid sticks deducted; None for 25,000 each, less the sticks of this round.
        turn: the player's number of discards so far, plus one; None for what the rivers imply.
        offered: a tile that another player just discarded, with its marks; it is not in the river.
        offered_by: that player's seat.
        after_call: the last meld was called just now, so that a discard is due without a draw.
        length: length of the game.
    """

    hand: str
    rivers: Texts = ("", "", "", "")
    melds: Texts = ("", "", "", "")
    dora: str = ""
    round_index: int = 0
    seat_wind: int = 0
    honba: int = 0
    sticks: int | None = None
    scores: Four | None = None
    turn: int | None = None
    offered: str = ""
    offered_by: int = 3
    after_call: bool = False
    length: GameLength = "hanchan"

    @property
    def player(self) -> int:
        """The player who decides, absolute."""
        return (self.round_index + self.seat_wind) % 4

    @property
    def offered_player(self) -> int:
        """The player who discarded the offered tile, absolute."""
        return (self.player + self.offered_by) % 4


Ending: TypeAlias = Literal["drawn", "called", "offered", "waiting"]
"""Where the play leads: to our turn with a tile drawn, to the discard after our call, to another player's
discard, or to just before our draw, where nothing is decided."""

_MOST_MELDS: Final = 4
_MOST_KANS: Final = 4
_LAST_ROUND: Final = 11
_LAST_OF_TONPUU: Final = 7
_ALL_POINTS: Final = 4 * START_SCORE
_MOST_COUNTERS: Final = 99
_MOST_POINTS: Final = 1_000_000


class StatedTile(NamedTuple):
    """A discard: its physical tile and its marks."""

    tile: int
    marks: str = ""


class StatedMeld(NamedTuple):
    """A meld, and whether the river of the player it was called from shows the called tile."""

    player: int
    meld: Meld
    listed: bool

    @property
    def source(self) -> int:
        """The player it was called from, absolute; -1 for a closed kan."""
        return (self.player + self.meld.from_seat) % 4 if self.meld.is_open else -1


class Stated(NamedTuple):
    """The tiles of a position, by absolute player.

    Attributes:
        position: as written.
        player: who decides.
        hand: the concealed tiles, without ``drawn``.
        drawn: the tile just drawn, -1 for none.
        rivers: discards of each player; the offered tile is the last of its river.
        melds: all melds, in the order written.
        indicators: the dora indicators.
        ending: where the play leads.
        knows_rivers: whether the rivers are stated.
        free: the tiles that the position does not name.
    """

    position: WrittenPosition
    player: int
    hand: tuple[int, ...]
    drawn: int
    rivers: tuple[tuple[StatedTile, ...], ...]
    melds: tuple[StatedMeld, ...]
    indicators: tuple[int, ...]
    ending: Ending
    knows_rivers: bool
    free: tuple[int, ...]

    @property
    def offered(self) -> int:
        """The offered tile, -1 for none."""
        if self.ending != "offered":
            return -1
        return self.rivers[self.position.offered_player][-1].tile

    def marks(self, tile: int) -> str:
        """The marks of a discard in a river; "" for any other tile."""
        return next((each.marks for river in self.rivers for each in river if each.tile == tile), "")


def seat_name(position: WrittenPosition, player: int) -> str:
    """A player's seat in words."""
    return SEATS[(player - position.player) % 4]


def stated(position: WrittenPosition) -> Stated:
    """Read and check a position.

    Raises:
        FieldError: a text or a number is wrong; the message says what to change.
    """
    _check_numbers(position)
    with _concerning("hand"):
        hand = read_tiles(position.hand, "the hand")
    rivers = [_river(text, seat) for seat, text in enumerate(position.rivers)]
    melds = [_melds(text, seat) for seat, text in enumerate(position.melds)]
    knows_rivers = any(rivers)
    with _concerning("hand"):
        ending = _ending(position, len(hand), len(melds[0]))
    if position.offered:
        with _concerning("offered"):
            rivers[position.offered_by].append(_offered(position))
    with _concerning("dora"):
        indicators = read_tiles(position.dora, "dora indicators")
        _check_kans(melds, len(indicators))
    listed = _match_called(rivers, melds)
    named = list(_named_tiles(hand, indicators, rivers, melds))
    supply = _Supply(named)
    if not indicators:
        indicators = [MarkedTile(_unrelated([face for face, _ in named], supply))]
    placed_melds = tuple(
        _meld(supply, meld, seat, position.player, listed=(seat, at) in listed.values())
        for seat, of_seat in enumerate(melds)
        for at, meld in enumerate(of_seat)
    )
    keys = [(seat, at) for seat, of_seat in enumerate(melds) for at in range(len(of_seat))]
    called = {key: meld.meld.called for key, meld in zip(keys, placed_melds, strict=True)}
    placed_rivers = [
        tuple(
            StatedTile(
                called[listed[seat, at]] if (seat, at) in listed else supply.take(tile.face), tile.marks
            )
            for at, tile in enumerate(river)
        )
        for seat, river in enumerate(rivers)
    ]
    tiles = tuple(supply.take(tile.face) for tile in hand)
    return Stated(
        position=position,
        player=position.player,
        hand=tiles[:-1] if ending == "drawn" else tiles,
        drawn=tiles[-1] if ending == "drawn" else -1,
        rivers=tuple(placed_rivers[(player - position.player) % 4] for player in range(4)),
        melds=placed_melds,
        indicators=tuple(supply.take(tile.face) for tile in indicators),
        ending=ending,
        knows_rivers=knows_rivers,
        free=tuple(supply.rest()),
    )


@contextlib.contextmanager
def _concerning(*fields: str) -> Iterator[None]:
    """Name the fields that an error concerns, unless it names them itself."""
    try:
        yield
    except FieldError:
        raise
    except PositionError as exc:
        raise FieldError(str(exc), *fields) from None


def _river(text: str, seat: int) -> list[MarkedTile]:
    with _concerning(f"rivers.{seat}"):
        return read_tiles(text, _of_seat("river", seat), TSUMOGIRI + RIICHI + CALLED)


def _melds(text: str, seat: int) -> list[WrittenMeld]:
    with _concerning(f"melds.{seat}"):
        melds = read_melds(text, _of_seat("melds", seat))
        if len(melds) > _MOST_MELDS:
            raise PositionError(
                f"{_of_seat('melds', seat)}: found {len(melds)}, a hand has at most four melds"
            )
        return melds


def _of_seat(what: str, seat: int) -> str:
    return f"your {what}" if seat == 0 else f"{what} of {SEATS[seat]}"


_NAMES: Final = (
    {"hand": "your hand", "dora": "the dora indicators"}
    | {f"rivers.{seat}": _of_seat("river", seat) for seat in range(4)}
    | {f"melds.{seat}": _of_seat("melds", seat) for seat in range(4)}
)
"""The fields that hold tiles, in words."""


def _check_numbers(position: WrittenPosition) -> None:
    if not 0 <= position.round_index <= _LAST_ROUND or not 0 <= position.seat_wind < 4:
        raise FieldError(
            "the round is one of E1 to W4, the seat wind one of E, S, W, N", "round_index", "seat_wind"
        )
    if position.length == "tonpuu" and position.round_index > _LAST_OF_TONPUU:
        raise FieldError("the round of a tonpuusen is one of E1 to S4", "round_index")
    if not 0 <= position.honba <= _MOST_COUNTERS or not 0 <= (position.sticks or 0) <= _MOST_COUNTERS:
        raise FieldError(f"honba and sticks are from 0 to {_MOST_COUNTERS}", "honba", "sticks")
    if position.turn is not None and not 1 <= position.turn <= 24:
        raise FieldError(f"turn {position.turn}: give 1 to 24", "turn")
    if not 1 <= position.offered_by <= 3:
        raise FieldError("the offered tile comes from shimocha, toimen or kamicha", "offered_by")
    if position.scores is not None and any(
        score % 100 or abs(score) > _MOST_POINTS for score in position.scores
    ):
        raise FieldError("scores are in points and end in 00, as in 25000,31000,24000,20000", "scores")


def stakes(position: WrittenPosition, riichis: int) -> int:
    """The riichi sticks on the table.

    Args:
        position: the position.
        riichis: players whose stick of this round is paid.

    Raises:
        FieldError: scores and sticks do not add up.
    """
    sticks = position.sticks
    if position.scores is not None:
        missing = _ALL_POINTS - sum(position.scores)
        if sticks is None and missing >= 0 and missing % RIICHI_STICK == 0:
            sticks = missing // RIICHI_STICK
        if sticks is None or missing != sticks * RIICHI_STICK:
            raise FieldError(
                f"scores add up to {sum(position.scores):,}; with 1,000 for each riichi stick on the "
                f"table they must give {_ALL_POINTS:,}; give what each player has now, and the sticks",
                "scores",
                "sticks",
            )
    if sticks is None:
        return riichis
    if sticks < riichis:
        raise FieldError(
            f"{riichis} players are in riichi, so at least {riichis} sticks are on the table", "sticks"
        )
    return sticks


def _ending(position: WrittenPosition, tiles: int, melds: int) -> Ending:
    due = 14 - 3 * melds
    held = f"{tiles} tile{'s' if tiles != 1 else ''} with {melds} meld{'s' if melds != 1 else ''}"
    if tiles == due and not position.offered:
        if position.after_call and not melds:
            raise FieldError("after a call there must be a meld of yours; add it to your melds", "melds.0")
        return "called" if position.after_call else "drawn"
    if tiles == due - 1 and not position.after_call:
        return "offered" if position.offered else "waiting"
    if position.offered:
        raise PositionError(f"your hand has {held}; while another player's tile is offered it has {due - 1}")
    if position.after_call:
        raise PositionError(f"your hand has {held}; after your call, before the discard, it has {due}")
    raise PositionError(
        f"your hand has {held}; write {due} tiles on your turn, the drawn tile last, or {due - 1} while you "
        "wait"
    )


def _offered(position: WrittenPosition) -> MarkedTile:
    tiles = read_tiles(position.offered, "the offered tile", TSUMOGIRI + RIICHI)
    if len(tiles) != 1:
        raise PositionError(f"the offered tile: found {position.offered!r}, expected one tile such as 5p")
    return tiles[0]


def _check_kans(melds: Sequence[Sequence[WrittenMeld]], indicators: int) -> None:
    kans = sum(meld.kind.is_kan for of_seat in melds for meld in of_seat)
    if kans > _MOST_KANS:
        raise PositionError(f"found {kans} kans; a round has at most four, of all players together")
    if indicators != 1 + kans and (indicators or kans):
        shown = f"{indicators} dora indicator{'s' if indicators != 1 else ''}"
        raise PositionError(f"{shown} with {kans} kans; give one, and one more for each kan")


def _unrelated(named: Sequence[str], supply: _Supply) -> str:
    """A dora indicator that has nothing to do with the tiles of a position, as far as there is one."""
    held = {COPIES[face][0] >> 2 for face in named}
    free = [kind for kind in reversed(range(KINDS)) if supply.has(kind_text(kind))]
    return kind_text(min(free, key=lambda kind: (kind in held) + (dora_of(kind) in held)))


def _match_called(
    rivers: Sequence[Sequence[MarkedTile]], melds: Sequence[Sequence[WrittenMeld]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """The meld of each river tile marked as called: seat and place of both."""
    listed: dict[tuple[int, int], tuple[int, int]] = {}
    for seat, river in enumerate(rivers):
        for at, tile in enumerate(river):
            if CALLED not in tile.marks:
                continue
            takers = (
                (owner, number)
                for owner, of_seat in enumerate(melds)
                for number, meld in enumerate(of_seat)
                if meld.called == tile.face and meld.from_seat and (owner + meld.from_seat) % 4 == seat
                if (owner, number) not in listed.values()
            )
            taker = next(takers, None)
            if taker is None:
                raise FieldError(
                    f"{_of_seat('river', seat)}: {tile.face}~ is marked as called, but no meld takes it from "
                    "there; add the meld, or remove the mark",
                    f"rivers.{seat}",
                )
            listed[seat, at] = taker
    return listed


def _named_tiles(
    hand: Sequence[MarkedTile],
    indicators: Sequence[MarkedTile],
    rivers: Sequence[Sequence[MarkedTile]],
    melds: Sequence[Sequence[WrittenMeld]],
) -> Iterator[tuple[str, str]]:
    """Each face that needs a copy of its own, with the field where it is."""
    yield from ((tile.face, "hand") for tile in hand)
    yield from ((tile.face, "dora") for tile in indicators)
    for seat, river in enumerate(rivers):
        yield from ((tile.face, f"rivers.{seat}") for tile in river if CALLED not in tile.marks)
    for seat, of_seat in enumerate(melds):
        yield from ((face, f"melds.{seat}") for meld in of_seat for face in meld.faces)


class _Supply:
    """The copies of each face.

    Args:
        named: every face that will be taken, with the field where it is.

    Raises:
        FieldError: more copies are named than exist.
    """

    def __init__(self, named: Sequence[tuple[str, str]]) -> None:
        places: dict[str, list[str]] = {}
        for face, where in named:
            places.setdefault(face, []).append(where)
        self._copies = {face: [*copies] for face, copies in COPIES.items()}
        wrong = {face: where for face, where in places.items() if len(where) > len(self._copies[face])}
        if wrong:
            problems = "; ".join(_too_many(face, where) for face, where in wrong.items())
            raise FieldError(problems, *dict.fromkeys(field for where in wrong.values() for field in where))

    def has(self, face: str) -> bool:
        """Whether a copy is free."""
        return bool(self._copies[face])

    def take(self, face: str) -> int:
        """A free copy."""
        return self._copies[face].pop(0)

    def rest(self) -> list[int]:
        """The copies that were not taken."""
        return sorted(tile for copies in self._copies.values() for tile in copies)


def _too_many(face: str, where: Sequence[str]) -> str:
    counts = ", ".join(f"{where.count(place)} in {_NAMES[place]}" for place in dict.fromkeys(where))
    hint = "; a called tile that a river shows needs the mark ~" if len(set(where)) > 1 else ""
    if len(COPIES[face]) == 4:
        return f"there are four {face}, not {len(where)} ({counts}){hint}"
    suit = face[1]
    return f"of 5{suit} there are three, and one red 0{suit}: found {len(where)} of {face} ({counts}){hint}"


def _meld(supply: _Supply, written: WrittenMeld, seat: int, player: int, *, listed: bool) -> StatedMeld:
    own = [supply.take(face) for face in written.own]
    called = supply.take(written.called) if written.called else UNSEEN
    added = supply.take(written.added) if written.added else UNSEEN
    tiles = own if called == UNSEEN else sorted({*own, called, added} - {UNSEEN})
    meld = Meld(written.kind, tuple(tiles), called, written.from_seat, added)
    return StatedMeld((player + seat) % 4, meld, listed)
