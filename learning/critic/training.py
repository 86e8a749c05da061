"""Training of the critic on games with all hands known: self-play, or real games.

A sample is a moment after a draw. The answers are what the rest of the round brought each of the four
players, in points and in the change of the expected final reward.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from learning.corpus.reader import Corpus
from learning.critic.outcomes import Outcomes
from learning.critic.plan import CriticPlan
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.samples.loader import Batch
from learning.supervised.first_weights import Parent, first_network
from learning.supervised.samples_run import SamplesRun
from policies.reward import Predictor


class CriticBatch(NamedTuple):
    """Samples of the critic.

    Attributes:
        planes: ``[B, C, 34]`` uint8.
        rest: ``[B, 8]`` what the rest of the round brought: points by seat, then final rewards.
    """

    planes: Tensor
    rest: Tensor


def critic_loss(scores: Tensor, batch: CriticBatch) -> Tensor:
    """Mean squared error of ``[B, 8]`` scores."""
    return functional.mse_loss(scores.float(), batch.rest.to(scores.device))


class CriticRun(SamplesRun[CriticPlan, CriticBatch]):
    """One run of the critic.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint.
        parent: the checkpoint to begin from; new weights if None.
        commit: commit of the code, for the card.
        predictor: predicts final rewards.
    """

    def __init__(
        self,
        plan: CriticPlan,
        corpus: Corpus,
        out: Path,
        parent: Parent | None,
        commit: str,
        *,
        predictor: Predictor,
    ) -> None:
        super().__init__(plan, corpus, out, parent, commit, moments=True)
        self.learner = Learner(first_network(plan, self.begin), plan, self.threads, loss=critic_loss)
        games = np.union1d(self.choice.games, self.chosen("validation").games)
        self._outcomes = Outcomes(corpus, games, predictor)

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        return {**super().settings(), "one_in": self.plan.one_in, "predictor": self.plan.predictor}

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> CriticBatch:
        """The planes and what the rest of the round brought."""
        assert batch.moments is not None, "they were asked for"
        return CriticBatch(batch.planes, torch.from_numpy(self._outcomes.rest(batch.moments)).flatten(1))

    def evaluate(self) -> EvaluationResult:
        """The error of the averaged weights on the validation split, and the variance explained."""
        said, true = [], []
        for batch in self.validation_batches():
            said.append(self.learner.scores(batch).float().cpu())
            true.append(batch.rest)
        scores, rest = torch.cat(said), torch.cat(true)
        errors = (scores - rest).square().mean(0).view(2, 4).mean(1)
        explained = 1.0 - errors / rest.view(len(rest), 2, 4).var(0, correction=0).mean(1)
        points, reward = explained.tolist()
        loss, best = errors.mean().item(), self.status.best
        return EvaluationResult(
            score=loss,
            improved=best is None or loss < best,
            text=f"loss {loss:.4f}, explains {points:.2%} of points and {reward:.2%} of final rewards",
            curves={"validation/loss": loss, "validation/points": points, "validation/reward": reward},
            metrics={"loss": loss, "points": points, "reward": reward, "rows": len(rest)},
        )
