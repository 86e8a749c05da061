"""The frames a table sends, step by step, in the order seen in real sessions."""

from __future__ import annotations

import json
import random
import re

import pytest

from bot.tenhou.messages import DeclareRiichi, DiscardTile, Ready, Respond, parse_server, render_json
from bot.tenhou.messages import ResponseType as C
from game.actions import ActionKind as K
from game.events import Discard
from game.state import hand_tiles
from game.tiles import tile_text
from kit.errors import RemoteProtocolError
from replays.mjlog.reader import read_record
from replays.mjlog.writer import write
from tests.bot.tenhou.lobby.at_table import GAME_ID, QUIET, READY, AtTable
from tests.stacked import stacked_wall

# --- seating ------------------------------------------------------------------------------------------


def test_a_match_is_told_in_three_frames_seen_from_each_seat() -> None:
    at = AtTable(ready=False)
    go, un, taikyoku = at.heard(1)
    assert go == {"tag": "GO", "type": "9", "lobby": "0", "gpid": "CODE1"}
    assert [un[f"n{seat}"] for seat in range(4)] == ["%70%31", "%70%32", "%70%33", "%70%30"]
    assert taikyoku == {"tag": "TAIKYOKU", "oya": "3", "log": GAME_ID}


def test_the_first_deal_waits_for_all_players() -> None:
    at = AtTable(ready=False)
    at.forget()
    for player in range(3):
        at.say(player, Ready())
    assert at.tags(0) == []
    at.say(3, Ready())
    assert at.tags(0)[0] == "INIT"


def test_the_first_deal_waits_ten_seconds_at_most() -> None:
    at = AtTable(ready=False)
    at.forget()
    at.wait(9.9)
    assert at.top.phase == "seating"
    at.wait(0.1)
    assert at.tags(2) == ["INIT", "V"]
    assert at.tags(0)[:2] == ["INIT", "T"]


def test_a_deal_shows_a_player_only_its_own_hand() -> None:
    at = AtTable(stacked_wall(QUIET, indicators="5m"))
    init = next(frame for frame in at.heard(3) if frame["tag"] == "INIT")
    assert sorted(init) == ["hai", "oya", "seed", "tag", "ten"]
    assert len(init["hai"].split(",")) == 13
    assert init["oya"] == "1"
    assert init["ten"] == "250,250,250,250"


# --- turns --------------------------------------------------------------------------------------------


def test_own_echo_is_upper_case_and_others_see_tsumogiri_in_lower_case() -> None:
    at = AtTable(stacked_wall(QUIET, draws="6z6z"))
    at.forget()
    at.throw("6z")
    assert at.tags(0)[0] == "D"
    assert at.tags(3)[0] == "e"
    at.throw("1z")
    assert "F" in at.tags(3)


def test_only_players_who_may_act_get_an_offer() -> None:
    hands = ("147m258p369s1234z", "147m258p369s1234z", "55m147p369s12567z", "28m369p147s56677z")
    at = AtTable(stacked_wall(hands, draws="5m"))
    at.forget()
    at.act(0, K.DISCARD, "5m")
    told = {player: at.tags(player)[0] for player in range(4)}
    assert told == {0: "D", 1: "g", 2: "f 1", 3: "e"}


def test_a_table_waits_for_every_answer_before_a_call_is_shown() -> None:
    hands = ("147m258p369s1234z", "467m258p369s1237z", "55m147p369s12567z", "")
    at = AtTable(stacked_wall(hands, draws="5m"))
    at.forget()
    at.act(0, K.DISCARD, "5m")
    assert (at.tags(1), at.tags(2)) == (["g 4"], ["f 1"])
    at.act(1, K.CHI)
    assert at.tags(3) == ["e"]
    at.act(2, K.PON)
    # the pon takes precedence over the chi
    assert at.tags(1) == ["N 1"]
    assert at.tags(2) == ["N 0"]


# --- kans and their indicators ------------------------------------------------------------------------


def test_own_ankan_shows_its_indicator_before_the_replacement() -> None:
    at = AtTable(stacked_wall(("1111z258m258p369s", "", "", ""), draws="9p", indicators="5m6m"))
    at.forget()
    at.act(0, K.ANKAN)
    assert at.tags(0) == ["N 0", "DORA", "T"]
    assert at.tags(1) == ["N 3", "DORA", "W"]


