"""Sums over pairs of options, by game, and the figures computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from learning.matches.statistics import Estimate, Floats, estimate, ratio, resample

_COUNT, _CROSS, _SQUARE, _TRUE, _NOISE, _PLAYED, _CROSS_NATS, _SQUARE_NATS = range(8)
"""Columns of the sums of a game."""


class Pair(NamedTuple):
    """The preferred option compared with another one.

    Attributes:
        ruled: how much more the hand is worth with the preferred option, by the rules.
        nats: logarithm of the policy's probability of the preferred option over that of the other, at the
            step where they differ.
        played: mean difference of the reward in rollouts.
        noise: variance of that mean.
    """

    ruled: float
    nats: float
    played: float
    noise: float


class Slope(msgspec.Struct, frozen=True):
    """The differences in rollouts against those of the rules, for one class of pairs.

    Attributes:
        pairs: number of pairs.
        ruled: root mean square of the rules' differences, in rank points.
        played: mean difference in rollouts.
        share: difference in rollouts per point of difference between the rules' values.
        nat: the same per factor of e between the policy's probabilities.
        spread: standard deviation of the true differences around that share of the rules' ones; estimated
            from variances, 0 if noise explains all of it.
    """

    pairs: int
    ruled: float
    played: Estimate
    share: Estimate
    nat: Estimate
    spread: Estimate


class Risk(msgspec.Struct, frozen=True):
    """The frequency of deal-ins, compared with the rules' probability.

    Attributes:
        tiles: number of tiles.
        ruled: mean probability by the rules.
        true: share that another player could have won on.
        share: ``true`` divided by ``ruled``.
    """

    tiles: int
    ruled: float
    true: float
    share: Estimate


def slope(games: Sequence[Sequence[Pair]], seed: int) -> Slope | None:
    """The figures of one class of pairs, by game; None if there are none."""
    sums = np.array([_sums(pairs) for pairs in games])
    total = sums.sum(axis=0)
    if not total[_COUNT]:
        return None
    drawn = resample(sums, seed=seed)
    return Slope(
        pairs=int(total[_COUNT]),
        ruled=float(np.sqrt(total[_SQUARE] / total[_COUNT])),
        played=estimate(sums, drawn, ratio(_PLAYED, _COUNT)),
        share=estimate(sums, drawn, ratio(_CROSS, _SQUARE)),
        nat=estimate(sums, drawn, ratio(_CROSS_NATS, _SQUARE_NATS)),
        spread=estimate(sums, drawn, _spread),
    )


def risk(games: Sequence[Iterable[tuple[float, bool]]], seed: int) -> Risk | None:
    """The figures of one class of tiles, by game: the rules' probability of each, and whether it deals in."""
    rows = [np.array(list(tiles), np.float64).reshape(-1, 2) for tiles in games]
    sums = np.array([(len(tiles), *tiles.sum(axis=0)) for tiles in rows])
    count, ruled, true = sums.sum(axis=0).tolist()
    if not ruled:
        return None
    drawn = resample(sums, seed=seed)
    share = estimate(sums, drawn, ratio(2, 1))
    return Risk(int(count), ruled / count, true / count, share)


def _sums(pairs: Sequence[Pair]) -> list[float]:
    ruled, nats, played, noise = np.array(pairs, np.float64).reshape(-1, 4).T
    sums = (
        ruled @ played,
        ruled @ ruled,
        played @ played,
        noise.sum(),
        played.sum(),
        nats @ played,
        nats @ nats,
    )
    return [len(pairs), *map(float, sums)]


def _spread(rows: Floats) -> Floats:
    """From the sums: the variance of the true differences without noise and without the share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = rows[..., _CROSS] ** 2 / rows[..., _SQUARE]
        left = (rows[..., _TRUE] - rows[..., _NOISE] - fitted) / rows[..., _COUNT]
    spread: Floats = np.sqrt(np.maximum(0.0, left))
    return spread
