from __future__ import annotations

from typing import Any, cast

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from policies.nets import products
from policies.nets.products import multiplies_bytes, multiply, multiply_tiles, packed

BYTES = pytest.mark.skipif(not multiplies_bytes(), reason="the processor has no products of bytes")
SIZES = [(1, 1, 1), (7, 64, 64), (27, 192, 64), (27, 288, 96), (28, 47, 48), (3, 1088, 32), (34, 96, 21)]


def product(rows: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    """By `multiply`; what lies around the result is not touched."""
    room = np.full((len(rows) + 2, weight.shape[1]), -1, "i4" if rows.dtype == np.uint8 else "f4")
    multiply(rows, packed(weight), room[1:-1])
    assert (room[[0, -1]] == -1).all()
    return room[1:-1]


def floats(*shape: int) -> NDArray[np.float32]:
    """Whole numbers: their products need more than 24 bits, and with a sum fewer than float64 has."""
    return np.random.default_rng(shape).integers(-50_000, 50_000, shape).astype(np.float32)


def summed(rows: NDArray[np.float32], weight: NDArray[np.float32], *, fused: bool) -> NDArray[np.float32]:
    """One product after the other, rounded with the sum, or before it, too."""
    sums = np.zeros((len(rows), weight.shape[1]), np.float32)
    for k in range(len(weight)):
        exact = rows[:, k, None].astype(np.float64) * weight[k]
        sums = (sums + (exact if fused else exact.astype(np.float32))).astype(np.float32)
    return sums


@pytest.mark.parametrize("count, depth, outputs", SIZES)
def test_floats_are_summed_in_order(count: int, depth: int, outputs: int) -> None:
    rows, weight = floats(count, depth), floats(depth, outputs)
    # processors from before 2013 round twice
    wanted = [summed(rows, weight, fused=fused) for fused in (True, False)]
    assert any(np.array_equal(product(rows, weight), each) for each in wanted)


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_vectors_of_all_widths_give_the_same_bits(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [(floats(m, k) / 3, floats(k, n) / 7) for m, k, n in SIZES]
    wanted = [product(rows, weight) for rows, weight in inputs]
    monkeypatch.setattr(products, "_float_lanes", lambda: lanes)
    monkeypatch.setattr(products, "_columns", products._columns.__wrapped__)
    monkeypatch.setattr(products, "multiply_tiles", numba.njit(cast("Any", multiply_tiles).py_func))
    for (rows, weight), each in zip(inputs, wanted, strict=True):
        assert packed(weight).shape[2] == products._VECTORS * lanes
        np.testing.assert_array_equal(product(rows, weight), each)


@pytest.mark.parametrize("depth, outputs", [(192, 64), (65, 21)])
def test_a_row_s_product_depends_neither_on_its_place_nor_on_other_rows(depth: int, outputs: int) -> None:
    rows, weight = floats(60, depth) / 3, floats(depth, outputs) / 7
    alone = np.concatenate([product(rows[i : i + 1], weight) for i in range(60)])
    for count in range(61):
        np.testing.assert_array_equal(product(rows[60 - count :], weight), alone[60 - count :])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 26])
def test_numbers_that_are_not_finite_reach_their_row_or_column(place: int, number: float) -> None:
    rows, weight = floats(27, 5), floats(5, 40)
    rows[place, 4] = number
    assert (np.isfinite(product(rows, weight)).all(1) == (np.arange(27) != place)).all()
    weight[4, place] = number
    assert not np.isfinite(product(np.ones((27, 5), np.float32), weight)[:, place]).any()


@BYTES
def test_products_of_bytes_are_those_of_integers() -> None:
    draw = np.random.default_rng(1)
    for count, depth, outputs in (*SIZES, *draw.integers(1, 80, (300, 3))):
        rows = draw.integers(0, 256, (count, depth), np.uint8)
        weight = draw.integers(-128, 128, (depth, outputs), np.int8)
        np.testing.assert_array_equal(product(rows, weight), rows.astype(np.int32) @ weight.astype(np.int32))


@pytest.mark.parametrize("weight", [-128, -127, 127])
@BYTES
def test_the_largest_sums_of_bytes_do_not_saturate(weight: int) -> None:
    for count, depth, outputs in SIZES:
        sums = product(np.full((count, depth), 255, np.uint8), np.full((depth, outputs), weight, np.int8))
        assert (sums == 255 * weight * depth).all()
