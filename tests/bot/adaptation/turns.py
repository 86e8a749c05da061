"""A turn from which an adaptation learns, however its play-outs are drawn."""

from __future__ import annotations

from game.actions import ActionKind
from game.events import GameEvent
from game.observation import Observation
from game.state import clone
from tests.stacked import Play, stacked_wall


def teaching_turn() -> tuple[Observation, tuple[GameEvent, ...]]:
    """Player 0's turn with the last tile of a round, and the events before.

    It has three melds, a tile four times, and the tile drawn, so it can discard two kinds. With all four it
    is noten, because there is no fifth, otherwise tenpai. So every play-out teaches the same.
    """
    mine, left = "1m1m1m1m8m9m2p3p5s6s1z2z3z", "7m1p4s1s2s5s8s8s2s7s9s9s9p"
    play = Play(stacked_wall((mine, "", "", left), draws="5z"))
    for claimed, thrown in ("7m", "1z"), ("1p", "2z"), ("4s", "3z"):
        while play.turn() != 3:
            play.tsumogiri(1)
        play.act(3, ActionKind.DISCARD, claimed)
        play.act(0, ActionKind.CHI, claimed)
        play.throw(thrown)
    table = play.table
    while table.state["wall_left"] > 0:
        play.tsumogiri(1)
    seen = table.observe(0)
    return Observation(clone(seen.record), 0, seen.legal, seen.length), tuple(table.events)
