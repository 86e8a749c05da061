"""Permuting tiles before or after encoding gives the same result, wherever the table says so."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from game.rules import legal_rows
from game.scoring.dora import dora_of
from game.tiles import RED_FIVES
from policies.features.encode import encode
from policies.features.permute import (
    PERMUTATIONS,
    SUIT_PERMUTATIONS,
    permute_columns,
    permute_kinds,
    permute_planes,
)
from policies.features.table import HOSEI, LITE, LITE_CALL, ONE, ORACLE, SETS, SUPHX, SUPHX_CALL
from tests.policies.features.page import rows
from tests.policies.features.permuting import permute_states, permute_tiles
from tests.policies.features.positions import Positions, permuted_calls, random_positions, real_positions
from tests.scale import scaled


@pytest.fixture(scope="module", params=["real", "random"])
def positions(request: pytest.FixtureRequest) -> Positions:
    return (
        real_positions(scaled(1, 3)).every(7)
        if request.param == "real"
        else random_positions(3, seed=5).every(scaled(21, 7))
    )


def agree(ours: NDArray[np.uint8], wanted: NDArray[np.uint8], name: str, number: int) -> None:
    chosen = SETS[name]
    for row in rows(name):
        planes = chosen.planes_of([row.group])
        same = np.array_equal(ours[:, planes], wanted[:, planes])
        if number < SUIT_PERMUTATIONS or row.mirrors == "yes":
            assert same, f"{name} {row.group}, permutation {number}"
        if row.values != "real":
            assert np.isin(ours[:, planes], (0, ONE)).all(), f"{name} {row.group}"


@pytest.mark.parametrize("number", range(PERMUTATIONS))
@pytest.mark.parametrize("name", [LITE, SUPHX, HOSEI])
def test_encoding_a_renamed_state_renames_the_planes(positions: Positions, name: str, number: int) -> None:
    permuted = encode(permute_states(positions.states, number), positions.players, name)
    planes = encode(positions.states, positions.players, name)
    agree(permuted, permute_planes(planes, name, number), name, number)


@pytest.mark.parametrize("number", [1, 4, 8])
def test_so_do_calls_and_the_oracle(positions: Positions, number: int) -> None:
    states, players, calls = positions.candidates()
    permuted = permute_states(states, number)
    for name in (LITE_CALL, SUPHX_CALL):
        planes = encode(states, players, name, calls=calls)
        ours = encode(permuted, players, name, calls=permuted_calls(calls, number))
        agree(ours, permute_planes(planes, name, number), name, number)
    walls = np.tile(np.random.default_rng(0).permutation(136).astype(np.int16), (len(states), 1))
    hidden = encode(states, players, ORACLE, walls=walls)
    ours = encode(permuted, players, ORACLE, walls=permute_tiles(walls, number))
    agree(ours, permute_planes(hidden, ORACLE, number), ORACLE, number)


def test_a_renamed_state_has_the_renamed_legal_actions(positions: Positions) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(PERMUTATIONS, size=len(positions.states))
    permuted = permute_states(positions.states, numbers)
    rows = np.empty((48, 6), np.int16)
    for state, player, number, legal in zip(
        permuted, positions.players, numbers, positions.rows, strict=True
    ):
        count = legal_rows(state, int(player), rows)
        ours = {tuple(row) for row in rows[:count].tolist()}
        wanted = {tuple(row) for row in permuted_calls(legal, np.full(len(legal), number)).tolist()}
        assert {face(row) for row in ours} == {face(row) for row in wanted}


def face(row: tuple[int, ...]) -> tuple[object, ...]:
    """What a player sees of a row, whichever copies it names."""
    return row[0], *sorted((t >> 2, t in RED_FIVES) for t in row[1:] if t >= 0)


def test_mirrored_planes_show_indicators_that_fit_the_dora(positions: Positions) -> None:
    planes = permute_planes(encode(positions.states, positions.players, LITE), LITE, 6)
    indicators, dora = SETS[LITE].at("C1"), SETS[LITE].at("C2")
    after = [dora_of(kind) for kind in range(34)]
    assert np.array_equal(planes[:, dora : dora + 4, after], planes[:, indicators : indicators + 4])


def test_mixed_permutations_in_one_batch(positions: Positions) -> None:
    numbers = np.arange(len(positions.states)) % PERMUTATIONS
    planes = encode(positions.states, positions.players, LITE)
    mixed = permute_planes(planes, LITE, numbers)
    for number in range(PERMUTATIONS):
        rows = numbers == number
        assert np.array_equal(mixed[rows], permute_planes(planes[rows], LITE, number))


def test_labels_move_with_their_tiles() -> None:
    assert permute_kinds([0, 13, 33, -1], 6).tolist() == [8, 13, 33, -1]
    assert permute_tiles([0, 16, 52, 88, 135, -1], 6).tolist() == [32, 16, 52, 88, 135, -1]
    assert permute_tiles([[16, 52], [16, 52]], [0, 2]).tolist() == [[16, 52], [52, 16]]
    mask = np.zeros((2, 34), bool)
    mask[:, 2] = True
    assert np.argwhere(permute_columns(mask, [6, 2])).tolist() == [[0, 6], [1, 11]]


def test_a_permutation_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="0 to 11"):
        permute_kinds([0], 12)