def test_own_daiminkan_shows_its_indicator_just_before_the_echo() -> None:
    hands = ("147m258p369s1234z", "", "555m147p369s1234z", "")
    at = AtTable(stacked_wall(hands, draws="0m", replacements="9p", indicators="5s6s"))
    at.forget()
    at.act(0, K.DISCARD, "0m")
    assert at.tags(2) == ["f 3"]
    at.say(2, Respond(C.DAIMINKAN))
    assert at.tags(2) == ["N 0", "T"]
    at.throw("9p")
    assert at.tags(2)[:2] == ["DORA", "D"]
    assert at.tags(0)[1:5] == ["N 2", "V", "DORA", "f"]


def test_own_kakan_shows_its_indicator_just_before_the_echo() -> None:
    hands = ("147m258p369s1123z", "", "", "")
    at = AtTable(stacked_wall(hands, draws="9m1z9p9p9s1z", replacements="9p", indicators="5s6s"))
    at.throw("9m")
    at.act(1, K.DISCARD, "1z")
    at.act(0, K.PON)
    at.throw("2z", "9p", "9p", "9s")
    at.forget()
    at.act(0, K.KAKAN)
    assert (at.tags(0), at.tags(3)) == (["N 0", "T"], ["N 1", "U"])
    at.throw("9p")
    assert at.tags(0)[:2] == ["DORA", "D"]
    assert at.tags(3)[:2] == ["DORA", "e"]


def test_an_added_tile_is_offered_to_a_robber_with_the_meld() -> None:
    hands = ("55m1479p258s1234z", "269m369p147s1234z", "18m28p369s556677z", "46m123456p78999s")
    at = AtTable(stacked_wall(hands, draws="9m5m9p9p8p0m"))
    at.throw("9m")
    at.act(1, K.DISCARD, "5m")
    at.act(0, K.PON)
    at.throw("1z", "9p", "9p", "8p")
    at.forget()
    at.act(0, K.KAKAN)
    assert {player: at.tags(player) for player in range(4)} == {
        0: ["N 0"],
        1: ["N 3"],
        2: ["N 2"],
        3: ["N 8 1"],
    }
    at.say(3, Respond(C.RON))
    won = at.heard(3)[0]
    assert (won["tag"], won["machi"], won["yaku"].split(",")[:2]) == ("AGARI", "16", ["3", "1"])


# --- riichi -------------------------------------------------------------------------------------------

WAITS_9S = "111222333z78s55p"


def test_riichi_is_two_steps_around_the_discard() -> None:
    at = AtTable(stacked_wall((READY, *QUIET[1:]), draws="9s9p"))
    at.forget()
    at.say(0, DeclareRiichi())
    assert at.tags(1) == ["REACH 1 3"]
    at.throw("9s")
    step1, echo, step2 = at.heard(0)[:3]
    assert (step1, echo["tag"][0]) == ({"tag": "REACH", "who": "0", "step": "1"}, "D")
    assert step2 == {"tag": "REACH", "who": "0", "ten": "240,250,250,250", "step": "2"}
    assert at.heard(2)[2]["ten"] == "250,250,240,250"


def test_riichi_and_its_discard_may_come_back_to_back() -> None:
    at = AtTable(stacked_wall((READY, *QUIET[1:]), draws="9s9p"))
    drawn = int(at.top.table.state["drawn"])
    at.say(0, DeclareRiichi(drawn))
    at.say(0, DiscardTile(drawn))
    assert Discard(0, drawn, tsumogiri=True) in at.top.events


def test_a_riichi_tile_that_is_called_pays_its_stick_before_the_call() -> None:
    hands = (READY, "99s258m369p14s123z", QUIET[2], QUIET[3])
    at = AtTable(stacked_wall(hands, draws="9s"))
    at.forget()
    at.act(0, K.RIICHI)
    at.act(0, K.DISCARD, "9s")
    at.act(1, K.PON)
    assert at.tags(2) == ["REACH 1 2", "f", "REACH 2 2", "N 3"]


def test_a_riichi_tile_that_is_won_on_pays_no_stick() -> None:
    at = AtTable(stacked_wall(("123456789m1166p", WAITS_9S, "", ""), draws="9s"))
    at.forget()
    at.act(0, K.RIICHI)
    at.act(0, K.DISCARD, "9s")
    at.act(1, K.RON)
    frames = at.heard(2)
    assert [frame["tag"].rstrip("0123456789") for frame in frames] == ["REACH", "f", "AGARI"]
    assert frames[-1]["sc"].split(",")[4] == "250"


