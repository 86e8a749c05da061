"""A game at the table: the order of events, the ends of rounds and games, illegal actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from game.actions import PASS, Action, ActionKind
from game.events import (
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    RiichiAccepted,
    StartGame,
    StartRound,
    Win,
)
from game.state import apply, hand_tiles, is_furiten, melds_of, new_round, river_of
from game.table.table import Table, masked
from game.table.walls import dealt_hands, indicator_place, random_wall, round_wall
from game.tiles import parse_hand, tile_text
from kit.errors import IllegalActionError
from tests.scene import same
from tests.stacked import Play, kinds, last_discard, last_round, of_type, stacked_wall

K = ActionKind
NOTHING = ("", "", "", "")


def play_out(table: Table) -> None:
    while not table.done:
        player = table.waiting()[0]
        table.step({player: table.legal(player)[-1]} if PASS not in table.legal(player) else {})


# --- the deal -----------------------------------------------------------------------------------------------


def test_a_seed_fixes_the_whole_game() -> None:
    games = []
    for seed in (7, 7, 8):
        table = Table(seed, length="tonpuu")
        play_out(table)
        games.append(table.events)
    assert games[0] == games[1]
    assert games[0][1] != games[2][1]


def test_walls_never_change() -> None:
    assert round_wall(1, 0)[:8] == [105, 20, 73, 107, 22, 110, 8, 24]
    assert sorted(round_wall(1, 3)) == list(range(136))


def test_a_wall_is_dealt_four_four_four_one_from_the_dealer_on() -> None:
    wall = list(range(136))
    table = Table(wall=wall, round_index=1)
    start = last_round(table.events)
    assert start.dealer == 1
    assert start.hands[1] == (0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48)
    assert start.hands[0] == (12, 13, 14, 15, 28, 29, 30, 31, 44, 45, 46, 47, 51)
    assert start.dora_indicator == 131
    assert table.events[-1] == Draw(1, 52)
    assert table.waiting() == [1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"length": "east"}, "length 'east': give hanchan or tonpuu"),
        ({"wall": []}, "a wall has each of the 136 tiles once"),
        ({"wall": range(135)}, "a wall has each of the 136 tiles once"),
        ({"wall": [0] * 136}, "a wall has each of the 136 tiles once"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(**given)


def test_without_a_seed_games_differ() -> None:
    assert Table().wall != Table().wall


def test_every_next_round_has_a_wall_of_its_own() -> None:
    table = Table(4, length="tonpuu")
    play_out(table)
    deals = of_type(table.events, StartRound)
    assert len({start.hands for start in deals}) == len(deals) > 3
    assert deals[1].hands == dealt_hands(round_wall(4, 1), deals[1].dealer)


# --- claims and kans ----------------------------------------------------------------------------------------


def test_a_closed_kan_shows_its_indicator_before_the_replacement() -> None:
    play = Play(stacked_wall(("1111m456p789s112z", "", "", ""), "3z", replacements="4z", indicators="9s7z"))
    events = play.act(0, K.ANKAN, "1m")
    assert kinds(events) == ["Ankan", "DoraRevealed", "Draw"]
    assert [tile_text(events[1].indicator), tile_text(events[2].tile)] == ["7z", "4z"]
    assert play.table.state["rinshan"]


def test_an_open_kan_shows_its_indicator_before_the_next_discard() -> None:
    play = Play(stacked_wall(("", "555z123m456p789s1z", "", ""), "5z", replacements="4z", indicators="9s7z"))
    play.act(0, K.DISCARD, "5z")
    assert kinds(play.act(1, K.DAIMINKAN)) == ["Daiminkan", "Draw"]
    events = play.act(1, K.DISCARD, "4z")
    assert kinds(events)[:2] == ["DoraRevealed", "Discard"]
    assert last_discard(events).tsumogiri


def test_an_added_kan_owes_its_indicator_until_the_next_kan() -> None:
    hands = ("", "55z777z1111m456p7s", "", "")
    play = Play(stacked_wall(hands, "5z", replacements="5z1s", indicators="9s1p2p3p"))
    play.act(0, K.DISCARD, "5z")
    play.act(1, K.PON)
    play.act(1, K.DISCARD, "7s")
    play.pass_all()
    play.throw(*(tile_text(play.table.wall[53 + i]) for i in range(3)))
    assert kinds(play.act(1, K.ANKAN, "1m")) == ["Ankan", "DoraRevealed", "Draw"]
    assert kinds(play.act(1, K.KAKAN, "5z")) == ["Kakan", "Draw"]
    events = play.act(1, K.DISCARD, "1s")
    assert kinds(events)[:2] == ["DoraRevealed", "Discard"]
    assert tile_text(events[0].indicator) == "2p"


def test_the_indicator_of_an_open_kan_comes_with_the_next_kan_before_its_draw() -> None:
    hands = ("", "555z1111m456p78s1z", "", "")
    play = Play(stacked_wall(hands, "5z", replacements="2z3z", indicators="9s1p2p"))
    play.act(0, K.DISCARD, "5z")
    play.act(1, K.DAIMINKAN)
    events = play.act(1, K.ANKAN, "1m")
    assert kinds(events) == ["Ankan", "DoraRevealed", "DoraRevealed", "Draw"]
    assert [tile_text(event.indicator) for event in events[1:3]] == ["1p", "2p"]


def test_a_rinshan_win_on_an_open_kan_does_not_count_its_indicator() -> None:
    hands = ("", "555z123m456p78s22z", "", "")
    play = Play(stacked_wall(hands, "5z", replacements="9s", indicators="9s1z"))
    play.act(0, K.DISCARD, "5z")
    play.act(1, K.DAIMINKAN)
    events = play.act(1, K.TSUMO)
    assert kinds(events) == ["Win"]
    assert events[0].yaku == ((4, 1), (18, 1))


def robbery() -> Play:
    """Player 0 has added the red 5p to a pon; player 1 waits for it."""
    hands = ("55p123m789s11z999m", "46p234m567s22s678m", "", "")
    play = Play(stacked_wall(hands, "3z4z5p2z2z2z0p"))
    play.throw("3z", "4z")
    play.act(2, K.DISCARD, "5p")
    play.act(0, K.PON)
    play.throw("9m", "2z", "2z", "2z")
    assert kinds(play.act(0, K.KAKAN)) == ["Kakan"]
    assert play.table.waiting() == [1]
    return play


def test_fault_28_an_added_kan_may_be_robbed_and_shows_no_indicator() -> None:
    play = robbery()
    assert [action.kind for action in play.table.legal(1)] == [K.RON, K.PASS]
    events = play.act(1, K.RON)
    assert kinds(events) == ["Win"]
    assert events[0].yaku == ((3, 1), (8, 1), (54, 1))
    assert events[0].from_player == 0


def test_an_added_kan_that_is_not_robbed_continues() -> None:
    play = robbery()
    assert kinds(play.pass_all()) == ["Draw"]
    assert play.table.waiting() == [0]
    assert is_furiten(play.table.state, 1)
    assert kinds(play.throw("9m"))[:2] == ["DoraRevealed", "Discard"]


def test_a_chi_gives_way_to_a_pon() -> None:
    hands = ("", "23m456p789s11223z", "11m456p789s33445z", "")
    play = Play(stacked_wall(hands, "1m"))
    play.act(0, K.DISCARD, "1m")
    assert play.table.waiting() == [1, 2]
    events = play.acts({1: (K.CHI, ""), 2: (K.PON, "")})
    assert kinds(events) == ["Pon"]
    assert play.table.waiting() == [2]


# --- riichi -------------------------------------------------------------------------------------------------

READY = "123m456p789s1122z"
PINFU_69P = "78p234m406s678s55m"


def test_riichi_is_declared_then_discarded_then_paid() -> None:
    play = Play(stacked_wall((READY, "", "", ""), "9p"))
    assert kinds(play.act(0, K.RIICHI)) == ["Riichi"]
    assert [tile_text(action.tile) for action in play.table.legal(0)] == ["9p"]
    play.act(0, K.DISCARD, "9p")
    play.pass_all()
    names = kinds(play.table.events)
    assert names[-3:] == ["Discard", "RiichiAccepted", "Draw"]
    assert play.table.scores == (24000, 25000, 25000, 25000)
    assert play.table.riichi_sticks == 1


def test_a_riichi_that_is_called_is_paid_before_the_call() -> None:
    play = Play(stacked_wall((READY, "", "99p123m456s77889s", ""), "9p"))
    play.act(0, K.RIICHI)
    play.act(0, K.DISCARD, "9p")
    assert kinds(play.act(2, K.PON)) == ["RiichiAccepted", "Pon"]
    assert not play.table.state["ippatsu"][0]


def test_a_riichi_that_is_ronned_is_not_paid() -> None:
    play = Play(stacked_wall((READY, "", PINFU_69P, ""), "9p"))
    play.act(0, K.RIICHI)
    play.act(0, K.DISCARD, "9p")
    events = play.act(2, K.RON)
    assert not of_type(events, RiichiAccepted)
    assert of_type(events, Win)[0].deltas == (-2000, 0, 2000, 0)


# --- wins ---------------------------------------------------------------------------------------------------


PINFU_69P_TOO = "78p345m345s678m22s"
PINFU_69P_AS_WELL = "78p789m567s123s44s"


def test_fault_28_of_two_winners_both_state_the_honba_and_the_nearer_is_paid_for_it() -> None:
    wall = stacked_wall(("", PINFU_69P_TOO, "", PINFU_69P), "9p")
    play = Play(wall, honba=2, riichi_sticks=1)
    play.act(0, K.DISCARD, "9p")
    events = play.acts({1: (K.RON, ""), 3: (K.RON, "")})
    near, far = of_type(events, Win)
    assert (near.player, near.honba, near.riichi_sticks, near.deltas) == (1, 2, 1, (-1600, 2600, 0, 0))
    assert (far.player, far.honba, far.riichi_sticks, far.deltas) == (3, 2, 0, (-2000, 0, 0, 2000))
    start = last_round(events)
    assert (start.round_index, start.honba, start.riichi_sticks) == (1, 0, 0)
    assert start.scores == (21400, 27600, 25000, 27000)


def test_the_dealer_among_two_winners_repeats() -> None:
    play = Play(stacked_wall((PINFU_69P_TOO, "", PINFU_69P, ""), "5z9p"), honba=1)
    play.throw("5z")
    play.act(1, K.DISCARD, "9p")
    events = play.acts({0: (K.RON, ""), 2: (K.RON, "")})
    assert [win.player for win in of_type(events, Win)] == [2, 0]
    assert (last_round(events).round_index, last_round(events).honba) == (0, 2)


def test_the_ura_are_for_riichi_only() -> None:
    hands = (PINFU_69P_TOO, "", PINFU_69P, "")
    play = Play(stacked_wall(hands, "5z5z5z9p", indicators="9s", ura="1s"))
    play.act(0, K.RIICHI)
    play.throw("5z", "5z", "5z")
    play.act(3, K.DISCARD, "9p")
    riichi, plain = of_type(play.acts({0: (K.RON, ""), 2: (K.RON, "")}), Win)
    assert [tile_text(tile) for tile in riichi.ura_indicators] == ["1s"]
    assert riichi.yaku == ((21, 2), (2, 1), (7, 1), (53, 2))
    assert plain.ura_indicators == ()


# --- draws --------------------------------------------------------------------------------------------------


def drawn(events: list[GameEvent]) -> DrawnRound:
    (event,) = of_type(events, DrawnRound)
    return event


def shown(event: DrawnRound) -> list[int]:
    return [player for player, hand in enumerate(event.hands) if hand is not None]


def test_fault_28_three_rons_abort_the_round() -> None:
    play = Play(stacked_wall(("", PINFU_69P_TOO, PINFU_69P_AS_WELL, PINFU_69P), "9p"), riichi_sticks=1)
    play.act(0, K.DISCARD, "9p")
    events = play.acts({1: (K.RON, ""), 2: (K.RON, ""), 3: (K.RON, "")})
    assert (drawn(events).reason, shown(drawn(events))) == ("triple_ron", [1, 2, 3])
    start = last_round(events)
    assert (start.round_index, start.honba, start.riichi_sticks) == (0, 1, 1)


def test_four_equal_winds_abort_the_round() -> None:
    play = Play(stacked_wall(NOTHING, "1z1z1z1z"))
    events = play.throw("1z", "1z", "1z", "1z")
    assert (drawn(events).reason, shown(drawn(events))) == ("four_winds", [])


def test_four_dragons_do_not() -> None:
    play = Play(stacked_wall(NOTHING, "5z5z5z5z"))
    assert not of_type(play.throw("5z", "5z", "5z", "5z"), DrawnRound)


def test_four_riichi_abort_the_round_with_the_fourth_stick_paid() -> None:
    hands = ("123m456p789s1122z", "123m456p789s3344z", "123m456p789s5566z", "123m406p789s777z1p")
    play = Play(stacked_wall(hands, "9p9p9p9p"))
    for player in range(4):
        play.act(player, K.RIICHI)
        play.throw("9p")
    event = drawn(play.table.events)
    assert (event.reason, shown(event)) == ("four_riichi", [0, 1, 2, 3])
    start = last_round(play.table.events)
    assert (start.honba, start.riichi_sticks, start.scores) == (1, 4, (24000,) * 4)


def test_four_riichi_stand_even_if_a_ron_on_the_fourth_is_let_pass() -> None:
    hands = ("123m456p789s1122z", "123m456p789s3344z", "123m456p789s5566z", "123m406p789s777z1p")
    play = Play(stacked_wall(hands, "9p9p9p1z"))
    for player in range(3):
        play.act(player, K.RIICHI)
        play.throw("9p")
    play.act(3, K.RIICHI)
    play.act(3, K.DISCARD, "1z")
    assert play.table.waiting() == [0]
    assert drawn(play.pass_all()).reason == "four_riichi"


def test_a_ron_on_the_discard_after_the_fourth_kan_comes_first() -> None:
    hands = ("1111m2222m45p789s", "3333m4444m45p9s1z1p", "23789p234s55544z", "")
    play = Play(stacked_wall(hands, "9p9m"))
    play.act(0, K.ANKAN, "1m")
    play.act(0, K.ANKAN, "2m")
    play.throw("9p")
    play.act(1, K.ANKAN, "3m")
    play.act(1, K.ANKAN, "4m")
    passing = play.table.clone()
    play.act(1, K.DISCARD, "1p")
    assert [action.kind for action in play.table.legal(2)] == [K.RON, K.PASS]
    passing.step({1: next(a for a in passing.legal(1) if tile_text(a.tile) == "1p")})
    assert drawn(passing.step({})).reason == "four_kans"
    assert kinds(play.act(2, K.RON)) == ["Win"]


def test_fault_28_four_kans_by_two_abort_the_round_after_the_discard() -> None:
    hands = ("1111m2222m45p789s", "3333m4444m45p9s1z1p", "11z5677m7p667788s", "")
    play = Play(stacked_wall(hands, "9p9m"))
    play.act(0, K.ANKAN, "1m")
    play.act(0, K.ANKAN, "2m")
    play.throw("9p")
    play.act(1, K.ANKAN, "3m")
    play.act(1, K.ANKAN, "4m")
    # player 2 holds two more East winds, but only a ron could prevent the abort
    events = play.act(1, K.DISCARD, "1z")
    assert drawn(events).reason == "four_kans"
    assert len([e for e in play.table.events if type(e).__name__ == "DoraRevealed"]) == 4


def test_four_kans_by_one_do_not() -> None:
    play = Play(stacked_wall(("1111m2222m3333m4m", "", "", ""), "4m", replacements="4m4m9p1p"))
    for kind in ("1m", "2m", "3m", "4m"):
        play.act(0, K.ANKAN, kind)
    assert not of_type(play.throw("1p"), DrawnRound)
    assert play.table.waiting() == [1]


def test_fault_28_nine_terminals_abort_the_round_and_show_the_hand() -> None:
    play = Play(stacked_wall(("19m19p19s1234567z", "", "", ""), "5m"))
    event = drawn(play.act(0, K.NINE_TERMINALS))
    assert event.reason == "nine_terminals"
    assert len(event.hands[0]) == 14
    assert shown(event) == [0]


@pytest.mark.parametrize(("ready", "following"), [(0, (0, 4)), (1, (1, 4))])
def test_when_the_wall_runs_out_a_ready_dealer_repeats(ready: int, following: tuple[int, int]) -> None:
    hands = ["", "", "", ""]
    hands[ready] = READY
    play = Play(stacked_wall((hands[0], hands[1], hands[2], hands[3])), honba=3)
    events = play.play_out()
    event = drawn(events)
    assert (event.reason, shown(event)) == ("exhaustive", [ready])
    assert event.deltas == tuple(3000 if player == ready else -1000 for player in range(4))
    assert len([e for e in play.table.events if isinstance(e, Draw)]) == 70 + 1
    assert (last_round(events).round_index, last_round(events).honba) == following


HONOURS = [f"{n}z" for n in range(1, 5) for _ in range(4)] + ["6z", "6z"]


def honours_every_fourth(first: int, count: int) -> str:
    """Draws in which every fourth tile is an honour and the others are not."""
    plain = [f"{n}{suit}" for suit in "mps" for n in (2, 3, 4, 6, 7, 8) for _ in range(3)]
    honours = iter(HONOURS)
    return "".join(next(honours) if i % 4 == first else plain.pop() for i in range(count))


def test_fault_28_nagashi_mangan_takes_the_place_of_the_payments() -> None:
    play = Play(stacked_wall(NOTHING, honours_every_fourth(0, 70)), honba=1)
    event = drawn(play.play_out())
    assert event.reason == "nagashi_mangan"
    assert event.deltas == (12000, -4000, -4000, -4000)


def test_a_discard_called_away_spoils_nagashi_mangan() -> None:
    hands = ("", "119m1199p1199s55z", "", "")
    play = Play(stacked_wall(hands, "5z" + honours_every_fourth(2, 69)))
    play.act(0, K.DISCARD, "5z")
    play.act(1, K.PON)
    play.throw("9s")
    assert drawn(play.play_out()).reason == "exhaustive"


# --- the end of the game ------------------------------------------------------------------------------------


def end_of(play: Play) -> EndGame | None:
    play.play_out()
    return next(iter(of_type(play.table.events, EndGame)), None)


def test_the_last_round_ends_the_game_and_gives_its_sticks_to_first_place() -> None:
    wall = stacked_wall((READY, "", "", ""), dealer=3)
    play = Play(wall, length="tonpuu", round_index=3, scores=(39000, 21000, 20000, 19000), riichi_sticks=1)
    end = end_of(play)
    assert end.scores == (43000, 20000, 19000, 18000)
    assert end.results == (530, 0, -210, -320)
    assert play.table.done
    assert play.table.waiting() == []
    assert play.table.scores == end.scores
    assert play.table.riichi_sticks == 0


@pytest.mark.parametrize(
    ("round_index", "scores", "ready", "following"),
    [
        (7, (25000, 26000, 24000, 25000), 0, 8),  # no player has 30,000: West
        (7, (40000, 20000, 20000, 20000), 3, 7),  # the dealer repeats and is not first
        (7, (20000, 20000, 20000, 40000), 3, None),  # the dealer is first: the game ends
        (8, (20000, 30000, 25000, 25000), 1, None),  # sudden death
        (11, (25000, 25000, 25000, 25000), 0, None),  # West 4 is always the last
        (2, (900, 30000, 44100, 25000), 1, None),  # a player is below 0
    ],
)
def test_fault_28_a_hanchan_ends_by_score_west_round_or_bust(
    round_index: int, scores: tuple[int, int, int, int], ready: int, following: int | None
) -> None:
    hands = ["", "", "", ""]
    hands[ready] = READY
    wall = stacked_wall((hands[0], hands[1], hands[2], hands[3]), dealer=round_index % 4)
    play = Play(wall, round_index=round_index, scores=scores)
    end = end_of(play)
    assert shown(drawn(play.table.events)) == [ready]
    if following is None:
        assert end is not None
    else:
        assert end is None
        assert play.table.round_index == following


# --- through the public interface ---------------------------------------------------------------------------


def test_an_illegal_action_names_player_and_action() -> None:
    table = Table(1)
    tile = next(t for t in range(136) if t not in hand_tiles(table.state, 0))
    before = list(table.events)
    with pytest.raises(IllegalActionError, match=f"player 0 may not discard {tile_text(tile)}"):
        table.step({0: Action(K.DISCARD, tile)})
    with pytest.raises(IllegalActionError, match="player 2 may not pass"):
        table.step({2: PASS})
    with pytest.raises(IllegalActionError, match="player 0 gave no answer"):
        table.step({})
    assert table.events == before
    play_out(table)
    with pytest.raises(IllegalActionError, match="the game is over"):
        table.step({})


def test_another_copy_of_a_legal_face_may_be_discarded() -> None:
    play = Play(stacked_wall(("1112m456p789s122z", "", "", ""), "2z"))
    assert [tile_text(action.tile) for action in play.table.legal(0)].count("1m") == 1
    for tile in parse_hand("111m"):
        if tile in hand_tiles(play.table.state, 0):
            twin = play.table.clone()
            twin.step({0: Action(K.DISCARD, tile)})
            assert last_discard(twin.events).tile == tile


def test_a_closed_kan_may_name_any_of_its_copies_first() -> None:
    play = Play(stacked_wall(("1111m456p789s112z", "", "", ""), "3z"))
    events = play.table.step({0: Action(K.ANKAN, -1, (2, 0, 1, 3))})
    assert kinds(events) == ["Ankan", "DoraRevealed", "Draw"]


def test_only_the_player_to_move_is_asked() -> None:
    table = Table(1)
    assert [table.legal(player) for player in (1, 2, 3)] == [[], [], []]


def test_a_clone_plays_on_by_itself() -> None:
    table = Table(9)
    for _ in range(30):
        player = table.waiting()[0]
        table.step({player: table.legal(player)[-1]})
    twin = table.clone()
    known, record = list(table.events), table.state.copy()
    play_out(twin)
    assert table.events == known
    assert same(table.state, record)
    play_out(table)
    assert table.events == twin.events


def test_a_player_sees_only_its_own_draws_and_hand() -> None:
    table = Table(2)
    start, deal, draw = (masked(event, 1) for event in table.events[:3])
    assert start == StartGame(("", "", "", ""), 1)
    assert deal.hands[1] == last_round(table.events).hands[1]
    assert deal.hands[0] == deal.hands[2] == deal.hands[3] == (-1,) * 13
    assert draw == Draw(0, -1)
    assert masked(table.events[2], 0) == table.events[2]
    assert masked(EndRound(), 1) == EndRound()


def test_the_events_fold_for_every_player() -> None:
    table = Table(6, length="tonpuu")
    play_out(table)
    for player in range(4):
        record = new_round()
        for event in table.events:
            apply(record, masked(event, player))
        assert record["scores"].tolist() == table.state["scores"].tolist()
        assert river_of(record, player) == river_of(table.state, player)
        assert melds_of(record, player) == melds_of(table.state, player)


def test_a_random_wall_has_every_tile_once() -> None:
    assert sorted(random_wall(np.random.default_rng(1))) == list(range(136))
    wall = stacked_wall(NOTHING, indicators="1z", ura="2z")
    assert wall[indicator_place(0)] in parse_hand("1111z")
