"""Counts per player over rounds: wins, deal-ins, riichi, calls, from the events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from game.events import Chi, Daiminkan, DrawnRound, GameEvent, Pon, Riichi, StartRound, Win


class PlayerTally(msgspec.Struct):
    """Counts of one player.

    Attributes:
        decisions: decisions requested; forced moves are not.
        faults: decisions that had to be replaced.
        wins: rounds won.
        tsumo: wins by self-draw among these.
        won_points: points gained by wins, including honba and sticks.
        deal_ins: rounds in which the player discarded another player's winning tile.
        lost_points: points paid for deal-ins.
        riichi: rounds in which the player declared riichi.
        calls: rounds in which the player called chi, pon or an open kan.
        tenpai_draws: rounds that ran out of tiles with the player tenpai.
        draws: rounds that ran out of tiles.
    """

    decisions: int = 0
    faults: int = 0
    wins: int = 0
    tsumo: int = 0
    won_points: int = 0
    deal_ins: int = 0
    lost_points: int = 0
    riichi: int = 0
    calls: int = 0
    tenpai_draws: int = 0
    draws: int = 0


Tallies: TypeAlias = tuple[PlayerTally, PlayerTally, PlayerTally, PlayerTally]


def tally(events: Iterable[GameEvent]) -> tuple[Tallies, int]:
    """Counts per player (without decisions and faults), and the number of rounds dealt."""
    tallies = (PlayerTally(), PlayerTally(), PlayerTally(), PlayerTally())
    rounds = 0
    called: set[int] = set()
    dealt_in: set[int] = set()
    for event in events:
        match event:
            case StartRound():
                rounds += 1
                called.clear()
                dealt_in.clear()
            case Chi() | Pon() | Daiminkan():
                tallies[event.player].calls += event.player not in called
                called.add(event.player)
            case Riichi():
                tallies[event.player].riichi += 1
            case Win():
                _win(tallies, event, dealt_in)
            case DrawnRound(reason="exhaustive" | "nagashi_mangan"):
                for each, hand in zip(tallies, event.hands, strict=True):
                    each.draws += 1
                    each.tenpai_draws += hand is not None
    return tallies, rounds


def _win(tallies: Tallies, event: Win, dealt_in: set[int]) -> None:
    winner = tallies[event.player]
    winner.wins += 1
    winner.won_points += event.deltas[event.player]
    if event.player == event.from_player:
        winner.tsumo += 1
        return
    loser = tallies[event.from_player]
    # two wins on the same tile are one mistake
    loser.deal_ins += event.from_player not in dealt_in
    loser.lost_points -= event.deltas[event.from_player]
    dealt_in.add(event.from_player)
