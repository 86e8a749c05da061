"""Training of the critic on games with all hands known: self-play, or real games.

A sample is a moment after a draw. The targets are the changes by the rest of the round for each of the four
players, in points and in expected final reward.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from learning.data.corpus import Corpus, Numbers
from learning.data.games import played_games
from learning.data.loader import Batch, Moments
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.train.first_weights import Parent, first_network
from learning.train.plan import CriticPlan
from learning.train.samples_run import SamplesRun
from policies.play.critic import POINTS_UNIT, REWARD_UNIT, reward_of_sticks
from policies.reward.encoding import PaddedGames
from policies.reward.predictor import Predictor, round_rewards

_GAMES_AT_ONCE: Final = 2048
_SEATS: Final = np.arange(4)


class Outcomes:
    """The results of all rounds of some games.

    Args:
        corpus: the games.
        numbers: ``[G]`` places of games in its index, ascending.
        predictor: predicts final rewards at the start of a round.
    """

    def __init__(self, corpus: Corpus, numbers: Numbers, predictor: Predictor) -> None:
        self._numbers = numbers
        games = self._games = played_games(corpus, numbers).games
        final = corpus.index["scores"][numbers].astype(np.int64)
        self._after = np.roll(games.starts["scores"], -1, axis=1).astype(np.int64)
        self._after[np.arange(len(numbers)), games.counts - 1] = final
        rewards = []
        for first in range(0, len(numbers), _GAMES_AT_ONCE):
            part = slice(first, first + _GAMES_AT_ONCE)
            some = PaddedGames(games.starts[part], games.counts[part], games.hanchan[part])
            rewards.append(round_rewards(predictor, some, final[part]))
        self._reward = np.concatenate(rewards)

    def rest(self, moments: Moments) -> NDArray[np.float32]:
        """The changes by the rest of the round.

        Args:
            moments: in these games.

        Returns:
            ``[B, 2, 4]``: as in `policies.play.critic.RestOfRound`, but in `POINTS_UNIT` and `REWARD_UNIT`,
            by seat from the player on.
        """
        games = np.searchsorted(self._numbers, moments.game)
        starts = self._games.starts[games]
        same = (starts["round_index"] == moments.round_index[:, None]) & self._games.dealt[games]
        rounds = (same & (starts["honba"] == moments.honba[:, None])).argmax(axis=1)
        points = (self._after[games, rounds] - moments.scores) / POINTS_UNIT
        paid = reward_of_sticks(starts["scores"][np.arange(len(rounds)), rounds], moments.scores)
        reward = (self._reward[games, rounds] - paid) / REWARD_UNIT
        seats = (moments.player[:, None] + _SEATS) % 4
        both = [np.take_along_axis(each, seats, axis=1) for each in (points, reward)]
        return np.stack(both, axis=1).astype(np.float32)


class CriticBatch(NamedTuple):
    """Samples of the critic.

    Attributes:
        planes: ``[B, C, 34]`` uint8.
        rest: ``[B, 8]`` changes by the rest of the round: points by seat, then final rewards.
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
        predictor: predicts final rewards.
    """

    moments = True

    def __init__(
        self, plan: CriticPlan, corpus: Corpus, out: Path, parent: Parent | None, *, predictor: Predictor
    ) -> None:
        super().__init__(plan, corpus, out, parent)
        games = np.union1d(self.choice.games, self.chosen("validation").games)
        self._outcomes = Outcomes(corpus, games, predictor)

    def first_learner(self) -> Learner[CriticBatch]:
        """The network in training."""
        return Learner(first_network(self.plan, self.begin), self.plan, self.threads, loss=critic_loss)

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        return {**super().settings(), "one_in": self.plan.one_in, "predictor": self.plan.predictor}

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> CriticBatch:
        """The planes and the changes by the rest of the round."""
        assert batch.moments is not None, "they were asked for"
        return CriticBatch(batch.planes, torch.from_numpy(self._outcomes.rest(batch.moments)).flatten(1))

    def evaluate(self) -> EvaluationResult:
        """The error of the averaged weights on the validation split, and the variance explained."""
        predicted, true = [], []
        for batch in self.validation_batches():
            predicted.append(self.learner.scores(batch).float().cpu())
            true.append(batch.rest)
        scores, rest = torch.cat(predicted), torch.cat(true)
        errors = (scores - rest).square().mean(0).view(2, 4).mean(1)
        explained = 1.0 - errors / rest.view(len(rest), 2, 4).var(0, correction=0).mean(1)
        points, reward = explained.tolist()
        loss = errors.mean().item()
        return self.judged_by(
            loss,
            f"loss {loss:.4f}, explains {points:.2%} of points and {reward:.2%} of final rewards",
            {"validation/points": points, "validation/reward": reward},
            {"points": points, "reward": reward, "rows": len(rest)},
        )
