from __future__ import annotations

import numpy as np
import pytest

from game.ranking import stable_rank
from learning.matches.statistics import (
    LEAST_SETS,
    Floats,
    estimate,
    first_clear,
    half_width,
    mean_place,
    resample,
    spread,
)

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
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 2.5 <= found.high
    assert 180 <= inside <= 199


def test_sets_are_resampled_whole_so_their_likeness_widens_the_interval() -> None:
    rng = np.random.default_rng(2)
    loose = sets_of(rng, 100)
    alike = 4.0 * np.eye(4)[rng.integers(4, size=100)]  # four times the same place
    narrow, wide = (estimate(sums, resample(sums), mean_place) for sums in (loose, alike))
    assert narrow.low is not None and narrow.high is not None
    assert wide.low is not None and wide.high is not None
    assert (wide.high - wide.low) == pytest.approx(2 * (narrow.high - narrow.low), rel=0.2)


def test_a_stable_rank_without_a_last_place_has_no_end() -> None:
    sums = np.array([[2.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0]])
    found = spread(sums, resample(sums), stable_rank)
    assert found.value == pytest.approx((5 * 4 + 2 * 2) / 1 - 2)
    assert found.first_quartile == pytest.approx((20 + 4) / 2 - 2)
    assert found.third_quartile is None
    assert spread(sums[:1], resample(sums[:1]), stable_rank).value is None


def test_the_interval_for_many_looks_is_wider_than_that_for_one() -> None:
    for count in (50, 500, 5000):
        once = 1.96 / np.sqrt(count)
        assert 1.3 * once < half_width(1.0, count) < 2.6 * once
    assert half_width(2.0, 500) == pytest.approx(2 * half_width(1.0, 500))
    assert half_width(1.0, 500, level=0.99) > half_width(1.0, 500)


def test_equal_players_are_seldom_called_different_however_often_checked() -> None:
    rng = np.random.default_rng(3)
    looks = range(16, 801, 16)
    wrong = sum(first_clear(mean_place(sets_of(rng, 800)), 2.5, looks) is not None for _ in range(200))
    assert wrong <= 10


def test_a_clear_difference_is_seen_early_and_at_a_look() -> None:
    values = mean_place(sets_of(np.random.default_rng(4), 800, np.array([0.4, 0.3, 0.2, 0.1])))
    found = first_clear(values, 2.5, range(16, 801, 16))
    assert found is not None
    assert found % 16 == 0
    assert LEAST_SETS <= found <= 128
    assert first_clear(values[:found], 2.5, [found]) == found
    assert first_clear(values[: found - 1], 2.5, [found]) is None


def test_nothing_is_clear_after_a_few_sets() -> None:
    assert first_clear(np.full(LEAST_SETS, 1.0), 2.5, [1, 8, LEAST_SETS - 1]) is None
    assert first_clear(np.full(LEAST_SETS, 1.0), 2.5, [LEAST_SETS]) == LEAST_SETS
