"""The figures of `suzaku eval answers`, with intervals from resampled games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from learning.answers.plan import AnswersPlan, GameAnswers
from learning.matches.statistics import Estimate, Floats, estimate, ratio, resample
from policies.slots import Slot

_INNER: Final = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Limits between the classes of probabilities."""
_PLAYERS: Final = 4
_UNDEFINED: Final = 0.01
"""Share of resamples without a figure from which on its interval would be too narrow."""


class ChanceFigures(msgspec.Struct, frozen=True):
    """Answers with about the same probability of "yes".

    Attributes:
        least: lower limit of the probability.
        most: upper limit.
        answers: number of them.
        asked: how often in a player's game.
        points: what "yes" is worth more than "no", in points.
        reward: the same as a final reward.
    """

    least: float
    most: float
    answers: int
    asked: float
    points: Estimate
    reward: Estimate


class SlotFigures(msgspec.Struct, frozen=True):
    """One model.

    Attributes:
        slot: the model.
        classes: by probability.
        even_points: the probability at which "yes" and "no" are worth the same, in points; not defined if
            what "yes" is worth does not clearly rise with the probability.
        even_reward: the same as a final reward.
    """

    slot: Slot
    classes: tuple[ChanceFigures, ...]
    even_points: Estimate
    even_reward: Estimate


class AnswersFigures(msgspec.Struct, frozen=True):
    """All figures.

    Attributes:
        games: number of games.
        answers: answers that were played out.
        slots: by model; without those that had no unclear question.
        seconds: CPU time a game.
    """

    games: int
    answers: int
    slots: tuple[SlotFigures, ...]
    seconds: float


def figures_of(plan: AnswersPlan, games: Sequence[GameAnswers], seed: int = 0) -> AnswersFigures:
    """The figures of some games.

    Args:
        plan: what was measured.
        games: one or more.
        seed: of the resamples.
    """
    slots = {answer.slot for game in games for answer in game.answers}
    return AnswersFigures(
        games=len(games),
        answers=sum(len(game.answers) for game in games),
        slots=tuple(_slot(plan, slot, games, seed) for slot in Slot if slot in slots),
        seconds=float(np.mean([game.seconds for game in games])),
    )


def _slot(plan: AnswersPlan, slot: Slot, games: Sequence[GameAnswers], seed: int) -> SlotFigures:
    rows = [
        (number, answer.chance, np.mean(answer.points), np.mean(answer.rewards))
        for number, game in enumerate(games)
        for answer in game.answers
        if answer.slot is slot
    ]
    owners, chances, points, rewards = (np.array(column) for column in zip(*rows, strict=True))
    limits = (plan.least, *(each for each in _INNER if plan.least < each < 1 - plan.least), 1 - plan.least)
    place = np.searchsorted(limits[1:-1], chances, side="right")
    odds = np.log(chances / (1.0 - chances))

    def per_game(*columns: Floats) -> Floats:
        sums = np.zeros((len(games), len(columns)))
        np.add.at(sums, owners.astype(np.int64), np.column_stack(columns))
        return sums

    def figures(at: int) -> ChanceFigures:
        here = (place == at).astype(np.float64)
        sums = per_game(here, here * points, here * rewards)
        drawn = resample(sums, seed=seed)
        count = int(here.sum())
        return ChanceFigures(
            limits[at],
            limits[at + 1],
            count,
            count / (_PLAYERS * len(games)),
            estimate(sums, drawn, ratio(1, 0)),
            estimate(sums, drawn, ratio(2, 0)),
        )

    def even(worth: Floats) -> Estimate:
        sums = per_game(np.ones(len(rows)), odds, odds**2, worth, odds * worth)
        drawn = resample(sums, seed=seed)
        if np.isnan(even_chance(drawn)).mean() > _UNDEFINED:
            return Estimate(None, None, None)
        return estimate(sums, drawn, even_chance)

    return SlotFigures(slot, tuple(map(figures, range(len(limits) - 1))), even(points), even(rewards))


def even_chance(sums: NDArray[np.float64]) -> Floats:
    """The probability at which a line through the values of "yes", by its log odds, is 0.

    Args:
        sums: ``[..., 5]``: number, log odds, their squares, values, and log odds times values.

    Returns:
        ``[...]``; NaN where the line does not rise.

    >>> odds, worth = np.array([-1.0, 0.0, 1.0]), np.array([-2.0, 0.0, 2.0])
    >>> float(even_chance(np.array([3.0, odds.sum(), odds @ odds, worth.sum(), odds @ worth])))
    0.5
    """
    count, odds, squares, worth, products = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = (count * products - odds * worth) / (count * squares - odds**2)
        start = (worth - slope * odds) / count
        found: Floats = np.where(slope > 0.0, 1.0 / (1.0 + np.exp(start / slope)), np.nan)
    return found
