"""The call models' planes: the state, the candidate meld, and the hand after it."""

from __future__ import annotations

import numpy as np
import pytest

from game.actions import Action, ActionKind
from game.events import RiichiAccepted
from game.layout import ROUND_STATE
from game.state import apply, clone
from policies.features.encode import called, encode
from policies.features.table import LITE, SUPHX_CALL
from tests.forbidden_play import event_of
from tests.policies.features.positions import CALLS, random_positions
from tests.scene import Scene


def test_the_state_after_a_call_is_that_of_the_fold() -> None:
    states, players, calls = random_positions(3, seed=5).candidates()
    assert {int(row[0]) for row in calls} == {int(kind) for kind in CALLS}
    for state, player, row, after in zip(
        states, players.tolist(), calls.tolist(), called(states, players, calls), strict=True
    ):
        action = Action(ActionKind(row[0]), row[1], tuple(tile for tile in row[2:] if tile >= 0))
        folded = clone(state)
        if action.kind < ActionKind.ANKAN and state["riichi"][state["last_player"]] == 1:
            apply(folded, RiichiAccepted(int(state["last_player"])))
        apply(folded, event_of(player, action, state))
        assert folded == after


def test_a_row_that_is_no_call_is_refused() -> None:
    scene = Scene().draw("3z")
    states = np.array([scene.record], ROUND_STATE)
    with pytest.raises(ValueError, match=r"calls\[0\] does not fit"):
        encode(states, 0, SUPHX_CALL, calls=np.array([[ActionKind.CHI, 4, 8, 12, -1, -1]], np.int16))
    with pytest.raises(ValueError, match="give calls"):
        encode(states, 0, SUPHX_CALL)
    assert encode(states, 0, LITE).shape == (1, 239, 34)
