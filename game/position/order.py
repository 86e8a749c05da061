"""Finds an order of play that leads to the rivers and melds of a position."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec

from game.melds import MeldKind
from game.position.notation import TSUMOGIRI
from game.position.stated import SEATS, FieldError, Stated
from game.position.turn_order import OWN_KANS, Begin, Call, Move, Path, TurnOrder, pon_of, with_kans
from game.tiles import UNSEEN, face_of

MOST_TURNS: Final = 3_000
"""Turns that the searches for one position examine before they give up; positions of games need up to 72."""
_LAST_TURN: Final = 24


def order_of_play(given: Stated) -> list[Move]:
    """The moves from the deal to the decision, without our own last draw; unknown discards are `UNSEEN`.

    Raises:
        FieldError: there is no such order, or none was found within the budget of the search.
    """
    wanted = given.position.turn
    search = _OrderSearch(given)
    if given.knows_rivers:
        moves = search.moves([[tile.tile for tile in river] for river in given.rivers])
        if moves is None:
            raise FieldError(_sizes_wrong(given), *(f"rivers.{seat}" for seat in range(4)))
        turn = 1 + sum(move.kind == "discard" and move.player == given.player for move in moves)
        if wanted not in (None, turn):
            raise FieldError(
                f"turn {wanted}, but your river makes this turn {turn}; complete the rivers, or give no turn",
                "turn",
            )
        return moves
    called = sum(meld.source == given.player for meld in given.melds)
    others = [player for player in range(4) if player != given.player]
    for turn in range(1 + called, _LAST_TURN + 1):
        rivers = [[] if player in others else [UNSEEN] * (turn - 1 - called) for player in range(4)]
        if wanted in (None, turn) and (moves := search.moves(rivers, others)) is not None:
            return moves
    if wanted is not None:
        raise FieldError(
            f"turn {wanted} cannot be reached with these melds; give a later turn, or none", "turn"
        )
    raise FieldError(
        "no order of play leads to these melds; check from whom each tile was called",
        *(f"melds.{seat}" for seat in range(4)),
    )


class _OrderSearch:
    """Searches for one position, with one budget.

    Args:
        given: the position.
    """

    def __init__(self, given: Stated) -> None:
        self._given = given
        self._left = MOST_TURNS
        self._melds = [[meld.meld for meld in given.melds if meld.player == player] for player in range(4)]

    def moves(self, rivers: Sequence[Sequence[int]], unknown: Sequence[int] = ()) -> list[Move] | None:
        """The moves with each player's melds made in the order written, else in any order.

        If there is one, an order in which no tile marked as tsumogiri is discarded straight after a call.

        Args:
            rivers: the discards of each player, without called tiles that are not listed.
            unknown: players who discard others, too.
        """
        given, found = self._given, None
        begin = Begin("draw", given.position.round_index % 4)
        kans = [(meld.player, meld.meld) for meld in given.melds if meld.meld.kind in OWN_KANS]
        for melds in (self._melds, [()] * 4):
            search = TurnOrder(
                rivers,
                _calls(given),
                self._ends,
                in_order=melds is self._melds,
                early=True,
                unknown=unknown,
                most=self._left,
            )
            for path in search.paths(begin):
                moves = with_kans(path, kans, melds, early=True)
                if moves is None:
                    continue
                if given.ending == "offered":
                    moves[-1] = Move("discard", given.position.offered_player, given.offered)
                found = found or _with_copies(moves)
                if all(
                    before.kind != "call" or TSUMOGIRI not in given.marks(move.tile)
                    for before, move in pairwise(moves)
                ):
                    return _with_copies(moves)
            self._left -= search.turns
            if self._left < 0 and found is None:
                told = "the right turn, or the rivers of all four players with called tiles marked ~"
                raise FieldError(
                    f"no order of play found in {MOST_TURNS:,} steps; check from whom each tile was called, "
                    f"or {f'give {told}' if unknown else 'mark called tiles in the rivers with ~'}",
                    *(f"melds.{seat}" for seat in range(4)),
                )
        return found

    def _ends(self, path: Path) -> bool:
        """Whether the decision is reached."""
        given = self._given
        if not path:
            return given.ending in ("drawn", "waiting") and given.player == given.position.round_index % 4
        last = path[-1]
        if given.ending == "called":
            return last.player == given.player and last.meld is not None and not last.meld.kind.is_kan
        before = given.position.offered_player if given.ending == "offered" else (given.player - 1) % 4
        return last.kind == "discard" and last.player == before


def _calls(given: Stated) -> list[Call]:
    """The chis, pons and open kans; a twin of a called tile may have gone to another meld."""
    calls = []
    for meld in given.melds:
        twins = (
            other.meld.called
            for other in given.melds
            if meld.listed and other.listed and meld.source == other.source
            if face_of(meld.meld.called) == face_of(other.meld.called)
        )
        if meld.meld.is_open:
            made = pon_of(meld.meld) if meld.meld.kind is MeldKind.KAKAN else meld.meld
            calls.append(Call(meld.player, made, tuple(twins)))
    return calls


def _with_copies(moves: Sequence[Move]) -> list[Move]:
    """The moves with every call of the very copy that was discarded."""
    found = list(moves[:1])
    for before, move in pairwise(moves):
        meld = move.meld
        if move.kind == "call" and meld is not None and meld.called != before.tile:
            tiles = tuple(sorted((*meld.consumed, before.tile)))
            meld = msgspec.structs.replace(meld, tiles=tiles, called=before.tile)
        found.append(msgspec.structs.replace(move, meld=meld))
    return found


def _sizes_wrong(given: Stated) -> str:
    sizes = [len(given.rivers[(given.player + seat) % 4]) for seat in range(4)]
    found = f"rivers of {_sizes(sizes)} fit no order of play"
    if any(meld.meld.is_open for meld in given.melds):
        return (
            f"{found} with these melds: players take turns from the dealer on, and after a call the caller "
            "discards; mark called tiles in rivers with ~, and add missing discards"
        )
    wind, offered = given.position.seat_wind, given.ending == "offered"
    last = (wind + given.position.offered_by) % 4 if offered else (wind - 1) % 4
    most = sizes[given.position.offered_by] if offered else sizes[0] + (wind > 0)
    due = [most - ((wind + seat) % 4 > last) for seat in range(4)]
    return f"{found}; without calls they have {_sizes(due)}, or check the seat wind"


def _sizes(sizes: list[int]) -> str:
    return ", ".join(f"{size} ({name})" for size, name in zip(sizes, SEATS, strict=True))
