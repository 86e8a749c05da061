from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from game.layout import AT_HAND, PHASE_TURN, ROUND_STATE
from game.state import new_round
from game.tiles import parse_hand
from policies.features.deep.credit import THRESHOLDS
from policies.features.deep.planes import STEPS, lookahead_deep
from policies.features.table import ONE


def deep(record: np.void, player: int) -> NDArray[np.uint8]:
    out = np.full((1, 72, 34), 7, np.uint8)
    lookahead_deep(np.array([record], ROUND_STATE), np.array([player], np.int8), out)
    return out[0]


def hand_record(hand: str, river: str = "", indicator: str = "4z", player: int = 1) -> np.void:
    """A closed hand in East 1 of which nothing has been seen; draws for 18 turns remain."""
    record = new_round()
    tiles = parse_hand(hand)
    record["where"][tiles] = AT_HAND + player
    for tile in tiles:
        record["hand34"][player, tile >> 2] += 1
    for tile in parse_hand(river) if river else []:
        record["seen34"][tile >> 2] += 1
        record["river34"][player] |= np.uint64(1 << (tile >> 2))
    record["indicators"][0] = parse_hand(indicator)[0]
    record["indicator_count"] = 1
    record["seen34"][record["indicators"][0] >> 2] += 1
    record["scores"] = 25000
    record["wall_left"] = 60
    record["hand_known"][player] = 1
    record["turn"] = player
    record["phase"] = PHASE_TURN
    return record


def highest(planes: NDArray[np.uint8], missing: int, at: int) -> int:
    """The highest threshold reached with this many missing tiles."""
    steps = planes[STEPS * (missing - 1) : STEPS * missing, at]
    return max((least for least, seen in zip(THRESHOLDS, steps, strict=True) if seen), default=0)


def test_ready_hand_shows_its_points() -> None:
    planes = deep(hand_record("234567m34588p67s3z", indicator="7p"), 1)
    assert highest(planes, 1, 29) == 8000  # riichi, pinfu, all simples, two dora: 5 han
    assert highest(planes, 1, 16) == 0


def test_furiten_wait_is_worth_its_tsumo() -> None:
    ready = "234567m34588p67s3z"
    by_ron = deep(hand_record(ready), 1)
    assert highest(by_ron, 1, 29) == 3000  # riichi, pinfu, all simples: 3,900
    by_draw = deep(hand_record(ready, river="8s"), 1)
    assert highest(by_draw, 1, 29) == 5000  # and tsumo, at 20 fu: 1,300 and 2,600


def test_red_five_counts_while_it_is_kept() -> None:
    plain, red = deep(hand_record("234m55678p23455s1z"), 1), deep(hand_record("234m05678p23455s1z"), 1)
    assert highest(plain, 1, 27) == 2000  # riichi, all simples: 2,600
    assert highest(red, 1, 27) == 5000


def test_hand_with_all_copies_gone_is_not_reached() -> None:
    record = hand_record("123m456p789s1123z4z", indicator="4z")
    before = deep(record, 1)
    for kind in (28, 29):
        record["seen34"][kind] = 3
    assert deep(record, 1)[:STEPS, :].sum() <= before[:STEPS, :].sum()
    record["seen34"] = 4 - record["hand34"][1]
    assert not deep(record, 1).any()


def test_far_hand_is_empty() -> None:
    assert not deep(hand_record("147m258p369s12345z"), 1).any()


def test_without_draws_left_only_la1_is_marked() -> None:
    record = hand_record("234567m34588p67s3z")
    record["wall_left"] = 0
    planes = deep(record, 1)
    assert planes[:36].any()
    assert not planes[36:].any()


def test_chance_of_a_wait_is_its_share_of_the_draws() -> None:
    planes = deep(hand_record("234567m34588p67s3z"), 1)
    expected = 8 * 15 / (136 - 14 - 1)  # 8 copies, 15 draws
    assert planes[36, 29] == round(ONE * (1 + np.log10(expected) / 6))
