"""Walls in deal order: the places of the hands."""

from __future__ import annotations

import pytest

from game.table.walls import dealt_hands, dealt_places, round_wall, with_hands
from game.tiles import TILES, UNSEEN


@pytest.mark.parametrize("dealer", range(4))
def test_a_wall_with_hands_deals_them(dealer: int) -> None:
    wall = round_wall(5, dealer)
    hands = dealt_hands(round_wall(6, dealer), dealer)
    made = with_hands(wall, hands, dealer)
    assert dealt_hands(made, dealer) == hands
    assert made[52:] == wall[52:]
    assert wall == round_wall(5, dealer)
    again = with_hands(made, dealt_hands(wall, dealer), dealer)
    assert sorted(again) == list(range(TILES))
    assert dealt_hands(again, dealer) == dealt_hands(wall, dealer)


def test_every_tile_before_the_first_draw_is_dealt_to_one_player() -> None:
    assert sorted(place for player in range(4) for place in dealt_places(player, 2)) == list(range(52))
    assert dealt_places(3, 2) == [4, 5, 6, 7, 20, 21, 22, 23, 36, 37, 38, 39, 49]


@pytest.mark.parametrize("size", [12, 14])
def test_a_hand_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="zip"):
        with_hands([UNSEEN] * TILES, [range(size)] * 4, 0)
