from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from game.melds import MeldKind
from game.scoring.fast import win_points
from game.scoring.hand_parts import FRAME, add_meld, set_frame
from game.scoring.value import WinContext, evaluate
from game.tiles import RED_FIVES, parse_hand
from tests.game.random_wins import random_wins
from tests.game.scoring.test_value import RECORDED, recorded_context
from tests.scale import scaled

SEEN_SELDOM = {37, 38, 45, 46}  # wins on the first draw, nine gates
NEVER = {17, 36}  # no North round, no renhou


def dora_kind(indicator: int) -> int:
    kind = indicator >> 2
    if kind >= 31:
        return 31 + (kind - 30) % 3
    if kind >= 27:
        return 27 + (kind - 26) % 4
    return kind + 1 if kind % 9 < 8 else kind - 8


def fast_points(context: WinContext) -> int:
    frame = np.zeros(FRAME, np.int64)
    marks = (context.ippatsu, context.rinshan, context.chankan, context.last_tile)
    set_frame(
        frame, context.seat_wind, context.round_wind, context.riichi + sum(marks), int(context.first_turn)
    )
    tiles = list(context.hand)
    for meld in context.melds:
        add_meld(frame, int(meld.kind), min(meld.tiles) >> 2)
        tiles += meld.tiles
    hand34 = np.zeros(34, np.int8)
    for tile in context.hand:
        hand34[tile >> 2] += 1
    held = Counter(tile >> 2 for tile in tiles)
    dora = sum(held[dora_kind(shown)] for shown in context.dora_indicators + context.ura_indicators)
    dora += sum(tile in RED_FIVES for tile in tiles)
    return int(win_points(hand34, context.tile >> 2, context.is_tsumo, dora, frame))


def check(seed: int, count: int) -> Counter[int]:
    """Compare random wins with `game.scoring.value`; how often each yaku occurred."""
    seen: Counter[int] = Counter()
    for context in random_wins(seed, count):
        value = evaluate.__wrapped__(context)
        assert fast_points(context) == (value.points if value else 0), context
        if value:
            seen.update(value.yakuman)
            seen.update(yaku for yaku, _ in value.yaku)
        else:
            seen[-1] += 1
    return seen


def test_random_wins_have_the_judges_points() -> None:
    count = scaled(6_000, 100_000)
    seen = check(seed=2, count=count)
    seldom = SEEN_SELDOM if count < 100_000 else set()
    assert set(range(55)) <= seen.keys() | seldom | NEVER
    assert seen[-1] > 100  # hands without a yaku


def test_recorded_wins_have_their_stated_points() -> None:
    for win in RECORDED:
        assert fast_points(recorded_context(win)) == win["ten"][1]


@pytest.mark.parametrize(
    ("hand", "tile", "is_tsumo", "points"),
    [
        ("234678m345p22678s", "2m", False, 2000),  # pinfu, all simples
        ("234678m345p22678s", "2m", True, 2700),  # and tsumo at 20 fu
        ("111222333m99p123s", "1m", False, 8000),  # three equal sequences: pure outside hand, iipeikou, pinfu
        ("22334455667788p", "5p", True, 16000 + 8000),  # two pairs of equal sequences beat seven pairs
        ("1122m3344p5566s77z", "7z", False, 1600),  # seven pairs: 25 fu
        ("19m19p19s12345677z", "7z", False, 32000),
        ("123m456p789s1122z", "1z", False, 0),  # not complete
        ("123m456m789p123s1z", "1z", False, 0),  # 13 tiles
    ],
)
def test_hand_is_read_in_its_dearest_way(hand: str, tile: str, is_tsumo: bool, points: int) -> None:
    tiles = parse_hand(hand)
    context = WinContext(hand=tuple(tiles), tile=parse_hand(tile)[0], is_tsumo=is_tsumo, seat_wind=1)
    assert fast_points(context) == points


def test_melds_do_not_count_as_concealed() -> None:
    frame = np.zeros(FRAME, np.int64)
    set_frame(frame, 1, 0, 0, 0)
    for low34 in (0, 10, 20):
        add_meld(frame, int(MeldKind.PON), low34)
    hand34 = np.zeros(34, np.int8)
    hand34[[31, 33]] = 3, 2
    assert win_points(hand34, 33, False, 0, frame) == 5200  # white and all triplets: 3 han, 40 fu
