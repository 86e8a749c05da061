"""Tenhou's record format, in both directions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    Event,
    Kakan,
    PlayerLeft,
    Pon,
    StartRound,
    Win,
)
from game.scoring.settlement import placements
from kit.errors import ReplayFormatError
from replays.mjlog.reader import read, read_record
from replays.mjlog.writer import write
from replays.record import GameRecord, check_game_id, game_id
from tests.bot.captures import capture
from tests.replays.games import DEAL, GAME_ID, OWARI, seen_from, text_of, whole_game
from tests.scale import scaled
from tests.shared import shard_texts

REAL = ("mjlog-4p-joukyuu-20260420.xml", "mjlog-same-game-as-recvonly-20170324.xml")


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return whole_game()


# --- both ways ----------------------------------------------------------------------------------------


def test_a_game_reads_back_as_it_was_written(game: GameRecord) -> None:
    back = read_record(write(game), GAME_ID)
    assert back.events == game.events
    assert msgspec.structs.replace(back, dice=game.dice) == game
    assert back.dice[:3] == ((0, 5), (3, 4), (0, 0))


def test_a_seats_own_view_reads_back_as_it_was_written(game: GameRecord) -> None:
    for player in range(4):
        view = seen_from(game, player)
        text = write(view)
        assert read_record(text).events == view.events
        assert f'hai{(player + 1) % 4}="' not in re.sub("<(RYUUKYOKU|AGARI)[^>]*>", "", text)


@pytest.mark.parametrize("name", REAL)
def test_a_real_record_is_written_back_to_the_same_text(name: str) -> None:
    text = capture(name).read_text().strip()
    assert write(read_record(text)) == text


def test_a_record_with_a_tournaments_rules_is_read() -> None:
    record = read_record(capture("mjlog-4p-custom-csrule-2023.xml").read_text())
    assert record.ending is not None


def _modern(text: str) -> str:
    """A record of 2009 to 2022, rewritten where today's records differ."""
    text = re.sub(r"</?Scene>|<\?xml.*?\?>|\n| ref=\"[^\"]*\"", "", text).strip()
    text = re.sub(r'(<GO type="\d+")/>', r'\1 lobby="0"/>', text)
    text = re.sub(r'(<REACH who="\d") ten="[\d,-]+"', r"\1", text)
    text = re.sub(r'rate="([^"]*)"', lambda m: f"rate={[float(rate) for rate in m[1].split(',')]}", text)
    return re.sub(r'owari="([^"]*)"', lambda m: "owari=" + m[1].replace(".0", ""), text)


def test_both_wins_of_a_real_double_ron_state_the_honba_and_one_is_paid_for_it() -> None:
    found = 0
    for stored_id, text in shard_texts("houou-00", 120):
        pairs = re.findall(r'<AGARI ba="([1-9]\d*),\d+"[^>]*><AGARI ba="(\d+),(\d+)"', text)
        if not pairs:
            continue
        record = read_record(text, stored_id)
        stated = "<AGARI ba=[^ ]*"
        assert re.findall(stated, write(record)) == re.findall(stated, text)
        wins = [event for event in record.events if isinstance(event, Win)]
        for first, second in pairwise(wins):
            if (first.from_player, first.tile) == (second.from_player, second.tile) and first.honba:
                assert (second.honba, second.riichi_sticks) == (first.honba, 0)
                paid = max(first.deltas) - first.points - 1000 * first.riichi_sticks
                assert (paid, max(second.deltas)) == (300 * first.honba, second.points)
                found += 1
    assert found >= 1


@pytest.mark.parametrize("shard", ["houou-00", "houou-01", "houou-02", "other-00", "strongbot-00"])
def test_stored_games_are_written_back_to_the_same_text(shard: str) -> None:
    for stored_id, text in shard_texts(shard, scaled(2, 400)):
        assert _modern(write(read_record(text, stored_id))) == _modern(text), stored_id


# --- what the tags mean -------------------------------------------------------------------------------


