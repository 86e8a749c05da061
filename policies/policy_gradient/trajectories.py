"""Trajectories of self-play: states, sampled discards, their behaviour probabilities, and scores.

States are kept as records of `game.layout.ROUND_STATE`. Planes are six times as large, and can be encoded
again when they are needed.

Thinning leaves out most clear decisions: the gradient of a choice with probability p is at most 1 - p for
each logit. A decision is kept with a probability that falls with its clarity, and weighted with the inverse
of that probability, so that the expected gradient stays the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.events import EndGame
from game.layout import ROUND_STATE
from game.tiles import TILES
from policies.flow.draws import drawn_share
from policies.flow.flow import SlotAnswer
from policies.flow.slots import Policy, Slot
from policies.play.rollout import Choice, FinishedGame, PolicyChooser, Request, Times
from policies.play.sampling import Distribution, distribution_of, drawing
from policies.reward.encoding import round_starts

DECISION: Final = np.dtype(
    [
        ("state", ROUND_STATE),  # all hands known
        ("player", "i1"),  # absolute
        ("round", "i2"),  # the round in its game, from 0
        ("legal", "u8"),  # mask of the kinds that could be discarded
        ("kind", "i1"),  # the kind that was discarded
        ("probability", "f4"),  # of that kind, by the policy that acted
        ("weight", "f4"),  # number of decisions it represents
        ("hidden_seed", "u8"),  # determines what a guided policy was shown
    ]
)
"""A discard that was sampled from the policy."""

_KEPT_PURPOSE: Final = 99
"""Number of the draw that decides whether a discard is kept; other draws of a moment have others."""


class Trajectory(msgspec.Struct, frozen=True):
    """The part of a finished game that learning uses.

    Attributes:
        number: the game's, as in its seating.
        starts: ``[T]`` of `policies.reward.encoding.ROUND_START`, one for each round.
        scores: ``[4]`` final scores.
        decisions: ``[N]`` of `DECISION`, of all learning players.
        walls: ``[T, 136]`` int16, the wall of each round in deal order.
    """

    number: int
    starts: NDArray[np.void]
    scores: NDArray[np.int32]
    decisions: NDArray[np.void]
    walls: NDArray[np.int16]

    @property
    def points(self) -> NDArray[np.int32]:
        """``[T, 4]``: the points each player gained in each round, with the sticks left at the end."""
        after = np.concatenate([self.starts["scores"][1:], self.scores[None]])
        gained: NDArray[np.int32] = after - self.starts["scores"]
        return gained


class Recorder:
    """A chooser that samples discards from a policy's probabilities, and records them.

    Take each game as soon as the rollout yields it: `close` drops the rest.

    Args:
        policy: fills the five slots; calls, riichi and wins take the likeliest option.
        temperature: sampling temperature; see `policies.play.sampling.distribution_of`.
        stream: seed of the samples; another gives other games over the same walls.
        thinned: keep a decision with the standard deviation of its choice as probability; if not, keep all.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        temperature: float = 1.0,
        stream: int = 0,
        thinned: bool = False,
    ) -> None:
        self._chooser = PolicyChooser(policy, drawing(temperature, stream))
        self._temperature, self._stream, self._thinned = temperature, stream, thinned
        self._games: defaultdict[int, _RunningTrajectory] = defaultdict(_RunningTrajectory)

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Choose, and record the discards; see `policies.play.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        for request, choice in zip(requests, choices, strict=True):
            if choice.verdict is not None and choice.verdict.by_slot:
                for answer in choice.verdict.answers:
                    if answer.slot is Slot.DISCARD:
                        self._record(request, answer, choice.verdict.action)
        return choices

    def close(self, times: Times) -> None:
        """Drop all games; see `policies.play.rollout.Chooser`."""
        self._games.clear()

    def take(self, game: FinishedGame) -> Trajectory:
        """Return the trajectory of a game that has ended, and drop it here."""
        found = self._games.pop(game.seating.number, None) or _RunningTrajectory()
        starts = round_starts(game.events)
        ending = game.events[-1]
        assert isinstance(ending, EndGame), "a game that crashed has no trajectory"
        walls = np.full((len(starts), TILES), -1, np.int16)
        for number, wall in found.walls.items():
            walls[number] = wall
        return Trajectory(
            number=game.seating.number,
            starts=starts,
            scores=np.array(ending.scores, np.int32),
            decisions=np.array(found.rows, DECISION),
            walls=walls,
        )

    def take_decisions(self, number: int) -> NDArray[np.void]:
        """Return ``[N]`` of `DECISION`, the discards of a game or round so far, and drop them here."""
        found = self._games.pop(number, None) or _RunningTrajectory()
        return np.array(found.rows, DECISION)

    def _record(self, request: Request, answer: SlotAnswer, action: Action) -> None:
        sampled = distribution_of((answer,), self._temperature)
        legal = _kinds(sampled.options)
        if _is_one(legal):  # no choice
            return
        kept = min(1.0, _deviation(sampled)) if self._thinned else 1.0
        if drawn_share(*request.moment, self._stream, _KEPT_PURPOSE) >= kept:
            return
        game, number = self._games[request.number], len(request.table.results)
        if number not in game.walls:
            game.walls[number] = np.array(request.table.wall, np.int16)
        probability = sampled.probabilities[sampled.options.index(action)]
        game.rows.append(
            (
                request.record.copy(),
                request.player,
                number,
                legal,
                action.tile >> 2,
                probability,
                1.0 / kept,
                request.hidden().seed,
            )
        )


class _RunningTrajectory:
    """The recorded decisions and walls of a game in progress."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []
        self.walls: dict[int, NDArray[np.int16]] = {}


def _kinds(discards: Sequence[Action | None]) -> int:
    """Bit mask of the kinds of some discards."""
    found = 0
    for discard in discards:
        assert discard is not None, "a discard"
        found |= 1 << (discard.tile >> 2)
    return found


def _is_one(kinds: int) -> bool:
    """Whether a mask has a single kind."""
    return kinds > 0 and kinds & (kinds - 1) == 0


def _deviation(options: Distribution) -> float:
    """Standard deviation of a choice: the root mean square norm of the gradient of its logits."""
    return math.sqrt(max(0.0, 1.0 - math.fsum(p * p for p in options.probabilities)))
