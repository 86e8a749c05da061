"""`suzaku eval credit`: how much of what a critic of afterstates says of discards is true.

In games that the critic has not seen, what it expects of the discard drawn, less what it expects of a draw,
is multiplied with what came of the round. All that the discard did not decide is 0 on average.

What there is to be gained shows where critic and policy disagree about the best discard. Where they agree,
the critic may be right, but changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from game.reports import write_report
from learning.reinforcement.actors import played_blocks
from learning.reinforcement.beginning import load_starting
from learning.reinforcement.lessons import PlayLesson, against_riichi, lesson_of
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.policy_learner import PolicyLearner
from learning.reinforcement.rewards import rewards_of
from policies.checkpoint import load_predictor
from policies.features.kinds import kinds_of
from policies.slots import Slot
from policies.trajectories import Trajectory

Source: TypeAlias = Literal["own scores", "critic", "critic beyond own"]
"""What orders the discards of a decision: the policy's scores, the critic, or that less what both say."""
_SOURCES: Final[tuple[Source, ...]] = get_args(Source)
_SITUATIONS: Final = ("all", "against riichi", "no riichi", "critic agrees", "critic disagrees")


class Told(msgspec.Struct, frozen=True):
    """What one source tells of the discards of one situation.

    Attributes:
        situation: which decisions.
        source: what orders the discards.
        decisions: their number.
        points: standard deviation, a decision, of what it tells of the points of the round; below 0 if it is
            wrong more often than not.
        points_error: standard error of that, by games.
        final: the same of the final reward, in rank points.
        final_error: standard error of that.
    """

    situation: str
    source: Source
    decisions: int
    points: float
    points_error: float
    final: float
    final_error: float


class CreditReport(msgspec.Struct, frozen=True):
    """What a critic tells, on games that it has not seen.

    Attributes:
        games: games of the measurement.
        taught: games that the critic learned from.
        temperature: of the draws.
        min_p: what is less likely than this share of the likeliest is not drawn.
        seed: of walls and draws.
        explained: share of the variance of the rewards that the critic explained in its last block.
        told: by situation and source.
    """

    games: int
    taught: int
    temperature: float
    min_p: float
    seed: int
    explained: float
    told: tuple[Told, ...]

    @property
    def text(self) -> str:
        """The report for people."""
        lines = [
            f"{'discards':<18}{'ordered by':<19}{'decisions':>10}{'points':>18}{'final reward':>20}",
            *(
                f"{each.situation:<18}{each.source:<19}{each.decisions:>10,}"
                f"{f'{each.points:.1f} ± {each.points_error:.1f}':>18}"
                f"{f'{each.final:.3f} ± {each.final_error:.3f}':>20}"
                for each in self.told
            ),
            f"{self.games:,} games, temperature {self.temperature:g}, min-p {self.min_p:g}, seed {self.seed}",
            f"the critic learned from {self.taught:,} more and explained {self.explained:.1%} of the rewards",
            "± is one standard error",
        ]
        return "\n".join(lines)


class GameSums(NamedTuple):
    """Sums of one game over the decisions of each situation ``S``; sources are own scores and critic.

    Attributes:
        decisions: ``[S]``.
        products: ``[S, 2, 2]``: expected products of what both sources say of a draw.
        rewards: ``[S, 2, 2]``: what each says of the discard drawn, times points and final reward.
    """

    decisions: NDArray[np.float64]
    products: NDArray[np.float64]
    rewards: NDArray[np.float64]


