from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.events import Four
from game.scoring.settlement import (
    GameLength,
    deltas,
    draw_deltas,
    final_results,
    final_scores,
    game_over,
    liable_player,
    nagashi_deltas,
    next_round,
    placements,
)
from game.scoring.value import LIMIT_YAKUMAN, WinValue
from game.state import new_round


def value(base: int, *yakuman: int) -> WinValue:
    limit = LIMIT_YAKUMAN if yakuman else 0
    return WinValue(fu=30, han=4, points=0, limit=limit, yaku=(), yakuman=yakuman, base=base)


NO_KIRIAGE = value(1920)
DAISANGEN = value(8000, 39)
DAISANGEN_ALL_HONOURS = value(16000, 39, 42)

PAYMENTS: list[tuple[str, Four, Four]] = [
    ("ron", deltas(NO_KIRIAGE, 1, 2, 0), (0, 7700, -7700, 0)),
    ("dealer ron", deltas(NO_KIRIAGE, 0, 2, 0), (11600, 0, -11600, 0)),
    ("tsumo", deltas(NO_KIRIAGE, 1, 1, 0), (-3900, 7900, -2000, -2000)),
    ("dealer tsumo", deltas(NO_KIRIAGE, 0, 0, 0), (11700, -3900, -3900, -3900)),
    (
        "ron with honba and sticks",
        deltas(NO_KIRIAGE, 1, 2, 0, honba=2, riichi_sticks=3),
        (0, 11300, -8300, 0),
    ),
    ("tsumo with honba", deltas(NO_KIRIAGE, 1, 1, 0, honba=2), (-4100, 8500, -2200, -2200)),
    # pao; these four as in recorded games
    (
        "liable pays a tsumo alone",
        deltas(DAISANGEN, 0, 0, 0, honba=1, riichi_sticks=1, liable=2),
        (49300, 0, -48300, 0),
    ),
    (
        "other yakuman included",
        deltas(DAISANGEN_ALL_HONOURS, 0, 0, 3, honba=3, liable=2),
        (64900, 0, -64900, 0),
    ),
    ("half of a ron", deltas(DAISANGEN, 0, 1, 2, liable=3), (32000, -16000, 0, -16000)),
    (
        "and all of its honba",
        deltas(DAISANGEN, 0, 3, 0, honba=1, riichi_sticks=2, liable=2),
        (50300, 0, -24300, -24000),
    ),
    ("the liable player discards", deltas(DAISANGEN, 0, 3, 1, honba=1, liable=3), (32300, 0, 0, -32300)),
]


@pytest.mark.parametrize(("name", "got", "wanted"), PAYMENTS, ids=[row[0] for row in PAYMENTS])
def test_payment(name: str, got: Four, wanted: Four) -> None:
    assert got == wanted, name


@given(
    st.sampled_from([240, 320, 400, 960, 1280, 1920, 2000, 3000, 4000, 6000, 8000, 16000]),
    *[st.integers(0, 3)] * 3,
    st.integers(0, 20),
    st.integers(0, 8),
    st.integers(-1, 3),
)
def test_payments_lose_only_the_sticks(
    base: int, player: int, source: int, dealer: int, honba: int, sticks: int, liable: int
) -> None:
    if liable == player or base < 8000:
        liable = -1  # there is no liability for less than a yakuman
    paid = deltas(value(base), player, source, dealer, honba=honba, riichi_sticks=sticks, liable=liable)
    assert sum(paid) == 1000 * sticks
    assert paid[player] > 0
    assert all(change <= 0 for other, change in enumerate(paid) if other != player)
    assert all(change % 100 == 0 for change in paid)


def test_liability_is_for_the_yakuman_it_completed() -> None:
    record = new_round()
    record["liable_dragons"] = [-1, 3, -1, -1]
    record["liable_winds"] = [-1, -1, 0, -1]
    assert liable_player(record, 1, DAISANGEN) == 3
    assert liable_player(record, 1, value(8000, 42)) == -1
    assert liable_player(record, 2, value(16000, 49, 42)) == 0
    assert liable_player(record, 2, value(8000, 50)) == -1
    assert liable_player(record, 0, DAISANGEN) == -1


