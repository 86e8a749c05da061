"""What the last layer of a network sees, in which scores are linear, and the same network with another one.

Discards have a row of it for each kind: what the tower says of the kind, and 1 for the bias. Suits and
honours may have layers of their own; a row then has a part for each, of which one is zero. A model that
answers yes or no has one row, its hidden layer; its score is ``yes - no``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from game.errors import ConfigError
from policies.features.table import KINDS
from policies.fused import FusedNetwork
from policies.networks import DISCARDS, Network
from policies.towers.pooled import SUITED
from policies.towers.residual import DiscardHead, YesNoHead
from policies.towers.suits import SuitsScores, SuitsYesNoHead

_Linear: TypeAlias = nn.Conv2d | nn.Conv1d | nn.Linear


class LastLayer:
    """The last layer of a network, computed on the CPU.

    Args:
        network: of discards, or one that answers yes or no; in a tower that has such a layer.
        blank: planes of its input to ignore.

    Attributes:
        size: numbers in a row, D.
        own: ``[D]``, the function of the rows that the scores are.

    Raises:
        ConfigError: the scores of the tower are not linear in its last layer.
    """

    def __init__(self, network: Network, blank: Sequence[int] = ()) -> None:
        self._discards = network.architecture.outputs == DISCARDS
        head = _linear_parts(network.head)
        self._fused = FusedNetwork(network, blank)
        self.own = self._function_of(head.values())
        self._names = [f"head.{name}" for name in head]
        self._widths = [part.weight.shape[1] + 1 for part in head.values()]
        self.size = sum(self._widths)

    def _function_of(self, parts: Iterable[_Linear]) -> Tensor:
        found = []
        for part in parts:
            weight, bias = part.weight.detach().flatten(1), part.bias
            assert bias is not None
            whole = torch.cat([weight, bias.detach()[:, None]], 1)
            found.append(whole[0] if self._discards else whole[1] - whole[0])
        return torch.cat(found)

    def look(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """What the layer sees of positions.

        Args:
            planes: ``[B, C, 34]`` uint8 with 255 for 1.

        Returns:
            Scores ``[B, 34]`` of discards, or ``[B]`` of an answer; rows ``[B, 34, D]`` or ``[B, D]``.
        """
        rows = self._rows(functional.pad(self._fused.last_inputs(planes), (0, 1), value=1.0))
        return rows @ self.own, rows

    def _rows(self, seen: Tensor) -> Tensor:
        """The rows of what is seen: the same, or with a part for suits and one for honours."""
        if len(self._widths) == 1:
            return seen
        rows = seen.new_zeros(len(seen), KINDS, self.size)
        rows[:, :SUITED, : self._widths[0]] = seen[:, :SUITED]
        rows[:, SUITED:, self._widths[0] :] = seen[:, SUITED:]
        return rows

    def moved(self, tensors: Mapping[str, Tensor], change: Tensor) -> dict[str, Tensor]:
        """The weights of a network whose scores are larger by a linear function of the rows.

        Args:
            tensors: its weights, by name.
            change: ``[D]``, the function.
        """
        found = dict(tensors)
        for name, part in zip(self._names, torch.split(change, self._widths), strict=True):
            weight, bias = found[f"{name}.weight"], found[f"{name}.bias"]
            # an answer is the difference of two scores: half of the change for "yes", half against "no"
            shares = torch.ones(1) if self._discards else torch.tensor([-0.5, 0.5])
            moved = torch.outer(shares, part.to(shares))
            found[f"{name}.weight"] = weight + moved[:, :-1].reshape(weight.shape).to(weight)
            found[f"{name}.bias"] = bias + moved[:, -1].to(bias)
        return found


def _linear_parts(head: nn.Module) -> dict[str, _Linear]:
    """The last layer by name; suits and honours may have one each."""
    if isinstance(head, SuitsScores):
        return {"suits": head.suits, "honours": head.honours}
    if isinstance(head, DiscardHead):
        return {"score": head.score}
    if isinstance(head, SuitsYesNoHead | YesNoHead):
        return {"answer": head.answer}
    raise ConfigError("the last layer of this model cannot learn alone: choose one of another tower")
