"""What players decided in games played to learn from: states, actions, behaviour probabilities, scores.

States are kept as records of `game.layout.ROUND_STATE`, not as planes: these are six times as large, and the
encoder makes them again when they are needed.

Many discards are clear, and teach next to nothing: a choice with probability p moves the logits by 1 - p at
most. So a decision is kept with a probability that falls with its clarity, and counts for as many as it
stands for. The expected gradient stays the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.events import EndGame
from game.layout import ROUND_STATE
from game.tiles import TILES
from policies.draws import drawn_share
from policies.flow import Verdict
from policies.reward import round_starts
from policies.rollout import Choice, FinishedGame, PolicyChooser, Request, Times
from policies.sampling import Distribution, distribution_of, drawing
from policies.slots import Policy, Slot

DECISION: Final = np.dtype(
    [
        ("state", ROUND_STATE),  # all hands known
        ("player", "i1"),  # absolute
        ("round", "i2"),  # the round in its game, from 0
        ("legal", "u8"),  # mask of the kinds that could be discarded
        ("kind", "i1"),  # the kind that was
        ("probability", "f4"),  # of that kind, by the policy that acted
        ("weight", "f4"),  # decisions it stands for
        ("hidden_seed", "u8"),  # determines what a guided policy was shown
    ]
)
"""A discard that was drawn."""

_KEPT_PURPOSE: Final = 99
"""Purpose of the draw that decides whether a decision is kept; slots have the small numbers."""


class Trajectory(msgspec.Struct, frozen=True):
    """A finished game, as far as one learns from it.

    Attributes:
        number: the game's, as in its seating.
        starts: ``[T]`` of `policies.reward.ROUND_START`: the rounds.
        scores: ``[4]`` final scores.
        decisions: ``[N]`` of `DECISION`, of all players who learn.
        walls: ``[T, 136]`` int16, the wall of each round in deal order.
        drawn: decisions that were drawn, kept or not.
    """

    number: int
    starts: NDArray[np.void]
    scores: NDArray[np.int32]
    decisions: NDArray[np.void]
    walls: NDArray[np.int16]
    drawn: int

    @property
    def points(self) -> NDArray[np.int32]:
        """``[T, 4]``: the points each player gained in each round, with the sticks left at the end."""
        after = np.concatenate([self.starts["scores"][1:], self.scores[None]])
        gained: NDArray[np.int32] = after - self.starts["scores"]
        return gained


class Recorder:
    """A chooser that draws its discards from a policy's probabilities, and remembers them.

    Take each game as the rollout yields it: once the rollout is closed, everything is forgotten.

    Args:
        policy: fills the five slots.
        temperature: of the draws; see `policies.sampling.distribution_of`.
        stream: other numbers give other draws over the same walls.
        thinning: keep a decision with ``thinning`` times the standard deviation of its choice as probability;
            0 keeps all.
    """

    def __init__(
        self, policy: Policy, *, temperature: float = 1.0, stream: int = 0, thinning: float = 0.0
    ) -> None:
        self._chooser = PolicyChooser(policy, drawing((Slot.DISCARD,), temperature, stream))
        self._temperature, self._stream, self._thinning = temperature, stream, thinning
        self._games: defaultdict[int, _RunningTrajectory] = defaultdict(_RunningTrajectory)

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide, and remember; see `policies.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        for request, choice in zip(requests, choices, strict=True):
            if choice.verdict is not None and choice.verdict.step == "discard":
                self._remember(request, choice.verdict)
        return choices

    def close(self, times: Times) -> None:
        """Forget all games; see `policies.rollout.Chooser`."""
        self._games.clear()

    def take(self, game: FinishedGame) -> Trajectory:
        """What was remembered of a game that has ended, which is then forgotten."""
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
            drawn=found.drawn,
        )

    def take_decisions(self, number: int) -> NDArray[np.void]:
        """``[N]`` of `DECISION`: what was decided so far in a game, or in a round of it; then forgotten."""
        found = self._games.pop(number, None) or _RunningTrajectory()
        return np.array(found.rows, DECISION)

    def _remember(self, request: Request, verdict: Verdict) -> None:
        options = distribution_of(verdict.answers[-1:], self._temperature)
        legal = 0
        for option in options.options:
            assert option is not None, "a discard"
            legal |= 1 << (option.tile >> 2)
        if legal & (legal - 1) == 0:  # one kind: nothing was drawn
            return
        game = self._games[request.number]
        game.drawn += 1
        share = min(1.0, self._thinning * _deviation(options)) if self._thinning else 1.0
        if drawn_share(*request.moment, self._stream, _KEPT_PURPOSE) >= share:
            return
        number = len(request.table.results)
        if number not in game.walls:
            game.walls[number] = np.array(request.table.wall, np.int16)
        probability = options.probabilities[options.options.index(verdict.action)]
        kind = verdict.action.tile >> 2
        game.rows.append(
            (
                request.record.copy(),
                request.player,
                number,
                legal,
                kind,
                probability,
                1.0 / share,
                request.hidden().seed,
            )
        )


class _RunningTrajectory:
    """What is remembered of a game in progress."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []
        self.walls: dict[int, NDArray[np.int16]] = {}
        self.drawn = 0


def _deviation(options: Distribution) -> float:
    """Standard deviation of a choice: the root of the mean squared length of the gradient of its logits."""
    return math.sqrt(max(0.0, 1.0 - math.fsum(p * p for p in options.probabilities)))
