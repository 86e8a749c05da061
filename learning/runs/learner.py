"""A network, its averaged weights and its optimiser, trained one batch at a time.

On a CPU a batch is divided among threads. Each has a copy of the network that shares its weights and has its
own gradients and normalisation. The threads then synchronise once per step, not at every layer.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec
import torch
from torch import Tensor, nn, optim

from kit.options import INTERNAL, NotNegative, Seed, Share
from policies.features.table import SETS
from policies.nets.architectures import Floats, plane_weights
from policies.nets.compute import FloatPrecision
from policies.nets.conditioned import DenoiserNetwork
from policies.nets.networks import Network, arrays_of, as_input
from policies.nets.towers.hosei import reseed

Trained: TypeAlias = Network | DenoiserNetwork

_LONGEST_GRADIENT: Final = 1.0
_ROWS_SCORED: Final = 256


class LearnerPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of a run's plan that a learner uses.

    Attributes:
        features: feature set; default: the model's lite set.
        without: group of feature planes to zero; may be repeated.
        weight_decay: weight decay of AdamW, only on weights of convolutions and dense layers.
        averaging: decay of the moving average of the weights; 0 keeps the last weights.
        seed: seed of weights, sample order and tile permutations.
        precision: precision of the network's arithmetic; weights are always float32.
    """

    features: str
    without: tuple[str, ...] = ()
    weight_decay: NotNegative = 0.01
    averaging: Share = 0.999
    seed: Seed = 0
    precision: Annotated[FloatPrecision, INTERNAL] = "fp32"


class Descent:
    """AdamW over groups of weights, at a learning rate given for each step.

    Args:
        groups: the weights, and the weight decay of each group, as `torch.optim.AdamW` takes them.
        fused: use torch's fused kernel, which rounds differently.
    """

    def __init__(self, groups: Iterable[Mapping[str, Any]], *, fused: bool = False) -> None:
        self._optimiser = optim.AdamW([dict(group) for group in groups], fused=fused)

    def step(self, rate: float, find_gradient: Callable[[], float]) -> float:
        """Move the weights once.

        Args:
            rate: learning rate.
            find_gradient: leaves the gradient in the weights, and returns the loss.

        Returns:
            The loss.
        """
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._optimiser.zero_grad()
        loss = find_gradient()
        self._optimiser.step()
        return loss

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return self._optimiser.state_dict()

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self._optimiser.load_state_dict(state)


def backward(loss: Tensor) -> float:
    """Add the gradient of a loss to that of the weights; return the loss as a number."""
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


class Samples(Protocol):
    """A named tuple of samples: planes for the network, and whatever the loss needs."""

    @property
    def planes(self) -> Tensor:
        """``[B, C, 34]`` uint8 with 255 for 1."""

    def _asdict(self) -> dict[str, Any]: ...


SamplesT = TypeVar("SamplesT", bound=Samples)


def scores_of_planes(network: nn.Module, planes: Tensor, batch: Any) -> Tensor:
    """``[B, outputs]``: the scores of a network whose only input is the planes."""
    scores: Tensor = network(planes)
    return scores


