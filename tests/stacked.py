"""Plays at a table over a stacked wall: hands and draws in text form, moves by tile text."""

from __future__ import annotations

import random
from typing import Any

from game.actions import PASS, Action, ActionKind
from game.events import Discard, EndRound, Event, GameEvent, StartRound
from game.layout import LIVE_TILES
from game.table.table import Table
from game.table.walls import dealt_places, indicator_place, next_place, replacement_place
from game.tiles import TILES, face_of, parse_hand, tile_text


def stacked_wall(
    hands: tuple[str, str, str, str],
    draws: str = "",
    *,
    replacements: str = "",
    indicators: str = "",
    ura: str = "",
    last: str = "",
    dealer: int = 0,
) -> list[int]:
    """A wall in deal order with these hands (absolute players), draws in turn, and dead wall.

    ``draws`` and the others are runs of two-character tiles (``"1m0p7z"``). An empty hand and all the rest is
    filled up with what is left, always the same way.
    """
    free = list(range(TILES))
    random.Random(5).shuffle(free)
    wall = [-1] * TILES

    def put(place: int, text: str) -> None:
        face = face_of(parse_hand(text)[0])
        tile = next(t for t in free if face_of(t) == face)
        free.remove(tile)
        wall[place] = tile

    for player, hand in enumerate(hands):
        for place, tile in zip(dealt_places(player, dealer), parse_hand(hand), strict=bool(hand)):
            put(place, tile_text(tile))
    for number, text in enumerate(_tiles(draws)):
        put(next_place(LIVE_TILES, 0) + number, text)
    for number, text in enumerate(_tiles(replacements)):
        put(replacement_place(number + 1), text)
    for number, text in enumerate(_tiles(indicators)):
        put(indicator_place(number), text)
    for number, text in enumerate(_tiles(ura)):
        put(indicator_place(number) - 1, text)
    for number, text in enumerate(reversed(_tiles(last))):
        put(next_place(1, 0) - number, text)
    for place, tile in enumerate(wall):
        if tile < 0:
            wall[place] = free.pop()
    return wall


def _tiles(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


class Play:
    """A table whose players do as told, and otherwise pass."""

    def __init__(self, wall: list[int] | None, **options: Any) -> None:
        self.table = Table(1, wall=wall, **options)

    def act(self, player: int, kind: ActionKind, text: str = "") -> list[GameEvent]:
        """One player acts; others who are asked pass."""
        return self.acts({player: (kind, text)})

    def acts(self, wanted: dict[int, tuple[ActionKind, str]]) -> list[GameEvent]:
        """Several players answer the same discard; others who are asked pass."""
        answers = dict.fromkeys(self.table.waiting(), PASS)
        for player, (kind, text) in wanted.items():
            answers[player] = self.find(player, kind, text)
        return self.table.step(answers)

    def find(self, player: int, kind: ActionKind, text: str = "") -> Action:
        """The legal action of this kind; ``text`` is its tile, or the first it consumes."""
        for action in self.table.legal(player):
            tiles = [tile_text(t) for t in (action.tile, *action.consumed)]
            if action.kind is kind and (not text or text in tiles):
                return action
        legal = [str(action) for action in self.table.legal(player)]
        raise AssertionError(f"player {player} may not {kind.name} {text}: {legal}")

    def may(self, player: int, kind: ActionKind) -> bool:
        """Whether a player may do something of this kind now."""
        return any(action.kind is kind for action in self.table.legal(player))

    def throw(self, *texts: str) -> list[GameEvent]:
        """The players to move discard these tiles in turn; no player claims them."""
        before = len(self.table.events)
        for text in texts:
            self.act(self.turn(), ActionKind.DISCARD, text)
            self.pass_all()
        return self.table.events[before:]

    def tsumogiri(self, times: int) -> None:
        """The next players discard the tiles they draw."""
        for _ in range(times):
            self.throw(tile_text(int(self.table.state["drawn"])))

    def pass_all(self) -> list[GameEvent]:
        """All players asked about a discard or an added kan pass."""
        if self.table.waiting() and PASS in self.table.legal(self.table.waiting()[0]):
            return self.table.step({})
        return []

    def turn(self) -> int:
        """The player to move."""
        (player,) = self.table.waiting()
        return player

    def play_out(self) -> list[GameEvent]:
        """All players discard the tiles they draw until the round is over."""
        before = len(self.table.events)
        while not any(isinstance(event, EndRound) for event in self.table.events[before:]):
            self.tsumogiri(1)
        return self.table.events[before:]


def kinds(events: list[GameEvent]) -> list[str]:
    """The names of events, up to the end of the round."""
    names = [type(event).__name__ for event in events]
    return names[: names.index("EndRound")] if "EndRound" in names else names


def of_type(events: list[GameEvent], kind: type[Event]) -> list[Any]:
    """The events of one type."""
    return [event for event in events if isinstance(event, kind)]


def last_round(events: list[GameEvent]) -> StartRound:
    """How the newest round began."""
    return of_type(events, StartRound)[-1]


def last_discard(events: list[GameEvent]) -> Discard:
    """The newest discard."""
    return of_type(events, Discard)[-1]
