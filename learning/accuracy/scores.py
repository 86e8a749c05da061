"""Computes figures from answers: agreement, its uncertainty, and calibration.

Decisions of one game depend on each other, so the intervals resample games, not decisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from learning.corpus.reader import Numbers
from policies.flow.slots import Slot

BINS: Final = 10
RESAMPLES: Final = 1000
"""Draws of games behind an interval."""

Mask: TypeAlias = NDArray[np.bool_]
Interval: TypeAlias = tuple[float, float]
"""Both ends of a 95 % interval."""

_TAIL: Final = 2.5
_DRAWN_AT_ONCE: Final = 1 << 20
_TOP: Final = 3

TURNS: Final = (("0-5", 0, 5), ("6-11", 6, 11), ("12+", 12, 127))
"""By the player's own discards before the decision, inclusive."""
RANKS: Final = (("below 16", 0, 15), ("16", 16, 16), ("17", 17, 17), ("18", 18, 18), ("19+", 19, 127))
"""By dan index: 16 is 7-dan, 20 tenhou-i."""
AI: Final = "AI"


class Answers(NamedTuple):
    """Answers in ``D`` decisions of one slot, with ``N`` chances.

    Attributes:
        place: ``[D]`` int8, number of answers rated likelier than the player's; for a yes or no, 0 if the
            answer was the player's and 1 if not.
        taken: ``[D]`` whether the player's answer was yes; false for discards.
        answered: ``[D]`` whether the answer was yes; false for discards.
        chance: ``[N]`` float32, of each candidate; for discards, of the likeliest.
        happened: ``[N]`` whether it happened.
        owner: ``[N]`` the decision of each chance, ascending.
        turn: ``[D]`` int8, the player's discards so far in this round.
        riichi: ``[D]`` whether an opponent had declared.
        rank: ``[D]`` int8, the player's dan index.
        ai: ``[D]`` whether the player was an official AI account.
        game: ``[D]`` the game's place in the index.
    """

    place: NDArray[np.int8]
    taken: Mask
    answered: Mask
    chance: NDArray[np.float32]
    happened: Mask
    owner: Numbers
    turn: NDArray[np.int8]
    riichi: Mask
    rank: NDArray[np.int8]
    ai: Mask
    game: Numbers


class Bin(msgspec.Struct, frozen=True):
    """Chances within one tenth: their number, their mean, and the share that happened."""

    low: float
    high: float
    count: int
    mean: float
    happened: float


class YesNo(msgspec.Struct, frozen=True):
    """Figures of yes-or-no decisions, where accuracy alone means little; None where there is no such case.

    A yes is right only with the meld the player made.

    Attributes:
        taken: share of the decisions in which the player's answer was yes.
        majority: accuracy of always giving the more common answer.
        majority_answer: the more common answer.
        balanced: mean of the accuracies over the player's yes and no decisions.
        precision: share of the yes answers that were right.
        recall: share of the player's yes decisions that were answered so.
        other_meld: decisions with yes from both, but to different melds.
    """

    taken: float
    majority: float
    majority_answer: Literal["yes", "no"]
    balanced: float | None
    precision: float | None
    recall: float | None
    other_meld: int


class AnswerScores(msgspec.Struct, frozen=True):
    """Figures of some answers.

    Attributes:
        decisions: number of decisions.
        games: number of games they come from.
        top1: share in which the likeliest answer was the player's.
        interval: confidence interval of that; None if there is only one game.
        top2: share in which the player's answer was one of the two likeliest; for discards only, as ``top3``.
        top3: the same with three.
        yes: for yes-or-no models.
        calibration_error: mean distance between predicted chances and actual frequencies over the bins,
            weighted by bin size. For discards it is about the likeliest answer, otherwise about each
            candidate.
        calibration: the bins that are not empty.
    """

    decisions: int
    games: int
    top1: float
    interval: Interval | None
    top2: float | None
    top3: float | None
    yes: YesNo | None
    calibration_error: float
    calibration: tuple[Bin, ...]


def scores_of(answers: Answers, slot: Slot, seed: int = 0) -> AnswerScores:
    """Compute the figures of some answers.

    Args:
        answers: at least one.
        slot: their slot.
        seed: seed of the games drawn for the interval.
    """
    discards = slot is Slot.DISCARD
    right = answers.place == 0
    bins, error = calibrate(answers.chance, answers.happened)
    return AnswerScores(
        decisions=len(right),
        games=len(np.unique(answers.game)),
        top1=float(right.mean()),
        interval=interval_of(right, answers.game, seed),
        top2=float((answers.place < _TOP - 1).mean()) if discards else None,
        top3=float((answers.place < _TOP).mean()) if discards else None,
        yes=None if discards else _yes_no(answers, right),
        calibration_error=error,
        calibration=bins,
    )


