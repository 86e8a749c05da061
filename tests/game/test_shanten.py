"""Shanten, waits and accepted tiles: hands a player recognises, checked with slower methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mahjong.shanten import Shanten
from numpy.typing import NDArray

from game import shanten_table
from game.shanten import (
    NO_SHANTEN,
    accepted,
    discard_table,
    shanten,
    shanten_normal,
    shanten_seven_pairs,
    shanten_thirteen_orphans,
    ukeire,
    waits,
)
from game.tiles import kind_text, parse_hand
from tests.scale import scaled

Hand = NDArray[np.int8]


def counts(text: str) -> Hand:
    return np.bincount([tile >> 2 for tile in parse_hand(text)], minlength=34).astype(np.int8)


def kinds(mask: int) -> str:
    """``"1m 4m"`` for the kinds of a mask."""
    return " ".join(kind_text(kind) for kind in range(34) if mask >> kind & 1)


@pytest.mark.parametrize(
    ("hand", "melds", "normal", "pairs", "orphans"),
    [
        ("123m456p789s11122z", 0, -1, 4, 8),
        ("123m456p789s1112z", 0, 0, 5, 8),
        ("147m258p369s1234z", 0, 8, 6, 7),  # no connected tiles
        ("147m258p369s12345z", 0, 8, 6, 6),
        ("1199m1199p1199s1z", 0, 3, 0, 5),
        ("1199m1199p1199s11z", 0, 3, -1, 5),
        ("1111m2222p3333s44z", 0, 1, 5, 10),  # four of a kind count as one pair
        ("19m19p19s1234567z", 0, 8, 6, 0),
        ("19m19p19s12345677z", 0, 7, 5, -1),
        ("19m19p19s1234566z", 0, 7, 5, 0),
        ("22334455667788m", 0, -1, -1, 13),  # two pairs of equal sequences, and seven pairs
        ("1112345678999m", 0, 0, 4, 10),
        ("11123455678999m", 0, -1, 3, 10),
        ("1m", 4, 0, 12, 12),
        ("11m", 4, -1, 11, 11),
        ("12m", 4, 0, 11, 12),
        ("1234m", 3, 0, 9, 12),
        ("1357m", 3, 1, 9, 12),
        ("1111m", 3, 1, 11, 11),  # the pair's second copy does not exist
        ("111m1111z222z333z", 0, 1, 5, 8),
        ("1111m111z222z333z", 0, 1, 5, 8),
        ("1111m1111z222z33z", 0, 1, 5, 8),
    ],
)
def test_a_hand_is_so_far_from_each_form(
    hand: str, melds: int, normal: int, pairs: int, orphans: int
) -> None:
    hand34 = counts(hand)
    assert shanten_normal(hand34, melds) == normal
    assert shanten_seven_pairs(hand34) == pairs
    assert shanten_thirteen_orphans(hand34) == orphans
    assert shanten(hand34, melds) == (min(normal, pairs, orphans) if melds == 0 else normal)


@pytest.mark.parametrize(
    ("hand", "melds", "expected"),
    [
        ("123m456p789s1122z", 0, "1z 2z"),
        ("123m456p78s11222z", 0, "6s 9s"),
        ("123m456p89s11222z", 0, "7s"),
        ("123m456p79s11222z", 0, "8s"),
        ("123m456p789s1112z", 0, "2z"),
        ("1112345678999m", 0, "1m 2m 3m 4m 5m 6m 7m 8m 9m"),
        ("2223456777m", 1, "1m 2m 3m 4m 5m 6m 7m 8m"),
        ("23456m11p", 2, "1m 4m 7m"),
        ("1113m", 3, "2m 3m"),
        ("1199m1199p1199s1z", 0, "1z"),
        ("2233445566778m", 0, "2m 5m 8m"),  # both as sequences and as seven pairs
        ("19m19p19s1234567z", 0, "1m 9m 1p 9p 1s 9s 1z 2z 3z 4z 5z 6z 7z"),
        ("19m19p19s1234566z", 0, "7z"),
        ("147m258p369s1234z", 0, ""),
        # all four copies in the concealed hand
        ("1111m111z222z333z", 0, ""),
        ("1111m", 3, ""),
        ("1111234m", 2, "4m"),
        ("1111223344556m", 0, "2m 3m 5m 6m"),
        ("1111m2233p4455s6z", 0, ""),  # four of a kind are not two pairs
        ("5m", 4, "5m"),  # even with three in an own meld, which is not counted here
    ],
)
def test_a_ready_hand_waits_on(hand: str, melds: int, expected: str) -> None:
    assert kinds(waits(counts(hand), melds)) == expected


def test_a_mask_reaches_python_as_a_plain_int() -> None:
    mask = waits(counts("19m19p19s1234567z"), 0)
    assert type(mask) is int
    assert mask.bit_count() == 13


def test_accepted_tiles_are_those_of_every_form_as_near_as_the_nearest() -> None:
    # 1-shanten both for sequences and for seven pairs
    distance, mask = accepted(counts("1122m3344p5566s7z"), 0)
    assert (distance, kinds(mask)) == (0, "7z")
    distance, mask = accepted(counts("223344m5567p778s"), 0)
    assert distance == 1
    assert mask == brute_accepted(counts("223344m5567p778s"), 0)


def test_ukeire_counts_unseen_copies_and_keeps_exhausted_kinds() -> None:
    hand34 = counts("123m456p78s11222z")
    unseen34 = np.full(34, 4, np.int8) - hand34
    unseen34[23] = 0  # 6s
    distance, mask, copies = ukeire(hand34, 0, unseen34)
    assert (distance, kinds(mask), copies) == (0, "6s 9s", 4)


def test_each_discard_is_listed_with_its_ukeire() -> None:
    hand34 = counts("123m456p78s112225z")
    before = hand34.copy()
    distances, masks, copies = table_of(hand34, 0)
    assert np.array_equal(hand34, before)
    assert (distances[31], kinds(masks[31]), copies[31]) == (0, "6s 9s", 8)
    assert distances[24] == 1
    assert (distances[8], masks[8], copies[8]) == (NO_SHANTEN, 0, 0)


def table_of(hand34: Hand, melds: int) -> tuple[Hand, NDArray[np.uint64], NDArray[np.int16]]:
    distances, masks, copies = np.zeros(34, np.int8), np.zeros(34, np.uint64), np.zeros(34, np.int16)
    discard_table(hand34, melds, np.full(34, 4, np.int8) - hand34, distances, masks, copies)
    return distances, masks, copies


# --- slower ways ------------------------------------------------------------------------------------------


def with_one_more(hand34: Hand, kind: int) -> Hand:
    more = hand34.copy()
    more[kind] += 1
    return more


def brute_accepted(hand34: Hand, melds: int) -> int:
    distance = shanten(hand34, melds)
    return sum(
        1 << kind
        for kind in range(34)
        if hand34[kind] < 4 and shanten(with_one_more(hand34, kind), melds) < distance
    )


@st.composite
def hands(draw: st.DrawFn, extra: int) -> tuple[Hand, int]:
    """A hand of 3n + ``extra`` tiles and its melds, often with few kinds so that it is nearly complete."""
    melds = draw(st.integers(0, 4))
    pool = draw(st.sampled_from([range(136), range(24), range(36), range(72), range(96, 136), range(60, 84)]))
    size = 12 - 3 * melds + extra
    tiles = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size, unique=True))
    return np.bincount([tile >> 2 for tile in tiles], minlength=34).astype(np.int8), melds


@given(hands(1))
def test_accepted_kinds_are_those_that_lower_the_distance(case: tuple[Hand, int]) -> None:
    hand34, melds = case
    assert accepted(hand34, melds) == (shanten(hand34, melds), brute_accepted(hand34, melds))


@given(hands(1))
def test_there_are_waits_exactly_in_tenpai(case: tuple[Hand, int]) -> None:
    hand34, melds = case
    mask = waits(hand34, melds)
    assert bool(mask) == (shanten(hand34, melds) == 0)
    for kind in range(34):
        completes = hand34[kind] < 4 and shanten(with_one_more(hand34, kind), melds) < 0
        assert bool(mask >> kind & 1) == completes


@given(hands(2))
def test_the_discard_table_agrees_with_ukeire_after_each_discard(case: tuple[Hand, int]) -> None:
    hand34, melds = case
    unseen34 = np.full(34, 4, np.int8) - hand34
    distances, masks, copies = table_of(hand34, melds)
    for kind in range(34):
        row = (distances[kind], masks[kind], copies[kind])
        if hand34[kind] == 0:
            assert row == (NO_SHANTEN, 0, 0)
        else:
            left = hand34 - (np.arange(34) == kind).astype(np.int8)
            assert row == ukeire(left, melds, unseen34)


def test_it_agrees_with_the_mahjong_library() -> None:
    rng = np.random.default_rng(1)
    for _ in range(scaled(300, 200_000)):
        melds = int(rng.integers(0, 5))
        # of one or two suits, hands are closer to ready
        wall = 4 * rng.choice((34, 18, 16, 9))
        tiles = rng.choice(wall, 13 - 3 * melds + rng.integers(0, 2), replace=False)
        hand34 = np.bincount(tiles >> 2, minlength=34).astype(np.int8)
        closed = melds == 0
        theirs = Shanten.calculate_shanten(hand34.tolist(), use_chiitoitsu=closed, use_kokushi=closed)
        assert shanten(hand34, melds) == theirs, f"{hand34} with {melds} melds"


@pytest.mark.parametrize("count", [-128, -1, 5, 7, 127])
def test_impossible_counts_read_nothing_outside_the_tables(count: int) -> None:
    for melds in (-3, 0, 4, 9):
        hand34 = np.full(34, count, np.int8)
        shanten(hand34, melds)
        accepted(hand34, melds)


# --- the tables -------------------------------------------------------------------------------------------


def test_every_table_entry_has_the_tiles_its_holding_lacks() -> None:
    tables = shanten_table.load()
    empty = tables.missing[tables.offset[0] + tables.order[0]]
    lanes = [int(empty) >> 7 * lane & 127 for lane in range(9)]
    assert lanes == [3, 6, 9, 12, 2, 5, 8, 11, 14]


def test_a_damaged_table_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path))
    good = shanten_table.load()
    (kept,) = (tmp_path / "tables").iterdir()
    whole = kept.read_bytes()
    for damaged in (whole[:-8], whole[:50_000] + b"?" + whole[50_001:]):
        kept.write_bytes(damaged)
        assert np.array_equal(shanten_table.load().missing, good.missing)
        assert kept.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path / "file"))
    assert shanten_table.load().missing.size > 448_480
