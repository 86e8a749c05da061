"""Legal actions, one situation for each rule."""

import pytest

from game.actions import PASS, ActionKind
from game.events import Pon
from game.melds import MeldKind
from tests.scene import Scene

K = ActionKind
READY = "123m456p789s1122z"


def test_a_turn_offers_every_face_once_and_the_drawn_copy_of_it() -> None:
    scene = Scene("123m406p789s1122z").draw("1z")
    assert scene.faces(K.DISCARD) == ["1m", "2m", "3m", "4p", "0p", "6p", "7s", "8s", "9s", "1z", "2z"]
    discarded = next(a for a in scene.legal() if a.kind is K.DISCARD and a.tile >> 2 == 27)
    assert discarded.tile == scene.record["drawn"]


def test_red_and_plain_fives_are_two_discards() -> None:
    scene = Scene("123m4055p789s112z").draw("1z")
    assert scene.faces(K.DISCARD).count("5p") == 1
    assert scene.faces(K.DISCARD).count("0p") == 1


def test_players_who_cannot_act_are_not_asked() -> None:
    scene = Scene("123m456p789s1122z").draw("9p")
    assert scene.legal(1) == []
    scene.discard("9p")
    assert scene.legal(0) == []
    scene.turn("9p")
    assert scene.legal(0) == []


@pytest.mark.parametrize(
    ("hand", "discarded", "chi"),
    [
        ("23m456p789s11225z", "1m", ["2m3m"]),
        ("1234m56p789s1122z", "2m", ["1m3m", "3m4m"]),
        ("3406m123p789s112z", "5m", ["3m4m", "4m6m"]),
        ("4055m123p789s112z", "6m", ["4m0m", "4m5m"]),
        ("89m123p789s11225z", "1p", ["2p3p"]),
        ("1289m23p789s1122z", "1z", []),
    ],
)
def test_chi_from_the_player_before(hand: str, discarded: str, chi: list[str]) -> None:
    scene = Scene(hand).own("4z", "4z").turn("4z").turn("4z").turn(discarded)
    assert sorted(scene.faces(K.CHI)) == sorted(chi)


def test_no_chi_from_others() -> None:
    scene = Scene("23m456p789s11225z").own("4z", "4z").turn("1m")
    assert K.CHI not in scene.kinds()


@pytest.mark.parametrize(
    ("hand", "discarded", "pon", "kan"),
    [
        ("123m055p789s1122z", "5p", ["0p5p", "5p5p"], 1),
        ("123m05p789s11223z", "5p", ["0p5p"], 0),
        ("123m455p789s1122z", "0p", ["5p5p"], 0),
        ("123m456p789s1112z", "1z", ["1z1z"], 1),
        ("123m456p789s1123z", "3z", [], 0),
    ],
)
def test_pon_and_open_kan_from_anybody(hand: str, discarded: str, pon: list[str], kan: int) -> None:
    scene = Scene(hand).own("4z", "4z").turn("4z").turn(discarded)
    assert sorted(scene.faces(K.PON)) == sorted(pon)
    assert len(scene.faces(K.DAIMINKAN)) == kan
    if pon:
        assert scene.legal()[-1] == PASS


@pytest.mark.parametrize(
    ("hand", "discarded", "own", "allowed"),
    [
        # 1m called into 123m: neither 1m nor 4m may be discarded next
        ("12344m56p789s11z4p", "1m", ("2m", "3m"), "4p 5p 6p 7s 8s 9s 1z"),
        # 9m called into 789m: nor 6m
        ("678m9m56p789s11z46p", "9m", ("7m", "8m"), "4p 5p 6p 7s 8s 9s 1z"),
        # a middle tile bars only itself
        ("1334m56p789s112z4p", "2m", ("1m", "3m"), "3m 4m 4p 5p 6p 7s 8s 9s 1z 2z"),
    ],
)
def test_kuikae(hand: str, discarded: str, own: tuple[str, str], allowed: str) -> None:
    scene = Scene(hand).own("4z", "4z").turn("4z").turn("4z").turn(discarded).chi(*own, player=0)
    assert scene.faces(K.DISCARD) == list(allowed.split())


@pytest.mark.parametrize(("discarded", "offered"), [("1p", False), ("4p", False), ("2p", True)])
def test_a_call_that_leaves_only_forbidden_tiles_is_no_call(discarded: str, offered: bool) -> None:
    scene = Scene("1234p112233z9m89s").own("4z", "4z")
    for wind, out in (("1z", "9m"), ("2z", "9s"), ("3z", "8s")):
        scene.turn(wind).pon(0).discard(out)
    scene.turn("9s").turn("9s").turn(discarded)
    assert (K.CHI in scene.kinds()) is offered


@pytest.mark.parametrize(
    ("hand", "points", "fields", "offered"),
    [
        (READY, 1000, {"wall_left": 4}, True),
        (READY, 900, {}, False),
        (READY, 1000, {"wall_left": 3}, False),
        (READY, 1000, {"is_open": [1, 0, 0, 0]}, False),
        ("123m456p789s1234z", 1000, {}, False),
    ],
)
def test_riichi_needs_points_tiles_and_a_closed_ready_hand(
    hand: str, points: int, fields: dict[str, object], offered: bool
) -> None:
    scene = Scene(hand, scores=(points, 40000, 40000, 20000 - points)).draw("9p")
    for name, value in fields.items():
        scene.record[name] = value
    assert (K.RIICHI in scene.kinds()) is offered


