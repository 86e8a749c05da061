"""The critic of afterstates: what a player can expect of a round after a discard, before anyone answers it.

It compares the discards of a decision: all that is alike in their afterstates, and all luck that comes later,
is common to them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.settlement import LAST_ROUND
from learning.reinforcement.lessons import PlayLesson
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.settings import ROWS_LEARNED, LearnerSettings
from learning.runs.learner import Learner
from policies.afterstates import Afterstates, after_discards
from policies.features.encode import encode
from policies.features.kinds import kinds_of
from policies.features.table import looks_deep
from policies.networks import YES_NO, Network

_WEIGHT_DECAY: Final = 1e-2
_AVERAGING: Final = 0.998
_LARGEST: Final = 12_000.0
"""Points are clipped to this: a yakuman says no more about a discard than a baiman."""
_UNIT: Final = 4_000.0
"""About the standard deviation of the points of a round."""


class AfterstateBatch(NamedTuple):
    """Afterstates and what came of them.

    Attributes:
        planes: ``[B, C, 34]`` uint8 with 255 for 1.
        outcomes: ``[B, 2]`` float32: reward and points, in units of about their standard deviations.
        weights: ``[B]`` float32, decisions that each stands for.
    """

    planes: Tensor
    outcomes: Tensor
    weights: Tensor


class AfterstateCritic:
    """A network that learns the mean reward of afterstates, at first with the tower of the discard model.

    It learns the points of the round beside the reward, and compares by the mean of both, in units of their
    deviations: points are less noisy, and what is better for one is mostly better for the other.

    Args:
        network: the discard network of the start.
        features: feature set of its planes.
        without: groups of the set that are left blank.
        plan: of the run.
        threads: that share a batch on a CPU.
    """

    def __init__(
        self,
        network: Network,
        features: str,
        without: tuple[str, ...],
        plan: ReinforcementPlan,
        threads: int,
    ) -> None:
        self._features, self._plan, self._threads = features, plan, threads
        self._deep = looks_deep(features, without)
        self._steps = 0
        torch.manual_seed(plan.seed)
        critic = Network(msgspec.structs.replace(network.architecture, outputs=YES_NO))
        for part in ("stem", "stem_norm", "tower"):
            getattr(critic, part).load_state_dict(getattr(network, part).state_dict())
        settings = LearnerSettings(
            features=features,
            without=without,
            seed=plan.seed,
            averaging=_AVERAGING,
            weight_decay=_WEIGHT_DECAY,
            precision=plan.precision,
        )
        self._learner: Learner[AfterstateBatch] = Learner(
            critic, settings, threads, loss=self._loss, frozen=True, rows=ROWS_LEARNED
        )
        self._missed: list[float] = []  # weighted sums of squared errors of the rewards, before each step

    def close(self) -> None:
        """Stop the threads."""
        self._learner.close()

    def compare(self, lesson: PlayLesson) -> NDArray[np.float32]:
        """``[N, 34]``: what each kind drawn from should bring more than their mean, in deviations.

        0 elsewhere, and where only one kind is drawn from.
        """
        decisions = lesson.decisions
        drawn = kinds_of(decisions["drawn"])
        drawn &= (drawn.sum(1) > 1)[:, None]
        values = np.zeros(drawn.shape, np.float32)
        after = after_discards(decisions["state"], decisions["player"], drawn)
        for at in range(0, len(after.rows), ROWS_LEARNED):
            some = after.some(slice(at, at + ROWS_LEARNED))
            values[some.rows, some.kinds] = self._expect(some, decisions["player"][some.rows])
        means = values.sum(1, keepdims=True) / np.maximum(drawn.sum(1, keepdims=True), 1)
        found: NDArray[np.float32] = np.where(drawn, values - means, 0.0).astype(np.float32)
        return found

    def learn(self, lesson: PlayLesson) -> float:
        """Learn from a block, in small steps; return the share of the rewards that was foreseen."""
        decisions, drawn = lesson.decisions, kinds_of(lesson.decisions["drawn"])
        rows = np.flatnonzero(drawn.sum(1) > 1)
        outcomes = np.stack(
            [lesson.rewards, np.clip(lesson.points, -_LARGEST, _LARGEST) / np.float32(_UNIT)], axis=1
        )
        if not len(rows):
            return 0.0
        self._missed = []
        for some in np.array_split(rows, max(1, len(rows) // ROWS_LEARNED)):
            chosen = np.zeros((len(some), drawn.shape[1]), bool)
            chosen[np.arange(len(some)), decisions["kind"][some]] = True
            after = after_discards(decisions["state"][some], decisions["player"][some], chosen)
            planes = self._planes(after, decisions["player"][some])
            batch = AfterstateBatch(
                planes, torch.from_numpy(outcomes[some]), torch.from_numpy(decisions["weight"][some])
            )
            self._learner.step(batch, self._steps, self._plan.critic_rate)
            self._steps += 1
        weights = decisions["weight"][rows]
        surprise = lesson.rewards[rows] - np.average(lesson.rewards[rows], weights=weights)
        return 1.0 - sum(self._missed) / max(float((weights * surprise**2).sum()), 1e-6)

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {"learner": self._learner.state(), "steps": self._steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self._learner.restore(state["learner"])
        self._steps = state["steps"]

    def _planes(self, after: Afterstates, players: NDArray[np.int8]) -> Tensor:
        planes = encode(
            after.states,
            players,
            self._features,
            deep=self._deep,
            last_round=LAST_ROUND[self._plan.length],
            threads=self._threads,
        )
        return torch.from_numpy(planes)

    def _expect(self, after: Afterstates, players: NDArray[np.int8]) -> NDArray[np.float32]:
        planes = self._planes(after, players)
        batch = AfterstateBatch(planes, torch.zeros(len(planes), 2), torch.ones(len(planes)))
        expected: NDArray[np.float32] = self._learner.scores(batch).float().mean(1).cpu().numpy()
        return expected

    def _loss(self, scores: Tensor, batch: AfterstateBatch) -> Tensor:
        errors = (scores.float() - batch.outcomes.to(scores.device)) ** 2
        weights = batch.weights.to(scores.device)
        self._missed.append(float((weights * errors.detach()[:, 0]).sum()))
        return (weights * errors.sum(1)).mean()
