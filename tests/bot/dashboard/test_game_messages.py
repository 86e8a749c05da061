from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.dashboard import past
from bot.dashboard.feed import Began, DecisionSent, Feed, Happened, Item, Lost, Restated
from bot.dashboard.past import games_shown
from bot.dashboard.server import Pump
from bot.dashboard.session import LADDER_GAMES, ladder
from bot.logs.redaction import REDACTOR
from bot.tenhou.names import GUEST
from bot.web.message_log import MessageLog
from game.events import EndGame, StartRound, Win
from kit.errors import ReplayError
from policies.flow.decisions import Decision
from policies.play.sampling import joint
from replays.files import DECISIONS_SUFFIX, RECORD_SUFFIX
from replays.mjai.lines import render
from tests.bot.dashboard.scenes import ABOUT, decided, gathered, library, played, put


class Listener(MessageLog):
    """A message log that keeps all messages."""

    def __init__(self) -> None:
        super().__init__("test")
        self.told: list[dict[str, Any]] = []
        self.facts: dict[str, Any] = {}

    def send(self, message: dict[str, Any]) -> None:
        """Keep it."""
        self.told.append(message)

    def session(self, facts: dict[str, Any]) -> None:
        """Keep it."""
        self.facts = facts


def shown(*items: Item) -> Listener:
    feed, show = Feed(), Listener()
    pump = Pump(feed, show, ABOUT)
    put(feed, items)
    pump.work()
    return show


def replay_of(folder: Path, game_id: str, program: str) -> dict[str, Any]:
    """A saved game as its page combines it."""
    told = past.replay_of(folder, game_id, program)
    return gathered(told["messages"]) | {"left_out": told["left_out"]}


def begun() -> Began:
    return next(item for item in played() if isinstance(item, Began))


def test_the_messages_add_up_to_the_game_from_our_seat() -> None:
    items = played()
    game = gathered(shown(*items).told)
    events = [item.event for item in items if isinstance(item, Happened)]
    starts = [event for event in events if isinstance(event, StartRound)]
    ending = next(event for event in events if isinstance(event, EndGame))
    assert [each["round_index"] for each in game["rounds"]] == [start.round_index for start in starts]
    messages = [message for event in events if (message := render(event))]
    told = [message for each in game["rounds"] for message in each["events"]]
    assert told == [m for m in messages if m["type"] not in ("start_game", "end_game")]
    for each in game["rounds"]:
        hands = each["events"][0]["tehais"]
        assert ["?" in hand for hand in hands] == [player != game["seat"] for player in range(4)]
        assert each["result"]["kind"] in ("win", "draw")
    assert game["game"]["scores"] == list(ending.scores)
    assert list(game["rounds"][-1]["after"]["placement"]) == game["game"]["places"]


def test_a_win_is_told_with_its_hand_before_the_round_is_over() -> None:
    items = played()
    at = next(n for n, item in enumerate(items) if isinstance(item, Happened) and isinstance(item.event, Win))
    *before, last = gathered(shown(*items[: at + 1]).told)["rounds"]
    assert all(each["result"]["kind"] in ("win", "draw") for each in before)
    assert last["result"]["kind"] == "win"
    assert len(last["result"]["wins"][0]["hand"]) % 3 == 2


def test_a_win_without_ura_dora_is_told_as_no_yakuman() -> None:
    items = [
        Happened(msgspec.structs.replace(item.event, yaku=((1, 1), (53, 0)), yakuman=(), limit=0))
        if isinstance(item, Happened) and isinstance(item.event, Win)
        else item
        for item in played()
    ]
    won = [win for each in gathered(shown(*items).told)["rounds"] for win in each["result"]["wins"]]
    assert won
    assert all([(yaku["id"], yaku["han"]) for yaku in win["yaku"]] == [(1, 1)] for win in won)


def test_every_decision_with_a_choice_is_told_at_its_event_with_its_figures() -> None:
    items = played()
    game = gathered(shown(*items).told)
    told = game["decisions"]
    made = [
        item.made for item in items if isinstance(item, DecisionSent) and item.made.decision.step != "forced"
    ]
    assert len(told) == len(made)
    for each, one in zip(told, made, strict=True):
        assert each["done"] is None
        assert each["live"]["time_ms"] == round(one.decision.latency_ms, 1)
        assert each["options"][0]["action"] == each["preferred"]
        shares = joint({option.action: option.probability for option in one.decision.options})
        riichi = [one for one in each["options"] if one["action"]["kind"] == "riichi"]  # one for each discard
        chosen = riichi if each["preferred"]["kind"] == "riichi" else each["options"][:1]
        share = sum(option["probability"] for option in chosen)
        assert share == pytest.approx(shares[one.decision.action], abs=1e-5)
        if each["step"] == "discard":  # the chosen action is the next event
            later = game["rounds"][each["round"]]["events"][each["event"] + 1 :]
            discarded = next(event for event in later if event["type"] == "dahai")
            assert (discarded["actor"], discarded["pai"]) == (game["seat"], each["preferred"]["tile"])
        (reason, *_) = each["notes"]
        assert reason["key"].startswith("reason_")
        assert reason["params"]["better"] == each["preferred"]["kind"]
        assert reason["params"]["better_tile"] == each["preferred"].get("tile", "")
        for option in each["options"]:
            ends = option["action"]["kind"] in ("tsumo", "ron", "nine_terminals")
            assert (option["shanten"] is None) == ends
            assert (option["danger"] is None) == (option["action"]["kind"] not in ("discard", "riichi"))


