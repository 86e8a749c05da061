"""The base of both generators of hands: the trunk once for a state, consistency, ready hands, red fives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from kit.errors import StateMismatchError
from policies.checkpoint.card import HandModel
from policies.checkpoint.store import load
from policies.features.encode import encode
from policies.hands.direct import DirectModel
from policies.hands.ready import BLOCKS, is_ready, make_ready
from policies.hands.rounding import place_reds
from policies.hands.views import SampledHands, View, generator_for, view_of
from policies.nets.architectures import DenoiserArchitecture
from policies.nets.conditioned import DenoiserNetwork, denoiser_of
from policies.nets.device import inference
from policies.nets.networks import as_input
from policies.nets.towers.suits import Columns

_LEAST: Final = 1e-6
_DRAWS: Final = (4, BLOCKS)
"""Random numbers that making hands ready takes."""
_SAMPLES: Final = 16
"""Drawn at most until one can be made ready."""


class DrawnHands(NamedTuple):
    """Hands of one state as a generator draws them.

    Attributes:
        copies: ``[n, 3, 34]`` int8, consistent but for riichi.
        scores: ``[n, 3, 34]`` float, copies before rounding.
        reds: ``[n, 3, 3]`` float, by hand and suit; the red five is in the hand with the highest above ½.
    """

    copies: NDArray[np.int8]
    scores: NDArray[np.float64]
    reds: NDArray[np.float64]


class Generator(ABC):
    """Generates consistent hands, one state at a time.

    Args:
        network: the trunk and the small network.
        features: feature set of the planes.
        tries: how often a sample is drawn again whose player in riichi is not ready, before its tiles are
            exchanged.
        direct: how often hands that are not in riichi are ready; None to leave that to the network.
    """

    def __init__(
        self, network: DenoiserNetwork, features: str, tries: int, direct: DirectModel | None = None
    ) -> None:
        self.network = network.eval()
        self.features, self.tries, self._direct = features, tries, direct

    @inference()
    def sample(
        self, records: NDArray[np.void], players: NDArray[np.intp], count: int, seed: int
    ) -> SampledHands:
        """Sample hands, as `policies.hands.views.HandSampler` describes."""
        planes = encode(records, players, self.features)
        copies = np.empty((len(records), count, 3, 34), np.int8)
        reds = np.empty((len(records), count, 3, 3), np.bool_)
        for row, (record, player) in enumerate(zip(records, players, strict=True)):
            view = view_of(record, int(player))
            dice = generator_for(planes[row], seed)
            # alone, so that no bit of the answer depends on other states
            seen = self.network.trunk_columns(as_input(torch.from_numpy(planes[row : row + 1])))
            drawn = self._consistent(view, seen, dice, count)
            if self._direct is not None:
                tenpai = self._direct.read(records[row : row + 1], player).tenpai[0]
                self._raise_ready(view, tenpai, dice, drawn)
            copies[row] = drawn.copies
            for sample in range(count):
                place_reds(copies[row, sample], view.unseen, view.reds, drawn.reds[sample], reds[row, sample])
        return SampledHands(copies, reds)

    @abstractmethod
    def draw(self, view: View, seen: Columns, count: int, dice: np.random.Generator) -> DrawnHands:
        """Draw hands of one state, consistent but for riichi.

        Args:
            view: what the player knows.
            seen: what the trunk sees, one row.
            count: how many.
            dice: all that is random.
        """

    def _consistent(self, view: View, seen: Columns, dice: np.random.Generator, count: int) -> DrawnHands:
        """Hands of one state, ready in riichi."""
        drawn = self.draw(view, seen, count, dice)
        return self._ready(view, seen, dice, drawn) if view.riichi.any() else drawn

    def _ready(self, view: View, seen: Columns, dice: np.random.Generator, drawn: DrawnHands) -> DrawnHands:
        """The samples with ready hands in riichi: drawn again, then corrected."""
        again = np.flatnonzero(self._unready(view, drawn.copies).any(1))
        for _ in range(self.tries):
            if not again.size:
                return drawn
            other = self.draw(view, seen, len(again), dice)
            for ours, theirs in zip(drawn, other, strict=True):
                ours[again] = theirs  # type: ignore[index]
            again = again[self._unready(view, other.copies).any(1)]
        for sample in again:
            self._make_ready(view, seen, dice, drawn, int(sample))
        return drawn

    def _make_ready(
        self, view: View, seen: Columns, dice: np.random.Generator, drawn: DrawnHands, sample: int
    ) -> None:
        """Correct a sample; where its other hands leave no ready one, another is drawn in its place.

        Raises:
            StateMismatchError: none of many could be corrected.
        """
        for _ in range(_SAMPLES):
            if make_ready(
                drawn.copies[sample],
                drawn.scores[sample],
                view.unseen,
                view.sizes,
                view.melds,
                view.riichi,
                dice.random(_DRAWS),
            ):
                return
            for ours, theirs in zip(drawn, self.draw(view, seen, 1, dice), strict=True):
                ours[sample] = theirs[0]  # type: ignore[index]
        raise StateMismatchError("the tiles left make no ready hand for a player in riichi")

    def _raise_ready(
        self, view: View, tenpai: NDArray[np.float32], dice: np.random.Generator, drawn: DrawnHands
    ) -> None:
        """Make hands that are not in riichi ready, until their share is the one that is expected.

        Args:
            view: what the player knows.
            tenpai: ``[3]``, the expected shares.
            dice: all that is random.
            drawn: changed.
        """
        ready = np.array(
            [
                [is_ready(hand, melds) for hand, melds in zip(sample, view.melds, strict=True)]
                for sample in drawn.copies
            ]
        )
        share = ready.mean(0)
        missing = np.clip((tenpai - share) / np.maximum(1.0 - share, _LEAST), 0.0, 1.0)
        chosen = ~ready & (dice.random(ready.shape) < missing)
        for sample in np.flatnonzero(chosen.any(1)):
            copies = drawn.copies[sample].copy()
            wanted = ready[sample] | chosen[sample]
            if make_ready(
                copies, drawn.scores[sample], view.unseen, view.sizes, view.melds, wanted, dice.random(_DRAWS)
            ):
                drawn.copies[sample] = copies

    def _unready(self, view: View, copies: NDArray[np.int8]) -> NDArray[np.bool_]:
        """``[n, riichi]``: hands of players in riichi that are not ready."""
        hands = np.flatnonzero(view.riichi)
        return np.array(
            [[not is_ready(sample[hand], view.melds[hand]) for hand in hands] for sample in copies]
        ).reshape(len(copies), len(hands))


def load_denoiser(
    folder: Path, model: HandModel, *, match_ready: bool
) -> tuple[DenoiserNetwork, str, DirectModel | None]:
    """The network of a generator, the feature set it sees, and the direct model if that is needed.

    Raises:
        CheckpointError: it cannot be used.
    """
    checkpoint = load(folder, model)
    shape = checkpoint.card.architecture
    assert isinstance(shape, DenoiserArchitecture)
    network = denoiser_of(shape, checkpoint.arrays)
    return network, checkpoint.card.features, DirectModel.load(folder) if match_ready else None


def spread_over(seen: Columns, count: int) -> Columns:
    """The trunk's columns of one state, repeated for each of its samples."""
    return Columns(seen.suits.expand(count, -1, -1, -1), seen.honours.expand(count, -1, -1, -1))
