"""Hands by diffusion: from noise to numbers of copies in some steps, then rounded.

The vector x holds the four players' hands, ``[4, 2, 34]``: copies on the levels 0, ¼, ½, ¾, 1 and red fives,
times the network's scale. The network predicts the clean x; the player's own hand is put in place of its
prediction at every step.

Source: Sasaki, "Hand Generation in Mahjong using Diffusion Process Model", Dwango Media Village 2023; Ho et
al., arXiv:2006.11239; steps without noise: Song et al., arXiv:2010.02502; guidance: Ho and Salimans,
arXiv:2207.12598. Rounding all hands together and ready hands are ours.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.tiles import KINDS
from policies.features.table import COPIES
from policies.hand_networks import PLAYERS, DenoiserNetwork, sizes_of_hands
from policies.hands.direct import HAND_MODELS_FOLDER, DirectModel
from policies.hands.generation import DrawnHands, Generator, load_denoiser, spread_over
from policies.hands.rounding import round_greedily, round_together
from policies.hands.views import View
from policies.towers.suits import Columns

Rounding: TypeAlias = Literal["together", "greedy"]

FIVES: Final = (4, 13, 22)
_OFFSET: Final = 0.008
_LEAST: Final = 1e-4
_MOST_TILES: Final = 42


class DiffusionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hands are generated.

    Attributes:
        steps: steps from noise to hands.
        noise: share of the noise of DDPM that is added at each step; 0 is DDIM.
        guidance: by how much the prediction without the state is subtracted; 0 asks the network once a step.
        rounding: all hands together, or greedily as in the paper.
        tries: how often hands in riichi that are not ready are generated again before they are corrected.
        match_ready: make as many other hands ready as the direct model expects.
    """

    steps: int = 12
    noise: float = 1.0
    guidance: float = 0.0
    rounding: Rounding = "together"
    tries: int = 2
    match_ready: bool = True

    def __post_init__(self) -> None:
        if self.steps < 1 or self.tries < 0 or not 0.0 <= self.noise <= 1.0:
            raise ValueError(f"steps must be above 0, tries not below 0, noise 0 to 1: {self}")


class DiffusionSampler(Generator):
    """Generates hands by diffusion.

    Args:
        network: of the model `diffusion`.
        features: feature set it sees.
        settings: how.
        direct: the direct model, for `match_ready`; without it ready hands are left to the network.
    """

    def __init__(
        self,
        network: DenoiserNetwork,
        features: str,
        settings: DiffusionSettings | None = None,
        direct: DirectModel | None = None,
    ) -> None:
        self.settings = settings or DiffusionSettings()
        super().__init__(network, features, self.settings.tries, direct)

    def draw(self, view: View, seen: Columns, count: int, dice: np.random.Generator) -> DrawnHands:
        """Draw hands of one state."""
        scale = self.network.architecture.scale
        clean = self._denoised(view, spread_over(seen, count), dice) / scale
        scores = (COPIES * clean[:, 1:, 0]).double().numpy()
        reds = clean[:, 1:, 1][..., FIVES].double().numpy()
        copies = np.empty((count, 3, KINDS), np.int8)
        filled = 0
        for sample in range(count):
            if self.settings.rounding == "together":
                round_together(scores[sample], view.unseen, view.sizes, copies[sample])
            else:
                draws = dice.random(_MOST_TILES)
                filled += round_greedily(scores[sample], view.unseen, view.sizes, draws, copies[sample])
        return DrawnHands(copies, scores, reds, filled)

    def _denoised(self, view: View, seen: Columns, dice: np.random.Generator) -> Tensor:
        """``[n, 4, 2, 34]``, from noise."""
        count, settings = len(seen.suits), self.settings
        scale = self.network.architecture.scale
        own = scale * clean_hands(view.own[None], view.own_reds[None])[0]
        beside = torch.from_numpy(view.unseen)[None], torch.from_numpy(view.sizes)[None]
        most = scale * torch.from_numpy(view.unseen).clamp(max=COPIES) / COPIES
        x = _normal(dice, count)
        for step in range(settings.steps, 0, -1):
            now, later = step / settings.steps, (step - 1) / settings.steps
            clean = self._clean(seen, x, now, *beside)
            clean[:, :, 0] = torch.minimum(clean[:, :, 0].clamp(min=0.0), most)
            clean[:, :, 1].clamp_(0.0, scale)
            clean[:, 0] = own
            if step == 1:
                return clean
            signal, next_signal = signal_at(now), signal_at(later)
            error = (x - math.sqrt(signal) * clean) / math.sqrt(1.0 - signal)
            spread = settings.noise**2 * (1.0 - next_signal) / (1.0 - signal) * (1.0 - signal / next_signal)
            x = math.sqrt(next_signal) * clean + math.sqrt(max(0.0, 1.0 - next_signal - spread)) * error
            if spread > 0.0:
                x = x + math.sqrt(spread) * _normal(dice, count)
        raise AssertionError("no step")

    def _clean(self, seen: Columns, x: Tensor, time: float, unseen: Tensor, sizes: Tensor) -> Tensor:
        """The network's prediction of the clean hands, with guidance."""
        count = len(x)
        times = torch.full((count,), time)
        inputs = denoiser_inputs(x, unseen.expand(count, -1), sizes.expand(count, -1))
        found: Tensor = self.network(seen, inputs, times)
        if self.settings.guidance:
            alone = self.network(seen, inputs, times, torch.zeros(count))
            found = found + self.settings.guidance * (found - alone)
        return found.view(count, PLAYERS, 2, KINDS)