# --- furiten ------------------------------------------------------------------------------------------


def test_furiten_comes_before_the_own_echo_and_goes_the_same_way() -> None:
    at = AtTable(stacked_wall((READY, *QUIET[1:]), draws="5p9s8s9s9s"))
    at.forget()
    at.throw("5p")
    assert at.tags(0)[:2] == ["FURITEN 1", "D"]
    at.tsumogiri(3)
    at.forget()
    at.throw("1m")  # breaks the wait
    assert at.tags(0)[:2] == ["FURITEN 0", "D"]


def test_a_declined_ron_is_furiten_with_the_next_frame_until_the_own_discard() -> None:
    at = AtTable(stacked_wall(("147m258p346s4567z", WAITS_9S, "", ""), draws="9s9m"))
    at.forget()
    at.act(0, K.DISCARD, "9s")
    assert at.tags(1) == ["g 12"]
    at.act(1, K.PASS)
    assert at.tags(1) == ["FURITEN 1", "T 32"]
    at.throw("9m")
    assert at.tags(1)[:2] == ["FURITEN 0", "D"]


def test_a_new_deal_ends_furiten_without_a_frame() -> None:
    at = AtTable(stacked_wall(("147m258p346s4567z", WAITS_9S, "", ""), draws="9s9s"))
    at.throw("9s")
    at.act(1, K.TSUMO)
    assert "FURITEN 1" in at.tags(1)
    at.ready()
    at.forget()
    at.tsumogiri(1)
    assert at.tags(1)[0] == "D"


def test_a_winning_tile_without_a_yaku_is_furiten_as_it_falls() -> None:
    hands = ("147m258p369s4567z", "123789m123p4699s", "", "")
    at = AtTable(stacked_wall(hands, draws="5s"))
    at.forget()
    at.act(0, K.DISCARD, "5s")
    assert at.tags(1) == ["FURITEN 1", "g 4"]


# --- results ------------------------------------------------------------------------------------------

TWO_READY = ("147m28p3456s4477z", WAITS_9S, "555666z123m78s66p", "")


def test_two_winners_are_told_one_after_the_other_the_nearer_first() -> None:
    at = AtTable(stacked_wall(TWO_READY, draws="9s"))
    at.forget()
    at.act(0, K.DISCARD, "9s")
    at.act(1, K.RON)
    assert at.tags(3) == ["e"]
    at.act(2, K.RON)
    first, second = at.heard(3)
    assert (first["who"], second["who"], first["fromWho"]) == ("2", "3", "1")
    before, change, after = first["sc"].split(",")[2], first["sc"].split(",")[3], second["sc"].split(",")[2]
    assert int(before) + int(change) == int(after)


def test_at_the_end_of_a_game_the_standing_stands_between_two_wins() -> None:
    at = AtTable(stacked_wall(TWO_READY, draws="9s"), scores=(1000, 33000, 33000, 33000))
    at.forget()
    at.act(0, K.DISCARD, "9s")
    at.act(2, K.RON)
    at.act(1, K.RON)
    frames = at.heard(3)[1:]
    assert [frame["tag"] for frame in frames] == ["AGARI", "PROF", "AGARI"]
    assert ["owari" in frame for frame in frames] == [False, False, True]
    assert at.top.done


def test_nine_terminals_are_offered_and_shown() -> None:
    at = AtTable(stacked_wall(("19m19p19s123z258m5p", *QUIET[1:]), draws="5s"))
    assert at.tags(0)[-1] == "T 64"
    at.forget()
    at.act(0, K.NINE_TERMINALS)
    (frame,) = at.heard(1)
    assert (frame["type"], frame["ba"], len(frame["hai3"].split(","))) == ("yao9", "0,0", 14)


def test_a_win_states_everything_in_the_order_of_real_frames() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="9s1z1z1z1p", indicators="5m"))
    at.throw("9s", "1z", "1z", "1z")
    at.forget()
    at.act(0, K.TSUMO)
    (frame,) = at.heard(1)
    assert list(frame) == ["tag", "ba", "hai", "machi", "ten", "yaku", "doraHai", "who", "fromWho", "sc"]
    assert (frame["who"], frame["fromWho"]) == ("3", "3")
    assert frame["ten"].split(",")[1:] == ["11700", "0"]


# --- the next round -----------------------------------------------------------------------------------


