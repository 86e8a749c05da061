from __future__ import annotations

import numpy as np
import pytest

from game.layout import AT_HAND
from game.shanten import shanten
from game.tiles import RED_FIVES
from learning.data.hidden import hidden_hands
from policies.features.permute import SUIT_PERMUTATIONS
from tests.policies.features.permuting import permute_states
from tests.policies.hands.models import real_moments


def test_hands_are_those_of_the_record() -> None:
    states, players = real_moments(12, 61)
    found = hidden_hands(states, players.astype(np.int8))
    for row, (state, player) in enumerate(zip(states, players.tolist(), strict=True)):
        for step in range(4):
            other = (player + step) % 4
            assert (found.copies[row, step] == state["hand34"][other]).all()
            reds = [int(state["where"][tile]) == AT_HAND + other for tile in RED_FIVES]
            assert found.reds[row, step].tolist() == reds
        for seat in range(3):
            other = (player + seat + 1) % 4
            hand34, melds = state["hand34"][other], int(state["meld_count"][other])
            assert found.shanten[row, seat] == shanten(hand34, melds)
            waits = sum(1 << int(kind) for kind in np.flatnonzero(found.waits[row, seat]))
            assert waits == int(state["waits"][other])
            assert (found.waits[row, seat] | ~found.deal_ins[row, seat]).all()
            assert found.riichi[row, seat] == (state["riichi"][other] > 0)
        seen = state["seen34"] + state["hand34"][player]
        assert (found.unseen[row] == 4 - seen).all()


def test_only_waits_that_can_win_deal_in() -> None:
    states, players = real_moments(12, 61)
    found = hidden_hands(states, players.astype(np.int8))
    ready, dealing = found.waits.any(2), found.deal_ins.any(2)
    assert (ready & ~dealing).any()
    for row, seat in np.argwhere(ready):
        other = (players[row] + seat + 1) % 4
        state = states[row : row + 1][0]
        furiten = bool(
            state["missed_turn"][other]
            or state["missed_riichi"][other]
            or int(state["waits"][other]) & int(state["river34"][other])
        )
        assert not (furiten and dealing[row, seat])
        if state["riichi"][other] and not furiten:
            assert (found.deal_ins[row, seat] == found.waits[row, seat]).all()


@pytest.mark.parametrize("number", range(1, SUIT_PERMUTATIONS))
def test_hands_are_permuted_as_states_are(number: int) -> None:
    states, players = (each[:40] for each in real_moments(12, 61))
    numbers = np.full(len(states), number)
    whose = players.astype(np.int8)
    for one, other in zip(
        hidden_hands(permute_states(states, numbers), whose),
        hidden_hands(states, whose, numbers),
        strict=True,
    ):
        assert (one == other).all()
