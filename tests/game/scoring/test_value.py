from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from game.layout import AT_HAND, PHASE_CLAIM, PHASE_TURN
from game.melds import Meld, MeldKind, decode_meld
from game.scoring.settlement import deltas
from game.scoring.value import WinContext, WinValue, context_of, evaluate, has_yaku
from game.state import new_round
from game.tiles import parse_hand
from tests.scene import Scene

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "recorded_wins.jsonl").read_text().splitlines()
]
"""Wins of real games, attributes as in mjlog: all yaku and limits seen, many fu, double rons, pao."""


def recorded_context(win: dict[str, Any]) -> WinContext:
    """The circumstances of a win; those the record does not state are inferred from its yaku."""
    yaku = set(win.get("yaku", [])[::2])
    return WinContext(
        hand=tuple(win["hai"]),
        tile=win["machi"],
        is_tsumo=win["who"] == win["from"],
        melds=tuple(decode_meld(code) for code in reversed(win.get("m", []))),
        seat_wind=(win["who"] - win["round"]) % 4,
        round_wind=win["round"] // 4,
        riichi=2 if 21 in yaku else int(1 in yaku),
        ippatsu=2 in yaku,
        rinshan=4 in yaku,
        chankan=3 in yaku,
        last_tile=bool(yaku & {5, 6}),
        first_turn=bool(set(win.get("yakuman", [])) & {37, 38}),
        dora_indicators=tuple(win["dora"]),
        ura_indicators=tuple(win.get("ura", [])),
    )


