"""Differences of every kind, planted in real games, are reported in their place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
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
from tests.learning.data.games import MODERN, OLD, OTHER, SANMA, records, texts, write_shard
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


def changed(**changes: object) -> Callable[[Any], Sequence[GameEvent]]:
    return lambda event: [msgspec.structs.replace(event, **changes)]


def rich_win(event: GameEvent) -> bool:
    return isinstance(event, Win) and event.riichi_sticks > 0 and len(event.ura_indicators) == 1


def tenpai(event: GameEvent) -> bool:
    return isinstance(event, DrawnRound) and any(event.deltas)


def is_a(kind: type[GameEvent], **fields: object) -> Callable[[GameEvent], bool]:
    return lambda event: (
        isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items())
    )


PLANTED: list[tuple[str, str, Callable[[Any], bool], Callable[[Any], Sequence[GameEvent]]]] = [
    ("result", "yaku ((1, 1),)", rich_win, changed(yaku=((1, 1),))),
    ("result", "fu 110", rich_win, changed(fu=110)),
    ("result", "liable 2", rich_win, changed(liable=2)),
    ("result", "riichi_sticks 0", rich_win, changed(riichi_sticks=0)),
    ("result", "deltas (100, -100", rich_win, changed(deltas=(100, -100, 0, 0))),
    ("result", "hand (0, 1", rich_win, changed(hand=tuple(range(14)))),
    ("result", "ura 0", rich_win, changed(ura_indicators=())),
    ("result", "deltas (0, 0, 0, 0)", tenpai, changed(deltas=(0, 0, 0, 0))),
    ("result", "noten True", tenpai, changed(hands=(None, None, None, None))),
    ("result", "not their hand", tenpai, changed(hands=((0, 1, 2, 3), None, None, None))),
    ("result", "reason nagashi_mangan", tenpai, changed(reason="nagashi_mangan")),
    ("event", "does not fit", is_a(Discard), lambda e: ()),
    ("event", "indicators lie open", is_a(DoraRevealed), lambda e: ()),
    ("event", "no result", is_a(Win), lambda e: ()),
    ("event", "after the result", is_a(Win), lambda e: (e, Draw(0, 1))),
    ("legality", "not offered", is_a(Win, player=0, from_player=1), changed(player=2)),
    ("legality", "away", is_a(Discard, tsumogiri=False), lambda e: (PlayerLeft(e.player), e)),
    ("legality", "nine_terminals", is_a(Draw), lambda e: (e, aborted("nine_terminals"))),
    ("legality", "triple_ron", is_a(Discard), lambda e: (e, aborted("triple_ron"))),
    ("legality", "abort four_winds", is_a(Discard), lambda e: (e, aborted("four_winds"))),
    ("order", "begins (2, 7, ", is_a(StartRound, round_index=2), changed(honba=7)),
    ("order", "(25000, 25000, ", is_a(StartRound, round_index=2), changed(scores=(25_000,) * 4)),
    ("end", "scores (1, 2, 3, 4)", is_a(EndGame), changed(scores=(1, 2, 3, 4))),
    ("end", "results (1, 2, 3, -6)", is_a(EndGame), changed(results=(1, 2, 3, -6))),
    ("end", "no end", is_a(EndGame), lambda e: ()),
]
"""The kind and the text of a difference, an event of a real game, and what is put into its place."""


def aborted(reason: Any) -> GameEvent:
    return DrawnRound(reason, (0, 0, 0, 0))


@pytest.mark.parametrize(("kind", "text", "matches", "replaced"), PLANTED)
def test_a_planted_difference_is_found_in_its_place(
    kind: str, text: str, matches: Callable[[Any], bool], replaced: Callable[[Any], Sequence[GameEvent]]
) -> None:
    record, place = find(matches)
    events = replaced(record.events[place])
    found = with_kind(with_events(record, place, *events), kind)
    assert text in found[0].text
    assert kind != "event" or len({each.round for each in found}) == 1
    start = max(n for n in range(place + 1) if isinstance(record.events[n], StartRound))
    before = (*record.events[start:place], *events[:-1])
    assert found[0].turn == sum(isinstance(event, Discard) for event in before)


def find(matches: Callable[[Any], bool]) -> tuple[GameRecord, int]:
    """A real game and the place of its first matching event."""
    games = records(MODERN, 60)
    places = ((game, place) for game in games for place, event in enumerate(game.events) if matches(event))
    return next(places)


def with_events(record: GameRecord, place: int, *events: GameEvent) -> GameRecord:
    """The game with other events at a place; if they end the round, the rest of it is left out."""
    end = place + 1
    if len(events) > 1 and isinstance(events[-1], DrawnRound):
        end = next(n for n in range(place, len(record.events)) if isinstance(record.events[n], EndRound))
    return msgspec.structs.replace(record, events=(*record.events[:place], *events, *record.events[end:]))


def with_kind(record: GameRecord, kind: str) -> list[Difference]:
    return [found for found in check_record(record).found if found.kind == kind and not found.oddity]


def test_real_games_of_every_age_have_no_differences() -> None:
    modern, old = records(MODERN, 60)[: scaled(3, 60)], records(OLD, 30)[: scaled(2, 30)]
    report = totals([check_record(record) for record in (*modern, *old, *records(OTHER, 15))])
    assert (report["differences"], report["unreadable"], report["forbidden_games"]) == (0, 0, 0)
    assert report["checked"] == report["seeded"] == report["games"] - sum(report["not_supported"].values())
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


def test_a_game_that_ends_too_early_or_too_late_is_found() -> None:
    record, place = find(is_a(EndRound))
    events = (*record.events[: place + 1], record.events[-1])
    assert "the game ended" in with_kind(msgspec.structs.replace(record, events=events), "end")[0].text
    tonpuu = msgspec.structs.replace(record, game_type=record.game_type & ~8)
    assert "the game went on" in with_kind(tonpuu, "end")[0].text


def test_what_the_seed_does_not_deal_is_found() -> None:
    record, other = records(MODERN, 60)[:2]
    dice = msgspec.structs.replace(record, dice=((6, 6), *record.dice[1:]))
    assert [found.text[:4] for found in with_kind(dice, "wall")] == ["dice"]
    found = with_kind(msgspec.structs.replace(record, shuffle=other.shuffle), "wall")
    assert {"dice", "deal", "indicator", "draw"} <= {each.text.split()[0] for each in found}


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
    seed = ("seed", re.sub(r'seed="mt[^,]*', 'seed="unknown', good[0][1]))
    chips = ("chips", re.sub(r'<GO type="\d+"', '<GO type="673"', good[0][1]))
    games = (*good, wrong, seed, *texts(SANMA, 2), chips)
    shard = write_shard(tmp_path / "mixed.jsonl.zst", games, b'{"id": "broken"}\nno json\n')
    assert main([str(shard), "--json", "--workers", "1"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["games"], report["checked"], report["unreadable"]) == (9, 3, 3)
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
