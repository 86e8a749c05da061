"""Differences of every kind, planted in real games, are found in their place."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    StartRound,
    Win,
)
from game.forbidden import broken_rule
from game.state import apply_all, hand_tiles, new_round
from learning.corpus.check import Checked, Checker, RecordDifference
from learning.corpus.rounds import RecordedRound
from learning.corpus.verify import VerifyTotals, WorkerReport, print_report
from replays.mjlog.reader import read_record
from replays.record import GameRecord
from tests.learning.corpus.games import MODERN, OLD, OTHER, records, texts
from tests.scale import scaled

Events = list[GameEvent]
GAMES = 60


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker()


def replace(event: GameEvent, **changes: object) -> GameEvent:
    return msgspec.structs.replace(event, **changes)


def find(matches: Callable[[GameEvent], bool], *, clean: bool = False) -> tuple[GameRecord, int]:
    """A real game and the place of its first matching event; not in the last round if ``clean``."""
    for record in records(MODERN, GAMES):
        for place, event in enumerate(record.events):
            if matches(event):
                later = any(isinstance(e, StartRound) for e in record.events[place:])
                if later or not clean:
                    return record, place
    raise AssertionError("no real game has it")


def where(events: tuple[GameEvent, ...], place: int) -> tuple[str, int]:
    """Name of the round of an event, and the discards before it."""
    start = max(n for n in range(place + 1) if isinstance(events[n], StartRound))
    deal = events[start]
    assert isinstance(deal, StartRound)
    return RecordedRound(deal).name, sum(isinstance(event, Discard) for event in events[start:place])


def with_events(record: GameRecord, events: Events) -> GameRecord:
    return msgspec.structs.replace(record, events=tuple(events))


def expect(
    found: tuple[RecordDifference, ...], kind: str, text: str, place: tuple[str, int] | None = None
) -> RecordDifference:
    fitting = [d for d in found if d.kind == kind and text in d.text and not d.oddity]
    assert fitting, found
    if place is not None:
        assert (fitting[0].round, fitting[0].turn) == place
    return fitting[0]


def test_real_games_of_every_age_have_no_differences(checker: Checker) -> None:
    for record in (*records(MODERN, GAMES)[: scaled(3, 60)], *records(OLD, 30)[: scaled(2, 30)]):
        result = checker.check(record)
        assert not [d for d in result.differences if not d.oddity]
        assert result.seeded
        assert result.rounds == record.rounds
        assert result.events > result.moves > result.claims > 0
        assert result.passes > 0


def test_tenhou_rules_of_2009_are_named(checker: Checker) -> None:
    names = {d.oddity for record in records(OLD, 30) for d in checker.check(record).differences}
    assert names == {"small_uma", "whole_results"}


@pytest.mark.parametrize(
    ("shard", "count", "game_id", "oddity"),
    [
        (OLD, 80, "2009030812gm-00e1-0000-270195f3", "east_into_west"),
        (OTHER, 105, "2009042221gm-00c1-0000-50538811", "no_tenpai_yame"),
    ],
)
def test_a_game_by_an_old_rule_is_named_in_its_time_only(
    checker: Checker, shard: str, count: int, game_id: str, oddity: str
) -> None:
    record = read_record(dict(texts(shard, count))[game_id], game_id)
    found = [d for d in checker.check(record).differences if "went on" in d.text]
    assert [d.oddity for d in found] == [oddity]
    today = msgspec.structs.replace(record, game_id=f"2024{game_id[4:]}")
    found = [d for d in checker.check(today).differences if "went on" in d.text]
    assert [d.oddity for d in found] == [""]


# --- results ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"yaku": ((1, 1),)}, "yaku ((1, 1),)"),
        ({"yakuman": (39,)}, "yakuman (39,)"),
        ({"fu": 110}, "fu 110"),
        ({"points": 99_900}, "points 99900"),
        ({"limit": 5}, "limit 5"),
        ({"liable": 2}, "liable player 2"),
        ({"honba": 9}, "honba 9"),
        ({"riichi_sticks": 0}, "sticks 0"),
        ({"hand": tuple(range(14))}, "hand (0, 1"),
        ({"ura_indicators": ()}, "ura indicators 0"),
    ],
)
def test_a_wrong_figure_of_a_win_is_found(checker: Checker, changes: dict[str, object], text: str) -> None:
    record, place = find(
        lambda e: isinstance(e, Win) and e.riichi_sticks > 0 and len(e.ura_indicators) == 1 and e.fu < 110
    )
    events = list(record.events)
    events[place] = replace(events[place], **changes)
    found = checker.check(with_events(record, events)).differences
    assert expect(found, "result", text, where(record.events, place)).player >= 0


def test_a_wrong_payment_is_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Win), clean=True)
    events = list(record.events)
    win = events[place]
    assert isinstance(win, Win)
    a, b, c, d = win.deltas
    events[place] = replace(win, deltas=(a + 100, b - 100, c, d))
    found = checker.check(with_events(record, events)).differences
    expect(found, "result", "score changes", where(record.events, place))
    expect(found, "order", "begins with scores")
    events[place] = replace(win, deltas=(a + 100, b, c, d))
    found = checker.check(with_events(record, events)).differences
    expect(found, "event", "do not add up", where(record.events, place))
    expect(found, "result", "score changes", where(record.events, place))


def test_wrong_tenpai_payments_and_hands_are_found(checker: Checker) -> None:
    record, place = find(
        lambda e: isinstance(e, DrawnRound) and e.reason == "exhaustive" and 0 < e.hands.count(None) < 4
    )
    events = list(record.events)
    drawn = events[place]
    assert isinstance(drawn, DrawnRound)
    at = where(record.events, place)
    events[place] = replace(drawn, deltas=(0, 0, 0, 0))
    expect(checker.check(with_events(record, events)).differences, "result", "score changes (0, 0, 0, 0)", at)
    events[place] = replace(drawn, hands=(None, None, None, None))
    expect(checker.check(with_events(record, events)).differences, "result", "is tenpai", at)
    events[place] = replace(drawn, hands=tuple((0, 1, 2, 3) if hand else None for hand in drawn.hands))
    expect(checker.check(with_events(record, events)).differences, "result", "not their hand", at)
    events[place] = replace(drawn, reason="nagashi_mangan")
    expect(checker.check(with_events(record, events)).differences, "result", "exhaustive by our rules", at)


# --- what players did ---------------------------------------------------------------------------------


def cut_short(record: GameRecord, place: int, result: GameEvent) -> GameRecord:
    """The game with one round ended early by another result."""
    end = next(n for n in range(place, len(record.events)) if isinstance(record.events[n], EndRound))
    return with_events(record, [*record.events[:place], result, *record.events[end:]])


def test_nine_terminals_without_nine_are_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Draw), clean=True)
    edited = cut_short(record, place + 1, DrawnRound("nine_terminals", (0, 0, 0, 0)))
    found = checker.check(edited).differences
    expect(found, "legality", "not offered", where(record.events, place))
    expect(found, "order", "begins with")


@pytest.mark.parametrize("reason", ["four_winds", "four_riichi", "four_kans"])
def test_a_round_aborted_without_reason_is_found(checker: Checker, reason: str) -> None:
    record, place = find(lambda e: isinstance(e, Discard), clean=True)
    edited = cut_short(record, place + 1, DrawnRound(reason, (0, 0, 0, 0)))  # type: ignore[arg-type]
    found = checker.check(edited).differences
    expect(found, "legality", reason, where(record.events, place + 1))


def test_a_triple_ron_without_rons_is_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Discard), clean=True)
    edited = cut_short(record, place + 1, DrawnRound("triple_ron", (0, 0, 0, 0)))
    found = checker.check(edited).differences
    assert len([d for d in found if d.kind == "legality"]) == 3


def test_a_win_our_rules_do_not_offer_is_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Win) and e.player != e.from_player)
    events = list(record.events)
    win = events[place]
    assert isinstance(win, Win)
    other = next(p for p in range(4) if p not in (win.player, win.from_player))
    events[place] = replace(win, player=other)
    found = checker.check(with_events(record, events)).differences
    assert expect(found, "legality", "not offered", where(record.events, place)).player == other
    expect(found, "result", "no yaku by our rules")
    assert not any(difference.forbidden for difference in found)


def test_acts_of_an_absent_player_are_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Discard) and not e.tsumogiri)
    discarded = record.events[place]
    assert isinstance(discarded, Discard)
    events = list(record.events)
    events[place : place + 1] = [PlayerLeft(discarded.player), discarded, PlayerReturned(discarded.player)]
    found = checker.check(with_events(record, events))
    assert found.disconnected
    assert (
        expect(found.differences, "legality", "away", where(record.events, place)).player == discarded.player
    )


def test_events_that_do_not_fit_are_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Discard))
    events = list(record.events)
    at = where(record.events, place)
    discarded = events[place]
    assert isinstance(discarded, Discard)
    del events[place]
    expect(checker.check(with_events(record, events)).differences, "event", "does not fit", at)
    events.insert(place, replace(discarded, tsumogiri=not discarded.tsumogiri))
    expect(checker.check(with_events(record, events)).differences, "event", "does not fit", at)


def test_a_missing_indicator_is_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, DoraRevealed))
    assert any(isinstance(e, Ankan | Daiminkan | Kakan) for e in record.events[:place])
    events = list(record.events)
    del events[place]
    expect(checker.check(with_events(record, events)).differences, "event", "indicators lie open")


def test_a_round_without_a_result_is_found(checker: Checker) -> None:
    record, place = find(lambda e: isinstance(e, Win))
    events = list(record.events)
    del events[place]
    expect(checker.check(with_events(record, events)).differences, "event", "no result")


# --- the order of rounds, and the end -----------------------------------------------------------------


@pytest.mark.parametrize("field", ["honba", "riichi_sticks"])
def test_a_round_out_of_order_is_found(checker: Checker, field: str) -> None:
    record, _ = find(lambda e: isinstance(e, StartRound))
    place = [n for n, e in enumerate(record.events) if isinstance(e, StartRound)][2]
    events = list(record.events)
    events[place] = replace(events[place], **{field: 7})
    found = checker.check(with_events(record, events)).differences
    expect(found, "order", "7, ", where(tuple(events), place))


def test_scores_that_do_not_carry_over_are_found(checker: Checker) -> None:
    record = records(MODERN, GAMES)[0]
    place = [n for n, e in enumerate(record.events) if isinstance(e, StartRound)][1]
    events = list(record.events)
    start = events[place]
    assert isinstance(start, StartRound)
    a, b, c, d = start.scores
    events[place] = replace(start, scores=(a + 1000, b - 1000, c, d))
    found = checker.check(with_events(record, events)).differences
    expect(found, "order", "scores", where(record.events, place))


def test_a_game_that_ends_too_early_or_too_late_is_found(checker: Checker) -> None:
    record = records(MODERN, GAMES)[0]
    first = next(n for n, e in enumerate(record.events) if isinstance(e, EndRound))
    short = with_events(record, [*record.events[: first + 1], record.events[-1]])
    expect(checker.check(short).differences, "end", "the game ended")
    tonpuu = msgspec.structs.replace(record, game_type=record.game_type & ~8)
    expect(checker.check(tonpuu).differences, "end", "the game went on")


def test_wrong_final_points_are_found(checker: Checker) -> None:
    record = records(MODERN, GAMES)[0]
    end = record.ending
    assert isinstance(end, EndGame)
    for changes, text in (
        ({"scores": (1, 2, 3, 4)}, "final scores"),
        ({"results": (1, 2, 3, -6)}, "results (1"),
    ):
        events = [replace(e, **changes) if e is end else e for e in record.events]
        expect(checker.check(with_events(record, events)).differences, "end", text)


# --- walls --------------------------------------------------------------------------------------------


def swapped(record: GameRecord, start: int, a: int, b: int) -> GameRecord:
    """The game with two tiles of one round exchanged everywhere."""
    other = {a: b, b: a}

    def swap(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(swap(item) for item in value)
        return other.get(value, value) if isinstance(value, int) else value

    fields = ("tile", "consumed", "hand", "hands", "indicator", "ura_indicators", "dora_indicator")
    events = list(record.events)
    for place in range(start, len(events)):
        event = events[place]
        names = [name for name in fields if hasattr(event, name)]
        events[place] = replace(event, **{name: swap(getattr(event, name)) for name in names})
        if isinstance(event, EndRound):
            break
    return with_events(record, events)


def test_tiles_that_the_seed_does_not_give_are_found(checker: Checker) -> None:
    record = records(MODERN, GAMES)[0]
    starts = [n for n, e in enumerate(record.events) if isinstance(e, StartRound)]
    deal = record.events[starts[1]]
    assert isinstance(deal, StartRound)
    draws = [(n, e) for n, e in enumerate(record.events) if isinstance(e, Draw) and starts[1] < n < starts[2]]
    place, draw = next((n, e) for n, e in draws if e.tile >= 108)
    twin = next(t for t in range(draw.tile & ~3, (draw.tile | 3) + 1) if t != draw.tile)
    result = checker.check(swapped(record, starts[1], draw.tile, twin))
    found = [d for d in result.differences if not d.oddity]
    assert {d.kind for d in found} == {"wall"}
    assert found[0].round == RecordedRound(deal).name
    if "draw" in found[0].text:
        assert found[0].turn <= where(record.events, place)[1]


def test_dice_that_the_seed_does_not_give_are_found(checker: Checker) -> None:
    record = records(MODERN, GAMES)[0]
    edited = msgspec.structs.replace(record, dice=((6, 6), *record.dice[1:]))
    found = checker.check(edited).differences
    assert [(d.kind, d.turn) for d in found if not d.oddity] == [("wall", 0)]


# --- what is not checked ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "why"), [(2, "no red fives"), (4, "no open tanyao"), (16, "three players"), (512, "chips")]
)
def test_other_rules_are_named(checker: Checker, bits: int, why: str) -> None:
    record = msgspec.structs.replace(records(MODERN, GAMES)[0], game_type=169 | bits)
    assert checker.check(record).unsupported == why


def test_a_view_with_hidden_hands_is_not_checked(checker: Checker) -> None:
    record = records(MODERN, GAMES)[0]
    events = [
        replace(e, hands=(e.hands[0], *((-1,) * 13,) * 3)) if isinstance(e, StartRound) else e
        for e in record.events
    ]
    assert checker.check(with_events(record, events)).unsupported == "hidden hands"


def test_an_unknown_seed_is_a_difference(checker: Checker) -> None:
    record = msgspec.structs.replace(records(MODERN, GAMES)[0], shuffle="mt19937ar-sha1024,x")
    expect(checker.check(record).differences, "unreadable", "unknown form of seed")


def test_games_of_other_rooms_are_checked_too(checker: Checker) -> None:
    results = [checker.check(record) for record in records(OTHER, 15)]
    assert any(not result.unsupported for result in results)
    assert not [d for result in results for d in result.differences if not d.oddity]


# --- forbidden, but possible ------------------------------------------------------------------------------


def _other_tile_after_a_call(record: GameRecord, place: int) -> GameRecord | None:
    """The discard after a chi or pon replaced by one that kuikae forbids; None if there is no such tile."""
    state = new_round()
    start = max(n for n in range(place + 1) if isinstance(record.events[n], StartRound))
    apply_all(state, record.events[start : place + 1])
    discarded = record.events[place + 1]
    if not isinstance(discarded, Discard):
        return None
    for tile in hand_tiles(state, discarded.player):
        forbidden = replace(discarded, tile=tile)
        if broken_rule(state, forbidden) == "swap-calling (kuikae)":
            return with_events(record, [*record.events[: place + 1], forbidden, *record.events[place + 2 :]])
    return None


def _with_swap_calling() -> GameRecord:
    for record in records(MODERN, GAMES):
        for place, event in enumerate(record.events):
            changed = _other_tile_after_a_call(record, place) if isinstance(event, Chi | Pon) else None
            if changed is not None:
                return changed
    raise AssertionError("no real game has it")


def test_a_forbidden_move_is_listed_apart_from_differences(checker: Checker) -> None:
    result = checker.check(_with_swap_calling())
    told = [found for found in result.differences if found.forbidden]
    assert [found.forbidden for found in told] == ["swap-calling (kuikae)"]
    assert "is forbidden: swap-calling (kuikae)" in told[0].text
    assert not any(
        "does not fit" in found.text and found.turn <= told[0].turn for found in result.differences
    )


def test_the_report_counts_games_with_forbidden_moves_apart(capsys: pytest.CaptureFixture[str]) -> None:
    swapped = RecordDifference("a", "East 1", 3, "legality", 2, "text", forbidden="swap-calling (kuikae)")
    tally = VerifyTotals(1)
    tally.add(WorkerReport([Checked("a", differences=(swapped, swapped)), Checked("b")], 1, 1.0))
    report = tally.report()
    assert (report.differences, report.forbidden_games) == (0, 1)
    assert report.forbidden == {"swap-calling (kuikae)": 2}
    assert print_report(report, as_json=False) == 0
    told = capsys.readouterr().out
    assert "differences 0, games with forbidden moves 1" in told
    assert "forbidden: 2 swap-calling (kuikae)" in told
