"""Policy-gradient steps on the play-outs of a round, no longer than the signal in the gradient justifies.

The length of a step is set by the divergence from the initial policy, not by a learning rate, which would be
too small for one hand and ruinous for the next. The less signal the gradient has, the smaller the divergence:
most hands show little, and following noise costs strength.

Every update starts from the initial policy and uses the whole pool; importance ratios
(`policies.policy_gradient.loss`) correct for the policies that played.

Source: Suphx, arXiv:2003.13590, section 3.4, equation 6.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.scoring.settlement import GameLength
from kit.errors import ModelError
from policies.adaptation.settings import AdaptationSettings
from policies.deals.deal import Deals
from policies.nets.networks import Network, as_input
from policies.play.inference import Model
from policies.policy_gradient.loss import PolicyBatch, PolicyObjective, log_policy, policy_loss
from policies.policy_gradient.trajectories import DECISION

_ALIKE: Final = 1e-9
"""If the tiles explain all but this share of the deviation, there is nothing to learn."""


class PlayOutPool:
    """All play-outs of an adaptation.

    Args:
        model: chose the discards; its encoder turns decisions into planes.
        replays: play-outs of each deal.

    Attributes:
        decisions: ``[B]`` of `policies.policy_gradient.trajectories.DECISION`.
        owners: ``[B]``, the play-out of each decision.
        rewards: ``[n]``, the value of each play-out's end.
        dealt: ``[n]``, the same number for play-outs of the same deal.
        advantages: ``[n]``, the rewards without the luck of the tiles, with a standard deviation of 1; zero
            if the tiles explain all.
        luck: share of the variance of the rewards that the tiles explain.
    """

    def __init__(self, model: Model, replays: int) -> None:
        self._model, self._replays = model, replays
        self._game: GameLength = "hanchan"
        self.decisions = np.empty(0, DECISION)
        self.owners = np.empty(0, np.int64)
        self.rewards = np.empty(0)
        self.dealt = np.empty(0, np.int64)
        self.advantages = np.empty(0)
        self.luck = 0.0

    def add(self, deals: Deals, decisions: Sequence[NDArray[np.void]], rewards: NDArray[np.float64]) -> None:
        """Add play-outs.

        Args:
            deals: the deals, each played out ``replays`` times in a row.
            decisions: the player's own, of each play-out.
            rewards: ``[n]``, the value of each play-out's end.
        """
        first, numbers = len(self.rewards), np.repeat(np.arange(len(deals)), self._replays)
        self._game = deals.view.length
        counts = [len(rows) for rows in decisions]
        self.owners = np.append(self.owners, np.repeat(np.arange(first, first + len(numbers)), counts))
        self.decisions = np.concatenate([self.decisions, *decisions])
        self.rewards = np.append(self.rewards, rewards)
        self.dealt = np.append(self.dealt, first + numbers)
        centred = self.rewards - self.rewards.mean()
        less, self.luck = less_luck(centred, self.dealt)
        deviation = less.std()
        alike = deviation <= _ALIKE * centred.std()
        self.advantages = np.zeros(len(less)) if alike else less / deviation

    def some(self, most: int, dice: np.random.Generator) -> NDArray[np.int64]:
        """Rows of decisions, a random sample if there are more than ``most``."""
        count = len(self.decisions)
        return np.arange(count) if count <= most else np.sort(dice.choice(count, most, replace=False))

    def batch(self, rows: NDArray[np.int64]) -> PolicyBatch:
        """Decisions to learn from."""
        decisions, owners = self.decisions[rows], self.owners[rows]
        planes = self._model.planes(decisions["state"], decisions["player"], None, self._game)
        planes[:, self._model.blank] = 0
        return PolicyBatch.of(torch.from_numpy(planes), decisions, self.advantages[owners])


def less_luck(rewards: NDArray[np.float64], groups: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """Rewards less their luck, estimated from other play-outs of the same tiles, as in duplicate bridge.

    The mean of the others' rewards in the same group is a baseline that does not depend on what was done for
    a reward; it is shrunk by how much the rewards of a group resemble each other.

    Args:
        rewards: ``[N]``, of mean 0.
        groups: ``[N]``: rewards of the same number had the same tiles.

    Returns:
        ``[N]``, the same with the baselines subtracted, and the share of the variance that they explain.

    >>> less_luck(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]))
    (array([0., 0., 0., 0.]), 1.0)
    """
    _, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    sums = np.bincount(places, rewards)
    alike = _correlation(rewards, places, sizes)
    others = sizes[places] - 1
    shrunk = alike / (1.0 + (others - 1) * alike)
    less = rewards - np.where(others > 0, shrunk * (sums[places] - rewards), 0.0)
    before = float(rewards.var()) if len(rewards) else 0.0
    return less, float(1.0 - less.var() / before) if before else 0.0


def _correlation(rewards: NDArray[np.float64], places: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """Correlation of two rewards of the same group, at least 0, by analysis of variance."""
    several = sizes > 1
    if several.sum() < 2:
        return 0.0
    counts = sizes[several]
    means = (np.bincount(places, rewards) / sizes)[several]
    inside = several[places]
    apart = rewards - (np.bincount(places, rewards) / sizes)[places]
    within = float((apart[inside] ** 2).sum() / (counts.sum() - len(counts)))
    between = float((counts * (means - np.average(means, weights=counts)) ** 2).sum() / (len(counts) - 1))
    typical = (counts.sum() - (counts**2).sum() / counts.sum()) / (len(counts) - 1)
    shared = (between - within) / typical
    return max(0.0, shared / (shared + within)) if shared + within > 0.0 else 0.0


_TRIES: Final = 8
"""How often the length of a step is corrected."""
_CLOSE_ENOUGH: Final = 0.2
"""Share by which the divergence may miss what is allowed."""
_SHORTEST: Final = 1e-12
_PARTS: Final = 8
"""Of the deals, whose gradients are compared."""
_PIECE: Final = 256
"""Decisions whose activations are in memory at once."""
_MEASURED: Final = 512
"""Decisions on which the divergence is measured."""


class UpdateResult(NamedTuple):
    """The result of an update.

    Attributes:
        signal: share of the gradient's squared length that is not noise, estimated from how much the
            gradients of different deals agree.
        divergence: KL(π₀ ‖ π) in nats a decision.
    """

    signal: float
    divergence: float


class PolicyUpdate:
    """Updates a network by policy-gradient steps.

    Args:
        network: is changed in place.
        settings: how to learn.
        dice: samples the decisions to learn from.
    """

    def __init__(self, network: Network, settings: AdaptationSettings, dice: np.random.Generator) -> None:
        self._network, self._settings, self._dice = network, settings, dice
        self._start = copy.deepcopy(network.state_dict())
        network.requires_grad_(True)
        self._learning = list(network.parameters())
        self._length = 0.0  # of the last step

    def learn(self, pool: PlayOutPool, furthest: float, between: Callable[[], None]) -> UpdateResult:
        """Take the steps, starting from the initial network.

        Args:
            pool: all play-outs so far.
            furthest: as `AdaptationSettings.divergence`.
            between: called every few hundred decisions; an exception from it ends the update.

        Raises:
            ModelError: the gradient is not finite.
        """
        settings = self._settings
        self.forget()
        shown = pool.batch(pool.some(_MEASURED, self._dice))
        start = self._log_policy(shown)
        signal = 0.0
        for number in range(settings.steps):
            gradient, found = self._gradient(pool, pool.some(settings.rows, self._dice), between)
            if number == 0:
                signal = found
            way = furthest * signal**2
            if way <= _SHORTEST:
                break
            self._step(gradient, shown, start, way * (number + 1) / settings.steps)
        return UpdateResult(signal, self._divergence(shown, start))

    def forget(self) -> None:
        """Restore the initial network."""
        self._network.load_state_dict(self._start)

    def _step(self, gradient: list[Tensor], shown: PolicyBatch, start: Tensor, allowed: float) -> None:
        """Move along the gradient until the divergence is close to the allowed one."""
        size = math.sqrt(_product(gradient, gradient))
        if size < _SHORTEST:
            return
        before = [tensor.detach().clone() for tensor in self._learning]
        near, far, length = 0.0, math.inf, self._length or 1e-2
        for _ in range(_TRIES):
            self._move(before, gradient, length / size)
            found = self._divergence(shown, start)
            if abs(found - allowed) <= _CLOSE_ENOUGH * allowed:
                near = length
                break
            near, far = (length, far) if found < allowed else (near, length)
            # the divergence grows with the square of the step at first, and faster later
            guess = length * min(10.0, max(0.1, math.sqrt(allowed / max(found, _SHORTEST))))
            length = guess if near < guess < far else math.sqrt(near * far)
        self._move(before, gradient, near / size)
        self._length = near

    @torch.no_grad()
    def _move(self, before: list[Tensor], gradient: list[Tensor], length: float) -> None:
        for tensor, old, part in zip(self._learning, before, gradient, strict=True):
            tensor.copy_(old - part * length)

    def _gradient(
        self, pool: PlayOutPool, rows: NDArray[np.int64], between: Callable[[], None]
    ) -> tuple[list[Tensor], float]:
        """The gradient over rows of the pool, and its signal; see `UpdateResult`."""
        number = pool.dealt[pool.owners[rows]] % _PARTS
        parts = [rows[number == each] for each in range(_PARTS)]
        whole = [torch.zeros_like(tensor) for tensor in self._learning]
        own, shares = 0.0, 0.0  # the products of the parts with themselves, and of their shares
        for part in parts:
            share = len(part) / len(rows)
            if part.size:
                gradient = [share * tensor for tensor in self._gradient_of(pool.batch(part), between)]
                own, shares = own + _product(gradient, gradient), shares + share**2
                whole = [sum_ + tensor for sum_, tensor in zip(whole, gradient, strict=True)]
        size = _product(whole, whole)
        if not math.isfinite(size):
            raise ModelError("the gradient of an adaptation is not finite")
        # the noise of different parts is independent, so products across parts are signal
        signal = (size - own) / (1.0 - shares) / size if size > 0.0 and shares < 1.0 else 0.0
        return whole, min(1.0, max(0.0, signal))

    def _gradient_of(self, batch: PolicyBatch, between: Callable[[], None]) -> list[Tensor]:
        objective = PolicyObjective(
            clip=0.0, reject=self._settings.reject, temperature=self._settings.temperature
        )
        for tensor in self._learning:
            tensor.grad = None
        count = len(batch.planes)
        for rows in _pieces(count):
            between()
            piece = PolicyBatch(*(None if part is None else part[rows] for part in batch))  # type: ignore[arg-type]
            loss, _ = policy_loss(self._network(as_input(piece.planes)), piece, objective, 0.0)
            (loss * (len(piece.planes) / count)).backward()  # type: ignore[no-untyped-call]
        return [
            torch.zeros_like(tensor) if tensor.grad is None else tensor.grad.clone()
            for tensor in self._learning
        ]

    def _log_policy(self, shown: PolicyBatch) -> Tensor:
        """Log-probabilities of the policy as it is now."""
        return log_policy(_scores(self._network, shown), shown.legal, self._settings.temperature)

    def _divergence(self, shown: PolicyBatch, start: Tensor) -> float:
        """Mean KL(π₀ ‖ π) over some decisions, in nats.

        Args:
            shown: the decisions.
            start: ``[B, K]``, their log-probabilities by π₀.
        """
        now = self._log_policy(shown)
        apart = (start.exp() * (start - now).masked_fill(~shown.legal, 0.0)).sum(1)
        return float((apart * shown.weights).sum() / shown.weights.sum())


def _product(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    return sum(float((a * b).sum()) for a, b in zip(first, second, strict=True))


@torch.no_grad()
def _scores(network: Network, batch: PolicyBatch) -> Tensor:
    return torch.cat([network(as_input(batch.planes[rows])) for rows in _pieces(len(batch.planes))])


def _pieces(count: int) -> Sequence[slice]:
    return [slice(start, start + _PIECE) for start in range(0, count, _PIECE)]
