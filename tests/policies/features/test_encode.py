"""Every group of planes by its digest, and how arrays are given and returned."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from game.layout import ROUND_STATE
from game.state import new_round
from kit.jit import compiled_forms
from policies.features.encode import encode
from policies.features.table import HOSEI, LITE, ORACLE, SETS, SUPHX
from tests.policies.features.digests import FILE, SOURCES
from tests.policies.features.positions import Positions, real_positions


@pytest.fixture(scope="module")
def real() -> Positions:
    return real_positions(3)


@pytest.mark.parametrize("source", SOURCES)
def test_the_planes_are_those_of_the_digests(source: str) -> None:
    found, wanted = SOURCES[source](), json.loads(FILE.read_text("utf-8"))[source]
    changed = {group for group, _ in found.items() ^ wanted.items()}
    assert not changed, "if meant, run python -m tests.policies.features.digests"


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
        ({"feature_set": ORACLE}, "give walls"),
    ],
)
def test_invalid_arrays_are_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"states": np.zeros(1, ROUND_STATE), "players": 0, "feature_set": LITE}
    with pytest.raises(ValueError, match=message):
        encode(**(given | change))


def test_unknown_hands_stay_empty() -> None:
    empty = np.array([new_round()], ROUND_STATE)
    assert not encode(empty, 0, ORACLE, walls=np.full((1, 136), -1, np.int16)).any()
