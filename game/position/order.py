"""Finds an order of play that leads to the rivers and melds of a position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from game.melds import MeldKind
from game.position.notation import CALLED
from game.position.position import SEATS, FieldError
from game.position.stated import Stated, StatedTile
from game.tiles import face_of

UNKNOWN: Final = StatedTile(-1)
"""A discard that the position does not state."""

MOST_POINTS: Final = 3_000
"""Points that the searches for one position visit before they give up; positions of games need up to 150."""
_MOST_TURNS: Final = 24
_FIRST, _SECOND = 0, 1


class PlayStep(NamedTuple):
    """One step of play.

    Attributes:
        kind: what happens.
        player: who acts, absolute.
        discard: the tile of a discard.
        meld: index of the meld of a call or kan.
    """

    kind: Literal["draw", "discard", "call", "ankan", "kakan"]
    player: int
    discard: StatedTile = UNKNOWN
    meld: int = -1


class _PlayPoint(NamedTuple):
    """A point of the search: everything that the rest of the play depends on.

    Attributes:
        player: who is to draw or to act.
        phase: before the draw, after it, or after a chi or pon.
        discards: discards stated in rivers that have been made, by player.
        melds: parts of melds that have been made, as bits: two for each meld, the second for an added tile.
        turns: our discards so far.
    """

    player: int
    phase: Literal["draw", "drawn", "called"]
    discards: tuple[int, int, int, int]
    melds: int
    turns: int


_Steps: TypeAlias = tuple[PlayStep, ...]


def order_of_play(given: Stated) -> list[PlayStep]:
    """The steps from the deal to the decision, without our own last draw.

    Raises:
        FieldError: there is no such order, or none was found within the budget of the search.
    """
    wanted = given.position.turn
    budget = _Budget()
    if given.knows_rivers:
        steps = _found(given, None, budget)
        if steps is None:
            raise FieldError(_sizes_wrong(given), *(f"rivers.{seat}" for seat in range(4)))
        turn = 1 + sum(step.kind == "discard" and step.player == given.player for step in steps)
        if wanted not in (None, turn):
            raise FieldError(
                f"turn {wanted}, but your river makes this turn {turn}; complete the rivers, or give no turn",
                "turn",
            )
        return steps
    least = 1 + sum(meld.source == given.player for meld in given.melds)
    for turn in [wanted] if wanted is not None else range(least, _MOST_TURNS + 1):
        steps = _found(given, turn - 1, budget)
        if steps is not None:
            return steps
    if wanted is not None:
        raise FieldError(
            f"turn {wanted} cannot be reached with these melds; give a later turn, or none", "turn"
        )
    raise FieldError(
        "no order of play leads to these melds; check from whom each tile was called",
        *(f"melds.{seat}" for seat in range(4)),
    )


def _found(given: Stated, turns: int | None, budget: _Budget) -> list[PlayStep] | None:
    """The steps with each player's melds made in the order written, else in any order."""
    in_order = _OrderSearch(given, turns, budget, in_order=True).find()
    return in_order or _OrderSearch(given, turns, budget, in_order=False).find()


class _Budget:
    """The points that all searches for one position may still visit."""

    def __init__(self) -> None:
        self._left = MOST_POINTS

    def spend(self) -> None:
        """Visit a point.

        Raises:
            FieldError: the budget is spent.
        """
        self._left -= 1
        if self._left < 0:
            raise FieldError(
                f"no order of play found in {MOST_POINTS:,} steps; check from whom each tile was called, or "
                "give the rivers of all four players with called tiles marked ~",
                *(f"melds.{seat}" for seat in range(4)),
            )


