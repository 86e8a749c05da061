"""Hands tile by tile: each tile is drawn in proportion to its probability, given those placed before.

A hand is a set, so the network sees how many copies of each kind are placed in each hand, not their order. It
has learned from hands whose tiles were placed in random order, and answers for any partial hands. No beam is
searched: the aim is samples, not the likeliest hands.

Source: the autoregressive model of Sasaki, "Hand Generation in Mahjong using Diffusion Process Model", Dwango
Media Village 2023, whose network reads a sequence of tokens; any order: Uria et al., arXiv:1310.1757.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.tiles import KINDS
from policies.features.table import COPIES
from policies.hands.diffusion import FIVES
from policies.hands.direct import HAND_MODELS_FOLDER, DirectModel
from policies.hands.generation import DrawnHands, Generator, load_denoiser, spread_over
from policies.hands.views import View
from policies.nets.conditioned import DenoiserNetwork, sizes_of_hands
from policies.nets.towers.suits import Columns

_HANDS: Final = 3


class AutoregressiveSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hands are generated.

    Attributes:
        together: place a tile in each hand whenever the network is asked; if not, one in all.
        tries: how often hands in riichi that are not ready are generated again before they are corrected.
        match_ready: make as many other hands ready as the direct model predicts.
    """

    together: bool = True
    tries: int = 8
    match_ready: bool = True

    def __post_init__(self) -> None:
        if self.tries < 0:
            raise ValueError(f"tries must not be below 0: {self.tries}")


class AutoregressiveSampler(Generator):
    """Generates hands tile by tile.

    Args:
        network: of the model `autoregressive`.
        features: feature set it sees.
        settings: how.
        direct: the direct model, for `match_ready`; without it ready hands are left to the network.
    """

    def __init__(
        self,
        network: DenoiserNetwork,
        features: str,
        settings: AutoregressiveSettings | None = None,
        direct: DirectModel | None = None,
    ) -> None:
        self.settings = settings or AutoregressiveSettings()
        super().__init__(network, features, self.settings.tries, direct)

    def draw(self, view: View, seen: Columns, count: int, dice: np.random.Generator) -> DrawnHands:
        """Draw hands of one state."""
        rows = np.arange(count)
        seen = spread_over(seen, count)
        placed = np.zeros((count, _HANDS, KINDS), np.int64)
        left = np.repeat(view.unseen.astype(np.int64)[None], count, 0)
        answers = np.zeros((count, 2 * _HANDS, KINDS))
        for hands in self._turns(view.sizes):
            answers = self._asked(seen, placed, left, view.sizes)
            for hand in hands:
                kinds = _drawn_kinds(answers[:, hand], left, dice)
                placed[rows, hand, kinds] += 1
                left[rows, kinds] -= 1
        reds = _red_draws(answers[:, _HANDS:, FIVES], placed[..., FIVES], left[:, FIVES], dice)
        return DrawnHands(placed.astype(np.int8), placed.astype(np.float64), reds)

    def _turns(self, sizes: NDArray[np.int64]) -> list[list[int]]:
        """The hands that get a tile each time the network is asked: the largest first, then in turns."""
        rounds = [
            [hand for hand in range(_HANDS) if sizes[hand] >= missing]
            for missing in range(int(sizes.max()), 0, -1)
        ]
        return rounds if self.settings.together else [[hand] for hands in rounds for hand in hands]

    def _asked(
        self, seen: Columns, placed: NDArray[np.int64], left: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        inputs, times = partial_inputs(
            torch.from_numpy(placed), torch.from_numpy(left), torch.from_numpy(sizes).expand(len(placed), -1)
        )
        answers: NDArray[np.float64] = self.network(seen, inputs, times).double().numpy()
        return answers


def load_autoregressive(
    folder: Path = HAND_MODELS_FOLDER, settings: AutoregressiveSettings | None = None
) -> AutoregressiveSampler:
    """The sampler of a folder.

    Raises:
        CheckpointError: its model cannot be used.
    """
    how = settings or AutoregressiveSettings()
    network, features, direct = load_denoiser(folder, "autoregressive", match_ready=how.match_ready)
    return AutoregressiveSampler(network, features, how, direct)


def partial_inputs(placed: Tensor, left: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """The network's inputs beside the trunk, and the share of tiles that is missing.

    Args:
        placed: ``[B, 3, 34]``, copies placed in each hand.
        left: ``[B, 34]``, unseen copies that are not placed.
        sizes: ``[B, 3]``, tiles of the whole hands.
    """
    missing = sizes - placed.sum(2)
    inputs = torch.cat(
        [placed.float() / COPIES, left.float()[:, None] / COPIES, sizes_of_hands(missing.float())], 1
    )
    return inputs, missing.sum(1).float() / sizes.sum(1).clamp(min=1).float()


def _drawn_kinds(
    scores: NDArray[np.float64], left: NDArray[np.int64], dice: np.random.Generator
) -> NDArray[np.int64]:
    """One kind for each of ``[n, 34]`` rows of scores, among those with a copy left."""
    scores = np.where(left > 0, scores, -np.inf)
    chances = np.exp(scores - scores.max(1, keepdims=True))
    sums = chances.cumsum(1)
    kinds = (sums <= dice.random((len(scores), 1)) * sums[:, -1:]).sum(1)
    last = KINDS - 1 - (chances > 0)[:, ::-1].argmax(1)
    found: NDArray[np.int64] = np.minimum(kinds, last)
    return found


def _red_draws(
    scores: NDArray[np.float64], held: NDArray[np.int64], left: NDArray[np.int64], dice: np.random.Generator
) -> NDArray[np.float64]:
    """``[n, 3, 3]``: 1 for the hand that gets the red five of a suit if it is unseen, else 0.

    Args:
        scores: ``[n, 3, 3]`` by hand and suit, how much likelier than another copy's a red one is.
        held: ``[n, 3, 3]``, fives in each hand.
        left: ``[n, 3]``, fives in the wall.
        dice: all that is random.
    """
    weights = np.concatenate([held * np.exp(np.clip(scores, -8.0, 8.0)), left[:, None]], 1)
    sums = weights.cumsum(1)
    drawn = (sums <= dice.random((len(held), 1, held.shape[2])) * sums[:, -1:]).sum(1)
    holds: NDArray[np.float64] = (drawn[:, None] == np.arange(_HANDS)[:, None]).astype(np.float64)
    return holds