def load_diffusion(
    folder: Path = HAND_MODELS_FOLDER, settings: DiffusionSettings | None = None
) -> DiffusionSampler:
    """The sampler of a folder.

    Raises:
        CheckpointError: its model cannot be used.
    """
    how = settings or DiffusionSettings()
    network, features, direct = load_denoiser(folder, "diffusion", match_ready=how.match_ready)
    return DiffusionSampler(network, features, how, direct)


def signal_at(time: float) -> float:
    """The share of the signal's variance at a moment from 0, clean, to 1, noise: the cosine schedule.

    >>> [round(signal_at(time), 3) for time in (0.0, 0.5, 1.0)]
    [1.0, 0.494, 0.0]
    """
    first = math.cos(_OFFSET / (1.0 + _OFFSET) * math.pi / 2) ** 2
    now = math.cos((time + _OFFSET) / (1.0 + _OFFSET) * math.pi / 2) ** 2
    return min(1.0 - _LEAST, max(_LEAST, now / first))


def clean_hands(copies: NDArray[np.int8], reds: NDArray[np.bool_]) -> Tensor:
    """Hands as levels.

    Args:
        copies: ``[..., 34]``.
        reds: ``[..., 3]``, the red fives among them.

    Returns:
        ``[..., 2, 34]`` from 0 to 1: copies, and 1 at a red five.
    """
    levels = np.zeros((*copies.shape[:-1], 2, KINDS), np.float32)
    levels[..., 0, :] = copies / np.float32(COPIES)
    levels[..., 1, FIVES] = reds
    return torch.from_numpy(levels)


def denoiser_inputs(x: Tensor, unseen: Tensor, sizes: Tensor) -> Tensor:
    """What the network sees beside the trunk.

    Args:
        x: ``[B, 4, 2, 34]``, noisy.
        unseen: ``[B, 34]``, copies that the player cannot see.
        sizes: ``[B, 3]``, tiles of the opponents' hands.
    """
    left = (unseen.float() / COPIES)[:, None]
    return torch.cat([x.flatten(1, 2), left, sizes_of_hands(sizes.float())], 1)


def _normal(dice: np.random.Generator, count: int) -> Tensor:
    return torch.from_numpy(dice.standard_normal((count, PLAYERS, 2, KINDS), dtype=np.float32))
