"""What a game comes to: one row a game, as it is kept, counted from its events."""

from __future__ import annotations

import msgspec

from game.events import EndGame, Four
from game.settlement import placements
from policies.rollout import Played
from replays.tally import Seats, tally


class GameRow(msgspec.Struct, frozen=True):
    """One game.

    Attributes:
        number: its number in the plan.
        seed: of its walls.
        players: who sat where: 0 the challenger, 1 a champion.
        scores: final points by player; zeros where it crashed.
        places: places by player; zeros where it crashed.
        results: final results in tenths, uma and oka included; zeros where it crashed.
        rounds: dealt.
        seats: the numbers by player.
        fault: the first decision that had to be replaced, "" if none had to.
        crash: why it could not be played to its end, "" where it was.
    """

    number: int
    seed: int
    players: Four
    scores: Four
    places: Four
    results: Four
    rounds: int
    seats: Seats
    fault: str = ""
    crash: str = ""


def row_of(played: Played) -> GameRow:
    """The row of a game."""
    seats, rounds = tally(played.events)
    for seat, decisions in zip(seats, played.decisions, strict=True):
        seat.decisions = decisions
    for fault in played.faults:
        seats[fault.player].faults += 1
    ending = played.events[-1] if not played.crash else None
    scores = results = places = (0, 0, 0, 0)
    if isinstance(ending, EndGame):
        scores, results, places = ending.scores, ending.results, placements(ending.scores)
    seating = played.seating
    first = played.faults[0] if played.faults else None
    return GameRow(
        seating.number,
        seating.seed,
        seating.players,
        scores,
        places,
        results,
        rounds,
        seats,
        str(first) if first else "",
        played.crash,
    )
