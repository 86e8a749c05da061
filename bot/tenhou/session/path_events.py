"""Turns an order of turns into events: inserts riichi, kans, indicators and our draws where they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from bot.tenhou.messages import server_messages as m
from game.events import Chi, Discard, DoraRevealed, Draw, Four, GameEvent, Pon, Riichi, RiichiAccepted
from game.melds import Meld, meld_event
from game.position.turn_order import OWN_KANS, Begin, Move, Path, with_kans
from game.state import hand_tiles, melds_of


class Goal(msgspec.Struct, frozen=True):
    """A snapshot by absolute player, melds oldest first."""

    player: int
    hand: tuple[int, ...]
    rivers: tuple[m.Tiles, m.Tiles, m.Tiles, m.Tiles]
    melds: tuple[tuple[Meld, ...], tuple[Meld, ...], tuple[Meld, ...], tuple[Meld, ...]]
    riichi_at: Four
    indicators: tuple[int, ...]


class SeenStart(msgspec.Struct, frozen=True):
    """The received beginning of the round; without events, only the goal is known."""

    events: tuple[GameEvent, ...]
    record: np.void
    begin: Begin


class PathEvents:
    """The events of a path; `tell` sets ``drawn``, the tiles we drew on that path."""

    def __init__(self, goal: Goal, known: SeenStart, *, in_order: bool) -> None:
        self._goal = goal
        self._known = known
        self._in_order = in_order
        self.drawn: list[int] = []

    def along(self, path: Path) -> Iterator[tuple[GameEvent, ...]]:
        """The events of a path, twice if it ends in a riichi: first with the stick paid, then without."""
        kans = [(player, kan) for player in range(4) for kan in self._own_kans(player)]
        moves = with_kans(path, kans, self._goal.melds if self._in_order else ((),) * 4)
        if moves is None or not self._fill_draws(moves):
            return
        events, pending = self._events(moves)
        if pending < 0:
            yield tuple(events)
            return
        if moves and isinstance(events[-1], DoraRevealed):
            yield (*events[:-1], RiichiAccepted(pending), events[-1])
        yield (*events, RiichiAccepted(pending))
        yield tuple(events)

    def _own_kans(self, player: int) -> list[Meld]:
        """Closed and added kans that a player made after the received events."""
        before = melds_of(self._known.record, player) if self._known.events else []
        return [meld for meld in self._goal.melds[player] if meld.kind in OWN_KANS and meld not in before]

    def _fill_draws(self, moves: list[Move]) -> bool:
        """Assign tiles to our draws, each as late as possible; whether that succeeded."""
        us = self._goal.player
        held = set(hand_tiles(self._known.record, us)) if self._known.events else set()
        needed: list[int] = []
        free: list[int] = []
        drawn: dict[int, int] = {}
        for number, move in reversed([*enumerate(moves)]):
            if move.player != us:
                continue
            if move.kind != "draw":
                needed += [tile for tile in move.used if tile not in held]
            elif needed:
                drawn[number] = needed.pop()
            else:
                free.append(number)
        if self._known.events and needed:
            return False
        used = {*drawn.values(), *(tile for move in moves if move.player == us for tile in move.used)}
        spare = [tile for tile in self._goal.hand if tile not in held and tile not in used]
        if len(spare) < len(free):
            return False
        drawn |= {number: spare.pop() for number in free}
        self.drawn = list(drawn.values())
        for number, tile in drawn.items():
            moves[number] = Move("draw", us, tile)
        return True

    def _events(self, moves: Sequence[Move]) -> tuple[list[GameEvent], int]:
        """The events, and the player whose riichi discard comes last and is not paid yet, or -1."""
        events: list[GameEvent] = list(self._known.events)
        record = self._known.record
        riichi = [int(value) for value in record["riichi"]] if self._known.events else [0] * 4
        shown = int(record["indicator_count"]) if self._known.events else 1
        indicators = list(self._goal.indicators[shown:])
        declaring = self._riichi_moves(moves)
        pending = riichi.index(1) if 1 in riichi else -1
        for number, move in enumerate(moves):
            if pending >= 0:
                events.append(RiichiAccepted(pending))
                riichi[pending], pending = 2, -1
            if declaring.get(move.player) == number:
                events.append(Riichi(move.player))
                riichi[move.player], pending = 1, move.player
            events.append(self._event(move, events, accepted=riichi[move.player] == 2))
            if move.meld is not None and move.meld.kind.is_kan and indicators:
                events.append(DoraRevealed(indicators.pop(0)))
        # The remaining indicators belong to kans among the received events.
        return events + [DoraRevealed(tile) for tile in indicators], pending

    def _riichi_moves(self, moves: Sequence[Move]) -> dict[int, int]:
        """The place of each player's riichi discard, by player."""
        found = {}
        for player, place in enumerate(self._goal.riichi_at):
            if place < 0 or (self._known.events and self._known.record["riichi"][player]):
                continue
            river = self._goal.rivers[player]
            for number, move in enumerate(moves):
                is_own = move.player == player and move.kind == "discard"
                if is_own and (place >= len(river) or move.tile == river[place]):
                    found[player] = number
        return found

    def _event(self, move: Move, before: Sequence[GameEvent], *, accepted: bool) -> GameEvent:
        player = move.player
        if move.meld is not None:
            return meld_event(player, move.meld)
        if move.kind == "draw":
            return Draw(player, move.tile)
        if player != self._goal.player:
            return Discard(player, move.tile, accepted)
        last = next((e for e in reversed(before) if isinstance(e, Draw | Chi | Pon)), None)
        return Discard(player, move.tile, isinstance(last, Draw) and last.tile == move.tile)
