"""Hands by diffusion: from noise to numbers of copies in some steps, then rounded.

The vector x holds the four players' hands, ``[4, 2, 34]``: copies on the levels 0, ¼, ½, ¾, 1 and red fives,
times the network's scale. The network predicts the clean x; the player's own hand is put in place of its
prediction at every step.

Source: Sasaki, "Hand Generation in Mahjong using Diffusion Process Model", Dwango Media Village 2023; Ho et
al., arXiv:2006.11239; steps without noise: Song et al., arXiv:2010.02502; guidance: Ho and Salimans,
arXiv:2207.12598; distillation: Salimans and Ho, arXiv:2202.00512. Rounding all hands together and ready hands
are ours.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.tiles import KINDS
from policies.features.table import COPIES
from policies.hands.direct import HAND_MODELS_FOLDER, DirectModel
from policies.hands.generation import DrawnHands, Generator, load_denoiser, spread_over
from policies.hands.rounding import round_greedily, round_together
from policies.hands.views import View
from policies.nets.conditioned import DenoiserNetwork, sizes_of_hands
from policies.nets.shapes import PLAYERS
from policies.nets.towers.suits import Columns

Rounding: TypeAlias = Literal["together", "greedy"]

FIVES: Final = (4, 13, 22)
USUAL_STEPS: Final = 12
_OFFSET: Final = 0.008
_LEAST: Final = 1e-4
_MOST_TILES: Final = 42


class DiffusionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hands are generated.

    Attributes:
        steps: steps from noise to hands; 0 for those that the network was distilled for, or `USUAL_STEPS`.
        noise: share of the noise of DDPM that is added at each step; 0 is DDIM, which a distilled network has
            learned; None for 0 with a distilled network and 1 with another.
        guidance: by how much the prediction without the state is subtracted; 0 asks the network once a step.
        rounding: all hands together, or greedily as in the paper.
        tries: how often hands in riichi that are not ready are generated again before they are corrected.
        match_ready: make as many other hands ready as the direct model predicts.
    """

    steps: int = 0
    noise: float | None = None
    guidance: float = 0.0
    rounding: Rounding = "together"
    tries: int = 2
    match_ready: bool = True

    def __post_init__(self) -> None:
        if self.steps < 0 or self.tries < 0 or not 0.0 <= (self.noise or 0.0) <= 1.0:
            raise ValueError(f"steps and tries must not be below 0, and noise must be 0 to 1: {self}")


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
        distilled, noise = network.architecture.steps, self.settings.noise
        self._steps = self.settings.steps or distilled or USUAL_STEPS
        self._noise = (0.0 if distilled else 1.0) if noise is None else noise
        super().__init__(network, features, self.settings.tries, direct)

    def draw(self, view: View, seen: Columns, count: int, dice: np.random.Generator) -> DrawnHands:
        """Draw hands of one state."""
        scale = self.network.architecture.scale
        clean = self._denoised(view, spread_over(seen, count), dice) / scale
        scores = (COPIES * clean[:, 1:, 0]).double().numpy()
        reds = clean[:, 1:, 1][..., FIVES].double().numpy()
        copies = np.empty((count, 3, KINDS), np.int8)
        for sample in range(count):
            if self.settings.rounding == "together":
                round_together(scores[sample], view.unseen, view.sizes, copies[sample])
            else:
                draws = dice.random(_MOST_TILES)
                round_greedily(scores[sample], view.unseen, view.sizes, draws, copies[sample])
        return DrawnHands(copies, scores, reds)

    def _denoised(self, view: View, seen: Columns, dice: np.random.Generator) -> Tensor:
        """``[n, 4, 2, 34]``, from noise."""
        count, steps = len(seen.suits), self._steps
        known = Known(
            clean_hands(view.own[None], view.own_reds[None]),
            torch.from_numpy(view.unseen)[None],
            torch.from_numpy(view.sizes)[None],
        )
        x = _normal(dice, count)
        for step in range(steps, 0, -1):
            now, later = step / steps, (step - 1) / steps
            clean = denoised(
                self.network, seen, x, torch.full((count,), now), known, guidance=self.settings.guidance
            )
            if step == 1:
                return clean
            signal, next_signal = signal_at(now), signal_at(later)
            variance = self._noise**2 * (1.0 - next_signal) / (1.0 - signal) * (1.0 - signal / next_signal)
            x = stepped(x, clean, torch.tensor(signal), torch.tensor(next_signal), variance)
            if variance > 0.0:
                x = x + math.sqrt(variance) * _normal(dice, count)
        raise AssertionError("no step")


