"""The play-outs of an adaptation as training data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
"""If the tiles explain all but this share of the deviation, there is nothing to learn."""


class PlayOutPool:
    """All play-outs of an adaptation.

    Args:
        model: chose the discards; its encoder turns decisions into planes.
        replays: play-outs of each deal.

    Attributes:
        decisions: ``[B]`` of `policies.trajectories.DECISION`.
        owners: ``[B]``, the play-out of each decision.
        rewards: ``[n]``, the worth of each play-out's end.
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
            rewards: ``[n]``, the worth of each play-out's end.
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
        spread = less.std()
        alike = spread <= _ALIKE * centred.std()
        self.advantages = np.zeros(len(less)) if alike else less / spread

    def some(self, most: int, dice: np.random.Generator) -> NDArray[np.int64]:
        """Rows of decisions, a random sample if there are more than ``most``."""
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
            weights=torch.from_numpy(decisions["weight"].astype(np.float32)),
        )
