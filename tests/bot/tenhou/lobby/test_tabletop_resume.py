"""The frames for a returning player, at every kind of moment."""

from __future__ import annotations

import pytest

from bot.tenhou.messages import AcceptMatch
from game.actions import ActionKind as K
from kit.errors import RemoteProtocolError
from tests.bot.tenhou.lobby.at_table import QUIET, READY, AtTable, Frame
from tests.stacked import stacked_wall


def back(at: AtTable, player: int) -> list[Frame]:
    """Leave and return; the frames received from the login on."""
    at.leave(player)
    at.forget()
    at.log_in(player)
    at.say(player, AcceptMatch())
    return at.heard(player)


def tags(frames: list[Frame]) -> list[str]:
    return [frame["tag"].rstrip("0123456789") for frame in frames]


def test_a_login_is_answered_with_the_match_and_the_scores() -> None:
    at = AtTable(stacked_wall(QUIET, draws="6z6z6z"))
    at.tsumogiri(1)
    at.leave(2)
    at.forget()
    at.log_in(2)
    go, un, saikai = at.heard(2)
    assert go == {"tag": "GO", "type": "9", "lobby": "0", "gpid": "CODE2"}
    assert un["n0"] == "%70%32"
    assert saikai == {"tag": "SAIKAI", "ba": "0,0", "oya": "2", "sc": "250,0,250,0,250,0,250,0"}


def test_nothing_is_told_and_nothing_taken_before_the_match_is_accepted() -> None:
    at = AtTable(stacked_wall(QUIET, draws="6z6z6z"))
    at.leave(0)
    at.log_in(0)
    at.forget()
    with pytest.raises(RemoteProtocolError, match="nothing to decide now"):
        at.act(0, K.DISCARD, "6z")
    assert at.heard(0) == []


def test_another_players_turn_is_marked() -> None:
    at = AtTable(stacked_wall(QUIET, draws="6z5z6z"))
    at.throw("6z")
    frames = back(at, 0)
    assert tags(frames) == ["GO", "UN", "SAIKAI", "REINIT", "U"]
    reinit = frames[3]
    assert reinit["kawa0"] == str(at.top.events[3].tile)  # type: ignore[union-attr]
    assert "kawa1" not in reinit
    assert len(reinit["hai"].split(",")) == 13


def test_an_own_turn_shows_the_drawn_tile_again_with_its_offer() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="9s"))
    frames = back(at, 0)
    assert tags(frames)[3:] == ["REINIT", "T"]
    assert frames[-1]["t"] == "32"
    assert frames[-1]["tag"][1:] not in frames[3]["hai"].split(",")


def test_a_tile_offered_is_discarded_once_more_with_its_offer() -> None:
    hands = ("147m258p369s1234z", "467m258p369s1237z", "", "")
    at = AtTable(stacked_wall(hands, draws="5m"))
    at.act(0, K.DISCARD, "5m")
    frames = back(at, 1)
    assert tags(frames)[3:] == ["REINIT", "W", "g"]
    assert frames[-1]["t"] == "4"
    assert "kawa3" not in frames[3]
    at.act(1, K.CHI)


def test_an_own_call_is_shown_once_more_so_that_its_discard_can_follow() -> None:
    hands = ("147m258p369s1234z", "467m258p369s1237z", "", "")
    at = AtTable(stacked_wall(hands, draws="5m"))
    at.act(0, K.DISCARD, "5m")
    at.act(1, K.CHI)
    at.pass_all()
    frames = back(at, 1)
    assert tags(frames)[3:] == ["REINIT", "W", "g", "N"]
    assert "t" not in frames[-2]
    at.throw("2z")


def test_an_own_riichi_is_shown_once_more_so_that_its_discard_can_follow() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="9s"))
    at.act(0, K.RIICHI)
    frames = back(at, 0)
    assert frames[-1] == {"tag": "REACH", "who": "0", "step": "1"}
    at.throw("9s")


def test_rivers_lack_what_was_called_and_mark_a_riichi() -> None:
    hands = (READY, "77z258m369p14s123z", "", "")
    at = AtTable(stacked_wall(hands, draws="9s9s1p7z9p9p9p9m"))
    at.throw("9s", "9s")
    at.tsumogiri(2)
    at.act(0, K.RIICHI)
    at.act(0, K.DISCARD, "9p")
    at.pass_all()
    frames = back(at, 0)
    river = frames[3]["kawa0"].split(",")
    assert river[1] == "255"
    assert len(river) == 3


def test_a_riichi_tile_called_away_leaves_its_mark_before_the_next() -> None:
    hands = (READY, "99s258m369p14s123z", "", "")
    at = AtTable(stacked_wall(hands, draws="9s1z1z1z2z"))
    at.act(0, K.RIICHI)
    at.act(0, K.DISCARD, "9s")
    at.act(1, K.PON)
    at.pass_all()
    at.throw("1s")
    reinit = back(at, 3)[3]
    assert reinit["kawa1"] == "255"
    assert len(reinit["m2"].split(",")) == 1


def test_all_indicators_and_all_melds_newest_first_are_told() -> None:
    at = AtTable(stacked_wall(("1111z2222z58m258p", "", "", ""), replacements="3z3z", indicators="5m6m7m"))
    first = {frame["seed"] for frame in at.heard(0) if frame["tag"] == "INIT"}
    at.act(0, K.ANKAN, "1z")
    at.act(0, K.ANKAN, "2z")
    reinit = back(at, 1)[3]
    assert reinit["seed"].startswith(first.pop())
    assert len(reinit["seed"].split(",")) == 8
    newest, oldest = (int(code) for code in reinit["m3"].split(","))
    assert (newest >> 10, oldest >> 10) == (28, 27)


def test_before_the_first_deal_the_match_is_told_from_the_beginning() -> None:
    at = AtTable(ready=False)
    at.leave(1)
    at.forget()
    at.log_in(1)
    assert [frame["tag"] for frame in at.heard(1)] == ["GO", "UN", "TAIKYOKU"]
    at.ready()
    assert at.heard(1)[0]["tag"] == "INIT"


def test_between_rounds_the_next_deal_follows_the_scores() -> None:
    at = AtTable(stacked_wall((READY, "", "", ""), draws="1p"))
    at.act(0, K.TSUMO)
    frames = back(at, 2)
    assert tags(frames) == ["GO", "UN", "SAIKAI"]
    assert frames[-1]["sc"].split(",")[::2] == [
        str(at.top.table.scores[(2 + seat) % 4] // 100) for seat in range(4)
    ]
    at.ready()
    assert at.heard(2)[0]["tag"] == "INIT"


def test_a_second_break_before_the_match_was_accepted_is_told_to_nobody_twice() -> None:
    at = AtTable(stacked_wall(QUIET, draws="6z6z6z"))
    at.leave(1)
    at.log_in(1)
    at.leave(1)
    assert [frame["tag"] for frame in at.heard(0) if frame["tag"] == "BYE"] == ["BYE"]
    at.log_in(1)
    at.say(1, AcceptMatch())
    assert at.heard(1)[-1]["tag"] == "W"
