"""The curves of a run from its first block on, reported to whoever watches it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from learning.reinforcement.plan import ReinforcementPlan
from learning.runs.state import read_curves
from replays.standing import LearningPhase, LearningStanding

OnLearning: TypeAlias = Callable[[LearningStanding], None]
"""Called with the state of the run at the start, after every block, and around every evaluation."""


class LearningHistory:
    """Collects the curves and reports them; does neither if nobody watches.

    Args:
        plan: of the run.
        folder: folder of the run's curves, from which those of earlier starts are read.
        on_standing: called with the state of the run; None if nobody watches.
    """

    def __init__(self, plan: ReinforcementPlan, folder: Path, on_standing: OnLearning | None) -> None:
        self._plan, self._folder, self._on_standing = plan, folder, on_standing
        self._begun = self._blocks = 0
        self._curves: dict[str, dict[int, float]] = defaultdict(dict)

    def begin(self, blocks: int) -> None:
        """Begin, or resume after some blocks: points after them are learned again."""
        if self._on_standing is None:
            return
        self._begun = self._blocks = blocks
        if blocks and self._folder.is_dir():
            for name, curve in read_curves(self._folder).items():
                known = {step: value for step, value in curve if step <= blocks}  # of two, the later one
                self._curves[name] = dict(sorted(known.items()))
        self.tell("learning")

    def add(self, blocks: int, values: Mapping[str, float]) -> None:
        """Add the values of a block, or of the evaluation after it."""
        if self._on_standing is None:
            return
        self._blocks = blocks
        for name, value in values.items():
            self._curves[name][blocks] = float(value)
        self.tell("learning")

    def tell(self, phase: LearningPhase) -> None:
        """Report the state of the run."""
        if self._on_standing is None:
            return
        plan, each = self._plan, self._plan.block_games
        curves = {
            name: tuple((step * each, value) for step, value in points.items())
            for name, points in self._curves.items()
        }
        self._on_standing(
            LearningStanding(
                length=plan.length,
                games=self._blocks * each,
                of=plan.rounded_games,
                played=(self._blocks - self._begun) * each,
                blocks=self._blocks,
                of_blocks=plan.blocks,
                phase=phase,
                curves=curves,
            )
        )