class Known(NamedTuple):
    """The player's knowledge of the hands, for each state, or once for all rows.

    Attributes:
        own: ``[B, 2, 34]``, the own hand as levels.
        unseen: ``[B, 34]``, copies that the player cannot see.
        sizes: ``[B, 3]``, tiles of the opponents' hands.
    """

    own: Tensor
    unseen: Tensor
    sizes: Tensor


def denoised(
    network: DenoiserNetwork,
    seen: Columns,
    x: Tensor,
    times: Tensor,
    known: Known,
    *,
    guidance: float = 0.0,
) -> Tensor:
    """The clean hands that the network predicts, within what is possible; the own hand as it is.

    Args:
        network: of the model `diffusion`.
        seen: what its trunk sees of the state of each row.
        x: ``[B, 4, 2, 34]``, noisy hands.
        times: ``[B]``, how noisy from 0 to 1.
        known: what the player knows.
        guidance: by how much the prediction without the state is subtracted.

    Returns:
        ``[B, 4, 2, 34]``.
    """
    count, scale = len(x), network.architecture.scale
    inputs = denoiser_inputs(x, known.unseen.expand(count, -1), known.sizes.expand(count, -1))
    found: Tensor = network(seen, inputs, times)
    if guidance:
        alone = network(seen, inputs, times, torch.zeros(count, device=x.device))
        found = found + guidance * (found - alone)
    clean = found.view(count, PLAYERS, 2, KINDS).clone()
    most = scale * known.unseen.clamp(max=COPIES)[:, None] / COPIES
    clean[:, :, 0] = torch.minimum(clean[:, :, 0].clamp(min=0.0), most)
    clean[:, :, 1].clamp_(0.0, scale)
    clean[:, 0] = scale * known.own
    return clean


def stepped(x: Tensor, clean: Tensor, signal: Tensor, later: Tensor, variance: float = 0.0) -> Tensor:
    """Noisy hands at a later, less noisy moment, if their clean ones are known.

    Args:
        x: ``[B, 4, 2, 34]``, noisy hands.
        clean: the same, predicted.
        signal: what `signal_at` has for the moment of x, to be broadcast.
        later: the same for the later moment.
        variance: variance of the noise that will be added there.
    """
    error = (x - signal.sqrt() * clean) / (1.0 - signal).sqrt()
    return later.sqrt() * clean + (1.0 - later - variance).clamp(min=0.0).sqrt() * error


def distilled_target(
    teacher: DenoiserNetwork, seen: Columns, x: Tensor, times: Tensor, known: Known, steps: int
) -> Tensor:
    """The clean hands that take x as far in one of ``steps`` steps as the teacher's take it in two.

    Args:
        teacher: whose two steps are meant.
        seen: what its trunk sees of the state of each row.
        x: ``[B, 4, 2, 34]``, noisy hands.
        times: ``[B]``, how noisy: multiples of 1/steps.
        known: what the player knows.
        steps: steps of the student.

    Returns:
        ``[B, 4, 2, 34]``.
    """
    moments = [times, times - 0.5 / steps, times - 1.0 / steps]
    signal, between, end = (signals_at(each) for each in moments)
    middle = stepped(x, denoised(teacher, seen, x, times, known), signal, between)
    clean = denoised(teacher, seen, middle, moments[1], known)
    there = stepped(middle, clean, between, end)
    kept = ((1.0 - end) / (1.0 - signal)).sqrt()
    target = (there - kept * x) / (end.sqrt() - kept * signal.sqrt())
    # the last step ends at the prediction itself, without the little noise that the schedule leaves
    last = times < 1.5 / steps
    return torch.where(last[:, None, None, None], clean, target)


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


def signals_at(times: Tensor) -> Tensor:
    """`signal_at` for each row, to be broadcast over hands."""
    found = torch.tensor([signal_at(max(0.0, time)) for time in times.tolist()], device=times.device)
    return found[:, None, None, None]


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
    """The network's inputs beside the trunk.

    Args:
        x: ``[B, 4, 2, 34]``, noisy.
        unseen: ``[B, 34]``, copies that the player cannot see.
        sizes: ``[B, 3]``, tiles of the opponents' hands.
    """
    left = (unseen.float() / COPIES)[:, None]
    return torch.cat([x.flatten(1, 2), left, sizes_of_hands(sizes.float())], 1)


def _normal(dice: np.random.Generator, count: int) -> Tensor:
    return torch.from_numpy(dice.standard_normal((count, PLAYERS, 2, KINDS), dtype=np.float32))
