"""The place of the called tile in a run."""

from __future__ import annotations

import numpy as np
import pytest

from game.actions import Action, ActionKind
from game.rules import action_row
from game.tiles import parse_hand
from policies.features.permute import mirrored_places, places_in_run
from tests.policies.features.positions import permuted_calls


@pytest.mark.parametrize(
    ("text", "place"), [("123m", 1), ("213m", 2), ("312m", 3), ("0s46s", 2), ("789p", 1)]
)
def test_a_mirrored_call_is_at_the_mirrored_place(text: str, place: int) -> None:
    called, *own = parse_hand(text)
    calls = np.array([action_row(Action(ActionKind.CHI, called, tuple(own)))], np.int16)
    assert places_in_run(calls).tolist() == [place]
    for number in range(12):
        numbers = np.array([number])
        assert mirrored_places(np.array([place]), numbers) == places_in_run(permuted_calls(calls, numbers))


def test_none_stays_none() -> None:
    numbers = np.array([0, 5, 6, 11, 6, 7])
    assert mirrored_places(np.array([1, 1, 1, 2, 3, 0]), numbers).tolist() == [1, 1, 3, 2, 1, 0]
