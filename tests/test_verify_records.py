"""Differences of every kind, planted in real games, are reported in their place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from game.events import (
    Chi,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    PlayerLeft,
    Pon,
    StartRound,
    Win,
)
from game.forbidden import broken_rule
from game.state import apply_all, hand_tiles, new_round
from replays.formats import read_game, write_game
from replays.mjlog.reader import read_record
from replays.record import GameRecord
from tests.learning.corpus.games import MODERN, OLD, OTHER, SANMA, records, texts, write_shard
from tests.scale import scaled
from tests.verify_records import Difference, check_record, main, totals

RARE = {
    "double ron": "<AGARI[^>]*/><AGARI",
    "chankan": r'<AGARI[^>]* yaku="(\d+,\d+,)*3,1[,"]',
    "nine terminals": 'type="yao9"',
    "four winds": 'type="kaze4"',
    "nagashi mangan": 'type="nm"',
    "west round": '<INIT seed="8,',
    "bust": r'owari="([^"]*,)?-\d+,-',
}
"""How a game's text shows each."""


def find(matches: Callable[[Any], bool]) -> tuple[GameRecord, int]:
    """A real game and the place of its first matching event before the last round."""
    for record in records(MODERN, 60):
        last = max(n for n, event in enumerate(record.events) if isinstance(event, StartRound))
        for place, event in enumerate(record.events[:last]):
            if matches(event):
                return record, place
    raise AssertionError("no real game has it")


def with_events(record: GameRecord, place: int, *events: GameEvent, until: int | None = None) -> GameRecord:
    """The game with other events at a place, up to another one."""
    end = place + 1 if until is None else until
    return msgspec.structs.replace(record, events=(*record.events[:place], *events, *record.events[end:]))


def expect(record: GameRecord, kind: str, text: str, turn: int | None = None) -> Difference:
    found = check_record(record).found
    fitting = [each for each in found if each.kind == kind and text in each.text and not each.oddity]
    assert fitting, found
    assert turn is None or fitting[0].turn == turn
    return fitting[0]


def turn_of(record: GameRecord, place: int) -> int:
    start = max(n for n in range(place + 1) if isinstance(record.events[n], StartRound))
    return sum(isinstance(event, Discard) for event in record.events[start:place])


def test_real_games_of_every_age_have_no_differences() -> None:
    modern, old = records(MODERN, 60)[: scaled(3, 60)], records(OLD, 30)[: scaled(2, 30)]
    report = totals([check_record(record) for record in (*modern, *old, *records(OTHER, 15))])
    assert (report["differences"], report["unreadable"], report["forbidden_games"]) == (0, 0, 0)
    assert report["checked"] == report["seeded"] == report["games"] - report["not_supported"].total()
    assert set(report["oddities"]) <= {"small_uma", "whole_results"}
    assert report["events"] > report["moves"] > report["passes"] > report["claims"] > report["rounds"]
    assert report["rounds"] > report["checked"] > 5


def test_fault_28_real_games_with_rare_endings_agree_with_our_rules() -> None:
    games = dict(next(game for game in texts(OLD, 330) if re.search(form, game[1])) for form in RARE.values())
    report = totals([check_record(read_record(text, name)) for name, text in games.items()])
    assert (report["checked"], report["differences"]) == (len(games), 0)