def test_the_next_round_waits_for_everybody_five_seconds_at_most() -> None:
    at = AtTable(stacked_wall((READY, *QUIET[1:]), draws="1p"))
    at.act(0, K.TSUMO)
    at.forget()
    for player in range(3):
        at.say(player, Ready())
    assert at.tags(0) == []
    at.wait(4.9)
    assert at.tags(0) == []
    at.wait(0.1)
    assert at.tags(0)[0] == "INIT"


def test_a_second_ready_for_the_same_round_does_no_harm() -> None:
    at = AtTable(stacked_wall((READY, *QUIET[1:]), draws="1p"))
    at.act(0, K.TSUMO)
    at.say(2, Ready())
    at.say(2, Ready())
    at.ready()
    assert at.top.phase == "playing"
    at.say(2, Ready())


# --- illegal frames -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        Respond(),
        Respond(C.RON),
        Respond(C.TSUMO),
        Respond(C.ANKAN, (0,)),
        Respond(C.KAKAN, (0,)),
        Respond(C.CHI, (0, 4)),
        Respond(C.NINE_TERMINALS),
        Respond(C.NORTH),
        DeclareRiichi(),
        DiscardTile(135),
    ],
)
def test_an_illegal_frame_changes_nothing(message: Respond | DeclareRiichi | DiscardTile) -> None:
    at = AtTable(stacked_wall(QUIET, draws="9m"))
    at.forget()
    before = len(at.top.events)
    with pytest.raises(RemoteProtocolError, match="not legal"):
        at.say(0, message)
    with pytest.raises(RemoteProtocolError, match="nothing to decide now"):
        at.say(1, message)
    assert len(at.top.events) == before
    assert all(not frames for frames in at.told.values())
    at.throw("9m")


def test_another_copy_of_the_same_face_will_do() -> None:
    at = AtTable(stacked_wall(("11m147p258s12345z", *QUIET[1:]), draws="9m"))
    listed = at.find(0, K.DISCARD, "1m").tile
    at.say(0, DiscardTile(listed ^ 1))
    assert Discard(0, listed, tsumogiri=False) in at.top.events


def test_a_twin_of_the_drawn_tile_is_discarded_from_the_hand() -> None:
    at = AtTable(stacked_wall(("11m147p258s12345z", *QUIET[1:]), draws="1m"))
    drawn = at.find(0, K.DISCARD, "1m").tile
    (twin, _) = sorted(
        tile for tile in range(4) if tile not in (drawn,) and tile in hand_tiles(at.top.table.state, 0)
    )
    at.say(0, DiscardTile(twin))
    assert Discard(0, twin, tsumogiri=False) in at.top.events


# --- whole games --------------------------------------------------------------------------------------


def play_at_random(seed: int) -> AtTable:
    """Every player acts at random, but wins when possible and mostly discards the drawn tile."""
    rng = random.Random(seed)
    at = AtTable(game_type=1)
    while not at.top.done:
        for player in at.top.table.waiting():
            legal = at.top.table.legal(player)
            wins = [action for action in legal if action.kind in (K.TSUMO, K.RON)]
            choice = wins[0] if wins else rng.choice(legal)
            at.act(player, choice.kind, tile_text(choice.tile) if choice.kind is K.DISCARD else "")
        if at.top.phase == "popup":
            at.ready()
    return at


@pytest.mark.parametrize("seed", range(2))
def test_every_frame_of_a_whole_game_can_be_read_and_hides_what_is_hidden(seed: int) -> None:
    """Its record reads back to the same events, and its last result follows the standing."""
    at = play_at_random(seed)
    record = at.top.record()
    back = read_record(write(record), record.game_id)
    assert back.events == record.events
    assert back.dice == record.dice
    ending = record.ending
    for player in range(4):
        frames = at.heard(player)
        for frame in frames:
            message = parse_server(json.dumps(frame))
            assert json.loads(render_json(message)) == frame
            assert not re.fullmatch(r"[UVW]\d+", frame["tag"])
            if frame["tag"] == "INIT":
                assert not any(f"hai{seat}" in frame for seat in range(4))
        standing, result = frames[-2:]
        assert standing["tag"] == "PROF"
        assert standing["add"].split(",")[0] == f"{ending.results[player] / 10:.1f}"
        owari = result["owari"].split(",")
        assert owari[:2] == [str(ending.scores[player] // 100), f"{ending.results[player] / 10:.1f}"]