def test_after_declaring_only_discards_that_stay_ready() -> None:
    from game.events import Riichi

    scene = Scene("123m456p789s1122z").draw("9p").apply(Riichi(0))
    assert scene.faces(K.DISCARD) == ["9p"]
    assert scene.kinds() == {K.DISCARD}


def test_in_riichi_only_the_drawn_tile_may_be_discarded() -> None:
    scene = Scene("123m456p789s1122z").draw("9p").riichi("9p").turn("3p").turn("3p").turn("3p").draw("5s")
    assert [str(a) for a in scene.legal()] == ["discard 5s"]


@pytest.mark.parametrize(
    ("hand", "drawn", "allowed"),
    [
        ("111m456p789s1122z", "1m", True),
        # 2 3 4 4 4: without the triplet the waits on 1 and 4 disappear
        ("23444m456p789s11z", "4m", False),
        # the fourth tile must be the drawn one
        ("111123m456p99s22z", "4m", False),
    ],
)
def test_closed_kan_in_riichi_only_if_no_wait_changes(hand: str, drawn: str, allowed: bool) -> None:
    scene = Scene(hand).draw("9p")
    scene.riichi("9p").turn("3p").turn("3p").turn("3p").draw(drawn)
    assert (K.ANKAN in scene.kinds()) is allowed


@pytest.mark.parametrize(("wall_left", "kan_count", "allowed"), [(1, 3, True), (0, 3, False), (1, 4, False)])
def test_a_kan_needs_a_tile_to_draw_and_fewer_than_four_before_it(
    wall_left: int, kan_count: int, allowed: bool
) -> None:
    scene = Scene("1111m456p789s112z").draw("9p")
    scene.record["wall_left"] = wall_left
    scene.record["kan_count"] = kan_count
    assert (K.ANKAN in scene.kinds()) is allowed


def test_a_discard_after_four_kans_can_be_called_only_if_one_player_has_them_all() -> None:
    scene = Scene("123m456p789s1112z").own("4z", "4z").turn("1z")
    scene.record["kan_count"] = 4
    assert K.PON not in scene.kinds()
    scene.record["meld_count"][1] = 4
    scene.record["meld_kind"][1] = MeldKind.ANKAN
    assert scene.kinds() == {K.PON, K.PASS}


def test_added_kan_and_chankan() -> None:
    scene = Scene("123m78333s55p112z", others={2: "123456789m99s46p"})
    scene.own("9p", "9p").turn("5p").pon(0).discard("7s").turn("3p").own("1p", "1p").turn("3p").draw("0p")
    assert scene.faces(K.KAKAN) == ["5p5p5p"]
    scene.kakan("5p")
    assert scene.kinds(2) == {K.RON, K.PASS}
    assert scene.legal(0) == scene.legal(1) == []


def test_the_last_tile_can_only_be_won() -> None:
    scene = Scene("123m055p789s1122z").own("4z", "4z").turn("5p")
    assert scene.kinds() == {K.PON, K.DAIMINKAN, K.PASS}
    scene.record["wall_left"] = 0
    assert scene.legal() == []


def test_nine_terminals_on_the_first_draw_only() -> None:
    scene = Scene("19m19p19s1234567z").draw("2m")
    assert K.NINE_TERMINALS in scene.kinds()
    scene.discard("2m").turn("3m").turn("3m").turn("3m").draw("4m")
    assert K.NINE_TERMINALS not in scene.kinds()


@pytest.mark.parametrize(("hand", "offered"), [("19m19p19s123z2345m", True), ("19m19p19s12z23456m", False)])
def test_nine_terminals_need_nine_kinds(hand: str, offered: bool) -> None:
    assert (K.NINE_TERMINALS in Scene(hand).draw("7m").kinds()) is offered


def test_nine_terminals_is_gone_after_a_call() -> None:
    scene = Scene("19m19p19s1234567z", round_index=1).turn("5s")
    five = int(scene.record["last_tile"])
    scene.apply(Pon(3, 1, five, (five ^ 1, five ^ 2))).discard("6p").draw("4m")
    assert K.NINE_TERMINALS not in scene.kinds()


def test_ron_needs_a_yaku_and_no_furiten() -> None:
    value = Scene("23m456p789s11z555z").own("4z", "4z").turn("1m")
    assert K.RON in value.kinds()
    none = Scene("23m456p789s1133z2p").own("4z", "2p").turn("4m")
    assert K.RON not in none.kinds()
    missed = Scene("23m456p789s11z555z").own("4z", "4z").turn("1m").turn("4m")
    assert K.RON not in missed.kinds()
    discarded = Scene("123m456p789s11z55z").own("5z", "5z").turn("5z")
    assert K.RON not in discarded.kinds()
    riichi = Scene(READY).draw("9p").riichi("9p").turn("1z")
    assert K.RON in riichi.kinds()
    riichi.turn("3p").turn("3p").own("8p", "8p").turn("2z")
    assert K.RON not in riichi.kinds()


def test_tsumo_of_a_closed_hand_needs_no_more() -> None:
    scene = Scene("23m456p789s11z333s").own("4z", "4z").turn("3p").turn("3p").turn("3p").draw("4m")
    assert scene.legal()[0].kind is K.TSUMO