@pytest.mark.parametrize(
    ("shard", "count", "game_id", "oddity"),
    [
        (OLD, 80, "2009030812gm-00e1-0000-270195f3", "east_into_west"),
        (OTHER, 105, "2009042221gm-00c1-0000-50538811", "no_tenpai_yame"),
    ],
)
def test_a_game_by_an_old_rule_is_named_in_its_time_only(
    shard: str, count: int, game_id: str, oddity: str
) -> None:
    record = read_record(dict(texts(shard, count))[game_id], game_id)
    for name, expected in ((game_id, oddity), (f"2024{game_id[4:]}", "")):
        found = check_record(msgspec.structs.replace(record, game_id=name)).found
        assert [each.oddity for each in found if "went on" in each.text] == [expected]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"yaku": ((1, 1),)}, "yaku ((1, 1),)"),
        ({"yakuman": (39,)}, "yakuman (39,)"),
        ({"fu": 110}, "fu 110"),
        ({"points": 99_900}, "points 99900"),
        ({"limit": 5}, "limit 5"),
        ({"liable": 2}, "liable 2"),
        ({"honba": 9}, "honba 9"),
        ({"riichi_sticks": 0}, "riichi_sticks 0"),
        ({"deltas": (100, -100, 0, 0)}, "deltas (100, -100, 0, 0)"),
        ({"hand": tuple(range(14))}, "hand (0, 1"),
        ({"ura_indicators": ()}, "ura 0"),
    ],
)
def test_a_wrong_figure_of_a_win_is_found(changes: dict[str, object], text: str) -> None:
    record, place = find(
        lambda e: isinstance(e, Win) and e.riichi_sticks > 0 and len(e.ura_indicators) == 1 and e.fu < 110
    )
    edited = with_events(record, place, msgspec.structs.replace(record.events[place], **changes))
    assert expect(edited, "result", text, turn_of(record, place)).player >= 0


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"deltas": (0, 0, 0, 0)}, "deltas (0, 0, 0, 0)"),
        ({"hands": (None, None, None, None)}, "noten True"),
        ({"hands": ((0, 1, 2, 3), None, None, None)}, "not their hand"),
        ({"reason": "nagashi_mangan"}, "reason nagashi_mangan"),
    ],
)
def test_a_wrong_figure_of_a_draw_is_found(changes: dict[str, object], text: str) -> None:
    record, place = find(
        lambda e: isinstance(e, DrawnRound) and 0 < e.hands.count(None) < 4 and any(e.deltas)
    )
    edited = with_events(record, place, msgspec.structs.replace(record.events[place], **changes))
    expect(edited, "result", text, turn_of(record, place))


@pytest.mark.parametrize(
    ("matches", "kind", "text"),
    [
        (lambda e: isinstance(e, Discard), "event", "does not fit"),
        (lambda e: isinstance(e, DoraRevealed), "event", "indicators lie open"),
        (lambda e: isinstance(e, Win), "event", "no result"),
    ],
)
def test_a_missing_event_is_found(matches: Callable[[GameEvent], bool], kind: str, text: str) -> None:
    record, place = find(matches)
    expect(with_events(record, place), kind, text)


@pytest.mark.parametrize(
    ("reason", "text", "differences"),
    [
        ("nine_terminals", "nine_terminals is not offered", 1),
        ("triple_ron", "ron is not offered", 3),
        ("four_winds", "four_winds in the record, None", 1),
        ("four_riichi", "four_riichi in the record, None", 1),
        ("four_kans", "four_kans in the record, None", 1),
    ],
)
def test_a_round_aborted_without_reason_is_found(reason: Any, text: str, differences: int) -> None:
    kind = Draw if reason == "nine_terminals" else Discard
    record, place = find(lambda e: isinstance(e, kind))
    end = next(n for n in range(place, len(record.events)) if isinstance(record.events[n], EndRound))
    edited = with_events(record, place + 1, DrawnRound(reason, (0, 0, 0, 0)), until=end)
    expect(edited, "legality", text, turn_of(record, place + 1))
    expect(edited, "order", "by our rules")
    assert sum(each.kind == "legality" for each in check_record(edited).found) == differences


def test_a_win_our_rules_do_not_offer_is_found() -> None:
    record, place = find(lambda e: isinstance(e, Win) and e.player != e.from_player)
    win = record.events[place]
    assert isinstance(win, Win)
    other = next(p for p in range(4) if p not in (win.player, win.from_player))
    edited = with_events(record, place, msgspec.structs.replace(win, player=other))
    found = expect(edited, "legality", "not offered", turn_of(record, place))
    assert (found.player, found.forbidden) == (other, "")
    expect(edited, "result", "no yaku")


def test_acts_of_an_absent_player_are_found() -> None:
    record, place = find(lambda e: isinstance(e, Discard) and not e.tsumogiri)
    discard = record.events[place]
    assert isinstance(discard, Discard)
    edited = with_events(record, place, PlayerLeft(discard.player), discard)
    assert expect(edited, "legality", "away", turn_of(record, place)).player == discard.player
    assert check_record(edited).counts["disconnected"] == 1


