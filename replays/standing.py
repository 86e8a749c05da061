"""State of runs of many games, and of adapting to a round: told by who does it, shown by the dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from game.events import Four
from game.settlement import GameLength, RewardKind


class SeriesStanding(msgspec.Struct, frozen=True):
    """State of a run in progress.

    Attributes:
        length: length of the games.
        games: games finished so far, including those of earlier starts.
        of: games planned in total.
        played: games finished since this start.
        crashes: games among them that could not be completed.
        faults: games among them in which a decision had to be replaced.
        players: names, each once.
        places: by player: counts of first to fourth; a player in several seats has several places per game.
    """

    length: GameLength
    games: int
    of: int
    played: int
    crashes: int
    faults: int
    players: tuple[str, ...]
    places: tuple[Four, ...]


CurvePoints: TypeAlias = tuple[tuple[int, float], ...]
"""Games learned from, and the value then."""
LearningPhase: TypeAlias = Literal["learning", "evaluating"]
"""What a run does: play and learn at the same time, or play against the policy of the start."""


class LearningStanding(msgspec.Struct, frozen=True):
    """State of a run of self-play learning.

    Attributes:
        length: length of the games.
        games: games learned from so far, including those of earlier starts.
        of: games planned in total.
        played: games learned from since this start.
        blocks: blocks learned from so far, likewise.
        of_blocks: blocks planned in total.
        phase: what the run does now.
        curves: by name, as in the curves of the run's folder; those of the evaluations begin with ``arena/``.
    """

    length: GameLength
    games: int
    of: int
    played: int
    blocks: int
    of_blocks: int
    phase: LearningPhase
    curves: Mapping[str, CurvePoints]


class AdaptationStanding(msgspec.Struct, frozen=True):
    """How adapting to the running round has gone so far.

    Attributes:
        playouts: rounds played out and learned from.
        of: rounds that are to be played out, as far as the round has got.
        worth: unit of gains: ``points``, or ``global`` for the expected final reward.
        gain: what was found is worth so much more, played in earnest over other deals; 0 if nothing was.
        gain_error: standard error of that.
        used: whether it decides our discards.
    """

    playouts: int
    of: int
    worth: RewardKind
    gain: float = 0.0
    gain_error: float = 0.0
    used: bool = False
