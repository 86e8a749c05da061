"""Searches for the order of turns in which the tiles of four rivers were discarded and called.

Each called tile is in a meld, which names its discarder. Turns pass from player to player unless a call
intervenes, so few orders use every tile and meld. Kans on a player's own turn do not change whose turn it is:
`with_kans` inserts them into an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from game.events import four
from game.melds import Meld, MeldKind
from game.tiles import UNSEEN

OWN_KANS: Final = (MeldKind.ANKAN, MeldKind.KAKAN)


class Move(msgspec.Struct, frozen=True):
    """One step: a player draws or discards ``tile``, or calls or declares ``meld``."""

    kind: Literal["draw", "discard", "call", "kan"]
    player: int
    tile: int = UNSEEN
    meld: Meld | None = None

    @property
    def used(self) -> tuple[int, ...]:
        """The tiles that leave the hand."""
        if self.meld is None:
            return (self.tile,) if self.kind == "discard" else ()
        if self.kind == "call":
            return self.meld.consumed
        return (self.meld.added,) if self.meld.kind is MeldKind.KAKAN else self.meld.tiles


class Begin(msgspec.Struct, frozen=True):
    """The start of the search: a player draws next, must discard, or has just discarded ``tile``."""

    kind: Literal["draw", "discard", "discarded"]
    player: int
    tile: int = UNSEEN


class Call(NamedTuple):
    """A chi, pon or open kan still to be made.

    Attributes:
        caller: who makes it.
        meld: the meld; for an added kan its pon.
        listed: the tiles in the discarder's river that may be the called one; empty if it is not listed.
    """

    caller: int
    meld: Meld
    listed: tuple[int, ...] = ()

    def takes(self, tile: int) -> bool:
        """Whether a discarded tile is the called one."""
        return tile in (self.listed or (self.meld.called,))


MAX_TURNS: Final = 20_000
"""Turns examined before a search gives up: no real round needs a tenth of them."""

Path: TypeAlias = tuple[Move, ...]
Places: TypeAlias = tuple[int, int, int, int]


class TurnOrder:
    """The search.

    Args:
        rivers: by player, the tiles still to be discarded.
        calls: each caller's oldest first.
        ends: whether the round may be at the end of a path; depends on its last move only.
        in_order: whether each caller's melds are made in the listed order.
        early: whether tiles that are not listed are called as soon as possible, instead of as late.
        unknown: players who discard unknown tiles beyond those in their rivers.
        most: turns to examine.

    Attributes:
        turns: turns examined so far.
    """

    def __init__(
        self,
        rivers: Sequence[Sequence[int]],
        calls: Sequence[Call],
        ends: Callable[[Path], bool],
        *,
        in_order: bool,
        early: bool = False,
        unknown: Sequence[int] = (),
        most: int = MAX_TURNS,
    ) -> None:
        self.turns = 0
        self._rivers = rivers
        self._calls = calls
        self._ends = ends
        self._in_order = in_order
        self._early = early
        self._unknown = unknown
        self._most = most
        self._used_up: Places = four(map(len, rivers))
        self._dead: set[tuple[int, Places, int]] = set()

    def paths(self, begin: Begin) -> Iterator[Path]:
        """Every order that uses all tiles and melds; where two differ only at the end, the shorter first."""
        left = (1 << len(self._calls)) - 1
        at: Places = (0, 0, 0, 0)
        if begin.kind == "discard":
            yield from self._discard(begin.player, at, left, ())
        elif begin.kind == "draw":
            if self._done(at, left, ()):
                yield ()
            yield from self._discard(begin.player, at, left, (Move("draw", begin.player),))
        else:
            yield from self._discarded(begin.player, begin.tile, at, left, ())

    def _done(self, at: Places, left: int, path: Path) -> bool:
        return left == 0 and at == self._used_up and self._ends(path)

    def _discard(self, player: int, at: Places, left: int, path: Path) -> Iterator[Path]:
        """Continue from a player who must discard."""
        if self._done(at, left, path):
            yield path
            return
        state = (player, at, left)
        self.turns += 1
        if state in self._dead or self.turns > self._most:
            return
        found = False
        for tile, place in self._possible_discards(player, at, left):
            for whole in self._discarded(player, tile, place, left, (*path, Move("discard", player, tile))):
                found = True
                yield whole
        if not found:
            self._dead.add(state)

    def _possible_discards(self, player: int, at: Places, left: int) -> list[tuple[int, Places]]:
        called = [
            (call.meld.called, at)
            for number, call in enumerate(self._calls)
            if left >> number & 1 and not call.listed and (call.caller + call.meld.from_seat) % 4 == player
        ]
        own: list[tuple[int, Places]] = []
        if at[player] < self._used_up[player]:
            after = four(n + (p == player) for p, n in enumerate(at))
            own = [(self._rivers[player][at[player]], after)]
        elif player in self._unknown:
            own = [(UNSEEN, at)]
        return called + own if self._early else own + called

    def _discarded(self, player: int, tile: int, at: Places, left: int, path: Path) -> Iterator[Path]:
        """Continue from a discard: it is called if it belongs to a meld, otherwise the next player draws."""
        takers = [n for n, call in enumerate(self._calls) if left >> n & 1 and call.takes(tile)]
        if not takers:
            if self._done(at, left, path):
                yield path
            after = (player + 1) % 4
            yield from self._discard(after, at, left, (*path, Move("draw", after)))
        for number in takers:
            caller, meld, _ = self._calls[number]
            if self._in_order and any(
                left >> n & 1 and call.caller == caller for n, call in enumerate(self._calls[:number])
            ):
                continue
            rest = left ^ 1 << number
            made = (*path, Move("call", caller, meld=meld))
            if meld.kind is MeldKind.DAIMINKAN:
                if self._done(at, rest, made):
                    yield made
                made = (*made, Move("draw", caller))
            yield from self._discard(caller, at, rest, made)


def pon_of(kakan: Meld) -> Meld:
    """The pon from which an added kan was made."""
    tiles = tuple(tile for tile in kakan.tiles if tile != kakan.added)
    return Meld(MeldKind.PON, tiles, kakan.called, kakan.from_seat)


def with_kans(
    path: Path, kans: Iterable[tuple[int, Meld]], melds: Sequence[Sequence[Meld]], *, early: bool = False
) -> list[Move] | None:
    """A path with closed and added kans, each followed by a draw; None if one of them fits nowhere.

    Args:
        path: the order of turns.
        kans: with their players.
        melds: of each player, in the order in which they were made; empty if that is unknown.
        early: whether each kan is declared on the first possible turn, instead of on the last.
    """
    moves = list(path)
    for player, kan in kans:
        at = _turn_for(moves, player, kan, melds[player], early=early)
        if at is None:
            return None
        moves[at + 1 : at + 1] = [Move("kan", player, meld=kan), Move("draw", player)]
    return moves


def _turn_for(
    moves: Sequence[Move], player: int, kan: Meld, melds: Sequence[Meld], *, early: bool
) -> int | None:
    """The player's draw after which a kan is declared."""
    first, last = -1, len(moves)
    if kan.kind is MeldKind.KAKAN:
        first = _call_of(moves, kan)
    elif kan in melds:
        place = melds.index(kan)
        first = max((_call_of(moves, meld) for meld in melds[:place]), default=-1)
        last = min((n for meld in melds[place:] if (n := _call_of(moves, meld)) >= 0), default=last)
    draws = [
        n
        for n, move in enumerate(moves)
        if move.player == player and move.kind == "draw" and first < n < last
    ]
    if early:
        draws = [n for n in draws if moves[n + 1].kind != "kan"]
    return draws[0 if early else -1] if draws else None


def _call_of(moves: Sequence[Move], meld: Meld) -> int:
    """The move that makes a meld, for an added kan its pon; -1 if the meld is older than the moves."""
    made = pon_of(meld) if meld.kind is MeldKind.KAKAN else meld
    return next((n for n, move in enumerate(moves) if move.meld == made), -1)