def cuts_of(answers: Answers, slot: Slot, seed: int = 0) -> dict[str, dict[str, AnswerScores]]:
    """Scores by turn, by an opponent's riichi, and by rank; parts without a decision are left out."""
    cuts: dict[str, dict[str, AnswerScores]] = {}
    for title, name, chosen in _parts(answers):
        if chosen.any():
            cuts.setdefault(title, {})[name] = scores_of(part_of(answers, chosen), slot, seed)
    return cuts


def part_of(answers: Answers, chosen: Mask) -> Answers:
    """Select some of the answers.

    Args:
        answers: all of them.
        chosen: ``[D]``.
    """
    rows = chosen[answers.owner]
    places = np.cumsum(chosen) - 1
    return Answers(
        place=answers.place[chosen],
        taken=answers.taken[chosen],
        answered=answers.answered[chosen],
        chance=answers.chance[rows],
        happened=answers.happened[rows],
        owner=places[answers.owner[rows]],
        turn=answers.turn[chosen],
        riichi=answers.riichi[chosen],
        rank=answers.rank[chosen],
        ai=answers.ai[chosen],
        game=answers.game[chosen],
    )


def calibrate(chance: NDArray[np.float32], happened: Mask) -> tuple[tuple[Bin, ...], float]:
    """Bins of equal width, and the expected calibration error.

    >>> bins, error = calibrate(np.array([0.15, 0.15, 1.0], np.float32), np.array([False, True, True]))
    >>> [(bin.low, bin.count, bin.happened) for bin in bins], round(error, 3)
    ([(0.1, 2, 0.5), (0.9, 1, 1.0)], 0.233)
    """
    place = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    chances, events = np.bincount(place, chance, BINS), np.bincount(place, happened, BINS)
    columns = zip(counts.tolist(), chances.tolist(), events.tolist(), strict=True)
    bins = tuple(
        Bin(at / BINS, (at + 1) / BINS, size, likely / size, real / size)
        for at, (size, likely, real) in enumerate(columns)
        if size
    )
    return bins, float(np.abs(chances - events).sum() / max(1, len(chance)))


def interval_of(
    values: NDArray[np.bool_] | NDArray[np.int8], games: Numbers, seed: int = 0
) -> Interval | None:
    """95 % bootstrap interval of a mean, resampling whole games.

    Args:
        values: ``[D]``.
        games: ``[D]`` the game of each value.
        seed: seed of the draws.

    Returns:
        Both ends; None with fewer than two games.
    """
    numbers, place = np.unique(games, return_inverse=True)
    if len(numbers) < 2:
        return None
    sums = np.bincount(place, values)
    sizes = np.bincount(place).astype(np.float64)
    rng = np.random.default_rng(seed)
    means: list[NDArray[np.float64]] = []
    step = max(1, _DRAWN_AT_ONCE // len(numbers))
    for done in range(0, RESAMPLES, step):
        drawn = rng.integers(len(numbers), size=(min(step, RESAMPLES - done), len(numbers)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.percentile(np.concatenate(means), (_TAIL, 100.0 - _TAIL)).tolist()
    return low, high


def _parts(answers: Answers) -> Iterator[tuple[str, str, Mask]]:
    for name, least, most in TURNS:
        yield "turn", name, (answers.turn >= least) & (answers.turn <= most)
    yield "riichi", "no", ~answers.riichi
    yield "riichi", "yes", answers.riichi
    for name, least, most in RANKS:
        yield "rank", name, ~answers.ai & (answers.rank >= least) & (answers.rank <= most)
    yield "rank", AI, answers.ai


def _yes_no(answers: Answers, right: Mask) -> YesNo:
    taken, answered = answers.taken, answers.answered
    share = float(taken.mean())
    of_yes, of_no = _share(right, taken), _share(right, ~taken)
    return YesNo(
        taken=share,
        majority=max(share, 1.0 - share),
        majority_answer="yes" if share > 0.5 else "no",
        balanced=None if of_yes is None or of_no is None else (of_yes + of_no) / 2,
        precision=_share(right, answered),
        recall=of_yes,
        other_meld=int((taken & answered & ~right).sum()),
    )


def _share(right: Mask, among: Mask) -> float | None:
    return float(right[among].mean()) if among.any() else None
