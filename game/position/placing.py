"""Plays an order of play through the fold, and gives the decision at its end."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from game.events import Discard, DoraRevealed, Draw, GameEvent, Riichi, RiichiAccepted, StartRound, four
from game.fold.calls import kuikae_mask
from game.forbidden import broken_rule
from game.layout import AT_UNSEEN
from game.melds import Meld, MeldKind, meld_event
from game.observation import Observation
from game.position.notation import RIICHI, TSUMOGIRI
from game.position.order import order_of_play
from game.position.stated import FieldError, Stated, WrittenPosition, seat_name, stakes, stated
from game.position.turn_order import Move
from game.rules import legal_actions
from game.scoring.settlement import RIICHI_STICK, START_SCORE
from game.state import apply, new_round
from game.tiles import EAST, KINDS, UNSEEN, tile_text
from kit.errors import StateMismatchError

_DEALT: Final = 13
_HIDDEN: Final = (-1,) * _DEALT
_SEED: Final = 1
_SPREAD: Final = 2.5
_USUAL_TURN: Final = tuple(
    0.0 if kind >= EAST else float(min(kind % 9, 8 - kind % 9) + 1) for kind in range(KINDS)
)
"""When players discard a kind: honours first, then from the ends of the suits to the middle."""


class PlacedPosition(NamedTuple):
    """A position on the table.

    Attributes:
        observation: the decision; without legal actions if the player only waits.
        events: all events of the round so far, as the page of a review shows them: made-up tiles are unseen.
        turn: the player's discards so far, plus one.
        knows_rivers: whether the discards are stated; if not, they are made up, except for called tiles.
    """

    observation: Observation
    events: tuple[GameEvent, ...]
    turn: int
    knows_rivers: bool


def place(position: WrittenPosition) -> PlacedPosition:
    """Put a position on the table.

    Made-up tiles take the places of unknown discards, honours and terminals first, as players discard them.
    They count as turns, but nobody has seen them: they make no tile rarer, none safe, and no hand furiten.

    Raises:
        FieldError: it is impossible; the message says what to change.
    """
    given = stated(position)
    moves, unknown = _filled(given, order_of_play(given))
    playing = _Playing(given, moves)
    for move in moves:
        playing.take(move)
    if given.ending in ("drawn", "waiting"):
        playing.accept_riichi()
    if given.ending == "drawn":
        playing.apply(Draw(given.player, given.drawn))
    record = playing.record
    turn = 1 + int(record["river_size"][given.player])
    if not given.knows_rivers:
        _forget(record, unknown)
    legal = () if given.ending == "waiting" else tuple(legal_actions(record, given.player))
    if not legal and given.ending == "offered":
        tile = tile_text(int(record["last_tile"]))
        raise FieldError(
            f"there is nothing to decide: the hand can neither call {tile} nor win on it", "offered"
        )
    observation = Observation(record, given.player, legal, position.length)
    made_up = set() if given.knows_rivers else set(unknown)
    events = tuple(_unseen(event, made_up) for event in playing.events)
    return PlacedPosition(observation, events, turn, given.knows_rivers)


def _unseen(event: GameEvent, made_up: set[int]) -> GameEvent:
    """The event without the tiles that are made up."""
    if isinstance(event, StartRound):
        hands = four(tuple(-1 if tile in made_up else tile for tile in hand) for hand in event.hands)
        return msgspec.structs.replace(event, hands=hands)
    if isinstance(event, Draw | Discard) and event.tile in made_up:
        return msgspec.structs.replace(event, tile=-1)
    return event


def _filled(given: Stated, moves: Sequence[Move]) -> tuple[list[Move], list[int]]:
    """The moves with a tile for each unknown discard, and these tiles.

    Raises:
        FieldError: more tiles are discarded than there are.
    """
    rng = random.Random(_SEED)  # noqa: S311 - always the same discards
    free = sorted(given.free, key=lambda tile: _USUAL_TURN[tile >> 2] + rng.uniform(0.0, _SPREAD))
    filled: list[Move] = []
    barred = 0
    for move in moves:
        if move.kind == "discard" and move.tile == UNSEEN:
            tile = next((tile for tile in free if not barred >> (tile >> 2) & 1), UNSEEN)
            if tile == UNSEEN:
                raise FieldError("no tiles are left for so many discards; give an earlier turn", "turn")
            free.remove(tile)
            filled.append(Move("discard", move.player, tile))
        else:
            filled.append(move)
        barred = _barred(move.meld) if move.meld is not None else 0
    return filled, list(set(given.free) - set(free))


def _barred(meld: Meld) -> int:
    """The kinds that may not be discarded after a meld, one bit each."""
    if meld.kind.is_kan:
        return 0
    first, second = meld.consumed
    return int(kuikae_mask(meld.called >> 2, first >> 2, second >> 2))


class _Playing:
    """The round, step by step.

    Args:
        given: the position.
        moves: all moves, without unknown tiles.
    """

    def __init__(self, given: Stated, moves: Sequence[Move]) -> None:
        self.record: np.void = new_round()
        self.events: list[GameEvent] = []
        self._given = given
        self._indicators = iter(given.indicators[1:])
        self._due = 0
        dealt, draws = _own_tiles(given, moves)
        self._draws = iter(draws)
        self.apply(_deal(given, dealt))

    def apply(self, event: GameEvent) -> None:
        """Fold an event.

        Raises:
            FieldError: it is impossible, or a rule forbids it.
        """
        try:
            broken = broken_rule(self.record, event)
            if not broken:
                apply(self.record, event)
        except StateMismatchError as exc:
            reason = str(exc).rpartition(" does not fit: ")[2]
            raise FieldError(
                f"{self._where(event)}: {reason}; check rivers, melds and marks", *self._fields(event)
            ) from exc
        if broken:
            raise FieldError(
                f"{self._where(event)}: the rules forbid {broken}; check rivers, melds and marks",
                *self._fields(event),
            )
        self.events.append(event)

    def take(self, move: Move) -> None:
        """Play one move."""
        player = move.player
        if move.kind in ("draw", "call"):
            self.accept_riichi()
        if move.kind == "draw":
            self.apply(Draw(player, next(self._draws) if player == self._given.player else UNSEEN))
        elif move.meld is None:
            self._discard(player, move.tile)
        else:
            self.apply(meld_event(player, move.meld))
            self._due += move.meld.kind.is_kan
            if move.meld.kind is MeldKind.ANKAN:
                self._reveal()

    def accept_riichi(self) -> None:
        """Pay the stick of a riichi declared with the last discard, which nobody won on."""
        declared = int(self.record["last_player"])
        if declared >= 0 and self.record["riichi"][declared] == 1:
            self.apply(RiichiAccepted(declared))

    def _discard(self, player: int, tile: int) -> None:
        marks = self._given.marks(tile)
        if RIICHI in marks:
            self.apply(Riichi(player))
        if player == self._given.player:
            tsumogiri = tile == int(self.record["drawn"])
        else:
            tsumogiri = TSUMOGIRI in marks or self.record["riichi"][player] == 2
        self.apply(Discard(player, tile, bool(tsumogiri)))
        while self._due:
            self._reveal()

    def _reveal(self) -> None:
        self._due -= 1
        self.apply(DoraRevealed(next(self._indicators)))

    def _fields(self, event: GameEvent) -> tuple[str, str]:
        seat = (getattr(event, "player", self._given.player) - self._given.player) % 4
        return f"rivers.{seat}", f"melds.{seat}"

    def _where(self, event: GameEvent) -> str:
        player = getattr(event, "player", self._given.player)
        kind = type(event).__name__.lower()
        tile = getattr(event, "tile", -1)
        named = f" {tile_text(tile)}" if tile >= 0 else ""
        return f"{kind}{named} ({seat_name(self._given.position, player)})"


def _deal(given: Stated, dealt: Sequence[int]) -> StartRound:
    position = given.position
    paid = _paid_riichis(given)
    now = position.scores or (START_SCORE,) * 4
    return StartRound(
        round_index=position.round_index,
        honba=position.honba,
        riichi_sticks=stakes(position, len(paid)) - len(paid),
        dealer=position.round_index % 4,
        scores=four(
            now[(player - given.player) % 4] + RIICHI_STICK * (player in paid and position.scores is not None)
            for player in range(4)
        ),
        dora_indicator=given.indicators[0],
        hands=four(tuple(dealt) if player == given.player else _HIDDEN for player in range(4)),
    )


def _paid_riichis(given: Stated) -> set[int]:
    """The players whose riichi stick is paid: not yet for a tile that is being offered."""
    offered = given.position.offered_player if given.ending == "offered" else -1
    return {
        player
        for player, river in enumerate(given.rivers)
        if any(RIICHI in tile.marks for tile in (river[:-1] if player == offered else river))
    }


def _own_tiles(given: Stated, moves: Sequence[Move]) -> tuple[list[int], list[int]]:
    """A deal and draws of our tiles that allow our discards and melds.

    The tiles needed first are dealt, the others drawn in the order in which they are needed. A tile is then
    never needed before it is there, and none is discarded on its draw unless that is stated.
    """
    own = [move for move in moves if move.player == given.player]
    draws: list[int] = []
    needed: list[tuple[float, int]] = []
    in_riichi = False
    for time, move in enumerate(own):
        marks = given.marks(move.tile)
        if move.kind == "draw":
            draws.append(UNSEEN)
        elif (in_riichi and move.kind == "discard") or TSUMOGIRI in marks:
            if own[time - 1].kind != "draw":
                raise FieldError(
                    "a discard after a call has no drawn tile; remove the mark _ from it", "rivers.0"
                )
            draws[-1] = move.tile
        else:
            needed += [(time, tile) for tile in move.used]
        in_riichi = in_riichi or RIICHI in marks
    needed += [(math.inf, tile) for tile in given.hand]
    in_order = [tile for _, tile in sorted(needed)]
    later = iter(in_order[_DEALT:])
    return in_order[:_DEALT], [next(later) if tile == UNSEEN else tile for tile in draws]


def _forget(record: np.void, made_up: Sequence[int]) -> None:
    """Make nobody have seen the made-up discards: they only take up their places in the rivers."""
    for tile in made_up:
        record["where"][tile] = AT_UNSEEN
        record["seen34"][tile >> 2] -= 1
    for owner in range(4):
        river = record["river"][owner, : int(record["river_size"][owner])].tolist()
        seen = sum({1 << (tile >> 2) for tile in river if tile not in made_up})
        record["river34"][owner] = record["safe34"][owner] = seen
        record["turn_safe34"][owner] = 0
        record["missed_turn"][owner] = 0
