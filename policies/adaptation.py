"""Run-time policy adaptation: the discard model learns from the hand that was dealt, for one round.

The hidden tiles are sampled, the round is played out to its end with the present policy, and a copy of the
policy takes a few gradient steps towards what ended well. Later in the round, more play-outs are added from
where it has got to, by the policy as adapted so far. Learning then begins anew from the policy of the start,
with the whole pool: the ratios of `policies.gradient` correct for who played.

Each step goes along the gradient as far as the divergence from the policy of the start allows: a plain
learning rate is either without effect or ruinous, depending on the hand. How much it may diverge depends on
how much of the gradient is signal: most hands show little, and following the noise costs strength.

This is the algorithm alone: it knows neither processes nor clocks.

Source: parametric Monte-Carlo policy adaptation, Suphx, arXiv:2003.13590, section 3.4, equation 6.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.errors import ModelError
from game.settlement import GameLength
from game.table import Table
from policies.compute import Compute
from policies.deals.deal import Deals
from policies.features.kinds import kinds_of
from policies.gradient import PolicyBatch, PolicyObjective, learn_last, log_policy, policy_loss
from policies.inference import Model, NetworkPolicy
from policies.luck import less_luck
from policies.networks import Network, as_input
from policies.playouts import EndWorth
from policies.rollout import TABLES, PolicyChooser, Rollout, Seating
from policies.slots import Slot
from policies.trajectories import DECISION, Recorder

_PIECE: Final = 256
"""Decisions whose layers are in memory at once."""
_MEASURED: Final = 512
"""Decisions on which the divergence is measured."""
_TRIES: Final = 4
"""How often the length of a step is corrected."""
_CLOSE_ENOUGH: Final = 0.2
"""Share by which the divergence may miss what is allowed."""
_SHORTEST: Final = 1e-12
_PARTS: Final = 8
"""Of the deals, whose gradients are compared."""
_ALIKE: Final = 1e-9
"""Where the tiles explain all but this share of the deviation, nothing can be learned."""


def _nothing() -> None:
    """Done between two steps by default."""


class AdaptationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to adapt.

    Attributes:
        steps: gradient steps each time something is learned.
        divergence: mean divergence KL(π₀ ‖ π) in nats, over the decisions of the play-outs, that all steps
            together may cause if the gradient is all signal. The more of it is noise, the shorter is the
            way: the divergence falls with the square of the signal.
        blocks: last blocks of the network that learn, beside its head; None for the whole network.
        rows: most decisions a step learns from; drawn anew for each.
        replays: play-outs of each deal. They differ by the draws, so what they have in common was luck.
        temperature: of the draws in play-outs.
        min_p: what is less likely than this share of the likeliest is not drawn in play-outs.
        clip: as in `policies.gradient`.
        reject: as in `policies.gradient`.
    """

    steps: int = 2
    divergence: float = 0.5
    blocks: int | None = None
    rows: int = 8_192
    replays: int = 2
    temperature: float = 1.0
    min_p: float = 0.0
    clip: float = 0.0
    reject: float = 4.0


class AdaptationProgress(NamedTuple):
    """How an adaptation went so far.

    Attributes:
        playouts: rounds played out.
        decisions: own decisions in them.
        worth: mean worth of their ends.
        deviation: standard deviation of the worth.
        luck: share of the variance of the worth that the tiles of a deal explain.
        signal: share of the squared length of the gradient that is no noise: how much the gradients over
            parts of the deals agree.
        divergence: KL(π₀ ‖ π) in nats over the decisions.
    """

    playouts: int
    decisions: int
    worth: float
    deviation: float
    luck: float
    signal: float
    divergence: float


