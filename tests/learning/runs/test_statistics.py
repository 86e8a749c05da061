from __future__ import annotations

import numpy as np
import pytest

from game.ranking import stable_rank
from learning.runs.statistics import Estimate, Floats, Means, estimate, mean_place, ranges, resample

EVEN = np.full(4, 0.25)


def sets_of(rng: np.random.Generator, sets: int, chances: Floats = EVEN) -> Floats:
    """``[S, 4]`` counts of the places over the four games of a set."""
    return rng.multinomial(4, chances, size=sets).astype(np.float64)


def test_resamples_are_as_large_as_the_original_and_repeat() -> None:
    sums = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    drawn = resample(sums, 600)
    assert drawn.shape == (600, 2)
    assert (drawn == resample(sums, 600)).all()
    assert (drawn != resample(sums, 600, seed=1)).any()
    assert (drawn[:, 1] == 10 * drawn[:, 0]).all()
    assert drawn[:, 0].min() == 3.0
    assert drawn[:, 0].max() == 12.0
    assert drawn[:, 0].mean() == pytest.approx(7.0, abs=0.3)


def test_an_interval_of_equal_players_contains_the_truth_about_95_times_in_100() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(200):
        sums = sets_of(rng, 120)
        found = estimate(sums, resample(sums, 400), mean_place)
        inside += found.low <= 2.5 <= found.high
    assert 180 <= inside <= 199


def test_a_stable_rank_without_a_last_place_has_no_end() -> None:
    sums = np.array([[2.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0]])
    found = ranges(sums, resample(sums), stable_rank)
    assert found.value == pytest.approx((5 * 4 + 2 * 2) / 1 - 2)
    assert found.first_quartile == pytest.approx((20 + 4) / 2 - 2)
    assert found.third_quartile is None
    assert ranges(sums[:1], resample(sums[:1]), stable_rank).value is None


def test_means_resample_whole_games() -> None:
    right = np.repeat(np.random.default_rng(0).random(40) < 0.5, 25)
    together = Means(np.repeat(np.arange(40), 25), right)[0]
    apart = Means(np.arange(1000), right)[0]
    assert together.value == apart.value == right.mean()
    # of 40 independent throws, and of 1000
    for found, throws in ((together, 40), (apart, 1000)):
        assert found.high - found.low == pytest.approx(3.92 * 0.5 / throws**0.5, rel=0.15)
        assert found.low < right.mean() < found.high
    assert Means(np.zeros(1000), right)[0] == Estimate(right.mean(), None, None)


def test_a_statistic_of_means_has_an_interval_too() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3.0, 2.0, 2000)
    means = Means(np.arange(2000) // 2, np.column_stack([values, values**2]), values)
    found = means.of(lambda each: np.sqrt(each[..., 1] - each[..., 0] ** 2))
    assert found.value == pytest.approx(values.std())
    assert found.low < 2.0 < found.high
    assert means[2] == means[0]