def test_a_game_sent_again_keeps_its_decisions() -> None:
    items = played()
    middle = next(n for n, item in enumerate(items) if n > 150 and isinstance(item, Happened)) + 1
    log = tuple(item.event for item in items[:middle] if isinstance(item, Happened))
    straight = gathered(shown(*items).told)
    bent = gathered(shown(*items[:middle], Restated(log), *items[middle:]).told)
    assert bent == straight


def test_a_game_that_is_joined_in_its_middle_is_shown_as_far_as_it_is_known() -> None:
    items = [item for item in played() if isinstance(item, Happened | DecisionSent)]
    starts = [
        n for n, item in enumerate(items) if isinstance(item, Happened) and isinstance(item.event, StartRound)
    ]
    show = shown(begun(), *items[starts[0] + 9 : starts[1]], *items[starts[1] :])
    game = gathered(show.told)
    assert [each["round_index"] for each in game["rounds"]] == [1, 2, 3]


def test_events_that_do_not_fit_cost_decisions_and_nothing_else() -> None:
    items = played()
    events = [n for n, item in enumerate(items) if isinstance(item, Happened)]
    broken = [item for n, item in enumerate(items) if n != events[12]]
    game, whole = gathered(shown(*broken).told), gathered(shown(*items).told)
    assert len(game["rounds"]) == len(whole["rounds"])
    later = [each for each in whole["decisions"] if each["round"] > 0]
    assert [each for each in game["decisions"] if each["round"] > 0] == later


def test_after_a_loss_the_next_game_is_shown() -> None:
    items = played()
    show = shown(*items[:60], Lost(), *items[60:])
    assert not any(message["type"] == "over" for message in show.told)
    again = shown(*items[:60], Lost(), *items[60:], *items)
    assert gathered(again.told) == gathered(shown(*items).told)


def test_a_fault_in_the_dashboard_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    items = played()
    monkeypatch.setattr("bot.dashboard.game_messages.played_decision", fail)
    show = shown(*items)
    assert show.facts["played"] == 1
    monkeypatch.undo()
    assert gathered(shown(*items).told)["game"]["places"]


def test_the_session_counts_places_and_latencies() -> None:
    items = played()
    facts = shown(*items).facts
    place = facts["games"][0]["placement"]
    assert facts["places"] == [int(place == n) for n in (1, 2, 3, 4)]
    assert facts["average_place"] == place
    assert (
        facts["decisions"]["count"] == sum(isinstance(item, DecisionSent) for item in items) >= decided(items)
    )
    assert facts["decisions"]["p50_ms"] <= facts["decisions"]["p99_ms"]
    assert facts["stable_rank"] == (-2.0 if place == 4 else None)
    assert facts["ladder"] is None
    assert ladder((LADDER_GAMES, 0, 0, 0), "tonpuu") is not None
    assert facts["rank"] is None  # no player has one in the built-in lobby
    ranked = msgspec.structs.replace(
        begun(),
        game=msgspec.structs.replace(begun().game, ranks=(15, 16, 17, 18), rates=(1.0, 2.0, 3.0, 4.0)),
    )
    player = begun().game.player
    assert shown(ranked).facts["rank"] == {"rank": 15 + player, "rate": 1.0 + player}
    twice = shown(*items, *items).facts
    assert (twice["played"], twice["result"]) == (2, 2 * facts["result"])


def test_secrets_are_not_shown() -> None:
    secret = "ID0123ABCD-aBcD5678"
    REDACTOR.register(secret)
    items = list(played())
    at = next(
        n
        for n, item in enumerate(items)
        if isinstance(item, DecisionSent) and item.made.decision.step == "discard"
    )
    item = items[at]
    assert isinstance(item, DecisionSent)
    decision: Decision = msgspec.structs.replace(
        item.made.decision, fallback_reason=f"\x1b[31m{secret} failed", source="fallback"
    )
    items[at] = msgspec.structs.replace(item, made=msgspec.structs.replace(item.made, decision=decision))
    game = begun().game
    named = msgspec.structs.replace(game, names=(secret, *game.names[1:]))
    items = [msgspec.structs.replace(one, game=named) if isinstance(one, Began) else one for one in items]
    told = msgspec.json.encode(shown(*items).told).decode()
    assert "hidden failed" in told
    assert secret not in told
    assert "\\u001b" not in told


