"""A written position is that of the game it was written from; impossible ones are explained."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from game.actions import ActionKind
from game.events import Discard, Draw
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_TURN
from game.melds import MeldKind
from game.position import WrittenPosition, place
from game.position.notation import read_tiles
from game.position.writing import written
from game.scoring.dora import dora_of
from game.table.restore import seen_by
from game.table.table import Table
from game.tiles import face_of, tile_text
from kit.errors import PositionError
from tests.game.test_fold_against_engine import anyhow, boldly, clumped_wall
from tests.scale import scaled

HAND = "123m456p789s11z23z"
_ALIKE = (
    "round_index", "honba", "riichi_sticks", "dealer", "scores", "indicator_count", "wall_left", "kan_count",
    "phase", "turn", "last_player", "kuikae", "discard_count", "hand_known", "hand_size", "hand34", "seen34",
    "river_marks", "river_order", "river_size", "river34", "meld_kind", "meld_from",
    "meld_count", "is_open", "riichi", "riichi_order", "waits",
    "liable_dragons", "liable_winds",
)  # fmt: skip
_WITHOUT_OWN_KANS = (
    "ippatsu", "unbroken", "double_riichi", "meld_order", "safe34", "turn_safe34", "missed_turn",
    "missed_riichi",
)  # fmt: skip
"""The time of a kan that needs no discard is not written."""


def faces(record: np.void) -> list[list[int]]:
    """Every tile that is shown, as a face."""
    shown = [record["indicators"], *record["river"], *record["meld_called"], *record["meld_added"]]
    rows = [[face_of(int(t)) if t >= 0 else -1 for t in row] for row in shown]
    rows += [
        sorted(face_of(int(t)) for t in four if t >= 0) for of_one in record["meld_tiles"] for four in of_one
    ]
    return [
        *rows,
        [face_of(int(record[name])) if record[name] >= 0 else -1 for name in ("last_tile", "drawn")],
    ]


def can_be_written(record: np.void) -> bool:
    asked = record["phase"] in (PHASE_TURN, PHASE_CLAIM, PHASE_CALLED)
    declared = bool((record["riichi"] == 1).any()) and record["phase"] == PHASE_CALLED
    settled = record["indicator_count"] == 1 + record["kan_count"] and not record["rinshan"]
    return bool(asked and settled and not declared)


def test_positions_of_games_are_placed_as_they_were() -> None:
    met: Counter[str] = Counter()
    for seed in range(scaled(6, 30)):
        rng = random.Random(seed)
        seats = [rng.choice((anyhow, boldly)) for _ in range(4)]
        table = Table(seed, wall=clumped_wall(rng), round_index=seed % 8, honba=seed % 3)
        while not table.results:
            for player in table.waiting():
                if rng.random() < 0.25 and can_be_written(table.state):
                    check(seen_by(table.state, player), player, met)
            table.step({p: seats[p](rng, table, p, table.legal(p)) for p in table.waiting()})
    assert met["positions"] > scaled(100, 200)
    assert min(met[name] for name in ("own meld", "riichi", "kan", "offered", "called", "own kan")) > scaled(
        1, 5
    )


def check(record: np.void, player: int, met: Counter[str]) -> None:
    again = place(written(record, player)).observation
    found = again.record
    own_kans = np.isin(record["meld_kind"], (int(MeldKind.ANKAN), int(MeldKind.KAKAN)))
    for name in (*_ALIKE, *(() if own_kans.any() else _WITHOUT_OWN_KANS)):
        assert np.array_equal(found[name], record[name]), (name, found[name], record[name])
    assert faces(found) == faces(record)
    met["positions"] += 1
    met["own meld"] += int(record["meld_count"][player] > 0)
    met["riichi"] += int((record["riichi"] == 2).any())
    met["kan"] += int(record["kan_count"] > 0)
    met["own kan"] += int(own_kans[player].any())
    met["offered"] += int(record["phase"] == PHASE_CLAIM)
    met["called"] += int(record["phase"] == PHASE_CALLED)


def test_without_an_indicator_the_dora_has_nothing_to_do_with_the_hand() -> None:
    record = place(WrittenPosition(hand="1z123456789p1112s")).observation.record
    indicator = int(record["indicators"][0]) >> 2
    assert not record["hand34"][0][[indicator, dora_of(indicator)]].any()


def kinds(**stated: Any) -> set[ActionKind]:
    return {action.kind for action in place(WrittenPosition(**stated)).observation.legal}


def test_a_hand_alone_is_the_first_turn_of_the_round() -> None:
    placed = place(WrittenPosition(hand=HAND + "3z"))
    record = placed.observation.record
    assert (placed.turn, placed.knows_rivers, int(record["wall_left"])) == (1, False, 69)
    assert record["scores"].tolist() == [25000] * 4
    assert kinds(hand=HAND + "3z") == {ActionKind.DISCARD, ActionKind.RIICHI}


def test_a_later_turn_without_rivers_has_discards_that_nobody_has_seen() -> None:
    placed = place(WrittenPosition(hand=HAND + "3z", seat_wind=2, turn=7, melds=("", "", "55~5z", "")))
    record = placed.observation.record
    assert placed.turn == 7
    assert int(record["wall_left"]) < 46
    assert record["river_size"][placed.observation.player] == 6
    assert record["river_size"].min() >= 5
    assert int(record["discard_count"]) == record["river_size"].sum()
    assert record["seen34"].sum() == 1 + 3  # the indicator and the pon
    assert sorted(mask.bit_count() for mask in record["river34"].tolist()) == [0, 0, 0, 1]  # what was called
    assert not record["missed_turn"].any()
    assert not record["double_riichi"].any()
    assert not record["unbroken"]


def test_the_events_of_a_position_do_not_show_made_up_tiles() -> None:
    placed = place(WrittenPosition(hand=HAND + "3z", seat_wind=2, turn=7, melds=("", "", "55~5z", "")))
    player, events = placed.observation.player, placed.events
    thrown = [event.tile for event in events if isinstance(event, Discard)]
    assert [tile_text(tile) for tile in thrown if tile >= 0] == ["5z"]  # the tile called from us
    drawn = [event.tile for event in events if isinstance(event, Draw) and event.player == player]
    deal = events[0]
    own = [*deal.hands[player], *drawn]
    assert own.count(-1) == 5
    stated = [tile.face for tile in read_tiles(HAND + "3z", "the hand")]
    assert Counter(tile_text(tile) for tile in own if tile >= 0) == Counter([*stated, "5z"])


@pytest.mark.parametrize("kind", ["7z", "1z", "9s", "1m"])
def test_unknown_discards_are_never_those_that_a_call_forbids(kind: str) -> None:
    meld = f"{kind[0]}~{kind[0]}{kind[0]}{kind[1]}"
    for melds in ((meld, "", "", ""), ("", meld, "", ""), ("", "", meld, "")):
        hand = "2468p2468m22s" + ("" if melds[0] else "333s") + "5p"
        assert place(WrittenPosition(hand=hand, melds=melds)).observation.legal


def test_thirteen_tiles_wait_or_answer_a_discard() -> None:
    assert place(WrittenPosition(hand=HAND)).observation.legal == ()
    assert kinds(hand=HAND, offered="1z", offered_by=2) == {ActionKind.PON, ActionKind.PASS}
    assert ActionKind.RON in kinds(hand="123m456p789s11z22z", offered="1z", offered_by=1)


def test_a_tsumogiri_is_not_put_after_a_call_where_another_order_fits() -> None:
    rivers = ("5z3m1m1z6m6z9s", "2m7m1p2m4p2s~8m5m0p", "1s~3p_5z6z3z6m8p1s~1m", "3p3m5s2p5m~4s~5s_2z")
    melds = ("5~67m 4~44s", "111~s", "2~34s", "1~23s")
    placed = place(
        WrittenPosition(hand="57m9p57s25z2s", rivers=rivers, melds=melds, round_index=2, seat_wind=3)
    )
    assert placed.turn == 8


def test_the_offered_tile_is_the_last_discard_even_where_the_rivers_are_unknown() -> None:
    for turn in (None, 5):
        placed = place(
            WrittenPosition(hand="3406m345p34s5z", melds=("7~77z", "", "", ""), offered="5s", turn=turn)
        )
        record = placed.observation.record
        assert tile_text(int(record["last_tile"])) == "5s"
        assert int(record["last_player"]) == 3
        assert {action.kind for action in placed.observation.legal} == {ActionKind.CHI, ActionKind.PASS}


def test_a_riichi_pays_its_stick_unless_its_tile_is_still_offered() -> None:
    paid = place(WrittenPosition(hand=HAND + "3z", rivers=("1m", "2m!", "3m", "4m"))).observation.record
    assert (paid["scores"].tolist(), int(paid["riichi_sticks"])) == ([25000, 24000, 25000, 25000], 1)
    open_ = place(
        WrittenPosition(hand=HAND, rivers=("1m", "", "", ""), offered="1z!", offered_by=1)
    ).observation.record
    assert (open_["scores"].tolist(), int(open_["riichi_sticks"])) == ([25000] * 4, 0)


@pytest.mark.parametrize("hand", [HAND, HAND + "3z"])
def test_a_riichi_just_before_the_own_draw_is_paid(hand: str) -> None:
    record = place(WrittenPosition(hand=hand, seat_wind=1, rivers=("", "", "", "4m!"))).observation.record
    assert (record["scores"].tolist(), int(record["riichi_sticks"])) == ([24000, 25000, 25000, 25000], 1)
    assert record["riichi"].tolist() == [2, 0, 0, 0]


def test_scores_imply_the_sticks_on_the_table() -> None:
    record = place(WrittenPosition(hand=HAND + "3z", scores=(30000, 20000, 24000, 24000))).observation.record
    assert int(record["riichi_sticks"]) == 2


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"hand": "12m"}, "2 tiles with 0 melds; write 14 tiles on your turn"),
        ({"hand": HAND, "melds": ("555~z", "", "", "")}, "write 11 tiles on your turn"),
        ({"hand": "11111m456p789s112z"}, "four 1m, not 5"),
        ({"hand": "5555m456p789s1123z"}, "three, and one red 0m"),
        ({"hand": HAND, "rivers": ("", "1z1z1z", "", "")}, "four 1z, not 5 (2 in your hand, 3 in river of"),
        ({"hand": HAND + "8z"}, "there is no 8z"),
        ({"hand": "hello"}, "expected tiles such as"),
        ({"hand": "123"}, "no suit after '123'"),
        ({"hand": HAND + "3z", "rivers": ("1m2m", "3m", "3m", "3m")}, "without calls they have 2 (you), 2"),
        ({"hand": HAND + "3z", "rivers": ("1m", "3m", "3m", "3m"), "turn": 5}, "makes this turn 2"),
        ({"hand": HAND + "3z", "rivers": ("1m", "3m~", "3m", "3m")}, "no meld takes it"),
        ({"hand": HAND + "3z", "dora": "1m2m"}, "2 dora indicators with 0 kans"),
        ({"hand": HAND + "3z", "melds": ("", "1111m", "", "")}, "0 dora indicators with 1 kans"),
        ({"hand": HAND + "3z", "melds": ("", "555z", "", "")}, "from whom? Mark the called tile"),
        ({"hand": HAND + "3z", "melds": ("", "456z", "", "")}, "neither a run nor of one kind"),
        ({"hand": HAND + "3z", "melds": ("", "45m", "", "")}, "is no meld; write 1~23m"),
        ({"hand": HAND, "offered": "9m"}, "nothing to decide"),
        ({"hand": HAND + "3z", "offered": "9m"}, "while another player's tile is offered it has 13"),
        ({"hand": HAND, "offered": "9m9p"}, "expected one tile"),
        ({"hand": HAND + "3z", "scores": (30000, 30000, 30000, 30000)}, "add up to 120,000"),
        ({"hand": HAND + "3z", "scores": (25050, 24950, 25000, 25000)}, "end in 00"),
        ({"hand": HAND + "3z", "rivers": ("", "", "", "1m!"), "seat_wind": 1, "sticks": 0}, "at least 1"),
        ({"hand": "147m147p147s12345z", "rivers": ("2m!", "3m", "3m", "3m")}, "not ready"),
        (
            {"hand": "123m456p7s3z", "melds": ("55~5z 6~66z", "", "", ""), "rivers": ("2m3m", "", "", "6z~")},
            "fit no order of play with these melds",
        ),
        (
            {"hand": HAND + "4z", "rivers": ("5z~", "8s_", "3p", "4s"), "melds": ("", "5~55z", "", "")},
            "discard 8s (shimocha): the tile is not the one just drawn or discarded; check rivers, melds and",
        ),
        ({"hand": HAND + "3z", "after_call": True}, "there must be a meld of yours"),
        ({"hand": HAND + "3z", "turn": 30}, "turn 30: give 1 to 24"),
        ({"hand": HAND + "3z", "round_index": 8, "length": "tonpuu"}, "one of E1 to S4"),
    ],
)  # fmt: skip
def test_an_impossible_position_is_explained(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError) as refused:
        place(WrittenPosition(**stated))
    assert message in str(refused.value)
