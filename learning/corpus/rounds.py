"""Splits a game into its rounds, and locates events in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
)
from game.packing import Packed, pack, pack_all

_WINDS: Final = ("East", "South", "West", "North")


class RecordedRound(msgspec.Struct):
    """One round of a record.

    Attributes:
        start: the deal.
        events: every event that changes the round, from the deal to the last result.
        live: tiles drawn from the live wall, in order.
        replacements: tiles drawn after kans, in order.
        indicators: dora indicators, including the one from the deal.
        wins: the wins.
        drawn: the end without a win.
    """

    start: StartRound
    events: list[GameEvent] = []
    live: list[int] = []
    replacements: list[int] = []
    indicators: list[int] = []
    wins: list[Win] = []
    drawn: DrawnRound | None = None

    @property
    def name(self) -> str:
        """``East 1``, ``South 3 honba 2``."""
        name = f"{_WINDS[self.start.round_index // 4 % 4]} {self.start.round_index % 4 + 1}"
        return f"{name} honba {self.start.honba}" if self.start.honba else name

    @property
    def turns(self) -> int:
        """Discards in the round."""
        return sum(type(event) is Discard for event in self.events)

    def packed(self) -> Packed:
        """The events for the fold."""
        return pack_all(self.events)

    def event_at(self, place: int) -> tuple[int, GameEvent]:
        """The event at a place of `packed`, and the number of discards before it."""
        at = turn = 0
        for event in self.events:
            codes = pack(event)
            assert codes is not None
            if at == place:
                return turn, event
            at += len(codes)
            turn += isinstance(event, Discard)
        return turn, self.events[-1]

    def turn_of_draw(self, number: int, *, replacement: bool) -> int:
        """Number of discards before the ``number``-th draw (from 0) of its kind."""
        turn = 0
        for event, is_replacement in _sorted_draws(self.events):
            turn += isinstance(event, Discard)
            if isinstance(event, Draw) and is_replacement == replacement:
                number -= 1
                if number < 0:
                    break
        return turn


def split_rounds(events: Sequence[GameEvent]) -> list[RecordedRound]:
    """The rounds of a game; events outside of rounds are left out."""
    rounds: list[RecordedRound] = []
    current: RecordedRound | None = None
    after_kan = False
    for event in events:
        if isinstance(event, StartRound):
            current = RecordedRound(event, [event], [], [], [event.dora_indicator], [])
            rounds.append(current)
            after_kan = False
            continue
        kind = type(event)
        if current is None or kind not in _OF_A_ROUND:
            continue
        current.events.append(event)
        if kind is Discard:
            continue
        if isinstance(event, Draw):
            (current.replacements if after_kan else current.live).append(event.tile)
            after_kan = False
        elif kind in _KANS:
            after_kan = True
        elif isinstance(event, DoraRevealed):
            current.indicators.append(event.indicator)
        elif isinstance(event, Win):
            current.wins.append(event)
        elif isinstance(event, DrawnRound):
            current.drawn = event
    return rounds


def _sorted_draws(events: Iterable[GameEvent]) -> Iterator[tuple[GameEvent, bool]]:
    """Each event, and whether the next draw is of a replacement tile."""
    after_kan = False
    for event in events:
        yield event, after_kan
        if isinstance(event, Draw):
            after_kan = False
        elif type(event) in _KANS:
            after_kan = True


_KANS: Final = frozenset((Daiminkan, Ankan, Kakan))
_OF_A_ROUND: Final = frozenset(
    (Draw, Discard, Chi, Pon, *_KANS, DoraRevealed, Riichi, RiichiAccepted, Win, DrawnRound)
)
