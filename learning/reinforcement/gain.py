"""`suzaku eval gain`: what a policy has gained over another one, by what it drew.

Matches tell little: a game's result is luck for the most part, and it takes tens of thousands to see a
hundredth of a place. Here each of the two policies plays games with itself and draws its close discards, and
what further models answer if they are asked for.
Where one draws a discard more often than the other would, that should end well. With probabilities π and π₀
of a discard a that the policy drew in a state s, and R what came of its round,

    E[ Σ (1 - π₀(a|s) / π(a|s)) R ]

is what the policy gains over the other, to first order in their difference; in games of the other it is
``E[ Σ (π(a|s) / π₀(a|s) - 1) R ]``. The errors of second order are opposite, so the mean of both has none.
Where both would draw alike nothing is added, so the luck of those rounds drops out: the error is far smaller
than that of a match.

It tells of games in which discards are drawn. A player who takes the likeliest discard gains by another order
of the discards only, so decisions in which both policies like the same one best are counted apart.

Source: the performance difference lemma, Kakade and Langford, Approximately Optimal Approximate Reinforcement
Learning, 2002.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from game.reports import write_report
from learning.reinforcement.actors import played_blocks
from learning.reinforcement.lessons import PlayLesson, against_riichi, lesson_of, log_answers, log_draws
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.rewards import rewards_of
from policies.checkpoint import load_predictor
from policies.features.kinds import kinds_of
from policies.gradient import share_gained
from policies.inference import Model, load_policy
from policies.slots import Slot
from policies.trajectories import Trajectory, options_of


class PolicyGain(msgspec.Struct, frozen=True):
    """What was gained in one situation.

    Attributes:
        situation: which discards, or the model that answered.
        decisions: that were drawn, a player's game.
        points: gained, a player's game.
        points_error: standard error of that, by games.
        final: the same of the final reward, in rank points.
        final_error: standard error of that.
    """

    situation: str
    decisions: float
    points: float
    points_error: float
    final: float
    final_error: float


class GainReport(msgspec.Struct, frozen=True):
    """What a policy has gained over another one.

    Attributes:
        games: of both policies, half of them each.
        temperature: of the draws.
        min_p: what is less likely than this share of the likeliest was not drawn.
        seed: of walls and draws.
        divergence: mean KL of the policy from the other in nats, over the discards drawn from.
        gains: by situation.
    """

    games: int
    temperature: float
    min_p: float
    seed: int
    divergence: float
    gains: tuple[PolicyGain, ...]

    @property
    def text(self) -> str:
        """The report for people."""
        lines = [
            f"{'decisions':<29}{'a game':>7}{'points':>18}{'final reward':>20}",
            *(
                f"{each.situation:<29}{each.decisions:>7.1f}"
                f"{f'{each.points:.0f} ± {each.points_error:.0f}':>18}"
                f"{f'{each.final:.2f} ± {each.final_error:.2f}':>20}"
                for each in self.gains
            ),
            f"gained a player's game; {self.games:,} games, temperature {self.temperature:g}, "
            f"min-p {self.min_p:g}, seed {self.seed}, divergence {self.divergence:.4f}",
            "± is one standard error",
        ]
        return "\n".join(lines)


class GameGain(NamedTuple):
    """Sums of one game, over its players and their decisions of each situation ``S``.

    Attributes:
        decisions: ``[S]``.
        gains: ``[S, 2]``: of points and final reward.
        divergence: of all discards.
    """

    decisions: NDArray[np.float64]
    gains: NDArray[np.float64]
    divergence: float


def measure_gain(
    plan: ReinforcementPlan, policy: Path, start: Path, *, workers: int | None = None, quiet: bool = False
) -> GainReport:
    """Let two policies each play with themselves, and compare what one drew with what the other would.

    Args:
        plan: how many games each plays, which models are drawn from, and how.
        policy: folder of the six checkpoints of one.
        start: folder of those of the other.
        workers: processes that play; one per core if None.
        quiet: show no progress.

    Raises:
        CheckpointError: one cannot be used.
        WorkerFailed: an actor could not continue.
    """
    pair = [load_policy(each, compute=plan.compute) for each in (policy, start)]
    models = {slot: [each.model(slot) for each in pair] for slot in plan.slots}
    predictor = load_predictor(start)
    found: list[dict[int, GameGain]] = [{}, {}]
    for at, player in enumerate((policy, start)):
        for games in played_blocks(plan, player, workers=workers, quiet=quiet):
            rewards = rewards_of(games, "global", predictor, plan.length)
            sums = _gains(games, rewards, models, plan, drew=at)
            found[at].update(zip((game.number for game in games), sums, strict=True))
    both = sorted(found[0].keys() & found[1].keys())  # without those that crashed
    return report_of([[played[number] for number in both] for played in found], plan)


def print_gain(report: GainReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, lambda each: each.text, as_json=as_json)
    return 0


def _gains(
    games: Sequence[Trajectory],
    rewards: Sequence[NDArray[np.float64]],
    models: Mapping[Slot, Sequence[Model]],
    plan: ReinforcementPlan,
    drew: int,
) -> list[GameGain]:
    """The sums of each game of a block, which the policy or the other one played: number ``drew`` of both."""
    decisions, gains = np.zeros((len(games), 0)), np.zeros((len(games), 0, 2))
    divergences = np.zeros(len(games))
    for slot in plan.slots:
        lesson = lesson_of(games, rewards, slot)
        of_game = np.repeat(np.arange(len(games)), [len(game.of(slot)) for game in games])
        gained, apart, inside = _compared(lesson, models[slot], slot, plan, drew)
        weights = lesson.decisions["weight"].astype(np.float64)
        number, sums = np.zeros((len(games), inside.shape[1])), np.zeros((len(games), inside.shape[1], 2))
        np.add.at(number, of_game, weights[:, None] * inside)
        np.add.at(sums, of_game, (weights[:, None] * gained)[:, None, :] * inside[:, :, None])
        decisions, gains = np.concatenate([decisions, number], 1), np.concatenate([gains, sums], 1)
        if slot is Slot.DISCARD:
            np.add.at(divergences, of_game, weights * apart)
    return [GameGain(*each) for each in zip(decisions, gains, divergences.tolist(), strict=True)]


def _compared(
    lesson: PlayLesson, models: Sequence[Model], slot: Slot, plan: ReinforcementPlan, drew: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """What decisions of one model gained.

    Returns:
        ``[N, 2]`` of points and final reward, ``[N]`` how far apart both policies are, and ``[N, S]`` the
        situations.
    """
    decisions = lesson.decisions
    if not len(decisions):
        return np.zeros((0, 2)), np.zeros(0), np.zeros((0, len(_situations(slot))), bool)
    if slot is Slot.DISCARD:
        drawn, chosen = kinds_of(decisions["drawn"]), decisions["kind"].astype(np.int64)
        ours, theirs = (log_draws(model, decisions, plan) for model in models)
    else:
        _, drawn, chosen = options_of(decisions)
        ours, theirs = (log_answers(model, decisions, plan) for model in models)
    chances = [each.gather(1, torch.from_numpy(chosen)[:, None])[:, 0] for each in (ours, theirs)]
    # what the other one would have lost, if it is the one that drew
    share = (1 - 2 * drew) * share_gained(chances[drew], chances[1 - drew], plan.reject).double().numpy()
    outcomes = np.stack([lesson.points, lesson.rewards], 1).astype(np.float64)
    outcomes -= outcomes.mean(0)
    apart = (ours.exp() * (ours - theirs)).masked_fill(~torch.from_numpy(drawn), 0.0).sum(1).double().numpy()
    same = (ours.argmax(1) == theirs.argmax(1)).numpy()
    inside = [np.ones_like(same), ~same]
    if slot is Slot.DISCARD:
        riichi = against_riichi(decisions)
        inside += [same, riichi, ~riichi]
    return share[:, None] * outcomes, apart, np.stack(inside, 1)


def _situations(slot: Slot) -> tuple[str, ...]:
    if slot is Slot.DISCARD:
        return "all", "another is likeliest", "the same is likeliest", "against riichi", "no riichi"
    return slot, f"{slot}, another is likeliest"


def report_of(games: Sequence[Sequence[GameGain]], plan: ReinforcementPlan) -> GainReport:
    """What is gained a player's game. Both policies play over the same walls, so errors are by pairs."""
    number = np.mean([np.mean([game.decisions for game in played], 0) for played in games], 0)
    # [G, S, 2], of one player
    gains = np.mean([np.stack([game.gains for game in played]) for played in games], 0) / 4.0
    means, errors = gains.mean(0), gains.std(0, ddof=1) / math.sqrt(len(gains))
    divergence = np.mean([game.divergence for played in games for game in played])
    return GainReport(
        sum(map(len, games)),
        plan.temperature,
        plan.min_p,
        plan.seed,
        float(divergence) / max(float(number[0]), 1.0),
        tuple(
            PolicyGain(
                situation,
                float(number[at]) / 4.0,
                float(means[at, 0]),
                float(errors[at, 0]),
                float(means[at, 1]),
                float(errors[at, 1]),
            )
            for at, situation in enumerate(name for slot in plan.slots for name in _situations(slot))
        ),
    )
