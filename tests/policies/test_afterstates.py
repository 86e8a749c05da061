"""Afterstates: the fold's own, of a tile that one would choose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from game.errors import StateMismatchError
from game.events import Discard
from game.layout import AT_HAND
from game.state import apply, clone
from game.tiles import RED_FIVES
from policies.afterstates import after_discards
from policies.features.kinds import kinds_of
from policies.rollout import Rollout, Seating
from policies.trajectories import Recorder, Trajectory
from tests.policies.models import a_policy


@pytest.fixture(scope="module")
def game() -> Trajectory:
    recorder = Recorder(a_policy(tower="suits"))
    games = Rollout([recorder], length="tonpuu").play([Seating(0, 0, (0, 0, 0, 0))])
    return recorder.take(next(games))


def copies(record: np.void, player: int, kind: int) -> Iterator[int]:
    return (tile for tile in range(4 * kind, 4 * kind + 4) if record["where"][tile] == AT_HAND + player)


def test_each_discard_leads_where_the_fold_says(game: Trajectory) -> None:
    decisions, before = game.decisions, game.decisions.tobytes()
    kinds = kinds_of(decisions["legal"])
    after = after_discards(decisions["state"], decisions["player"], kinds)
    assert len(after.rows) == kinds.sum() > 1_000
    red = drawn = 0
    for state, row, kind in zip(after.states, after.rows, after.kinds, strict=True):
        record, player = decisions["state"][row], int(decisions["player"][row])
        held = list(copies(record, player, kind))
        tile = int(state["last_tile"])
        assert tile in held
        plain = [each for each in held if each not in RED_FIVES]
        assert tile in plain or not plain
        assert tile == record["drawn"] or record["drawn"] not in plain
        expected = clone(record)
        apply(expected, Discard(player, tile, tile == record["drawn"]))
        assert (state == expected).all()
        red, drawn = red + (tile in RED_FIVES), drawn + (tile == record["drawn"])
    assert red
    assert drawn
    unchanged = decisions.tobytes() == before
    assert unchanged


def test_what_is_not_held_cannot_be_discarded(game: Trajectory) -> None:
    decision = game.decisions[:1]
    missing = np.flatnonzero(decision["state"]["hand34"][0, int(decision["player"][0])] == 0)[0]
    kinds = np.zeros((1, 34), bool)
    kinds[0, missing] = True
    with pytest.raises(StateMismatchError, match="a discard does not fit"):
        after_discards(decision["state"], decision["player"], kinds)
