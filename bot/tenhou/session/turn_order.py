"""Searches for the order of turns in which the tiles of four rivers were discarded and called.

Rivers lack the called tiles; each of those is in a meld, which names its discarder. Turns pass from player to
player unless a call intervenes, so few orders use every tile and meld.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from game.melds import Meld, MeldKind


class Move(msgspec.Struct, frozen=True):
    """One step: a player draws, discards ``tile`` or calls ``meld``."""

    kind: Literal["draw", "discard", "call"]
    player: int
    tile: int = -1
    meld: Meld | None = None


class Begin(msgspec.Struct, frozen=True):
    """The start of the search: a player draws next, must discard, or has just discarded ``tile``."""

    kind: Literal["draw", "discard", "discarded"]
    player: int
    tile: int = -1


MAX_TURNS: Final = 20_000
"""Turns examined before a search gives up: no real round needs a tenth of them."""

Path: TypeAlias = tuple[Move, ...]
Places: TypeAlias = tuple[int, int, int, int]


class TurnOrder:
    """The search.

    Args:
        rivers: by player, the tiles still to be discarded, without called ones.
        calls: melds still to be called, with their callers, each caller's oldest first.
        in_order: whether each caller's melds are made in the listed order.
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
        """Every order that uses all tiles and melds; where two differ only at the end, the shorter first."""
        left = (1 << len(self._calls)) - 1
        at: Places = (0, 0, 0, 0)
        if begin.kind == "discard":
            yield from self._discard(begin.player, at, left, ())
        elif begin.kind == "draw":
            if self._done(at, left):
                yield ()
            yield from self._discard(begin.player, at, left, (Move("draw", begin.player),))
        else:
            yield from self._discarded(begin.player, begin.tile, at, left, ())

    def _done(self, at: Places, left: int) -> bool:
        return left == 0 and at == self._ends

    def _discard(self, player: int, at: Places, left: int, path: Path) -> Iterator[Path]:
        """Continue from a player who must discard."""
        if self._done(at, left):
            yield path
            return
        state = (player, at, left)
        self._turns += 1
        if state in self._dead or self._turns > MAX_TURNS:
            return
        found = False
        for tile, place in self._possible_discards(player, at, left):
            for whole in self._discarded(player, tile, place, left, (*path, Move("discard", player, tile))):
                found = True
                yield whole
        if not found:
            self._dead.add(state)

    def _possible_discards(self, player: int, at: Places, left: int) -> Iterator[tuple[int, Places]]:
        if at[player] < self._ends[player]:
            a, b, c, d = (n + (p == player) for p, n in enumerate(at))
            yield self._rivers[player][at[player]], (a, b, c, d)
        for number, (caller, meld) in enumerate(self._calls):
            if left >> number & 1 and (caller + meld.from_seat) % 4 == player:
                yield meld.called, at

    def _discarded(self, player: int, tile: int, at: Places, left: int, path: Path) -> Iterator[Path]:
        """Continue from a discard: it is called if it belongs to a meld, otherwise the next player draws."""
        number = next((n for n, (_, meld) in enumerate(self._calls) if meld.called == tile), -1)
        if number < 0 or not left >> number & 1:
            if self._done(at, left):
                yield path
            after = (player + 1) % 4
            yield from self._discard(after, at, left, (*path, Move("draw", after)))
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
        yield from self._discard(caller, at, left, path)
