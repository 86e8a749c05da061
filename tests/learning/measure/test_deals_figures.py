"""The figures on decisions whose true differences are known."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from learning.measure.deals_figures import DealsFigures, figures_of_deals
from learning.measure.deals_plan import DealsPlan, DecisionDeals, GameDeals, HandErrors, SampledDeals

DEALS = 70
NOISE = 900.0
A_POINT = 0.0055
"""What a point is worth in the final reward, here always."""


def a_plan(samplers: tuple[str, ...]) -> DealsPlan:
    return DealsPlan(
        policy="network", identity="x", samplers=samplers, settings=(), models="", games=1, per_game=2,
        close=0.15, worlds=DEALS, seed=0, final=True,
    )  # fmt: skip


def drawn(correlations: tuple[float, ...], games: int, noise: float = NOISE) -> list[GameDeals]:
    """Games of two decisions: true differences of deviation 300, and deals around them."""
    rng = np.random.default_rng(1)

    def deals(mean: float, count: int) -> tuple[int, ...]:
        return tuple(rng.normal(mean, noise, count).round().astype(int).tolist())

    def final(points: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(A_POINT * each for each in points)

    def decision(number: int) -> DecisionDeals:
        mean = rng.normal(0.0, 300.0)
        true = deals(mean, 2 * DEALS)
        sampled = tuple(
            SampledDeals(
                found := deals(each * mean + (1 - each**2) ** 0.5 * rng.normal(0.0, 300.0), DEALS),
                HandErrors(each, 0.2, 0.3, 6.0),
                5.0,
                final(found),
            )
            for each in correlations
        )
        return DecisionDeals(9, 0, number, (0.5, 0.4), true, sampled, final(true))

    return [GameDeals(n, 60, (decision(n % 15), decision(n % 15)), 8.0) for n in range(games)]


@pytest.fixture(scope="module")
def found() -> DealsFigures:
    return figures_of_deals(a_plan(("good", "poor", "none")), drawn((0.8, 0.3, 0.0), 1_000))


def test_the_noise_of_the_deals_does_not_dilute_the_correlation(found: DealsFigures) -> None:
    assert found.points is not None
    for each, expected in zip(found.points.samplers, (0.8, 0.3, 0.0), strict=True):
        value, low, high = each.correlation.value, each.correlation.low, each.correlation.high
        assert value is not None
        assert low is not None
        assert high is not None
        assert value == pytest.approx(expected, abs=0.06)
        assert low < expected < high
        assert each.deviation.value == pytest.approx(300.0, rel=0.06)
    assert found.points.deviation.value == pytest.approx(300.0, rel=0.06)
    assert found.points.noise == pytest.approx(NOISE, rel=0.02)
    assert [each.scores["shanten"].value for each in found.samplers] == pytest.approx([0.8, 0.3, 0.0])


def test_gains_are_those_of_choosing_by_the_sampled_deals(found: DealsFigures) -> None:
    # normal variables: the better choice is worth the correlation times the deviation over root 2 pi
    whole = 300.0 / (2 * np.pi) ** 0.5
    assert found.points is not None
    for each, correlation in zip(found.points.samplers, (0.8, 0.3, 0.0), strict=True):
        for number, gained in each.gains.items():
            reliable = (300.0**2 / (300.0**2 + NOISE**2 / int(number))) ** 0.5
            assert gained.value == pytest.approx(whole * correlation * reliable, abs=14.0)
    assert found.points.bound["70"].value == pytest.approx(whole * 0.94, abs=14.0)
    assert found.points.advantage.value == pytest.approx(0.0, abs=25.0)


def test_choices_by_the_final_reward_are_judged_by_it(found: DealsFigures) -> None:
    points, final = found.points, found.final
    assert points is not None
    assert final is not None
    assert final.noise == pytest.approx(A_POINT * points.noise)
    for each, same in zip(final.samplers, points.samplers, strict=True):
        assert each.correlation.value == pytest.approx(same.correlation.value)
        for number, gain in same.gains.items():
            assert gain.value is not None
            assert each.gains[number].value == pytest.approx(A_POINT * gain.value, abs=0.005)
    # the prior of a search by the final reward is as wide as that by points, for a point of this worth
    by_points = points.samplers[0].searched["70"].value
    assert by_points is not None
    assert final.samplers[0].searched["70"].value == pytest.approx(A_POINT * by_points, rel=0.1)


def test_nothing_is_said_of_what_was_not_asked_for() -> None:
    plan = msgspec.structs.replace(a_plan(("uniform",)), final=False)
    assert figures_of_deals(plan, drawn((0.0,), 3)).final is None
    assert figures_of_deals(msgspec.structs.replace(plan, play=False), drawn((0.0,), 3)).points is None