@pytest.mark.parametrize(
    ("tenpai", "wanted"),
    [
        ([False] * 4, (0, 0, 0, 0)),
        ([True] * 4, (0, 0, 0, 0)),
        ([False, True, False, False], (-1000, 3000, -1000, -1000)),
        ([True, False, False, True], (1500, -1500, -1500, 1500)),
        ([True, True, True, False], (1000, 1000, 1000, -3000)),
    ],
)
def test_exhaustive_draw(tenpai: list[bool], wanted: Four) -> None:
    assert draw_deltas(tenpai) == wanted


@pytest.mark.parametrize(
    ("players", "dealer", "wanted"),
    [
        ([0], 0, (12000, -4000, -4000, -4000)),
        ([2], 0, (-4000, -2000, 8000, -2000)),
        ([0, 2], 0, (8000, -6000, 4000, -6000)),
    ],
)
def test_nagashi_mangan(players: list[int], dealer: int, wanted: Four) -> None:
    assert nagashi_deltas(players, dealer) == wanted


def test_ties_go_by_seat_order_in_the_first_round() -> None:
    assert placements([25000, 25000, 25000, 25000]) == (1, 2, 3, 4)
    assert placements([10000, 40000, 10000, 40000]) == (3, 1, 4, 2)


def test_sticks_left_go_to_first_place() -> None:
    assert final_scores([24000, 37000, 37000, 0], 2) == (24000, 39000, 37000, 0)


def test_results_as_observed() -> None:
    # two games of April 2024; until 2022 they were rounded to whole points
    assert final_results([16300, 46000, 23400, 14300]) == (-237, 560, 34, -357)
    assert final_results([57900, 27600, -1100, 15600]) == (679, 76, -511, -244)


@given(st.lists(st.integers(-500, 1500), min_size=3, max_size=3))
def test_results_sum_to_nothing(hundreds: list[int]) -> None:
    scores = [100 * score for score in [*hundreds, 1000 - sum(hundreds)]]
    assert sum(final_results(scores)) == 0


@pytest.mark.parametrize(
    ("played", "repeats", "won", "wanted"),
    [
        ((0, 0), True, True, (0, 1)),  # dealer wins
        ((0, 2), False, True, (1, 0)),  # another wins
        ((3, 2), True, False, (3, 3)),  # dealer tenpai, or an abort
        ((3, 2), False, False, (4, 3)),  # dealer noten
        ((7, 0), False, False, (8, 1)),  # into the West
    ],
)
def test_next_round(played: tuple[int, int], repeats: bool, won: bool, wanted: tuple[int, int]) -> None:
    assert next_round(*played, dealer_repeats=repeats, won=won) == wanted


LAST: dict[GameLength, int] = {"tonpuu": 3, "hanchan": 7}


@pytest.mark.parametrize("length", ["tonpuu", "hanchan"])
@pytest.mark.parametrize(
    ("after_last", "repeats", "scores", "over"),
    [
        (-1, False, (50000, 20000, 20000, 10000), False),
        (-1, True, (-100, 60000, 20000, 20100), True),  # a score below 0 ends it at any point
        (-1, False, (0, 60000, 20000, 20000), False),  # a score of 0 does not
        (0, False, (30000, 20000, 25000, 25000), True),
        (0, False, (29900, 20100, 25000, 25000), False),  # no player has 30,000: the next wind
        (0, True, (20000, 20000, 20000, 40000), True),  # the dealer (3) is first and the game ends
        (0, True, (40000, 10000, 10000, 40000), False),  # the dealer is only second, by seat order
        (0, True, (25000, 25000, 20200, 29800), False),  # the dealer is first without 30,000
        (1, False, (25000, 25000, 20000, 30000), True),  # sudden death
        (1, False, (25000, 25000, 24900, 25100), False),
        (1, True, (30000, 25000, 20000, 25000), True),  # the dealer (0) ends it there too
        (1, True, (25000, 30000, 20000, 25000), False),
        (4, False, (25000, 25000, 24900, 25100), True),  # the next wind is over
        (4, True, (25000, 25000, 24900, 25100), False),
    ],
)
def test_game_over(length: GameLength, after_last: int, repeats: bool, scores: Four, over: bool) -> None:
    assert game_over(LAST[length] + after_last, repeats, scores, length, aborted=False) == over


def test_an_abort_never_ends_a_game() -> None:
    assert not game_over(7, True, (20000, 20000, 20000, 40000), "hanchan", aborted=True)
