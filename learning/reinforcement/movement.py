"""`suzaku eval movement`: how much of what runs of self-play learned is signal.

Two stretches of learning move the weights by the same signal, and each by its own noise. If both have as many
games, the cosine ``c`` of the two movements is the share of the signal in the squared length of one. The
squared signal grows with the square of the games and the squared noise with the games, so both are equal
after ``1 / c - 1`` times as many.

That holds for stretches that share no games: of runs with different seeds, or of one run with another stretch
in between. Policies hold averaged weights, so of two neighbours the second still moves by the last games of
the first, which alone gives a cosine of some hundredths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import torch
from torch import Tensor, nn

from game.errors import ConfigError
from game.reports import write_report
from learning.reinforcement.beginning import StartingModel, load_starting
from policies.slots import Slot


class Stretch(msgspec.Struct, frozen=True):
    """The movement from one policy to another.

    Attributes:
        begin: the name of the first.
        end: the name of the second.
        games: learned from in between.
        length: of the movement of the weights.
    """

    begin: str
    end: str
    games: int
    length: float


class MovementReport(msgspec.Struct, frozen=True):
    """The movements of several stretches, and what they have in common.

    Attributes:
        stretches: in the order given.
        cosines: ``[S][S]`` between them.
        chance: standard deviation of the cosine of two random directions of as many weights.
    """

    stretches: tuple[Stretch, ...]
    cosines: tuple[tuple[float, ...], ...]
    chance: float

    @property
    def text(self) -> str:
        """The report for people."""
        lines = [f"{'':4}{'games':>8}{'length':>8}   cosines"]
        lines += [
            f"{number:<4}{each.games:>8,}{each.length:>8.2f}   "
            + " ".join(f"{cosine:>6.3f}" for cosine in self.cosines[number - 1])
            + f"   {each.begin} to {each.end}"
            for number, each in enumerate(self.stretches, 1)
        ]
        return "\n".join([*lines, f"chance: 0 ± {self.chance:.3f}"])


def movements(start: Path, runs: Sequence[Sequence[Path]]) -> MovementReport:
    """Compare what several stretches of learning did to the discard model.

    Args:
        start: folder of the policy that all runs began from.
        runs: folders of policies of each run, in the order in which they were learned.

    Raises:
        CheckpointError: one cannot be used.
        ConfigError: one has other weights than the start, or there are fewer than two stretches.
    """
    begun = load_starting(start, Slot.DISCARD)
    stretches, moved = [], []
    for run in runs:
        name, before, games = start.name, begun, 0
        for folder in run:
            after = load_starting(folder, Slot.DISCARD)
            if after.card.architecture != begun.card.architecture:
                raise ConfigError(f"{folder}: its discard model is not one that began as that of {start}")
            moved.append(_learned(after) - _learned(before))
            learned = after.card.data.games - games
            stretches.append(Stretch(name, folder.name, learned, float(moved[-1].norm())))
            name, before, games = folder.name, after, after.card.data.games
    if len(moved) < 2:
        raise ConfigError("two stretches are needed: give a second policy, of the same run or of another")
    units = torch.stack([each / each.norm().clamp(min=1e-12) for each in moved])
    cosines = (units @ units.T).tolist()
    return MovementReport(
        tuple(stretches), tuple(tuple(row) for row in cosines), 1.0 / math.sqrt(units.shape[1])
    )


def print_movements(report: MovementReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, lambda found: found.text, as_json=as_json)
    return 0


def _learned(model: StartingModel) -> Tensor:
    """``[P]``: the weights that learn; the averages of normalisation do not."""
    return nn.utils.parameters_to_vector(model.network.parameters()).detach().double()
