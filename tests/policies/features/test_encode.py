"""Every group of planes against its slow twin, on decisions of real and random games."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.features.encode import encode
from policies.features.table import LITE, SETS, SUPHX
from tests.policies.features.positions import Positions, random_positions, real_positions
from tests.policies.features.reference import GROUPS, View, group_la3


@pytest.fixture(scope="module")
def real() -> Positions:
    return real_positions(3)


@pytest.fixture(scope="module")
def random() -> Positions:
    return random_positions(2)


def compare(positions: Positions, name: str) -> None:
    """All groups of a set but LA1–LA3, exactly; reals to the nearest 1/255."""
    chosen = SETS[name]
    planes = encode(positions.seen, positions.seats, name)
    for row, (state, seat) in enumerate(zip(positions.seen, positions.seats.tolist(), strict=True)):
        view = View(state, seat)
        for group in chosen.groups:
            reference = GROUPS[name].get(group.id)
            if reference is None:
                assert group.id.startswith("LA")
                continue
            at = chosen.at(group.id)
            check(planes[row, at : at + group.planes], reference(view), f"{name} {group.id} of row {row}")


def check(ours: NDArray[np.uint8], wanted: NDArray[np.float64], where: str, slack: float = 0.501) -> None:
    assert ours.shape == wanted.shape, where
    wrong = np.argwhere(np.abs(ours - 255 * wanted) > slack)
    assert wrong.size == 0, (
        f"{where}: plane, kind {wrong[0]}: {ours[tuple(wrong[0])]}, not {255 * wanted[tuple(wrong[0])]}"
    )


@pytest.mark.parametrize("name", [LITE, SUPHX])
def test_groups_on_real_games(real: Positions, name: str) -> None:
    compare(real.every(2), name)


@pytest.mark.parametrize("name", [LITE, SUPHX])
def test_groups_on_random_games(random: Positions, name: str) -> None:
    compare(random, name)


@pytest.mark.parametrize("step", [11])
def test_efficiency_on_real_games(real: Positions, step: int) -> None:
    compare_efficiency(real.every(step))


def test_efficiency_on_random_games(random: Positions) -> None:
    compare_efficiency(random.every(7))


def compare_efficiency(positions: Positions) -> None:
    at = SETS[LITE].at("LA3a")
    planes = encode(positions.seen, positions.seats, LITE)
    for row, (state, seat) in enumerate(zip(positions.seen, positions.seats.tolist(), strict=True)):
        check(planes[row, at:], group_la3(View(state, seat)), f"LA3 of row {row}")
