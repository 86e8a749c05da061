"""Rounds that were played out, and what came of the decisions in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from game.settlement import GameLength
from policies.deals.deal import Deals
from policies.features.kinds import kinds_of
from policies.gradient import PolicyBatch
from policies.inference import Model
from policies.luck import less_luck
from policies.trajectories import DECISION

_ALIKE: Final = 1e-9
"""Where the tiles explain all but this share of the deviation, nothing can be learned."""


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


class PlayOutPool:
    """All play-outs of an adaptation.

    Args:
        model: chose the discards; says how decisions look to a network.
        replays: play-outs of each deal.

    Attributes:
        decisions: ``[B]`` of `policies.trajectories.DECISION`.
        owners: ``[B]``, the play-out of each decision.
        rewards: ``[n]``, what the ends of the play-outs were worth.
        weights: ``[n]``, of the play-outs; their mean is 1.
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
        self.rewards, self.weights = np.empty(0), np.empty(0)
        self.dealt = np.empty(0, np.int64)
        self.advantages = np.empty(0)
        self.luck = 0.0

    def add(self, deals: Deals, parts: Sequence[PlayedRounds]) -> None:
        """Add play-outs.

        Args:
            deals: that were played out.
            parts: of their play-outs, in their order; all together they are those of all deals.
        """
        first, numbers = len(self.rewards), np.repeat(np.arange(len(deals)), self._replays)
        self._game = deals.view.length
        counts = np.concatenate([part.counts for part in parts])
        owners = np.repeat(np.arange(first, first + len(numbers)), counts)
        self.decisions = np.concatenate([self.decisions, *(part.decisions for part in parts)])
        self.rewards = np.concatenate([self.rewards, *(part.rewards for part in parts)])
        self.weights = np.append(self.weights, deals.weights[numbers] * len(deals))
        self.dealt = np.append(self.dealt, first + numbers)
        self.owners = np.append(self.owners, owners)
        centred = self.rewards - np.average(self.rewards, weights=self.weights)
        less, self.luck = less_luck(centred, self.dealt)
        spread = less.std()
        alike = spread <= _ALIKE * centred.std()
        self.advantages = np.zeros(len(less)) if alike else less / spread

    def some(self, most: int, dice: np.random.Generator) -> NDArray[np.int64]:
        """Rows of decisions, drawn without order if there are more than so many."""
        count = len(self.decisions)
        return np.arange(count) if count <= most else np.sort(dice.choice(count, most, replace=False))

    def batch(self, rows: NDArray[np.int64]) -> PolicyBatch:
        """Decisions to learn from."""
        decisions, owners = self.decisions[rows], self.owners[rows]
        planes = self._model.planes(decisions["state"], decisions["player"], None, self._game)
        planes[:, self._model.blank] = 0
        return PolicyBatch(
            planes=torch.from_numpy(planes),
            legal=torch.from_numpy(kinds_of(decisions["legal"])),
            chosen=torch.from_numpy(decisions["kind"].astype(np.int64)),
            behaviour=torch.from_numpy(np.log(decisions["probability"])),
            advantages=torch.from_numpy(self.advantages[owners].astype(np.float32)),
            weights=torch.from_numpy((decisions["weight"] * self.weights[owners]).astype(np.float32)),
            drawn=torch.from_numpy(kinds_of(decisions["drawn"])),
        )