def events_of(body: str) -> list[Event]:
    """The events of the first round, without its start and end."""
    end = '<RYUUKYOKU ba="0,0" sc="250,0,250,0,250,0,250,0"' + OWARI + " />"
    events = read(text_of(DEAL + body + end))
    return list(events[2:-3])


@pytest.mark.parametrize(
    ("body", "event"),
    [
        ("<T135/>", Draw(0, 135)),
        ("<V/>", Draw(2, -1)),
        ("<U27/><E27/>", Discard(1, 27, tsumogiri=True)),
        ("<U27/><E53/>", Discard(1, 53, tsumogiri=False)),
        ("<U/><e99/>", Discard(1, 99, tsumogiri=True)),
        ('<T60/><REACH who="0" step="1"/><D60/>', Discard(0, 60, tsumogiri=True)),
        ('<T60/><BYE who="0" /><D60/>', Discard(0, 60, tsumogiri=True)),
        ('<BYE who="3" />', PlayerLeft(3)),
        ('<N who="2" m="27031" />', Chi(2, 1, 51, (42, 44))),
        ('<N who="0" m="34314" />', Pon(0, 2, 90, (89, 91))),
        ('<N who="1" m="13825" />', Daiminkan(1, 2, 54, (52, 53, 55))),
        ('<N who="1" m="15872" />', Ankan(1, (62, 60, 61, 63))),
        ('<N who="1" m="18547" />', Kakan(1, 51, (48, 49, 50))),
    ],
)
def test_a_tag_becomes_its_event(body: str, event: Event) -> None:
    assert events_of(body)[-1] == event


def test_a_win_keeps_every_figure() -> None:
    win = (
        '<AGARI ba="1,2" hai="5,8,12,92,93" m="47626,50218,51817" machi="5" ten="40,48000,5" yakuman="39"'
        ' doraHai="28" who="3" fromWho="3" paoWho="1" sc="250,0,250,-483,250,0,250,503"'
        ' owari="250,-18.0,-233,-79.0,250,15.5,733,81.5" />'
    )
    *_, won, _, end = read(text_of(DEAL + win))
    assert won == Win(
        player=3,
        from_player=3,
        tile=5,
        hand=(5, 8, 12, 92, 93),
        fu=40,
        points=48000,
        limit=5,
        yaku=(),
        yakuman=(39,),
        ura_indicators=(),
        liable=1,
        deltas=(0, -48300, 0, 50300),
        honba=1,
        riichi_sticks=2,
    )
    assert end == EndGame((25000, -23300, 25000, 73300), (-180, -790, 155, 815))


def test_two_wins_end_one_round() -> None:
    win = (
        '<AGARI ba="0,0" hai="0,4" machi="4" ten="30,1000,0" yaku="8,1" doraHai="28" who="{}" fromWho="3"'
        ' sc="250,0,250,0,250,0,250,0"{} />'
    )
    events = read(text_of(DEAL + win.format(0, "") + win.format(1, OWARI)))
    assert [type(event) for event in events[2:]] == [Win, Win, EndRound, EndGame]


def test_old_records_with_whole_results_and_groups_are_read() -> None:
    body = (
        f'<Scene>{DEAL}</Scene>\n<Scene><RYUUKYOKU type="kaze4" ba="0,0" sc="250,0,250,0,250,0,250,0" owari='
    )
    events = read(text_of(body + '"250,46,250,6,250,-16,250,-36" />\n</Scene>'))
    assert isinstance(events[2], DrawnRound)
    assert events[2].reason == "four_winds"
    assert events[-1] == EndGame((25000,) * 4, (460, 60, -160, -360))


# --- what is refused ----------------------------------------------------------------------------------

