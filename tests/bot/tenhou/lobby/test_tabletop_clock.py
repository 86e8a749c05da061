"""The clocks of a table, and the seat of a silent or absent player."""

from __future__ import annotations

import pytest

from bot.tenhou.game_types import GameType
from bot.tenhou.lobby.table_seat import ClockSettings, SeatClock, clock_of
from bot.tenhou.messages import DiscardTile
from game.actions import ActionKind as K
from game.events import PlayerLeft, PlayerReturned
from kit.errors import RemoteProtocolError
from tests.bot.tenhou.lobby.at_table import QUIET, READY, AtTable
from tests.stacked import stacked_wall

LIMITS = ClockSettings(grace_s=0.0)


def drawn(at: AtTable) -> int:
    return int(at.top.table.state["drawn"])


def quiet_table() -> AtTable:
    at = AtTable(stacked_wall(QUIET, draws="6z6z6z5z5z5z7z7z7z"), clock=LIMITS)
    at.forget()
    return at


@pytest.mark.parametrize(("number", "base_s", "bank_s"), [(9, 5, 10), (1, 5, 10), (65, 3, 5), (64, 3, 5)])
def test_the_clock_is_the_one_of_the_game_type(number: int, base_s: float, bank_s: float) -> None:
    clock = clock_of(GameType(number))
    assert (clock.base_s, clock.bank_s, clock.popup_s, clock.start_s) == (base_s, bank_s, 5, 10)


def test_only_what_is_over_the_base_comes_from_the_bank() -> None:
    clock = SeatClock(LIMITS)
    clock.spend(4.9)
    assert clock.bank_s == 10
    clock.spend(9)
    assert clock.bank_s == 6
    assert clock.deadline(100.0) == 111.0


def test_a_quick_decision_gives_a_second_back_and_never_more_than_there_was() -> None:
    clock = SeatClock(LIMITS)
    clock.spend(9)
    clock.spend(0.5)
    assert clock.bank_s == 7
    for _ in range(9):
        clock.spend(0.5)
    assert clock.bank_s == 10


def test_a_silent_player_discards_the_draw_when_time_runs_out() -> None:
    at = quiet_table()
    tile = drawn(at)
    at.wait(14.9)
    assert at.tags(0) == []
    at.wait(0.1)
    assert at.heard(0)[0] == {"tag": f"D{tile}"}


def test_an_empty_bank_leaves_the_base_until_the_next_round() -> None:
    at = quiet_table()
    at.wait(15)
    at.tsumogiri(3)
    at.forget()
    at.wait(4.9)
    assert at.tags(0) == []
    at.wait(0.1)
    assert at.tags(0)[0] == "D"


def test_the_bank_is_refilled_with_the_next_deal() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="1p"), clock=LIMITS)
    at.now += 12
    at.act(0, K.TSUMO)
    at.ready()
    seat_clock = at.top.deadline
    assert seat_clock == at.now + 15


def test_a_silent_player_passes_when_time_runs_out() -> None:
    hands = ("147m258p369s1234z", "467m258p369s1237z", "", "")
    at = AtTable(stacked_wall(hands, draws="5m"), clients=[0, 1], clock=LIMITS)
    at.act(0, K.DISCARD, "5m")
    at.forget()
    at.wait(15)
    for prompt, _ in at.top.take_questions():
        at.take(at.top.answer(prompt, prompt.legal[-1], at.now))
    assert at.tags(1)[0].startswith("T")


def test_after_declaring_riichi_the_silent_player_discards_the_draw() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="9s"), clock=LIMITS)
    tile = drawn(at)
    at.act(0, K.RIICHI)
    at.forget()
    at.wait(15)
    assert at.heard(0)[0] == {"tag": f"D{tile}"}


def test_after_a_call_the_silent_player_discards_the_rightmost_tile() -> None:
    hands = ("147m258p369s1234z", "46m258p369s12377z", "", "")
    at = AtTable(stacked_wall(hands, draws="5m"), clock=LIMITS)
    at.act(0, K.DISCARD, "5m")
    at.act(1, K.CHI)
    at.pass_all()
    at.forget()
    at.wait(15)
    (discarded,) = [frame["tag"] for frame in at.heard(1) if frame["tag"].startswith("D")]
    assert int(discarded[1:]) // 4 == 33


def test_an_answer_after_the_clock_is_refused_and_harms_nothing() -> None:
    at = quiet_table()
    tile = drawn(at)
    at.wait(15)
    with pytest.raises(RemoteProtocolError, match="nothing to decide now"):
        at.say(0, DiscardTile(tile))


# --- gone ---------------------------------------------------------------------------------------------


def test_the_others_are_told_who_left_and_who_came_back() -> None:
    at = quiet_table()
    at.leave(2)
    assert at.heard(0) == [{"tag": "BYE", "who": "2"}]
    assert at.heard(3) == [{"tag": "BYE", "who": "3"}]
    at.log_in(2)
    at.ready()
    assert at.heard(0) == [{"tag": "UN", "n2": "%70%32"}]
    assert [type(e) for e in at.top.events if isinstance(e, PlayerLeft | PlayerReturned)] == [
        PlayerLeft,
        PlayerReturned,
    ]


def test_an_absent_players_clock_runs_out_once_and_is_then_skipped() -> None:
    at = quiet_table()
    at.leave(0)
    at.wait(14.9)
    assert at.tags(1) == ["BYE 3"]
    at.wait(0.1)
    assert at.tags(1)[0] == "g"
    at.tsumogiri(3)
    assert at.top.deadline == at.now
    at.forget()
    at.wait(0)
    assert at.tags(1)[0] == "g"


def test_a_player_who_logged_out_is_not_waited_for_at_all() -> None:
    at = quiet_table()
    at.take(at.top.leave(0, at.now, for_good=True))
    at.wait(0)
    assert "g" in at.tags(1)


def test_a_returning_player_has_a_clock_again() -> None:
    at = quiet_table()
    at.leave(0)
    at.wait(15)
    at.log_in(0)
    at.ready()
    at.tsumogiri(3)
    assert at.top.deadline == at.now + 5  # the bank is empty for this round


def test_a_decision_waits_for_a_player_who_comes_back_in_time() -> None:
    at = quiet_table()
    at.leave(0)
    at.wait(10)
    at.log_in(0)
    at.ready()
    assert at.tags(0)[-1] == "T"
    assert at.top.deadline == at.now + 5
    at.tsumogiri(1)


def test_between_rounds_absent_players_are_not_waited_for() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="1p"))
    at.leave(3)
    at.act(0, K.TSUMO)
    at.clients.discard(3)
    at.forget()
    at.ready()
    assert at.tags(0)[0] == "INIT"


def test_a_game_without_players_still_ends() -> None:
    at = AtTable(game_type=1)
    for player in range(4):
        at.take(at.top.leave(player, at.now, for_good=True))
    for _ in range(10_000):
        if at.top.done:
            break
        at.wait(0)
    assert at.top.record().ending is not None
