"""Parametric Monte-Carlo policy adaptation (pMCPA), Suphx section 3.4: the policy learns the dealt hand.

Hidden tiles are sampled, the round is played to its end by the current policy, and a copy of its discard
model learns from the results, for this round only. Later in the round, play-outs from the new position are
added, played by the adapted policy. Learning then starts again from the initial policy, on the whole pool.

This module has no processes and no clocks.

Source: Suphx, arXiv:2003.13590, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.table.table import Table
from kit.errors import ModelError
from policies.adaptation.policy_update import PlayOutPool, PolicyUpdate, UpdateResult
from policies.adaptation.settings import AdaptationSettings
from policies.deals.deal import Deals
from policies.flow.slots import Policy, Slot
from policies.nets.networks import arrays_of, network_of
from policies.play.inference import NetworkPolicy
from policies.play.playouts import EndValue
from policies.play.rollout import TABLES, PolicyChooser, Rollout, Seating
from policies.policy_gradient.trajectories import Recorder


class Trial(NamedTuple):
    """The gain of a policy over another.

    Attributes:
        gain: mean over the deals.
        error: its standard error.
    """

    gain: float
    error: float


def values_of_deals(
    policy: Policy, others: Policy, deals: Deals, value: EndValue, between: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """``[n]``: the value of each deal's round to the player, played by the most likely actions.

    Args:
        policy: of the player.
        others: of the other three.
        deals: possible deals of the player's round.
        value: values the ends of rounds.
        between: called after each step of the rounds; an exception from it ends them.

    Raises:
        ModelError: a table crashed.
    """
    player = deals.view.player
    first, second, third, fourth = (int(each != player) for each in range(4))
    tables = (
        (Seating(number, number, (first, second, third, fourth)), deals.table(number, seed=0))
        for number in range(len(deals))
    )
    rollout = Rollout([PolicyChooser(policy), PolicyChooser(others)], tables=TABLES, length=deals.view.length)
    try:
        ended = {seating.number: table for seating, table in rollout.finish_rounds(tables, between=between)}
    except RuntimeError as error:
        raise ModelError(f"a play-out crashed: {error}") from error
    return value([ended[number] for number in range(len(deals))], player)


def trial(
    policy: Policy, start: Policy, deals: Deals, value: EndValue, between: Callable[[], None] = lambda: None
) -> Trial:
    """Estimate a player's gain from one policy over the initial one, which the others play by.

    Args:
        policy: the policy to test.
        start: the initial policy.
        deals: at least 2, the same for both.
        value: as in `values_of_deals`.
        between: as in `values_of_deals`.

    Raises:
        ModelError: a table crashed.
    """
    after, before = (values_of_deals(each, start, deals, value, between) for each in (policy, start))
    gains = after - before
    return Trial(float(gains.mean()), float(gains.std()) / len(gains) ** 0.5)


class AdaptationProgress(NamedTuple):
    """Statistics of an adaptation so far.

    Attributes:
        playouts: rounds played out.
        luck: share of the variance of the value that the tiles of a deal explain.
        signal: as in `policies.adaptation.policy_update.UpdateResult`.
        divergence: KL(π₀ ‖ π) in nats a decision; 0 if the change was discarded.
        gain: of the adapted policy over the initial one in its latest trial.
        gain_error: its standard error.
    """

    playouts: int
    luck: float
    signal: float
    divergence: float
    gain: float
    gain_error: float


class PolicyAdaptation:
    """Adapts a copy of a policy's discard model to the round one player is in.

    Args:
        policy: the initial policy, which everybody plays by; never changed.
        value: values the ends of the round.
        settings: how to adapt.
        seed: determines the draws.
    """

    def __init__(
        self, policy: NetworkPolicy, value: EndValue, settings: AdaptationSettings, seed: int = 0
    ) -> None:
        self._policy, self._value, self._settings, self._seed = policy, value, settings, seed
        self._model = policy.model(Slot.DISCARD)
        self._network = network_of(self._model.weights)
        self._update = PolicyUpdate(self._network, settings, np.random.default_rng(seed))
        self._pool = PlayOutPool(self._model, settings.replays)
        self._learned, self._tried = UpdateResult(0.0, 0.0), Trial(0.0, 0.0)

    @property
    def figures(self) -> AdaptationProgress:
        """Statistics so far."""
        pool, learned = self._pool, self._learned
        return AdaptationProgress(
            playouts=len(pool.rewards),
            luck=pool.luck,
            signal=learned.signal,
            divergence=learned.divergence,
            gain=self._tried.gain,
            gain_error=self._tried.error,
        )

    def play(self, deals: Deals, between: Callable[[], None] = lambda: None) -> None:
        """Play the round out over deals by the current policy, and add the play-outs to the pool.

        Each deal is played ``settings.replays`` times. The draws of a play-out depend on the seed and its
        number alone.

        Args:
            deals: possible deals of the player's round.
            between: called after each step; on an exception from it nothing is added.

        Raises:
            ModelError: a table crashed.
        """
        player, first = deals.view.player, len(self._pool.rewards)
        numbers = np.repeat(np.arange(len(deals)), self._settings.replays)
        recorder = Recorder(self.policy(), temperature=self._settings.temperature, stream=self._seed)
        others = PolicyChooser(self._policy)
        seats = tuple(int(each != player) for each in range(4))
        rollout = Rollout([recorder, others], tables=TABLES, length=deals.view.length)
        tables = (
            (Seating(first + place, first + place, seats), deals.table(int(number), seed=self._seed))  # type: ignore[arg-type]
            for place, number in enumerate(numbers)
        )
        ended: dict[int, Table] = {}
        decided: dict[int, NDArray[np.void]] = {}
        try:
            for seating, table in rollout.finish_rounds(tables, between=between):
                ended[seating.number] = table
                decided[seating.number] = recorder.take_decisions(seating.number)
        except RuntimeError as error:
            raise ModelError(f"a play-out crashed: {error}") from error
        rewards = self._value([ended[number] for number in sorted(ended)], player)
        self._pool.add(deals, [decided[number] for number in sorted(decided)], rewards)

    def learn(self, between: Callable[[], None] = lambda: None, divergence: float | None = None) -> None:
        """Learn from all play-outs so far, starting from the initial policy.

        Args:
            between: called every few hundred decisions; an exception from it ends the update.
            divergence: in place of that of the settings.

        Raises:
            ModelError: the value of a play-out is not finite.
        """
        if len(self._pool.decisions) == 0 or np.ptp(self._pool.advantages) == 0.0:
            return
        furthest = self._settings.divergence if divergence is None else divergence
        self._tried = Trial(0.0, 0.0)
        self._learned = self._update.learn(self._pool, furthest, between)

    def prove(self, deals: Deals, between: Callable[[], None] = lambda: None) -> None:
        """Test the adapted policy, and restore the initial one unless the gain is significant.

        The policy learned from sampled actions; the test takes its most likely ones, as play does.

        Args:
            deals: other deals than those of the play-outs.
            between: as in `play`; on an exception from it the initial policy is restored.

        Raises:
            ModelError: a table crashed.
        """
        learned, self._learned = self._learned, self._learned._replace(divergence=0.0)
        try:
            self._tried = trial(self.policy(), self._policy, deals, self._value, between)
            if self._tried.gain > self._settings.proof * self._tried.error:
                self._learned = learned
        finally:
            if not self._learned.divergence:
                self._update.forget()

    def policy(self) -> NetworkPolicy:
        """The policy as adapted so far."""
        model = self._model.with_arrays(arrays_of(self._network.state_dict()))
        return self._policy.replaced({Slot.DISCARD: model})

    @property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The parameters of the discard model as adapted so far, by name."""
        return arrays_of(dict(self._network.named_parameters()))
