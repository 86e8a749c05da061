"""The row of a game in the results, counted from its events."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from game.events import EndGame, Four
from game.scoring.settlement import placements
from learning.runs.store import ResumablePlan, read_rows
from policies.play.rollout import FinishedGame
from replays.tally import Tallies, tally

P = TypeVar("P", bound=ResumablePlan)


class GameRow(msgspec.Struct, frozen=True):
    """One game.

    Attributes:
        number: its number in the plan.
        seed: seed of its walls.
        players: the seating: 0 the challenger, 1 a champion.
        scores: final points by player; zeros if it crashed.
        places: places by player; zeros if it crashed.
        results: final results in tenths, including uma and oka; zeros if it crashed.
        rounds: rounds dealt.
        tallies: the counts by player.
        fault: the first decision that had to be replaced, "" if none.
        crash: why it could not be completed, "" if it was.
    """

    number: int
    seed: int
    players: Four
    scores: Four
    places: Four
    results: Four
    rounds: int
    tallies: Tallies
    fault: str = ""
    crash: str = ""


def row_of(played: FinishedGame) -> GameRow:
    """Make the row of a game."""
    tallies, rounds = tally(played.events)
    for each, decisions in zip(tallies, played.decisions, strict=True):
        each.decisions = decisions
    for fault in played.faults:
        tallies[fault.player].faults += 1
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
        tallies,
        str(first) if first else "",
        played.crash,
    )


def read_results(folder: Path, kind: type[P]) -> tuple[P, list[GameRow]]:
    """The plan and the games of matches; see `read_rows`."""
    return read_rows(folder, kind, GameRow)