def test_a_saved_game_is_replayed_with_its_decisions() -> None:
    listed = games_shown(library(), "test")
    (entry,) = listed["games"]
    assert entry["place"] == listed["total"]["average_place"]
    assert listed["days"][0]["places"] == listed["total"]["places"]
    replay = replay_of(library(), entry["id"], "test")
    live = gathered(shown(*played()).told)
    assert replay["game"]["places"] == live["game"]["places"]
    assert GUEST in replay["game"]["names"]
    assert [each["preferred"] for each in replay["decisions"]] == [
        each["preferred"] for each in live["decisions"]
    ]
    assert all("?" not in hand for each in replay["rounds"] for hand in each["events"][0]["tehais"])


def test_a_persons_game_is_replayed_from_their_seat(tmp_path: Path) -> None:
    name, decisions = _copied(tmp_path)
    decisions.unlink()
    (listed,) = games_shown(tmp_path, "test")["games"]
    assert (listed["player"], replay_of(tmp_path, name, "test")["seat"]) == (2, 2)


@pytest.mark.parametrize("name", ["../secrets", "2026010203gm-0009-0000-0123abcd", "x" * 200, ""])
def test_a_missing_game_is_reported(name: str) -> None:
    with pytest.raises(ReplayError):
        replay_of(library(), name, "test")


def test_a_link_in_the_library_is_not_followed(tmp_path: Any) -> None:
    target = next(library().glob(f"*{RECORD_SUFFIX}"))
    (tmp_path / target.name).symlink_to(target)
    with pytest.raises(ReplayError):
        replay_of(tmp_path, target.name.removesuffix(RECORD_SUFFIX), "test")


@pytest.mark.parametrize(
    ("damaged", "left_out"),
    [
        (lambda lines: [b"{}", *lines[1:]], 1),
        (lambda lines: [*lines[:5], b"\xff\x00" * 40, b'{"player":7}', *lines[7:]], 2),
        (lambda lines: [*lines[:-1], lines[-1][:50]], 1),
        (lambda lines: [lines[0].replace(b'"player":', b'"player":9', 1), *lines[1:]], 1),
    ],
)
def test_damaged_lines_of_decisions_are_left_out_and_counted(
    damaged: Callable[[list[bytes]], list[bytes]], left_out: int, tmp_path: Path
) -> None:
    whole = replay_of(library(), games_shown(library(), "test")["games"][0]["id"], "test")
    name, decisions = _copied(tmp_path)
    decisions.write_bytes(b"\n".join(damaged(decisions.read_bytes().splitlines())))
    assert [game["player"] for game in games_shown(tmp_path, "test")["games"]] == [whole["seat"]]
    replay = replay_of(tmp_path, name, "test")
    assert (whole["left_out"], replay["left_out"]) == (0, left_out)
    assert replay["seat"] == whole["seat"]
    assert [each["events"] for each in replay["rounds"]] == [each["events"] for each in whole["rounds"]]
    assert 0 < len(replay["decisions"]) <= len(whole["decisions"])


@pytest.mark.parametrize("damage", ["folder", "link", "endless", "binary"])
def test_decisions_that_cannot_be_read_hide_no_game(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, decisions = _copied(tmp_path)
    if damage == "endless":
        monkeypatch.setattr("replays.store.library.MAX_DECISIONS", 1000)
    elif damage == "binary":
        decisions.write_bytes(bytes(range(256)) * 100)
    else:
        decisions.unlink()
        decisions.symlink_to("/dev/zero") if damage == "link" else decisions.mkdir()
    listed = games_shown(tmp_path, "test")
    assert [game["id"] for game in listed["games"]] == [name]
    assert listed["unreadable"] == 0
    replay = replay_of(tmp_path, name, "test")
    assert replay["game"]["places"]
    assert replay["decisions"] == []
    assert replay["left_out"] is None if damage != "binary" else replay["left_out"] > 0


def test_decisions_that_fit_nothing_are_left_out(tmp_path: Path) -> None:
    name, decisions = _copied(tmp_path)
    fitting = len(replay_of(tmp_path, name, "test")["decisions"])
    lines = [msgspec.json.decode(line) for line in decisions.read_bytes().splitlines()]
    for line in lines[:9]:
        line["decision"]["action"] = lines[-1]["decision"]["action"]
    decisions.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    assert len(replay_of(tmp_path, name, "test")["decisions"]) < fitting


def test_times_name_their_zone() -> None:
    listed = games_shown(library(), "test")["games"][0]
    ours = replay_of(library(), listed["id"], "test")["game"]["date"]
    live = next(message for message in shown(*played()[:40]).told if message["type"] == "game")
    dates = (listed["date"], ours, live["game"]["game"]["date"])
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d JST", date) for date in dates)


def _copied(folder: Path) -> tuple[str, Path]:
    """A copy of the library's game in another folder: its id, and the file of its decisions."""
    record = next(library().glob(f"*{RECORD_SUFFIX}"))
    name = record.name.removesuffix(RECORD_SUFFIX)
    (decisions,) = library().glob(f"{name}.seat?{DECISIONS_SUFFIX}")
    for path in (record, decisions):
        shutil.copy(path, folder)
    return name, folder / decisions.name