DRAWN = '<RYUUKYOKU ba="0,0" sc="250,0,250,0,250,0,250,0"' + OWARI + " />"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no final result"),
        ("PK\x03\x04", "no final result"),
        ("<html></html>", "not an mjlog"),
        ('<!DOCTYPE x [<!ENTITY a "b">]>' + text_of(DEAL + DRAWN), "not a tag"),
        (text_of("<!-- " + DEAL + DRAWN), "a comment does not end"),
        (text_of(DEAL), "no final result"),
        (text_of(DEAL + DRAWN)[:-40], "cut short within its last tag"),
        (text_of(DEAL + "<T136/>" + DRAWN), "no such tile"),
        (text_of(DEAL + "<D/>" + DRAWN), "no such tile"),
        (text_of("<T1/>" + DEAL + DRAWN), "outside of a round"),
        (text_of(DEAL + DEAL + DRAWN), "before the previous one ended"),
        (text_of(DEAL + DRAWN + "<T1/>"), "after the end"),
        (text_of(DEAL.replace("hai0=", "hai1=") + DRAWN), "repeated attribute"),
        (text_of(DEAL.replace('"0,4,8', '"0,0,8') + DRAWN), "a tile twice"),
        (text_of(DEAL.replace('oya="0"', 'oya="4"') + DRAWN), "outside 0–3"),
        (text_of(DEAL.replace("250,250,250,250", "250,250,250") + DRAWN), "3 numbers instead of 4"),
        (text_of(DEAL.replace("250,250,250,250", "250,250,250,2e9") + DRAWN), "not a list of numbers"),
        (text_of(DEAL + '<N who="0" m="30752" />' + DRAWN), "three-player north"),
        (text_of(DEAL + '<N who="0" m="99999" />' + DRAWN), "outside 0–65535"),
        (text_of(DEAL + DRAWN.replace("<RYUUKYOKU", '<RYUUKYOKU type="nagare"')), "unknown type"),
        (text_of(DEAL + DRAWN.replace("15.0", "15.55")), "an invalid result"),
        (text_of(DEAL + "<NOSUCH/>" + DRAWN), "unknown tag"),
        (text_of(DEAL + DRAWN, '<GO type="185" lobby="0"/>'), "three-player games"),
        (text_of(DEAL + DRAWN, ""), "the players are missing"),
    ],
)
def test_an_invalid_record_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ReplayFormatError, match=reason):
        read(text)


def test_invalid_events_are_not_written(game: GameRecord) -> None:
    starts = [number for number, event in enumerate(game.events) if isinstance(event, StartRound)]
    drawn = next(number for number, event in enumerate(game.events) if isinstance(event, Draw))
    for events in (
        game.events[5:],
        (*game.events[: starts[0] + 1], game.events[-1]),
        (*game.events[:drawn], *game.events[drawn + 1 :]),
        (*game.events, game.events[drawn]),
    ):
        with pytest.raises(ReplayFormatError):
            write(msgspec.structs.replace(game, events=events))


@pytest.mark.parametrize("last", [Draw, EndRound])
def test_a_game_without_an_end_is_written_as_unfinished_and_read_up_to_there(
    game: GameRecord, last: type
) -> None:
    *_, before, _ = (number for number, event in enumerate(game.events) if isinstance(event, last))
    cut = msgspec.structs.replace(game, events=game.events[: before + 1])
    back = read_record(write(cut), GAME_ID)
    assert back.events == cut.events
    assert back.ending is None


# --- ids ----------------------------------------------------------------------------------------------


def test_an_id_carries_japans_date_the_type_and_the_lobby() -> None:
    now = datetime(2026, 12, 31, 18, 30, tzinfo=UTC)
    assert game_id(now, 169, 0, 0xDEADBEEF) == "2027010103gm-00a9-0000-deadbeef"
    assert check_game_id(game_id(now, 9, 12345, 1)) == "2027010103gm-0009-12345-00000001"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "../../etc/passwd",
        GAME_ID + "/x",
        GAME_ID + "\n",
        GAME_ID + "\0",
        "NUL",
        "a" * 999,
    ],
)
def test_what_is_no_id_becomes_no_file_name(text: str) -> None:
    with pytest.raises(ReplayFormatError, match="not a game id"):
        check_game_id(text)


def test_a_record_knows_its_ending(game: GameRecord) -> None:
    assert game.ending is not None
    assert sorted(placements(game.ending.scores)) == [1, 2, 3, 4]
    assert game.rounds >= 4
    assert Path(game.game_id).name == game.game_id
