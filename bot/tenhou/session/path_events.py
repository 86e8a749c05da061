"""Turns an order of turns into events: inserts riichi, kans, indicators and our draws where they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.turn_order import Begin, Move, Path
from game.events import (
    Chi,
    Discard,
    DoraRevealed,
    Draw,
    Four,
    GameEvent,
    Pon,
    Riichi,
    RiichiAccepted,
)
from game.melds import Meld, MeldKind
from game.state import hand_tiles, melds_of
from game.tiles import UNSEEN
from replays.mjlog.tags import meld_event


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


def pon_of(kakan: Meld) -> Meld:
    """The pon from which an added kan was made."""
    tiles = tuple(tile for tile in kakan.tiles if tile != kakan.added)
    return Meld(MeldKind.PON, tiles, kakan.called, kakan.from_seat)


class _Step(msgspec.Struct):
    """A move, or a kan on the player's own turn; ``tile`` is set for our own draws."""

    move: Move | None
    player: int
    kan: Meld | None = None
    tile: int = UNSEEN


class PathEvents:
    """The events of a path; `tell` sets ``drawn``, the tiles we drew on that path."""

    def __init__(self, goal: Goal, known: SeenStart, *, in_order: bool) -> None:
        self._goal = goal
        self._known = known
        self._in_order = in_order
        self.drawn: list[int] = []

    def along(self, path: Path) -> Iterator[tuple[GameEvent, ...]]:
        """The events of a path, twice if it ends in a riichi: first with the stick paid, then without."""
        steps = self._with_kans(path)
        if steps is None or not self._fill_draws(steps):
            return
        events, pending = self._events(steps)
        if pending < 0:
            yield tuple(events)
            return
        if steps and isinstance(events[-1], DoraRevealed):
            yield (*events[:-1], RiichiAccepted(pending), events[-1])
        yield (*events, RiichiAccepted(pending))
        yield tuple(events)

    def _with_kans(self, path: Path) -> list[_Step] | None:
        steps = [_Step(move, move.player) for move in path]
        for p in range(4):
            for kan in self._own_kans(p):
                at = _turn_for(steps, p, kan, self._goal.melds[p] if self._in_order else ())
                if at is None:
                    return None
                steps[at + 1 : at + 1] = [_Step(None, p, kan), _Step(Move("draw", p), p)]
        return steps

    def _own_kans(self, player: int) -> list[Meld]:
        """Closed and added kans that a player made after the received events."""
        before = melds_of(self._known.record, player) if self._known.events else []
        kinds = (MeldKind.ANKAN, MeldKind.KAKAN)
        return [meld for meld in self._goal.melds[player] if meld.kind in kinds and meld not in before]

    def _fill_draws(self, steps: list[_Step]) -> bool:
        """Assign tiles to our draws, each as late as possible; whether that succeeded."""
        us = self._goal.player
        held = set(hand_tiles(self._known.record, us)) if self._known.events else set()
        needed: list[int] = []
        free: list[_Step] = []
        for step in reversed(steps):
            if step.player != us:
                continue
            if step.move is None or step.move.kind != "draw":
                needed += [tile for tile in _uses(step) if tile not in held]
            elif needed:
                step.tile = needed.pop()
            else:
                free.append(step)
        if self._known.events and needed:
            return False
        used = {tile for step in steps if step.player == us for tile in (step.tile, *_uses(step))}
        spare = [tile for tile in self._goal.hand if tile not in held and tile not in used]
        for step in free:
            if not spare:
                return False
            step.tile = spare.pop()
        self.drawn = [step.tile for step in steps if step.player == us and step.tile != UNSEEN]
        return True

    def _events(self, steps: Sequence[_Step]) -> tuple[list[GameEvent], int]:
        """The events, and the player whose riichi discard comes last and is not paid yet, or -1."""
        events: list[GameEvent] = list(self._known.events)
        record = self._known.record
        riichi = [int(value) for value in record["riichi"]] if self._known.events else [0] * 4
        shown = int(record["indicator_count"]) if self._known.events else 1
        indicators = list(self._goal.indicators[shown:])
        declaring = self._riichi_steps(steps)
        pending = riichi.index(1) if 1 in riichi else -1
        for number, step in enumerate(steps):
            if pending >= 0:
                events.append(RiichiAccepted(pending))
                riichi[pending], pending = 2, -1
            if declaring.get(step.player) == number:
                events.append(Riichi(step.player))
                riichi[step.player], pending = 1, step.player
            events.append(self._event(step, events, accepted=riichi[step.player] == 2))
            if _is_kan(step) and indicators:
                events.append(DoraRevealed(indicators.pop(0)))
        # The remaining indicators belong to kans among the received events.
        return events + [DoraRevealed(tile) for tile in indicators], pending

    def _riichi_steps(self, steps: Sequence[_Step]) -> dict[int, int]:
        """The step of each player's riichi discard, by player."""
        found = {}
        for player, place in enumerate(self._goal.riichi_at):
            if place < 0 or (self._known.events and self._known.record["riichi"][player]):
                continue
            river = self._goal.rivers[player]
            discards = [
                number
                for number, step in enumerate(steps)
                if step.player == player and step.move is not None and step.move.kind == "discard"
            ]
            for number in discards:
                move = steps[number].move
                if place >= len(river) or (move is not None and move.tile == river[place]):
                    found[player] = number
        return found

    def _event(self, step: _Step, before: Sequence[GameEvent], *, accepted: bool) -> GameEvent:
        player = step.player
        if step.kan is not None:
            return meld_event(player, step.kan)
        assert step.move is not None
        if step.move.kind == "draw":
            return Draw(player, step.tile)
        if step.move.kind == "call":
            assert step.move.meld is not None
            return meld_event(player, step.move.meld)
        if player != self._goal.player:
            return Discard(player, step.move.tile, accepted)
        last = next((e for e in reversed(before) if isinstance(e, Draw | Chi | Pon)), None)
        return Discard(player, step.move.tile, isinstance(last, Draw) and last.tile == step.move.tile)