class _OrderSearch:
    """A depth-first search that visits no point twice.

    Args:
        given: the position.
        turns: our discards up to the decision, if the rivers are unknown.
        budget: what is left of it for this position.
        in_order: each player's melds are made in the order written.
    """

    def __init__(self, given: Stated, turns: int | None, budget: _Budget, *, in_order: bool) -> None:
        self._given = given
        self._turns = turns
        self._budget = budget
        self._in_order = in_order
        self._all_melds = sum(
            1 << 2 * at + second
            for at, meld in enumerate(given.melds)
            for second in range(2 if meld.kind is MeldKind.KAKAN else 1)
        )
        self._from_us = sum(1 << 2 * at for at, meld in enumerate(given.melds) if meld.source == given.player)

    def find(self) -> list[PlayStep] | None:
        """The steps, None if there are none."""
        first = _PlayPoint(self._given.position.round_index % 4, "draw", (0, 0, 0, 0), 0, 0)
        if self._ends(first):
            return []
        visited = {first}
        path: list[tuple[_Steps, Iterator[tuple[_Steps, _PlayPoint]]]] = [((), self._ways(first))]
        while path:
            steps, then = next(path[-1][1], (None, first))
            if steps is None:
                path.pop()
            elif self._ends(then, steps):
                return [step for made, _ in path for step in made] + list(steps)
            elif then not in visited and self._leads_on(steps, then):
                self._budget.spend()
                visited.add(then)
                path.append((steps, self._ways(then)))
        return None

    def _ends(self, now: _PlayPoint, steps: _Steps = ()) -> bool:
        """Whether the decision is reached."""
        if self._given.offered >= 0:
            return self._is_offered(steps) and self._is_all(now)
        due = "called" if self._given.ending == "called" else "draw"
        return now.player == self._given.player and now.phase == due and self._is_all(now)

    def _leads_on(self, steps: _Steps, now: _PlayPoint) -> bool:
        """Whether the decision may still come."""
        unmade = (self._from_us & ~now.melds).bit_count()  # each needs a discard of ours
        in_time = self._turns is None or now.turns + unmade <= self._turns
        return (
            in_time and not self._is_offered(steps) and (not self._in_order or self._keeps_order(now.melds))
        )

    def _is_offered(self, steps: _Steps) -> bool:
        return (
            bool(steps) and steps[-1].kind == "discard" and steps[-1].discard.tile == self._given.offered >= 0
        )

    def _ways(self, now: _PlayPoint) -> Iterator[tuple[_Steps, _PlayPoint]]:
        """All that may happen next."""
        if now.phase == "draw":
            yield (PlayStep("draw", now.player),), now._replace(phase="drawn")
        else:
            yield from self._kans(now)
            yield from self._discards(now)

    def _keeps_order(self, made: int) -> bool:
        """Whether no meld was made before one of the same player that is written before it."""
        melds = self._given.melds
        return not any(
            made & 1 << 2 * at and not made & 1 << 2 * before and melds[before].player == meld.player
            for at, meld in enumerate(melds)
            for before in range(at)
        )

    def _is_all(self, now: _PlayPoint) -> bool:
        rivers = self._given.rivers
        return (
            now.melds == self._all_melds
            and all(now.discards[player] == len(rivers[player]) for player in range(4))
            and (self._turns is None or now.turns == self._turns)
        )

    def _kans(self, now: _PlayPoint) -> Iterator[tuple[_Steps, _PlayPoint]]:
        """Closed and added kans, which a replacement tile follows."""
        if now.phase == "called":
            return
        for at, meld in enumerate(self._given.melds):
            if meld.player != now.player:
                continue
            first, second = 1 << 2 * at + _FIRST, 1 << 2 * at + _SECOND
            if meld.kind is MeldKind.ANKAN and not now.melds & first:
                yield self._kan("ankan", at, now, first)
            if meld.kind is MeldKind.KAKAN and now.melds & first and not now.melds & second:
                yield self._kan("kakan", at, now, second)

    def _kan(
        self, kind: Literal["ankan", "kakan"], at: int, now: _PlayPoint, bit: int
    ) -> tuple[_Steps, _PlayPoint]:
        steps = PlayStep(kind, now.player, meld=at), PlayStep("draw", now.player)
        return steps, now._replace(melds=now.melds | bit)

    def _discards(self, now: _PlayPoint) -> Iterator[tuple[_Steps, _PlayPoint]]:
        """The next tile of the river, a called tile that no river shows, or an unknown one."""
        player, given = now.player, self._given
        made = now._replace(turns=now.turns + (player == given.player))
        for at, meld in enumerate(given.melds):
            if meld.source == player and not meld.listed and not now.melds & 1 << 2 * at:
                yield self._call(StatedTile(meld.called, CALLED), at, made)
        river, place = given.rivers[player], now.discards[player]
        if place < len(river):
            counts = list(now.discards)
            counts[player] += 1
            first, second, third, fourth = counts
            noted = made._replace(discards=(first, second, third, fourth))
            yield from self._listed(river[place], noted)
        if not given.knows_rivers:
            yield (PlayStep("discard", player),), made._replace(player=(player + 1) % 4, phase="draw")

    def _listed(self, tile: StatedTile, now: _PlayPoint) -> Iterator[tuple[_Steps, _PlayPoint]]:
        if CALLED not in tile.marks:
            then = now._replace(player=(now.player + 1) % 4, phase="draw")
            yield (PlayStep("discard", now.player, tile),), then
            return
        # a twin of the called face may have gone to another player's meld of the same source
        for at, meld in enumerate(self._given.melds):
            alike = meld.listed and face_of(meld.called) == face_of(tile.tile)
            if meld.source == now.player and alike and not now.melds & 1 << 2 * at:
                yield self._call(tile._replace(tile=meld.called), at, now)

    def _call(self, tile: StatedTile, at: int, now: _PlayPoint) -> tuple[_Steps, _PlayPoint]:
        meld = self._given.melds[at]
        steps: _Steps = PlayStep("discard", now.player, tile), PlayStep("call", meld.player, meld=at)
        then = now._replace(player=meld.player, phase="called", melds=now.melds | 1 << 2 * at)
        if meld.kind is MeldKind.DAIMINKAN:
            return (*steps, PlayStep("draw", meld.player)), then._replace(phase="drawn")
        return steps, then


def _sizes_wrong(given: Stated) -> str:
    sizes = [len(given.rivers[(given.player + seat) % 4]) for seat in range(4)]
    found = f"rivers of {_sizes(sizes)} fit no order of play"
    if any(meld.source >= 0 for meld in given.melds):
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