class PlayedRounds(msgspec.Struct, frozen=True):
    """Deals that were played out, `AdaptationSettings.replays` times each.

    Attributes:
        decisions: `policies.trajectories.DECISION`, the player's own, one play-out after the other.
        counts: ``[n]``, how many of them each play-out has.
        rewards: ``[n]``, what its end was worth.
    """

    decisions: NDArray[np.void]
    counts: NDArray[np.int64]
    rewards: NDArray[np.float64]


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
        figures: how it went so far.
    """

    def __init__(
        self, policy: NetworkPolicy, worth: EndWorth, settings: AdaptationSettings, seed: int = 0
    ) -> None:
        self._policy, self._worth, self.settings, self.seed = policy, worth, settings, seed
        self._model = policy.model(Slot.DISCARD)
        self._network = copy.deepcopy(self._model.network).eval()
        self._learning = learn_last(self._network, settings.blocks)
        self._rng = np.random.default_rng(seed)
        self._decisions = np.empty(0, DECISION)
        self._rewards = np.empty(0)
        self._weights = np.empty(0)
        self._advantages = np.empty(0)
        self._dealt = np.empty(0, np.int64)  # number of the deal
        self._owners = np.empty(0, np.int64)  # number of the play-out, for each decision
        self._length = 0.0  # of the last step
        self._game: GameLength = "hanchan"
        self.figures = AdaptationProgress(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)

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
        first, numbers = len(self._rewards), np.repeat(np.arange(len(deals)), self.settings.replays)
        self._game = deals.view.length
        counts = np.concatenate([part.counts for part in parts])
        owners = np.repeat(np.arange(first, first + len(numbers)), counts)
        self._decisions = np.concatenate([self._decisions, *(part.decisions for part in parts)])
        self._rewards = np.concatenate([self._rewards, *(part.rewards for part in parts)])
        self._weights = np.append(self._weights, deals.weights[numbers] * len(deals))
        self._dealt = np.append(self._dealt, first + numbers)
        self._owners = np.append(self._owners, owners)
        centred = self._rewards - np.average(self._rewards, weights=self._weights)
        less, luck = less_luck(centred, self._dealt)
        spread = less.std()
        alike = spread <= _ALIKE * centred.std()
        self._advantages = np.zeros(len(less)) if alike else less / spread
        self._figure(luck=luck)

    def learn(self, between: Callable[[], None] = _nothing, divergence: float | None = None) -> None:
        """Take the gradient steps, from the policy of the start, over all play-outs so far.

        Args:
            between: called every few hundred decisions; what it raises leaves the policy as it was learned.
            divergence: how far to go; by default as far as the settings allow.

        Raises:
            ModelError: the gradient is not finite.
        """
        settings = self.settings
        if len(self._decisions) == 0 or np.ptp(self._advantages) == 0.0:
            return
        self._network.load_state_dict(self._model.network.state_dict())
        shown = self._batch(self._some(_MEASURED))
        start = self._log_policy(shown)
        furthest = settings.divergence if divergence is None else divergence
        signal = 0.0
        for number in range(settings.steps):
            gradient, found = self._gradient(self._some(settings.rows), between)
            if number == 0:
                signal = found
            way = furthest * signal**2
            if way <= _SHORTEST:
                break
            self._step(gradient, shown, start, way * (number + 1) / settings.steps)
        self._figure(signal=signal, divergence=self._divergence(shown, start))

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

    def _some(self, most: int) -> NDArray[np.int64]:
        """Rows of the pool."""
        count = len(self._decisions)
        return np.arange(count) if count <= most else np.sort(self._rng.choice(count, most, replace=False))

    def _batch(self, rows: NDArray[np.int64]) -> PolicyBatch:
        decisions, owners = self._decisions[rows], self._owners[rows]
        planes = self._model.planes(decisions["state"], decisions["player"], None, self._game)
        planes[:, self._model.blank] = 0
        return PolicyBatch(
            planes=torch.from_numpy(planes),
            legal=torch.from_numpy(kinds_of(decisions["legal"])),
            chosen=torch.from_numpy(decisions["kind"].astype(np.int64)),
            behaviour=torch.from_numpy(np.log(decisions["probability"])),
            advantages=torch.from_numpy(self._advantages[owners].astype(np.float32)),
            weights=torch.from_numpy((decisions["weight"] * self._weights[owners]).astype(np.float32)),
            drawn=torch.from_numpy(kinds_of(decisions["drawn"])),
        )

    def _step(self, gradient: list[Tensor], shown: PolicyBatch, start: Tensor, allowed: float) -> None:
        """Go along the gradient until the divergence is what is allowed."""
        size = math.sqrt(_product(gradient, gradient))
        if size < _SHORTEST:
            return
        before = [tensor.detach().clone() for tensor in self._learning]
        length = self._length or 1e-2
        for _ in range(_TRIES):
            with torch.no_grad():
                for tensor, old, part in zip(self._learning, before, gradient, strict=True):
                    tensor.copy_(old - part * (length / size))
            found = self._divergence(shown, start)
            if abs(found - allowed) <= _CLOSE_ENOUGH * allowed:
                break
            # the divergence grows with the square of the step
            length *= min(10.0, max(0.1, math.sqrt(allowed / max(found, _SHORTEST))))
        if not math.isfinite(found) or found > (1.0 + 2.0 * _CLOSE_ENOUGH) * allowed:
            with torch.no_grad():
                for tensor, old in zip(self._learning, before, strict=True):
                    tensor.copy_(old)
            return
        self._length = length

    def _gradient(self, rows: NDArray[np.int64], between: Callable[[], None]) -> tuple[list[Tensor], float]:
        """The gradient over rows of the pool, and its signal: see `AdaptationProgress`."""
        number = self._dealt[self._owners[rows]] % _PARTS
        parts = [rows[number == each] for each in range(_PARTS)]
        whole = [torch.zeros_like(tensor) for tensor in self._learning]
        own, shares = 0.0, 0.0  # the products of the parts with themselves, and of their shares
        for part in parts:
            share = len(part) / len(rows)
            if part.size:
                gradient = [share * tensor for tensor in self._gradient_of(self._batch(part), between)]
                own, shares = own + _product(gradient, gradient), shares + share**2
                whole = [sum_ + tensor for sum_, tensor in zip(whole, gradient, strict=True)]
        size = _product(whole, whole)
        if not math.isfinite(size):
            raise ModelError("the gradient of an adaptation is not finite")
        # the noise of one part is not that of another, so their products are signal
        signal = (size - own) / (1.0 - shares) / size if size > 0.0 and shares < 1.0 else 0.0
        return whole, min(1.0, max(0.0, signal))

    def _gradient_of(self, batch: PolicyBatch, between: Callable[[], None]) -> list[Tensor]:
        objective = PolicyObjective(
            clip=self.settings.clip, reject=self.settings.reject, temperature=self.settings.temperature
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
        return log_policy(_scores(self._network, shown), shown.legal, self.settings.temperature)

    def _divergence(self, shown: PolicyBatch, start: Tensor) -> float:
        """Mean KL(π₀ ‖ π) over some decisions."""
        now = self._log_policy(shown)
        apart = (start.exp() * (start - now).masked_fill(~shown.legal, 0.0)).sum(1)
        return float((apart * shown.weights).sum() / shown.weights.sum())

    def _figure(
        self, luck: float | None = None, signal: float | None = None, divergence: float | None = None
    ) -> None:
        self.figures = AdaptationProgress(
            len(self._rewards),
            len(self._decisions),
            float(np.average(self._rewards, weights=self._weights)),
            float(self._rewards.std()),
            self.figures.luck if luck is None else luck,
            self.figures.signal if signal is None else signal,
            self.figures.divergence if divergence is None else divergence,
        )


def _product(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    return sum(float((a * b).sum()) for a, b in zip(first, second, strict=True))


@torch.no_grad()
def _scores(network: Network, batch: PolicyBatch) -> Tensor:
    return torch.cat([network(as_input(batch.planes[rows])) for rows in _pieces(len(batch.planes))])


def _pieces(count: int) -> Sequence[slice]:
    return [slice(start, start + _PIECE) for start in range(0, count, _PIECE)]
