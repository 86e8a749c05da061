"""The call models' planes: the state, the candidate meld, and the hand after it."""

from __future__ import annotations

import numpy as np
import pytest

from game.actions import ActionKind
from game.events import Ankan, Chi, Daiminkan, GameEvent, Kakan, Pon, RiichiAccepted
from game.layout import ROUND_STATE
from game.state import apply, clone
from policies.features.encode import called, encode
from policies.features.table import LITE, LITE_CALL, SETS, SUPHX, SUPHX_CALL
from tests.policies.features.positions import CALLS, Positions, random_positions, real_positions
from tests.policies.features.reference import View, group_la3, kinds, one_hot, stack, therm
from tests.policies.features.test_encode import check
from tests.scale import scaled
from tests.scene import Scene

CLAIMS = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN)


def event_of(state: np.void, player: int, row: list[int]) -> GameEvent:
    """The event for a row of the legal actions."""
    kind, tile, a, b, c, d = row
    source = int(state["last_player"])
    match kind:
        case ActionKind.CHI:
            return Chi(player, source, tile, (a, b))
        case ActionKind.PON:
            return Pon(player, source, tile, (a, b))
        case ActionKind.DAIMINKAN:
            return Daiminkan(player, source, tile, (a, b, c))
        case ActionKind.ANKAN:
            return Ankan(player, (a, b, c, d))
        case _:
            return Kakan(player, tile, (a, b, c))


@pytest.fixture(scope="module", params=["real", "random"])
def positions(request: pytest.FixtureRequest) -> Positions:
    return real_positions(scaled(1, 12)) if request.param == "real" else random_positions(3, seed=5)


def test_all_kinds_of_calls_are_met() -> None:
    found = {int(row[0]) for row in random_positions(3, seed=5).candidates()[2]}
    assert found == {int(kind) for kind in CALLS}


@pytest.mark.parametrize(("name", "base"), [(LITE_CALL, LITE), (SUPHX_CALL, SUPHX)])
def test_calls_against_the_fold(positions: Positions, name: str, base: str) -> None:
    states, players, calls = positions.candidates(scaled(15, 1))
    chosen = SETS[name]
    planes = encode(states, players, name, calls=calls)
    assert np.array_equal(planes[:, : SETS[base].planes], encode(states, players, base))
    after = called(states, players, calls)
    start, look = chosen.at("R1"), chosen.at("LA3a'")
    for row in range(0, len(states), scaled(1, 5)):
        state, player, call = states[row], int(players[row]), calls[row].tolist()
        folded = clone(state)
        if call[0] in CLAIMS and state["riichi"][state["last_player"]] == 1:
            apply(folded, RiichiAccepted(int(state["last_player"])))
        apply(folded, event_of(state, player, call))
        assert folded == after[row]
        where = f"row {row}: {call}"
        check(planes[row, start : start + 12], candidate(state, player, call), where)
        check(planes[row, look:], group_la3(View(folded, player)), where)


def candidate(state: np.void, player: int, row: list[int]) -> np.ndarray:
    """Group R: the meld, the called tile, a red five of mine, the discarder, the kind of call."""
    kind, tile, *own = row
    own = [t for t in own if t >= 0]
    mine = [tile] if kind == ActionKind.KAKAN else own
    source = (int(state["last_player"]) - player) % 4
    return stack(
        therm((t >> 2 for t in [*own, tile] if t >= 0), 4),
        kinds([tile >> 2] if tile >= 0 else []),
        kinds(t >> 2 for t in mine if t in (16, 52, 88)),
        one_hot(source - 1, 3) if kind in CLAIMS else np.zeros((3, 34)),
        one_hot({ActionKind.CHI: 0, ActionKind.PON: 1}.get(ActionKind(kind), 2), 3),
    )


def test_the_planes_after_a_call_are_those_of_the_hand_then() -> None:
    scene = Scene("23m406p789s11223z").own("4z", "4z").turn("5z").turn("6z").turn("1m")
    states = np.array([scene.record], ROUND_STATE)
    chi = next(a for a in scene.legal() if a.kind is ActionKind.CHI)
    row = np.array([[ActionKind.CHI, chi.tile, *chi.consumed, -1, -1]], np.int16)
    planes = encode(states, 0, SUPHX_CALL, calls=row)[0]
    chosen = SETS[SUPHX_CALL]
    kept, given_up = planes[chosen.at("LA3a'")], planes[chosen.at("LA3a'") + 1]
    assert np.flatnonzero(kept).tolist() == [29]  # 3z is the only spare tile
    assert given_up.any()


def test_a_row_that_is_no_call_is_refused() -> None:
    scene = Scene().draw("3z")
    states = np.array([scene.record], ROUND_STATE)
    with pytest.raises(ValueError, match=r"calls\[0\] does not fit"):
        encode(states, 0, SUPHX_CALL, calls=np.array([[ActionKind.CHI, 4, 8, 12, -1, -1]], np.int16))
    with pytest.raises(ValueError, match="needs calls"):
        encode(states, 0, SUPHX_CALL)
    assert encode(states, 0, LITE).shape == (1, 239, 34)
