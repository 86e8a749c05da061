"""`suzaku eval gradient`: how much of the policy gradient is signal, and how large a block must be.

Games are divided into groups, and the gradient of each is computed at the start policy. Two groups share the
signal but not the noise, so the mean product of two different ones estimates the squared length of the
expected gradient, and what the squared length of one exceeds it by is its noise. Noise falls with the number
of games; the block in which both are equal is the figure to compare variants by.

A policy that draws gains by being less random, and every game says so. A run that holds its entropy does not
follow that part of the gradient, so the figures are also given without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from game.reports import write_report
from game.settlement import RewardKind
from learning.reinforcement.actors import play_games
from learning.reinforcement.beginning import load_starting
from learning.reinforcement.lessons import PlayLesson, lesson_of
from learning.reinforcement.plan import BaselineKind, ReinforcementPlan
from learning.reinforcement.policy_learner import PolicyLearner
from learning.reinforcement.rewards import less_wall_luck, rewards_of
from policies.checkpoint import load_predictor
from policies.compute import Compute
from policies.slots import Slot
from policies.trajectories import Trajectory

_ROWS: Final = 2_048
"""Decisions in a step of a critic."""
_RESAMPLES: Final = 1_000
_VARIANTS: Final[tuple[tuple[RewardKind, BaselineKind], ...]] = (
    ("points", "none"),
    ("points", "critic"),
    ("global", "none"),
    ("global", "critic"),
    ("global", "oracle"),
)


class EqualBlock(msgspec.Struct, frozen=True):
    """The block whose noise is as large as its signal.

    Attributes:
        signal: squared length of the expected gradient, in units of the squared length of one group's.
        games: of the block; infinite if no signal is seen.
        low: lower end of their 95 % interval, from resampled groups.
        high: upper end.
    """

    signal: float
    games: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.signal:>7.3f}   {self.games:,.0f} [{self.low:,.0f}, {self.high:,.0f}]"


class GradientNoise(msgspec.Struct, frozen=True):
    """One variant.

    Attributes:
        reward: what a round is worth.
        baseline: what is subtracted from it.
        explained: share of the variance of the rewards that the baseline explains, on games it has not seen.
        whole: of the whole gradient.
        held: of the gradient without what changes the entropy.
    """

    reward: RewardKind
    baseline: BaselineKind
    explained: float
    whole: EqualBlock
    held: EqualBlock


class NoiseReport(msgspec.Struct, frozen=True):
    """All variants over the same games.

    Attributes:
        games: games of the groups.
        groups: number of groups.
        taught: further games, from which the critics learned.
        replays: games over the same walls.
        temperature: of the draws.
        min_p: what is less likely than this share of the likeliest is not drawn.
        trace: of the variants with a critic.
        blocks: last blocks of the network whose weights count, beside its head; None for all.
        seed: of walls and draws.
        variants: their figures.
    """

    games: int
    groups: int
    taught: int
    replays: int
    temperature: float
    min_p: float
    trace: float
    blocks: int | None
    seed: int
    variants: tuple[GradientNoise, ...]

    @property
    def text(self) -> str:
        """The report for people."""
        lines = [
            f"{'reward':<8}{'baseline':<10}{'explained':>10}"
            f"{' signal   games for signal = noise':<36} the same with the entropy held"
        ]
        lines += [
            f"{each.reward:<8}{each.baseline:<10}{each.explained:>10.1%}{each.whole!s:<36}{each.held}"
            for each in self.variants
        ]
        lines.append(
            f"{self.games:,} games in {self.groups} groups, {self.replays} over the same walls, "
            f"temperature {self.temperature:g}, min-p {self.min_p:g}, trace {self.trace:g}, "
            f"{_layers(self.blocks)}; critics learned from {self.taught:,} more"
        )
        return "\n".join(lines)


def gradient_noise(
    start: Path,
    *,
    games: int,
    groups: int,
    taught: int,
    seed: int,
    workers: int | None,
    quiet: bool,
    compute: Compute,
    replays: int = 1,
    temperature: float = 1.0,
    min_p: float = 0.0,
    trace: float = 1.0,
    blocks: int | None = None,
) -> NoiseReport:
    """Measure all variants over the same games.

    Args:
        start: folder of the six checkpoints.
        games: games to measure with.
        groups: groups to divide them into.
        taught: games for the critics to learn from first.
        seed: of walls and draws.
        workers: processes that play; one per core if None.
        quiet: show no progress.
        compute: how the actors' networks compute.
        replays: games over the same walls, which are in one group.
        temperature: of the draws.
        min_p: what is less likely than this share of the likeliest is not drawn.
        trace: of the variants with a critic, as in `ReinforcementPlan`.
        blocks: last blocks of the network whose weights count, beside its head; None for all.
    """
    plan = ReinforcementPlan(
        games=games + taught,
        block_games=games + taught,
        replays=replays,
        temperature=temperature,
        min_p=min_p,
        last_blocks=blocks,
        seed=seed,
        steps=1,
        compute=compute,
    )
    played = play_games(plan, start, workers=workers, quiet=quiet)
    begun, predictor = load_starting(start, Slot.DISCARD), load_predictor(start)
    found = []
    for reward, baseline in _VARIANTS:
        credited = 1.0 if baseline == "none" else trace
        variant = msgspec.structs.replace(plan, reward=reward, baseline=baseline, trace=credited)
        learner = PolicyLearner(variant, begun.network, begun.card, torch.get_num_threads())

        def lesson(some: Sequence[Trajectory], kind: RewardKind = reward) -> PlayLesson:
            rewards, _ = less_wall_luck(some, rewards_of(some, kind, predictor, plan.length), replays)
            return lesson_of(some, rewards)

        try:
            if played[games:]:
                learner.teach_critic(lesson(played[games:]), _ROWS)
            parts = [
                [game for game in played[:games] if game.number // replays % groups == group]
                for group in range(groups)
            ]
            gradients, explained = learner.gradients([lesson(part) for part in parts])
            entropy = learner.entropy_gradient(lesson(parts[0]))
        finally:
            learner.close()
        held = gradients - torch.outer(gradients @ entropy, entropy)
        whole_block, held_block = (_noise(each, games / groups, seed) for each in (gradients, held))
        found.append(GradientNoise(reward, baseline, explained, whole_block, held_block))
    return NoiseReport(games, groups, taught, replays, temperature, min_p, trace, blocks, seed, tuple(found))


def _layers(blocks: int | None) -> str:
    if blocks is None:
        return "all layers"
    return f"the head and the last {blocks} blocks" if blocks else "the head only"


def print_noise(report: NoiseReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, lambda found: found.text, as_json=as_json)
    return 0


def equal_block(products: NDArray[np.float64], group_games: float) -> tuple[float, float]:
    """The signal, and the games of a block in which the noise is as large.

    Args:
        products: ``[G, G]`` products of the groups' gradients.
        group_games: games of a group.

    Returns:
        The squared length of the expected gradient as a share of that of a group's, and the games; infinite
        if no signal is seen.

    >>> equal_block(np.array([[3.0, 1.0], [1.0, 3.0]]), 10)
    (0.3333333333333333, 20.0)
    """
    groups = len(products)
    own = np.trace(products) / groups
    signal = (products.sum() - np.trace(products)) / (groups * (groups - 1))
    games = group_games * (own - signal) / signal if signal > 0 else np.inf
    return float(signal / own), float(games)


def _noise(gradients: torch.Tensor, group_games: float, seed: int) -> EqualBlock:
    products = (gradients @ gradients.T).double().numpy()
    signal, games = equal_block(products, group_games)
    dice = np.random.default_rng(seed)
    groups = len(products)
    drawn = []
    for _ in range(_RESAMPLES):  # half of the groups at a time: one drawn twice would count as signal
        some = dice.permutation(groups)[: groups // 2]
        drawn.append(equal_block(products[np.ix_(some, some)], group_games)[1])
    low, high = np.quantile(drawn, (0.025, 0.975), method="nearest")
    return EqualBlock(signal, games, float(low), float(high))
