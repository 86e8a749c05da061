"""What the last layer of a network sees, in which scores are linear, and the same network with another one.

Discards have a row of it for each kind: what the tower says of the kind, and 1 for the bias. Suits and
honours may have layers of their own; a row then has a part for each, of which one is zero. With a tie-break
(`policies.towers.tie_break`), close discards have what their rows have more than the mean of these, and the
others have nothing, so only the tie-break moves. A model that answers yes or no has one row, its hidden
layer; its score is ``yes - no``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from game.errors import ConfigError
from policies.features.table import KINDS
from policies.networks import DISCARDS, Network, as_input
from policies.towers.pooled import SUITED
from policies.towers.residual import DiscardHead, YesNoHead
from policies.towers.suits import SuitsScores, SuitsYesNoHead
from policies.towers.tie_break import HELD, among_close, close_discards

_Linear: TypeAlias = nn.Conv2d | nn.Conv1d | nn.Linear


class LastLayer:
    """The last layer of a network.

    Args:
        network: of discards, or one that answers yes or no; in a tower that has such a layer.

    Attributes:
        size: numbers in a row, D.

    Raises:
        ConfigError: the scores of the tower are not linear in its last layer.
    """

    def __init__(self, network: Network) -> None:
        self._network = copy.deepcopy(network).eval()
        self._discards = network.architecture.outputs == DISCARDS
        self._parts = _parts_that_move(self._network)
        self._widths = [part.weight.shape[1] + 1 for part in self._parts.values()]
        self.size = sum(self._widths)
        self._seen: dict[nn.Module, Tensor] = {}
        for part in self._parts.values():
            part.register_forward_pre_hook(self._remember)

    def _remember(self, part: nn.Module, given: tuple[Tensor, ...]) -> None:
        self._seen[part] = given[0]

    @property
    def own(self) -> Tensor:
        """``[D]``: the function of the rows that the scores are now; of close discards, less a constant."""
        own = self._function_of(self._parts.values())
        if self._network.tie_break is not None:
            own = own + self._function_of(_linear_parts(self._network.head).values())
        return own

    def _function_of(self, parts: Iterable[_Linear]) -> Tensor:
        found = []
        for part in parts:
            weight, bias = part.weight.detach().flatten(1), part.bias
            assert bias is not None
            whole = torch.cat([weight, bias.detach()[:, None]], 1)
            found.append(whole[0] if self._discards else whole[1] - whole[0])
        return torch.cat(found)

    @torch.no_grad()
    def look(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """What the layer sees of positions.

        Args:
            planes: ``[B, C, 34]`` uint8 with 255 for 1.

        Returns:
            Scores ``[B, 34]`` of discards, or ``[B]`` of an answer; rows ``[B, 34, D]`` or ``[B, D]``.
        """
        scores = self._network(as_input(planes))
        seen = [self._seen.pop(part) for part in self._parts.values()]
        if not self._discards:
            return scores[:, 1] - scores[:, 0], _with_one(seen[0])
        parts = [_with_one(each.flatten(2).transpose(1, 2)) for each in seen]
        if len(parts) == 1:
            return scores, parts[0]
        rows = scores.new_zeros(len(planes), KINDS, self.size)
        rows[:, :SUITED, : self._widths[0]] = parts[0]
        rows[:, SUITED:, self._widths[0] :] = parts[1]
        tie_break = self._network.tie_break
        if tie_break is not None:
            first = rows @ self._function_of(_linear_parts(self._network.head).values())
            rows = among_close(rows, close_discards(first, planes[:, HELD] > 0, tie_break.share))
        return scores, rows

    def moved(self, tensors: Mapping[str, Tensor], change: Tensor) -> dict[str, Tensor]:
        """The weights of a network whose scores are larger by a linear function of the rows.

        Args:
            tensors: its weights, by name.
            change: ``[D]``, the function.
        """
        found = dict(tensors)
        for name, part in zip(self._parts, torch.split(change, self._widths), strict=True):
            weight, bias = found[f"{name}.weight"], found[f"{name}.bias"]
            # an answer is the difference of two scores: half of the change for "yes", half against "no"
            shares = torch.ones(1) if self._discards else torch.tensor([-0.5, 0.5])
            moved = torch.outer(shares, part.to(shares))
            found[f"{name}.weight"] = weight + moved[:, :-1].reshape(weight.shape).to(weight)
            found[f"{name}.bias"] = bias + moved[:, -1].to(bias)
        return found


def _parts_that_move(network: Network) -> dict[str, _Linear]:
    """The last layer by its names in the network: that of the tie-break, if there is one."""
    if network.tie_break is not None:
        return {
            f"tie_break.score.{name}": part for name, part in _linear_parts(network.tie_break.score).items()
        }
    return {f"head.{name}": part for name, part in _linear_parts(network.head).items()}


def _linear_parts(head: nn.Module) -> dict[str, _Linear]:
    """The last layer by name; suits and honours may have one each."""
    if isinstance(head, SuitsScores):
        return {"suits": head.suits, "honours": head.honours}
    if isinstance(head, DiscardHead):
        return {"score": head.score}
    if isinstance(head, SuitsYesNoHead | YesNoHead):
        return {"answer": head.answer}
    raise ConfigError("the last layer of this model cannot learn alone: choose one of another tower")


def _with_one(rows: Tensor) -> Tensor:
    return functional.pad(rows, (0, 1), value=1.0)
