"""In which order the tiles of four rivers were thrown and called: a search over the turns of a round.

Rivers lack the tiles that were called away; each of those lies in somebody's meld, which says whose it was.
Turns pass from player to player except where a call moves them, so few orders use up everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from game.melds import Meld, MeldKind


class Move(msgspec.Struct, frozen=True):
    """One step: a player draws, throws ``tile``, or calls ``meld``."""

    kind: Literal["draw", "throw", "call"]
    player: int
    tile: int = -1
    meld: Meld | None = None


class Begin(msgspec.Struct, frozen=True):
    """Where the search sets out: a player draws next, has to throw, or has just thrown ``tile``."""

    kind: Literal["draw", "throw", "thrown"]
    player: int
    tile: int = -1


MAX_TURNS: Final = 20_000
"""Turns looked at before a search gives up: no real round needs a tenth of it."""

Path: TypeAlias = tuple[Move, ...]
Places: TypeAlias = tuple[int, int, int, int]


class TurnOrder:
    """The search.

    Args:
        rivers: by player the tiles still to be thrown and not called.
        calls: melds still to be called, with their callers, each caller's oldest first.
        in_order: whether a caller's melds are made in the order they are listed.
    """

    def __init__(
        self, rivers: Sequence[Sequence[int]], calls: Sequence[tuple[int, Meld]], *, in_order: bool
    ) -> None:
        self._rivers = rivers
        self._calls = calls
        self._in_order = in_order
        self._ends: Places = (len(rivers[0]), len(rivers[1]), len(rivers[2]), len(rivers[3]))
        self._dead: set[tuple[int, Places, int]] = set()
        self._turns = 0

    def paths(self, begin: Begin) -> Iterator[Path]:
        """Every order that uses up all tiles and melds, shortest ends first."""
        left = (1 << len(self._calls)) - 1
        at: Places = (0, 0, 0, 0)
        if begin.kind == "throw":
            yield from self._throw(begin.player, at, left, ())
        elif begin.kind == "draw":
            if self._done(at, left):
                yield ()
            yield from self._throw(begin.player, at, left, (Move("draw", begin.player),))
        else:
            yield from self._thrown(begin.player, begin.tile, at, left, ())

    def _done(self, at: Places, left: int) -> bool:
        return left == 0 and at == self._ends

    def _throw(self, player: int, at: Places, left: int, path: Path) -> Iterator[Path]:
        """A player has to throw."""
        if self._done(at, left):
            yield path
            return
        state = (player, at, left)
        self._turns += 1
        if state in self._dead or self._turns > MAX_TURNS:
            return
        found = False
        for tile, place in self._throws(player, at, left):
            for whole in self._thrown(player, tile, place, left, (*path, Move("throw", player, tile))):
                found = True
                yield whole
        if not found:
            self._dead.add(state)

    def _throws(self, player: int, at: Places, left: int) -> Iterator[tuple[int, Places]]:
        if at[player] < self._ends[player]:
            a, b, c, d = (n + (p == player) for p, n in enumerate(at))
            yield self._rivers[player][at[player]], (a, b, c, d)
        for number, (caller, meld) in enumerate(self._calls):
            if left >> number & 1 and (caller + meld.from_seat) % 4 == player:
                yield meld.called, at

    def _thrown(self, player: int, tile: int, at: Places, left: int, path: Path) -> Iterator[Path]:
        """A tile lies there: it is called if a meld wants it, else the next player draws."""
        number = next((n for n, (_, meld) in enumerate(self._calls) if meld.called == tile), -1)
        if number < 0 or not left >> number & 1:
            if self._done(at, left):
                yield path
            after = (player + 1) % 4
            yield from self._throw(after, at, left, (*path, Move("draw", after)))
            return
        caller, meld = self._calls[number]
        if self._in_order and any(
            left >> n & 1 and who == caller for n, (who, _) in enumerate(self._calls[:number])
        ):
            return
        left ^= 1 << number
        path = (*path, Move("call", caller, meld=meld))
        if meld.kind is MeldKind.DAIMINKAN:
            if self._done(at, left):
                yield path
            path = (*path, Move("draw", caller))
        yield from self._throw(caller, at, left, path)