@pytest.mark.parametrize("field", ["honba", "riichi_sticks", "scores"])
def test_a_round_out_of_order_is_found(field: str) -> None:
    record, place = find(lambda e: isinstance(e, StartRound) and e.round_index == 2)
    value = (25_000,) * 4 if field == "scores" else 7
    edited = with_events(record, place, msgspec.structs.replace(record.events[place], **{field: value}))
    assert expect(edited, "order", f"{value} in the record").round.startswith("East 3")


def test_a_game_that_ends_too_early_or_too_late_is_found() -> None:
    record, place = find(lambda e: isinstance(e, EndRound))
    short = with_events(record, place + 1, record.events[-1], until=len(record.events))
    expect(short, "end", "the game ended")
    expect(msgspec.structs.replace(record, game_type=record.game_type & ~8), "end", "the game went on")
    expect(with_events(record, len(record.events) - 1), "end", "no end")


@pytest.mark.parametrize("changes", [{"scores": (1, 2, 3, 4)}, {"results": (1, 2, 3, -6)}])
def test_wrong_final_points_are_found(changes: dict[str, object]) -> None:
    record = records(MODERN, 60)[0]
    assert isinstance(record.events[-1], EndGame)
    edited = with_events(
        record, len(record.events) - 1, msgspec.structs.replace(record.events[-1], **changes)
    )
    expect(edited, "end", "(1, 2, 3")


def test_what_the_seed_does_not_deal_is_found() -> None:
    record = records(MODERN, 60)[0]
    expect(msgspec.structs.replace(record, dice=((6, 6), *record.dice[1:])), "wall", "dice", 0)
    seed = records(MODERN, 60)[1].shuffle
    other = [each.text for each in check_record(msgspec.structs.replace(record, shuffle=seed)).found]
    for what in ("dice", "deal", "indicator", "draw"):
        assert any(text.startswith(what) for text in other)


@pytest.mark.parametrize("seed", ["mt19937ar-sha1024,x", "mt19937ar-sha512-n288-base64,AAA", "mt19937ar,xyz"])
def test_a_seed_that_cannot_be_read_is_reported(seed: str) -> None:
    record = msgspec.structs.replace(records(MODERN, 60)[0], shuffle=seed)
    assert totals([check_record(record)])["unreadable"] == 1


def test_a_forbidden_move_is_counted_apart_from_differences() -> None:
    report = totals([check_record(with_swap_calling())])
    assert (report["differences"], report["forbidden_games"]) == (0, 1)
    assert report["forbidden"] == {"swap-calling (kuikae)": 1}


def with_swap_calling() -> GameRecord:
    """A game in which a discard after a call is one that kuikae forbids."""
    for record in records(MODERN, 60):
        for place, event in enumerate(record.events):
            discard = record.events[place + 1] if isinstance(event, Chi | Pon) else None
            if not isinstance(discard, Discard):
                continue
            state = new_round()
            start = max(n for n in range(place) if isinstance(record.events[n], StartRound))
            apply_all(state, record.events[start : place + 1])
            for tile in hand_tiles(state, discard.player):
                other = msgspec.structs.replace(discard, tile=tile)
                if broken_rule(state, other) == "swap-calling (kuikae)":
                    return with_events(record, place + 1, other)
    raise AssertionError("no real game has it")


def test_the_tool_counts_games_and_fails_on_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = texts(MODERN, 2)
    wrong = ("wrong", good[0][1].replace('ten="30,', 'ten="40,', 1))
    chips = ("chips", re.sub(r'<GO type="\d+"', '<GO type="673"', good[0][1]))
    games = (*good, wrong, *texts(SANMA, 2), chips)
    shard = write_shard(tmp_path / "mixed.jsonl.zst", games, b'{"id": "broken"}\nno json\n')
    assert main([str(shard), "--json", "--workers", "1"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["games"], report["checked"], report["unreadable"]) == (8, 3, 2)
    assert report["not_supported"] == {"three players": 2, "chips": 1}
    assert report["differences"] == 1
    assert main([str(shard), "--workers", "1"]) == 1
    told = capsys.readouterr().out
    assert "wrong East" in told
    assert "fu 40 in the record, 30 by our rules" in told
    assert "differences 1\n" in told
    (tmp_path / "game.json").write_text(write_game(read_game(good[0][1]), "tenhou6"))
    assert main([str(tmp_path / "game.json"), "--workers", "1"]) == 0
    assert "checked 1\n" in capsys.readouterr().out