@pytest.mark.parametrize("win", RECORDED, ids=[f"{i}-{win['ten']}" for i, win in enumerate(RECORDED)])
def test_recorded_win_has_its_stated_value_and_payments(win: dict[str, Any]) -> None:
    value = evaluate(recorded_context(win))
    yaku = win.get("yaku", [])
    assert [value.fu, value.points, value.limit] == win["ten"]
    assert value.yaku == tuple(zip(yaku[::2], yaku[1::2], strict=True))
    assert value.yakuman == tuple(win.get("yakuman", []))
    honba, sticks = win["ba"]
    dealer = win["round"] % 4
    paid = deltas(
        value, win["who"], win["from"], dealer, honba=honba, riichi_sticks=sticks, liable=win["pao"]
    )
    assert [change // 100 for change in paid] == win["deltas"]


def test_recorded_wins_cover_every_yaku_seen_in_play() -> None:
    yaku = {i for win in RECORDED for i in win.get("yaku", [])[::2]}
    yakuman = {i for win in RECORDED for i in win.get("yakuman", [])}
    assert yaku == set(range(36)) - {17} | {52, 53, 54}  # 17: no North round exists
    assert yakuman == set(range(37, 51)) - {45, 46}  # no win with nine gates or four kans in the data


@dataclass(frozen=True)
class Hand:
    """A win in short form: concealed tiles with the winning one last, melds as text."""

    hand: str
    melds: str = ""
    tsumo: bool = False
    dealer: bool = False
    riichi: int = 0
    rinshan: bool = False
    first: bool = False
    dora: str = "1z"
    ura: str = ""

    def value(self) -> WinValue | None:
        tiles = parse_hand(self.hand)
        return evaluate(
            WinContext(
                hand=tuple(sorted(tiles)),
                tile=tiles[-1],
                is_tsumo=self.tsumo,
                melds=tuple(text_meld(text) for text in self.melds.split()),
                seat_wind=0 if self.dealer else 3,
                riichi=self.riichi,
                rinshan=self.rinshan,
                first_turn=self.first,
                dora_indicators=tuple(parse_hand(self.dora)),
                ura_indicators=tuple(parse_hand(self.ura)),
            )
        )


def text_meld(text: str) -> Meld:
    """``"123m"`` a chi, ``"111z"`` a pon, ``"1111z"`` a closed kan, ``"+1111z"`` an open one."""
    tiles = tuple(parse_hand(text.lstrip("+")))
    if len(tiles) == 4:
        return Meld(MeldKind.DAIMINKAN if text[0] == "+" else MeldKind.ANKAN, tiles)
    return Meld(MeldKind.PON if tiles[0] >> 2 == tiles[1] >> 2 else MeldKind.CHI, tiles)


RULES = [
    # rule, win, (fu, points, limit), han
    ("no kiriage at 4 han 30 fu", Hand("234678m23488p56s4s", riichi=1, dora="1s3s"), (30, 7700, 0), 4),
    ("nor for the dealer", Hand("234678m23488p56s4s", riichi=1, dealer=True, dora="1s3s"), (30, 11600, 0), 4),
    ("no kiriage at 3 han 60 fu", Hand("99p23m1m", "1111s 555z 345s", dora="8p"), (60, 7700, 0), 3),
    (
        "a tsumo of 7,700 is 7,900",
        Hand("99p234m55s5s", "555z 345p", tsumo=True, dora="8p2m"),
        (30, 7900, 0),
        4,
    ),
    ("a double wind pair has 4 fu", Hand("123456m79p11z345s8p", dealer=True, riichi=1), (40, 2000, 0), 1),
    (
        "a rinshan tsumo has its 2 fu",
        Hand("33m45p567s6p", "+2222s 345m", tsumo=True, rinshan=True),
        (30, 2000, 0),
        2,
    ),
    ("an open hand without fu has 30", Hand("23455m678p34s2s", "345p"), (30, 1000, 0), 1),
    ("a pinfu tsumo has 20 fu", Hand("234567m234p55p56s7s", tsumo=True, riichi=1), (20, 5200, 0), 4),
    ("seven pairs have 25 fu", Hand("1133m5577p2299s4z4z"), (25, 1600, 0), 2),
    ("two pairs of runs beat seven pairs", Hand("112233m445566p7s7s"), (40, 5200, 0), 3),
    ("5 han", Hand("234678m23488p56s4s", riichi=1, dora="1s3s4s"), (30, 8000, 1), 5),
    ("6 han", Hand("234678m23488p56s4s", riichi=1, dora="1s3s4s5s"), (30, 12000, 2), 6),
    ("8 han", Hand("234678m23488p56s4s", riichi=1, dora="1s3s4s5s3m7p"), (30, 16000, 3), 9),
    ("11 han", Hand("234678m23488p56s4s", riichi=1, dora="1s3s4s5s3m7p1m2m"), (30, 24000, 4), 11),
    ("13 han", Hand("234678m23488p56s4s", riichi=1, dora="1s3s4s5s3m7p1m2m7p"), (30, 32000, 5), 13),
]


@pytest.mark.parametrize(("rule", "hand", "stated", "han"), RULES, ids=[row[0] for row in RULES])
def test_rule(rule: str, hand: Hand, stated: tuple[int, int, int], han: int) -> None:
    value = hand.value()
    assert ((value.fu, value.points, value.limit), value.han) == (stated, han)


YAKUMAN = [
    (Hand("19m19p19s1234567z1z"), (48,), 32000),
    (Hand("19m19p19s1123456z7z"), (47,), 32000),
    (Hand("111m444p77s99s222z7s", tsumo=True), (40,), 32000),
    (Hand("111m444p777s222z9s9s"), (41,), 32000),
    (Hand("1112345678999m5m"), (46,), 32000),
    (Hand("1112345678899m9m"), (45,), 32000),
    (Hand("22334466688s66z6z"), (43,), 32000),
    (Hand("234567m234p55p56s7s", tsumo=True, first=True), (38,), 32000),
    (Hand("44z555z666z77z7z", "111z"), (39, 42), 64000),
    (Hand("222m444p77799s11z1z", tsumo=True, first=True, dealer=True), (37, 40), 96000),
    (Hand("5z5z", "1111z +2222z 3333z +4444z"), (51, 49, 42), 96000),
    (Hand("5z5z", "1111z 2222z 3333z 4444z"), (51, 49, 41, 42), 128000),
]


@pytest.mark.parametrize(("hand", "yakuman", "points"), YAKUMAN)
def test_yakuman_count_once_each_and_add_up(hand: Hand, yakuman: tuple[int, ...], points: int) -> None:
    value = hand.value()
    assert (value.yakuman, value.yaku, value.points, value.limit) == (yakuman, (), points, 5)


def test_ura_is_listed_on_every_riichi_win_and_on_no_other() -> None:
    tiles = "234678m23488p56s4s"

    def last_yaku(hand: Hand) -> tuple[int, int]:
        value = hand.value()
        return value.yaku[-1]

    assert last_yaku(Hand(tiles, riichi=1, ura="1z")) == (53, 0)
    assert last_yaku(Hand(tiles, riichi=1, ura="7p7p")) == (53, 4)
    assert last_yaku(Hand(tiles, ura="7p")) == (8, 1)


def test_honours_are_listed_as_their_triplets_stand() -> None:
    value = Hand("22m77z7z", "444z 666z 345p").value()
    assert [yaku_id for yaku_id, _ in value.yaku] == [20, 13, 19]


def test_no_yaku_is_no_win_whatever_the_dora() -> None:
    assert Hand("123m406p11s78s9s", "789p", dora="9s3p").value() is None


def test_incomplete_hand_is_no_win() -> None:
    assert Hand("123m456p1179s1z", "789p").value() is None
    assert Hand("123m456p1179s135z").value() is None


def drawn(scene: Scene) -> WinContext:
    return context_of(scene.record, 0, int(scene.record["drawn"]), 0)


def offered(scene: Scene) -> WinContext:
    return context_of(scene.record, 0, int(scene.record["last_tile"]), int(scene.record["last_player"]))


HAND = "123456789m1122z"


def test_riichi_on_the_first_discard_and_a_tsumo_in_the_same_turn() -> None:
    scene = Scene(HAND, dora="5s", round_index=4).draw("9p").riichi("9p")
    for tile in ("1p", "2p", "3p"):
        scene.turn(tile)
    context = drawn(scene.draw("1z"))
    assert (context.riichi, context.ippatsu, context.is_tsumo, context.first_turn) == (2, True, True, False)
    assert (context.seat_wind, context.round_wind, context.is_dealer) == (0, 1, True)
    assert len(context.hand) == 14
    value = evaluate(context)
    assert value.yaku == ((21, 2), (2, 1), (0, 1), (24, 2), (10, 1), (34, 3), (53, 0))


def test_a_call_ends_the_chance_of_ippatsu() -> None:
    scene = Scene(HAND, dora="5s").draw("8m").riichi("8m").turn("7p")
    assert offered(scene).ippatsu
    scene.pon(3).discard("4s")
    assert not offered(scene).ippatsu


def test_a_win_on_the_first_draw_is_a_yakuman_without_calls() -> None:
    dealer = drawn(Scene(HAND, dora="5s").draw("1z"))
    assert (dealer.first_turn, dealer.is_dealer) == (True, True)
    other = drawn(Scene(HAND, dora="5s", round_index=3).turn("9p").draw("1z"))
    assert (other.first_turn, other.is_dealer) == (True, False)
    called = Scene(HAND, dora="5s", round_index=2).turn("9p").pon(3).discard("9s").draw("1z")
    assert not drawn(called).first_turn
    ron = offered(Scene(HAND, dora="5s", round_index=3).turn("1z"))
    assert not ron.first_turn


def test_last_draw_and_last_discard() -> None:
    own = Scene(HAND, dora="5s").draw("9p")
    assert not drawn(own).last_tile
    own.record["wall_left"] = 0
    assert drawn(own).last_tile
    others = Scene(HAND, dora="5s", round_index=3).turn("1z")
    others.record["wall_left"] = 0
    context = offered(others)
    assert (context.last_tile, context.is_tsumo, len(context.hand)) == (True, False, 14)


def test_the_last_replacement_tile_is_rinshan_and_not_haitei() -> None:
    scene = Scene("1111m234567p789s", dora="5z").draw("7p").ankan("1m").draw("7p")
    scene.record["wall_left"] = 0
    context = drawn(scene)
    assert (context.rinshan, context.last_tile) == (True, False)
    assert [meld.kind for meld in context.melds] == [MeldKind.ANKAN]


def test_the_tile_of_an_added_kan_is_chankan_and_a_yaku() -> None:
    scene = Scene("456789m23p11555s", dora="5z").own("9s", "9s").turn("4p")
    tile = int(scene.record["last_tile"])
    assert evaluate(offered(scene)) is None
    assert not has_yaku(scene.record, 0, tile, is_tsumo=False)
    scene.pon(2).discard("9p").turn("8s").own("1z", "1z").turn("2z")
    scene.draw().kakan("4p")
    value = evaluate(offered(scene))
    assert value.yaku == ((3, 1),)
    assert has_yaku(scene.record, 0, int(scene.record["last_tile"]), is_tsumo=False)


def test_a_hidden_hand_has_no_context() -> None:
    scene = Scene(HAND, dora="5s").draw("9p").discard("9p")
    with pytest.raises(ValueError, match="player 1 is not known"):
        context_of(scene.record, 1, 0, 0)


@st.composite
def finished_rounds(draw: st.DrawFn) -> tuple[np.void, int, bool]:
    """A record in which player 0 may win with a complete hand, the winning tile, and whether it was drawn."""
    open_sets = draw(st.integers(0, 3))
    lowest = st.one_of(st.integers(0, 33).map(lambda kind: (kind,) * 3), st.sampled_from(RUNS))
    sets = draw(st.lists(lowest, min_size=4, max_size=4))
    pair = draw(st.integers(0, 33))
    free = {kind: [4 * kind + copy for copy in range(4)] for kind in range(34)}
    tiles = []
    for kind in [kind for kinds in sets for kind in kinds] + [pair, pair]:
        assume(free[kind])
        tiles.append(free[kind].pop())
    hand = tiles[3 * open_sets :]
    tile = draw(st.sampled_from(hand))
    is_tsumo = draw(st.booleans())
    record = new_round()
    record["phase"] = PHASE_TURN if is_tsumo else PHASE_CLAIM
    record["dealer"] = draw(st.integers(0, 3))
    record["round_index"] = record["dealer"] + 4 * draw(st.integers(0, 1))
    record["wall_left"] = draw(st.integers(0, 2))
    record["rinshan"] = is_tsumo and draw(st.booleans())
    record["river_size"] = 1
    record["hand_known"][0] = 1
    for held in hand:
        if is_tsumo or held != tile:
            record["where"][held] = AT_HAND
            record["hand34"][0, held >> 2] += 1
    record["meld_count"][0] = open_sets
    record["is_open"][0] = open_sets > 0
    record["meld_tiles"] = -1
    for slot in range(open_sets):
        meld = sorted(tiles[3 * slot : 3 * slot + 3])
        record["meld_kind"][0, slot] = MeldKind.PON if meld[0] >> 2 == meld[1] >> 2 else MeldKind.CHI
        record["meld_tiles"][0, slot, :3] = meld
    return record, tile, is_tsumo


RUNS = [(kind, kind + 1, kind + 2) for kind in range(27) if kind % 9 < 7]


@settings(deadline=None)
@given(finished_rounds())
def test_has_yaku_agrees_with_the_value(finished: tuple[np.void, int, bool]) -> None:
    record, tile, is_tsumo = finished
    value = evaluate(context_of(record, 0, tile, 0 if is_tsumo else 1))
    assert has_yaku(record, 0, tile, is_tsumo) == (value is not None)
