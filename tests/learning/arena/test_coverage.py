"""How often intervals contain the true value, for made-up games, fair and biased."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from learning.arena.coverage import coverage
from learning.arena.report import print_report, report
from learning.matches.statistics import Floats, estimate, mean_place, resample
from tests.learning.arena.made_up import a_plan, a_row

FAIR = (0.25, 0.25, 0.25, 0.25)


def games(chances: tuple[float, float, float, float], count: int = 10_000, seed: int = 0) -> Floats:
    """``[S, 4]``: the place in each game."""
    places = np.random.default_rng(seed).choice(4, count, p=chances)
    return np.eye(4)[places]


def test_intervals_of_fair_games_contain_the_truth_in_about_95_of_100_runs() -> None:
    found = coverage(games(FAIR), 1, 200, games=100)
    assert found is not None
    assert (found.runs, found.games) == (200, 100)
    assert found.share.value == found.inside / 200
    assert found.share.low is not None
    assert found.share.high is not None
    assert found.share.low < 0.95 < found.share.high
    assert 0.9 < found.share.value < 1


def test_a_biased_player_is_found_as_often_as_the_normal_distribution_says() -> None:
    chances = (0.34, 0.26, 0.22, 0.18)
    mean = sum(place * chance for place, chance in enumerate(chances, 1))
    deviation = math.sqrt(sum(chance * (place - mean) ** 2 for place, chance in enumerate(chances, 1)) / 100)
    shift = (2.5 - mean) / deviation
    expected = 0.5 * (math.erf((1.96 - shift) / math.sqrt(2)) - math.erf((-1.96 - shift) / math.sqrt(2)))
    found = coverage(games(chances), 1, 200, games=100)
    assert found is not None
    assert found.share.high is not None
    assert found.share.value is not None
    assert found.share.high < 0.95
    assert found.share.value == pytest.approx(expected, abs=0.1)


def test_games_that_depend_on_each_other_are_drawn_together() -> None:
    alike = 4 * games(FAIR, 2_500)  # the four games of a set end the same way
    apart = coverage(np.repeat(alike / 4, 4, axis=0), 1, 100, games=100)
    together = coverage(alike, 4, 100, games=100)
    assert apart is not None
    assert together is not None
    assert together.games == apart.games == 100
    # drawn one by one from so many games they are nearly independent; as sets there are only 25 of them
    assert apart.inside > 85
    assert together.inside > 80
    doubled = coverage(alike[:25], 4, 20, games=100)
    assert doubled is not None
    assert doubled.inside in {0, 20}  # only one distinct run can be drawn


def test_the_interval_of_a_run_is_that_of_a_report() -> None:
    inside = 0
    for seed in range(6):
        counts = games((0.3, 0.25, 0.25, 0.2), 400, seed)
        found = coverage(counts, 1, 1)
        assert found is not None
        interval = estimate(counts, resample(counts), mean_place)
        assert interval.low is not None
        assert interval.high is not None
        assert found.inside == (interval.low <= 2.5 <= interval.high)
        inside += found.inside
    assert 0 < inside < 6


def test_the_same_seed_draws_the_same_runs_and_too_few_games_none() -> None:
    counts = games((0.28, 0.26, 0.24, 0.22), 1_000)
    first = coverage(counts, 1, 30, games=100, seed=1)
    assert coverage(counts, 1, 30, games=100, seed=1) == first
    assert coverage(counts, 1, 30, games=1_001) is None
    assert coverage(counts, 6, 3, games=400) is not None


def test_the_report_shows_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    plan = msgspec.structs.replace(a_plan(sets=404), independent=True)
    rows = [a_row(plan, number, number * 7 % 4 + 1) for number in range(404)]
    found = report(plan, rows, coverage_runs=5)
    assert found is not None
    assert found.coverage == coverage(np.eye(4)[[row.places[row.players.index(0)] - 1 for row in rows]], 1, 5)
    assert print_report(found, as_json=False) == 0
    assert (
        "2.5 is in the 95 % interval of 5 of 5 runs of 400 of these games: 100.0 %" in capsys.readouterr().out
    )
    assert report(plan, rows) == msgspec.structs.replace(found, coverage=None)
