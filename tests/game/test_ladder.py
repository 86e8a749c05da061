from __future__ import annotations

import numpy as np
import pytest

from game.ranking import climb, climb_from


def counts(*numbers: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([numbers], dtype=np.float64)


def test_always_first_climbs_as_fast_as_the_points_allow() -> None:
    # 800 to 1,600 from 4-dan in steps of 75, then 1,000 to 2,000
    assert climb(counts(1, 0, 0, 0), "hanchan", games=10, climbers=5).dan == 4
    assert climb(counts(1, 0, 0, 0), "hanchan", games=11, climbers=5).dan == 5
    assert climb(counts(1, 0, 0, 0), "hanchan", games=11 + 13, climbers=5).dan == 5
    assert climb(counts(1, 0, 0, 0), "hanchan", games=11 + 14, climbers=5).dan == 6


def test_always_last_falls_to_the_first_dan() -> None:
    ladder = climb(counts(0, 0, 0, 1), "hanchan", climbers=5)
    assert ladder.dan == 1


def test_tenhoui_is_never_lost() -> None:
    top = climb(counts(1, 0, 0, 0), "hanchan", games=400, climbers=5)
    assert (top.dan, top.tenhoui) == (11, 1.0)


def test_third_places_change_nothing() -> None:
    assert climb(counts(0, 0, 1, 0), "hanchan", games=50, climbers=5).dan == 4


def test_the_dan_reached_is_about_the_stable_rank() -> None:
    # (5 * 0.28 + 2 * 0.26) / 0.21 - 2 = 7.1
    ladder = climb(counts(28, 26, 25, 21), "hanchan", games=4000, climbers=300)
    assert ladder.dan == pytest.approx(7.1, abs=1.0)
    assert ladder.first_quartile <= ladder.dan <= ladder.third_quartile
    assert climb(counts(25, 25, 25, 25), "hanchan", games=4000, climbers=300).dan < ladder.dan


def test_few_games_leave_the_climbers_far_apart() -> None:
    few, many = (climb_from((3 * n, 2 * n, 2 * n, 3 * n), "hanchan", climbers=500) for n in (1, 100))
    assert few.third_quartile - few.first_quartile >= 4
    assert many.third_quartile - many.first_quartile <= 2
    assert many == climb_from((300, 200, 200, 300), "hanchan", climbers=500)


def test_before_the_first_game_every_chance_is_as_likely() -> None:
    ladder = climb_from((0, 0, 0, 0), "hanchan", climbers=2_000)
    assert ladder.shares[0] > 0.1
    assert ladder.tenhoui > 0.1
    # first and last equally often, second and third always: more is lost than won
    assert climb_from((500, 0, 0, 500), "hanchan", climbers=500).dan < ladder.dan