def measure_credit(
    plan: ReinforcementPlan, start: Path, *, games: int, workers: int | None = None, quiet: bool = False
) -> CreditReport:
    """Teach a critic of afterstates from self-play of a policy that stays as it is, and test it.

    Args:
        plan: of the critic; it learns from the final rewards of all blocks but the last ones.
        start: folder of the six checkpoints.
        games: games to test with, in the last blocks.
        workers: processes that play; one per core if None.
        quiet: show no progress.

    Raises:
        WorkerFailed: an actor could not continue.
    """
    begun, predictor = load_starting(start, Slot.DISCARD), load_predictor(start)
    plan = msgspec.structs.replace(plan, critic_games=plan.rounded_games, lag=1)
    learner = PolicyLearner(plan, begun.network, begun.card, torch.get_num_threads())
    tested = -(-games // plan.block_games)
    found: list[GameSums] = []
    explained = 0.0
    try:
        for block, played in enumerate(played_blocks(plan, start, workers=workers, quiet=quiet)):
            lesson = lesson_of(played, rewards_of(played, "global", predictor, plan.length))
            if block < plan.blocks - tested:
                explained = learner.learn(lesson, block)["explained"]
            else:
                found += _sums(learner, lesson, played)
    finally:
        learner.close()
    taught = (plan.blocks - tested) * plan.block_games
    return CreditReport(
        len(found), taught, plan.temperature, plan.min_p, plan.seed, explained, tuple(told_of(found))
    )


def print_credit(report: CreditReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, lambda each: each.text, as_json=as_json)
    return 0


def _sums(learner: PolicyLearner, lesson: PlayLesson, played: Sequence[Trajectory]) -> list[GameSums]:
    """The sums of each game of a block."""
    assert learner.afterstates is not None
    decisions = lesson.decisions
    drawn = kinds_of(decisions["drawn"])
    log_chances = learner.log_draws(lesson)
    chances = np.where(drawn, np.exp(log_chances), 0.0)
    said = np.stack([np.where(drawn, log_chances, 0.0), learner.afterstates.compare(lesson)])  # [2, N, 34]
    said = np.where(drawn, said - (chances * said).sum(2, keepdims=True), 0.0)
    products = np.einsum("nk,ink,jnk->nij", chances, said, said)
    chosen = said[:, np.arange(len(decisions)), decisions["kind"]].T
    outcomes = np.stack([lesson.points, lesson.rewards], 1)
    outcomes -= outcomes.mean(0)
    rewards = chosen[:, :, None] * outcomes[:, None, :]
    riichi = against_riichi(decisions)
    best = np.where(drawn, said, -np.inf).argmax(2)
    agrees = best[0] == best[1]
    several = drawn.sum(1) > 1
    situations = (np.ones_like(riichi), riichi, ~riichi, agrees, ~agrees)
    inside = np.stack([several & each for each in situations], 1).astype(np.float64)  # [N, S]
    ends = np.cumsum([len(game.decisions) for game in played])
    return [
        GameSums(
            inside[rows].sum(0),
            np.einsum("ns,nij->sij", inside[rows], products[rows]),
            np.einsum("ns,nij->sij", inside[rows], rewards[rows]),
        )
        for rows in (slice(end - len(game.decisions), end) for end, game in zip(ends, played, strict=True))
    ]


def told_of(games: Sequence[GameSums]) -> list[Told]:
    """What each source tells, by situation; errors are by games, which are independent."""
    number = np.sum([game.decisions for game in games], 0)
    products = np.sum([game.products for game in games], 0)
    rewards = np.stack([game.rewards for game in games])  # [G, S, 2, 2]
    found = []
    for at, situation in enumerate(_SITUATIONS):
        own, both, critic = products[at, 0, 0], products[at, 0, 1], products[at, 1, 1]
        alike = both / own if own else 0.0
        for source, weights, square in zip(
            _SOURCES,
            ((1.0, 0.0), (0.0, 1.0), (-alike, 1.0)),
            (own, critic, critic - alike * both),
            strict=True,
        ):
            # of mean 0 where the source says nothing; a decision's worth of what it says, in deviations
            by_game = np.einsum("i,gij->gj", weights, rewards[:, at])
            scale = math.sqrt(max(number[at] * square, 1e-12))
            points, final = by_game.sum(0) / scale
            points_error, final_error = math.sqrt(len(by_game)) * by_game.std(0) / scale
            found.append(
                Told(
                    situation,
                    source,
                    int(number[at]),
                    float(points),
                    float(points_error),
                    float(final),
                    float(final_error),
                )
            )
    return found
