"""Run-time policy adaptation: the discard model learns from the hand that was dealt, for one round.

The hidden tiles are sampled, the round is played out to its end with the present policy, and a copy of the
policy learns what ended well. Later in the round, more play-outs are added from where it has got to, by the
policy as adapted so far. Learning then begins anew from the policy of the start, with the whole pool.

This is the algorithm alone: it knows neither processes nor clocks.

Source: parametric Monte-Carlo policy adaptation, Suphx, arXiv:2003.13590, section 3.4.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from game.errors import ModelError
from game.table import Table
from policies.adaptation.gradient_lesson import GradientLesson
from policies.adaptation.lesson import AdaptationLesson, Learned
from policies.adaptation.natural_lesson import NaturalLesson
from policies.adaptation.pool import PlayedRounds, PlayOutPool
from policies.adaptation.settings import AdaptationSettings
from policies.adaptation.trial import Trial, trial
from policies.compute import Compute
from policies.deals.deal import Deals
from policies.inference import Model, NetworkPolicy
from policies.playouts import EndWorth
from policies.rollout import TABLES, PolicyChooser, Rollout, Seating
from policies.slots import Slot
from policies.trajectories import DECISION, Recorder


def _nothing() -> None:
    """Done between two steps by default."""


class AdaptationProgress(NamedTuple):
    """How an adaptation went so far.

    Attributes:
        playouts: rounds played out.
        decisions: own decisions in them.
        worth: mean worth of their ends.
        deviation: standard deviation of the worth.
        luck: share of the variance of the worth that the tiles of a deal explain.
        signal: as in `policies.adaptation.lesson.Learned`.
        divergence: KL(π₀ ‖ π) in nats over the decisions; 0 if what was learned has been given up.
        gain: what the adapted policy was worth more than that of the start when it was last tried.
        gain_error: its standard error.
    """

    playouts: int
    decisions: int
    worth: float
    deviation: float
    luck: float
    signal: float
    divergence: float
    gain: float = 0.0
    gain_error: float = 0.0


class PolicyAdaptation:
    """Adapts a copy of a policy's discard model to the round one player is in.

    Args:
        policy: plays for everybody, and is never changed.
        worth: says what the end of the round is worth.
        settings: how to adapt.
        seed: determines the draws.

    Attributes:
        settings: how it adapts.
        seed: of its draws.
    """

    def __init__(
        self, policy: NetworkPolicy, worth: EndWorth, settings: AdaptationSettings, seed: int = 0
    ) -> None:
        self._policy, self._worth, self.settings, self.seed = policy, worth, settings, seed
        self._model = policy.model(Slot.DISCARD)
        self._network = copy.deepcopy(self._model.network).eval()
        lesson = NaturalLesson if settings.lesson == "natural" else GradientLesson
        self._lesson: AdaptationLesson = lesson(self._network, settings, np.random.default_rng(seed))
        self._pool = PlayOutPool(self._model, settings.replays)
        self._learned, self._tried = Learned(0.0, 0.0), Trial(0.0, 0.0)

    @property
    def figures(self) -> AdaptationProgress:
        """How it went so far."""
        pool, learned = self._pool, self._learned
        if not len(pool.rewards):
            return AdaptationProgress(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return AdaptationProgress(
            playouts=len(pool.rewards),
            decisions=len(pool.decisions),
            worth=float(np.average(pool.rewards, weights=pool.weights)),
            deviation=float(pool.rewards.std()),
            luck=pool.luck,
            signal=learned.signal,
            divergence=learned.divergence,
            gain=self._tried.gain,
            gain_error=self._tried.error,
        )

    def play(self, deals: Deals, between: Callable[[], None] = _nothing) -> None:
        """Play the round out over deals, by the policy as it is now, and add what happened to the pool.

        Args:
            deals: what the player may be facing.
            between: as in `played`; if it raises, nothing is added.

        Raises:
            ModelError: a table crashed.
        """
        self.add(deals, [self.played(deals, self.figures.playouts, between)])

    def played(self, deals: Deals, first: int, between: Callable[[], None] = _nothing) -> PlayedRounds:
        """Play the round out over deals, by the policy as it is now.

        Each deal is played ``settings.replays`` times. Processes may share the deals: what a play-out draws
        depends on the seed and its number alone.

        Args:
            deals: what the player may be facing.
            first: number of the first play-out: how many come before it.
            between: called after each step of the play-outs; what it raises ends them.

        Raises:
            ModelError: a table crashed.
        """
        player, settings = deals.view.player, self.settings
        numbers = np.repeat(np.arange(len(deals)), settings.replays)
        recorder = Recorder(
            self.policy(), temperature=settings.temperature, stream=self.seed, min_p=settings.min_p
        )
        others = PolicyChooser(self._policy)
        seats = tuple(int(each != player) for each in range(4))
        rollout = Rollout([recorder, others], tables=TABLES, length=deals.view.length)
        tables = (
            (Seating(first + place, first + place, seats), deals.table(int(number), seed=self.seed))  # type: ignore[arg-type]
            for place, number in enumerate(numbers)
        )
        ended: list[Table | None] = [None] * len(numbers)
        decided = [np.empty(0, DECISION)] * len(numbers)
        try:
            for seating, table in rollout.finish_rounds(tables, between=between):
                ended[seating.number - first] = table
                decided[seating.number - first] = recorder.take_decisions(seating.number)
        except RuntimeError as error:
            raise ModelError(f"a play-out crashed: {error}") from error
        rewards = self._worth([table for table in ended if table is not None], player)
        counts = np.array([len(rows) for rows in decided], np.int64)
        return PlayedRounds(np.concatenate(decided), counts, rewards)

    def add(self, deals: Deals, parts: Sequence[PlayedRounds]) -> None:
        """Add play-outs to the pool.

        Args:
            deals: that were played out.
            parts: of their play-outs, in their order; all together they are those of all deals.
        """
        self._pool.add(deals, parts)

    def learn(self, between: Callable[[], None] = _nothing, divergence: float | None = None) -> None:
        """Learn from all play-outs so far, from the policy of the start on.

        Args:
            between: called every few hundred decisions; what it raises ends the lesson.
            divergence: how far to go; by default as far as the settings allow.

        Raises:
            ModelError: the worth of a play-out is not finite.
        """
        if len(self._pool.decisions) == 0 or np.ptp(self._pool.advantages) == 0.0:
            return
        furthest = self.settings.divergence if divergence is None else divergence
        self._tried = Trial(0.0, 0.0)
        self._learned = self._lesson.learn(self._pool, furthest, between)

    def prove(self, deals: Deals, between: Callable[[], None] = _nothing) -> None:
        """Try what was learned, and give it up unless it gains for sure.

        A policy that has learned from draws is played in earnest here, and takes what it finds best.

        Args:
            deals: what the player may be facing; others than were learned from.
            between: as in `played`; if it raises, what was learned is given up.

        Raises:
            ModelError: a table crashed.
        """
        learned, self._learned = self._learned, self._learned._replace(divergence=0.0)
        try:
            self._tried = trial(self.policy(), self._policy, deals, self._worth, between)
            if self._tried.gain > self.settings.proof * self._tried.error:
                self._learned = learned
        finally:
            if not self._learned.divergence:
                self._lesson.forget()

    def policy(self) -> NetworkPolicy:
        """The policy as adapted so far."""
        return self._policy.replaced({Slot.DISCARD: self.model()})

    @property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The parameters of the discard model as adapted so far, by name."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self._network.named_parameters()}

    def take_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Go on from the weights of another process's adaptation to the same round.

        Args:
            weights: its `weights`.
        """
        with torch.no_grad():
            for name, tensor in self._network.named_parameters():
                tensor.copy_(torch.from_numpy(weights[name]))

    def model(self, compute: Compute | None = None) -> Model:
        """The discard model as adapted so far.

        Args:
            compute: how it computes; by default as the policy's does.
        """
        return self._model.with_network(copy.deepcopy(self._network), compute)
