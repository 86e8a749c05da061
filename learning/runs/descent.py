"""Gradient descent with AdamW, one step at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import Tensor, optim


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