class Learner(Generic[SamplesT]):
    """A network in training, on the fastest device available.

    Args:
        network: the initial weights.
        plan: the training settings.
        threads: number of threads that share a batch on a CPU; it influences the resulting numbers.
        loss: the mean loss of a batch, from the network's scores of it; called by several threads at once,
            each with a part of the batch.
        ask: computes the network's scores of a batch, given its planes as floats; default: from the planes.
        frozen: normalise with the network's stored statistics, as in play, and leave them unchanged.
        rows: largest number of samples whose activations a thread holds; it divides a larger batch, which is
            exact only for a frozen network. 0 for no limit.

    Attributes:
        network: the weights of the last step.
        average: the weights averaged over the steps, which are validated and kept.
        device: the device of both.
    """

    def __init__(
        self,
        network: Trained,
        plan: LearnerPlan,
        threads: int = 1,
        *,
        loss: Callable[[Tensor, SamplesT], Tensor],
        ask: Callable[[nn.Module, Tensor, SamplesT], Tensor] = scores_of_planes,
        frozen: bool = False,
        rows: int = 0,
    ) -> None:
        self.plan = plan
        self._loss, self._ask = loss, ask
        self._rows = rows
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.threads = threads if self.device.type == "cpu" else 1
        self.network = network.to(self.device).train(not frozen)
        self.average = (copy.deepcopy if plan.averaging else _same)(self.network).eval()
        self._descent = Descent(_weights(self.network, plan.weight_decay), fused=True)
        self._kept = _kept(plan).to(self.device)
        self._copies = [self.network, *(_sharing(self.network) for _ in range(self.threads - 1))]
        self._pool = ThreadPoolExecutor(
            self.threads, thread_name_prefix="learner", initializer=torch.set_num_threads, initargs=(1,)
        )

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()

    def step(self, batch: SamplesT, number: int, rate: float) -> float:
        """Learn from a batch.

        Args:
            batch: a batch of any size.
            number: number of the step, from 0.
            rate: learning rate.

        Returns:
            The loss.
        """
        for part, network in enumerate(self._copies):
            reseed(network, self.plan.seed, number, part)
        loss = self._descent.step(rate, lambda: self._clipped_gradient(batch))
        self._average_weights(number + 1)
        return loss

    def _clipped_gradient(self, batch: SamplesT) -> float:
        """Leave the gradient of a batch in the network; return the loss."""
        self._spread_statistics()
        parts = _divided(batch, self.threads)
        shares = [len(part.planes) / len(batch.planes) for part in parts]
        run = map if len(parts) == 1 else self._pool.map
        losses = list(run(self._learn, self._copies, parts, shares))
        self._gather(len(parts))
        nn.utils.clip_grad_norm_(self.network.parameters(), _LONGEST_GRADIENT)
        return sum(losses)

    def _learn(self, network: Trained, part: SamplesT, share: float) -> float:
        """Leave the gradients of part of a batch in a network; return its share of the loss."""
        network.zero_grad(set_to_none=True)
        size, loss = len(part.planes), 0.0
        for piece in _divided(part, -(-size // self._rows) if self._rows else 1):
            here = share * len(piece.planes) / size
            loss += backward(self._loss(self.scores_of(network, piece), piece) * here)
        return loss

    @torch.no_grad()
    def _spread_statistics(self) -> None:
        """Copy the network's running averages of normalisation to the copies."""
        if statistics := list(self.network.buffers()):  # a network without normalisation has none
            for twin in self._copies[1:]:
                torch._foreach_copy_(list(twin.buffers()), statistics)

    @torch.no_grad()
    def _gather(self, used: int) -> None:
        """Add the copies' gradients to the network's, and average their running averages."""
        ours, statistics = _gradients(self.network), list(self.network.buffers())
        for twin in self._copies[1:used]:
            torch._foreach_add_(ours, _gradients(twin))
            if statistics:
                torch._foreach_add_(statistics, list(twin.buffers()))
        if statistics:
            torch._foreach_div_(statistics, used)

    @torch.no_grad()
    def scores(self, batch: SamplesT) -> Tensor:
        """``[rows, …]`` scores of a batch by the averaged weights, computed in parts to limit memory."""
        parts = _divided(batch, math.ceil(len(batch.planes) / _ROWS_SCORED))
        return torch.cat([self.scores_of(self.average, part) for part in parts])

    def weights(self, *, averaged: bool = True) -> dict[str, Floats]:
        """The weights as a checkpoint has them; those for blanked groups are 0, so that play needs no mask.

        Args:
            averaged: over the steps; if not, those of the last step.
        """
        network = self.average if averaged else self.network
        arrays = arrays_of(network.state_dict())
        kept = self._kept.cpu().numpy()
        for name in plane_weights(arrays):
            array = arrays[name]
            a_channel = kept.shape[1] // array.shape[1]  # planes; a group has whole channels
            arrays[name] = array * kept[:, ::a_channel].reshape(1, -1, *(1,) * (array.ndim - 2))
        return arrays

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self._descent.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self._descent.restore(state["optimiser"])

    def scores_of(self, network: nn.Module, batch: Any) -> Tensor:
        """``[rows, …]`` scores by any network with the same input, in the run's precision."""
        half = self.plan.precision == "bf16"
        planes = self.planes_of(batch, torch.bfloat16 if half else torch.float32)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            return self._ask(network, planes, batch)

    def planes_of(self, batch: Samples, dtype: torch.dtype = torch.float32) -> Tensor:
        """``[B, C, 34]`` planes from 0 to 1 as a network takes them, on the device, with blanked groups."""
        x = as_input(batch.planes.to(self.device, non_blocking=True), dtype)
        return x.mul_(self._kept.to(dtype)) if self.plan.without else x

    @torch.no_grad()
    def _average_weights(self, steps: int) -> None:
        """Move the averaged weights towards the new ones, faster in the first steps."""
        if not self.plan.averaging:
            return
        share = 1.0 - min(self.plan.averaging, steps / (steps + 9))
        ours, theirs = self.average.state_dict().values(), self.network.state_dict().values()
        torch._foreach_lerp_(list(ours), list(theirs), share)


def _sharing(network: Trained) -> Trained:
    """A copy that shares the weights in memory, with its own gradients and normalisation."""
    twin = copy.deepcopy(network)
    for ours, theirs in zip(twin.parameters(), network.parameters(), strict=True):
        ours.data = theirs.data
    return twin


def _same(network: Trained) -> Trained:
    """A copy that shares weights and normalisation in memory."""
    twin = _sharing(network)
    for ours, theirs in zip(twin.buffers(), network.buffers(), strict=True):
        ours.data = theirs.data
    return twin


def _gradients(network: nn.Module) -> list[Tensor]:
    return [parameter.grad for parameter in network.parameters() if parameter.grad is not None]


def _divided(batch: SamplesT, parts: int) -> list[SamplesT]:
    """Divide a batch into at most this many parts; every part gets the values that are not tensors."""
    count = len(batch.planes.chunk(parts))
    columns = [
        value.chunk(parts) if isinstance(value, Tensor) else (value,) * count
        for value in batch._asdict().values()
    ]
    return [type(batch)(*values) for values in zip(*columns, strict=True)]


def _weights(network: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Groups of parameters: biases and normalisation scales have no weight decay."""
    weights = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    return [{"params": weights, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def _kept(plan: LearnerPlan) -> Tensor:
    """``[1, C, 1]``: 0 for the planes of blanked groups, else 1."""
    chosen = SETS[plan.features]
    kept = torch.ones(1, chosen.planes, 1)
    kept[:, chosen.planes_of(plan.without)] = 0.0
    return kept