def _turn_for(steps: Sequence[_Step], player: int, kan: Meld, melds: Sequence[Meld]) -> int | None:
    """The player's last draw that allows the kan, given the order of the melds if it is known."""
    first, last = -1, len(steps)
    if kan.kind is MeldKind.KAKAN:
        first = _call_step(steps, kan)
    elif kan in melds:
        place = melds.index(kan)
        first = max((_call_step(steps, meld) for meld in melds[:place]), default=-1)
        last = min((n for meld in melds[place:] if (n := _call_step(steps, meld)) >= 0), default=last)
    draws = [n for n, step in enumerate(steps) if step.player == player and _is_draw(step)]
    return next((n for n in reversed(draws) if first < n < last), None)


def _is_draw(step: _Step) -> bool:
    return step.move is not None and step.move.kind == "draw"


def _call_step(steps: Sequence[_Step], meld: Meld) -> int:
    """The step that makes a meld, for an added kan its pon; -1 if the meld is older than the steps."""
    made = pon_of(meld) if meld.kind is MeldKind.KAKAN else meld
    return next(
        (n for n, s in enumerate(steps) if s.kan == made or (s.move is not None and s.move.meld == made)), -1
    )


def _uses(step: _Step) -> tuple[int, ...]:
    """Tiles that leave the hand in a step."""
    if step.kan is not None:
        return (step.kan.added,) if step.kan.kind is MeldKind.KAKAN else step.kan.tiles
    if step.move is not None and step.move.kind == "discard":
        return (step.move.tile,)
    if step.move is not None and step.move.meld is not None:
        return step.move.meld.consumed
    return ()


def _is_kan(step: _Step) -> bool:
    called = step.move.meld if step.move is not None else None
    return step.kan is not None or (called is not None and called.kind is MeldKind.DAIMINKAN)
