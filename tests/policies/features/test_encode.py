"""Every group of planes against its reference, on decisions of real and random games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from game.layout import ROUND_STATE
from kit.jit import compiled_forms
from policies.features.encode import encode
from policies.features.table import HOSEI, LITE, ORACLE, SETS, SUPHX
from tests.policies.features.positions import Positions, random_positions, real_positions
from tests.policies.features.reference import GROUPS, View, group_la3
from tests.scale import scaled


@pytest.fixture(scope="module")
def real() -> Positions:
    return real_positions(3)


@pytest.fixture(scope="module")
def random() -> Positions:
    return random_positions(3, seed=5)


def compare(positions: Positions, name: str) -> None:
    """All groups of a set except LA1–LA3, exactly; reals to the nearest 1/255."""
    chosen = SETS[name]
    planes = encode(positions.seen, positions.players, name)
    for row, (state, player) in enumerate(zip(positions.seen, positions.players.tolist(), strict=True)):
        view = View(state, player)
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
    compare(real.every(scaled(12, 2)), name)


@pytest.mark.parametrize("name", [LITE, SUPHX])
def test_groups_on_random_games(random: Positions, name: str) -> None:
    compare(random.every(scaled(12, 1)), name)


def test_efficiency_on_real_games() -> None:
    compare_efficiency(real_positions(scaled(1, 60), "houou-01").every(scaled(29, 7)))


def test_efficiency_on_random_games(random: Positions) -> None:
    compare_efficiency(random.every(scaled(47, 7)))


def compare_efficiency(positions: Positions) -> None:
    at = SETS[LITE].at("LA3a")
    planes = encode(positions.seen, positions.players, LITE)
    for row, (state, player) in enumerate(zip(positions.seen, positions.players.tolist(), strict=True)):
        check(planes[row, at:], group_la3(View(state, player)), f"LA3 of row {row}")


@pytest.mark.parametrize("name", [LITE, SUPHX, HOSEI])
def test_only_what_the_player_knows_is_read(real: Positions, name: str) -> None:
    full = encode(real.states, real.players, name, deep=False)
    assert np.array_equal(full, encode(real.seen, real.players, name, deep=False))


@pytest.mark.parametrize("name", [LITE, SUPHX, HOSEI])
def test_a_batch_is_its_rows(real: Positions, name: str) -> None:
    part = real.every(4)
    planes = encode(part.states, part.players, name, threads=3)
    assert len(planes) > 128  # enough for several pieces
    for row in range(0, len(planes), 10):
        assert np.array_equal(encode(part.states[row], part.players[row], name)[0], planes[row])


def test_room_is_filled_whatever_lay_in_it(real: Positions) -> None:
    room = np.full((5, 239, 34), 77, np.uint8)
    assert encode(real.states[:5], real.players[:5], LITE, room) is room
    assert np.array_equal(room, encode(real.states[:5], real.players[:5], LITE))


@pytest.mark.parametrize("name", [LITE, SUPHX, HOSEI])
def test_no_array_layout_causes_another_compilation(real: Positions, name: str) -> None:
    encode(real.states[:1], real.players[:1], name)
    before = compiled_forms()
    fixed = real.states[:3].copy()
    fixed.flags.writeable = False
    encode(fixed, 1, name)
    encode(real.states[:9:2], real.players[:9:2].tolist(), name)
    assert encode(real.states[:0], 0, name).shape == (0, SETS[name].planes, 34)
    assert compiled_forms() == before


def test_a_tonpuu_game_ends_after_east(real: Positions) -> None:
    last = SETS[SUPHX].at("Q")
    state = real.seen[:1].copy()
    state["round_index"] = 3
    planes = [encode(state, real.players[:1], SUPHX, last_round=each, deep=False)[0, last] for each in (3, 7)]
    assert planes[0].all()
    assert not planes[1].any()
    both = encode(state[[0, 0]], real.players[:1].repeat(2), SUPHX, last_round=[3, 7], deep=False)[:, last]
    assert np.array_equal(both, planes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feature_set": "suphx-838/0"}, "no feature set"),
        ({"players": 4}, "0 to 3"),
        ({"states": np.zeros(1)}, "expected ROUND_STATE"),
        ({"out": np.zeros((1, 239, 34), np.float32)}, "contiguous uint8"),
        ({"feature_set": ORACLE}, "needs walls"),
    ],
)
def test_invalid_arrays_are_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"states": np.zeros(1, ROUND_STATE), "players": 0, "feature_set": LITE}
    with pytest.raises(ValueError, match=message):
        encode(**(given | change))
