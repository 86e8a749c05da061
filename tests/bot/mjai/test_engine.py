from __future__ import annotations

import functools
import io
import itertools
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.mjai.engine import EngineSettings, MjaiEngine
from bot.mjai.pipe import Answers, converse
from game.events import GameEvent
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from game.table.table import Table
from kit.errors import ReplayFormatError
from policies.flow.slots import Policy, Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.play.inference import load_policy
from policies.play.rollout import PolicyChooser, Rollout, Seating
from replays.mjai.lines import Message, render
from replays.mjai.reader import MjaiReader
from replays.mjai.seat import SeatFeed, read_action, seen_by
from tests.bot.bench import Stub
from tests.scale import scaled
from tests.scene import Scene

NONE = {"type": "none"}
FAR = "147m258p369s1234z"
"""A hand for which the only question is the discard."""


class Wire:
    """An engine at the other end of a pipe, fed in one of the dialects."""

    def __init__(
        self, policy: Policy, player: int, *, one_by_one: bool = False, answers: Answers = "auto",
        arrays: bool = False, length: GameLength = "hanchan",
    ) -> None:  # fmt: skip
        self._engine = MjaiEngine(policy, EngineSettings(length=length, riichi_at_once=arrays))
        self.feed = SeatFeed(player)
        self._one_by_one = one_by_one
        self._answers: Answers = answers
        self._arrays = arrays
        self._promised: list[Any] = []

    def receive(self, events: Sequence[GameEvent]) -> list[Any]:
        """Send the new messages; all answers received."""
        new = self.feed.messages(events)
        lines = [json.dumps(message) for message in new] if self._one_by_one else [json.dumps(new)]
        out = io.StringIO()
        source = io.BytesIO("".join(line + "\n" for line in lines).encode())
        converse(self._engine, source, out, answers=self._answers, arrays=self._arrays)
        said = [json.loads(line) for line in out.getvalue().splitlines()]
        if not self._one_by_one or self._answers == "every":
            assert len(said) == len(lines)
        return said

    def ask(self, events: Sequence[GameEvent]) -> Any:
        """Send the new messages, and return the answer to the final question."""
        *before, last = self.receive(events)
        assert all(answer in (NONE, [NONE]) for answer in before)
        if not self._arrays:
            return last
        if self._promised:
            assert last == [NONE]
            return self._promised.pop()
        first, *self._promised = last
        return first


def piped(seed: int, length: GameLength, seats: Sequence[Wire]) -> list[GameEvent]:
    """A game whose players are behind pipes."""
    table = Table(seed, length=length)
    while not table.done:
        answers = {}
        for player in table.waiting():
            legal = table.legal(player)
            answers[player] = read_action(seats[player].ask(table.events), legal, table.state, player)
            assert answers[player] in legal
        table.step(answers)
    for wire in seats:
        assert all(answer in (NONE, [NONE]) for answer in wire.receive(table.events))
    return table.events


def unpiped(seed: int, length: GameLength, policy: Policy) -> list[GameEvent]:
    rollout = Rollout([PolicyChooser(policy)], length=length)
    (played,) = rollout.play([Seating(0, seed, (0, 0, 0, 0))])
    assert not played.faults
    return list(played.events)


DIALECTS: dict[str, dict[str, Any]] = {
    "batches": {},
    "batches, arrays back": {"arrays": True},
    "one by one": {"one_by_one": True},
    "one by one, all answered": {"one_by_one": True, "answers": "every"},
    "one by one, all answered, arrays back": {"one_by_one": True, "answers": "every", "arrays": True},
}


def wires(policy: Policy, dialects: Sequence[str], length: GameLength) -> list[Wire]:
    return [Wire(policy, player, length=length, **DIALECTS[name]) for player, name in enumerate(dialects)]


@pytest.mark.parametrize("length", ["tonpuu", pytest.param("hanchan", marks=pytest.mark.slow)])
def test_games_through_pipes_one_after_another_are_those_without(length: GameLength) -> None:
    policy = HeuristicPolicy()
    seats = wires(policy, list(DIALECTS)[:4], length)
    for seed in (33, 34):
        for player, wire in enumerate(seats):
            wire.feed = SeatFeed(player)
        assert piped(seed, length, seats) == unpiped(seed, length, policy)


def test_the_networks_play_the_same_game_through_pipes() -> None:
    policy = load_policy(averaging=1)
    seats = wires(policy, list(DIALECTS)[1:], "tonpuu")
    assert piped(12, "tonpuu", seats) == unpiped(12, "tonpuu", policy)


# --- questions and players --------------------------------------------------------------------------------


def told(scene: Scene, player: int = 0) -> list[Message]:
    """A scene as messages to its player."""
    messages = [render(event) for event in scene.events]
    return [{"type": "start_game", "id": player}, *[message for message in messages if message]]


def test_without_a_question_there_is_no_answer() -> None:
    engine = MjaiEngine(HeuristicPolicy())
    messages = told(Scene(FAR).own("9p", "9p").turn("5s"))
    assert engine.receive(messages[:2]) == []
    assert engine.receive(messages[2:3])[0]["type"] == "dahai"
    assert [engine.receive([message]) for message in messages[3:]] == [[], [], []]


def test_a_choice_once_answered_is_not_asked_again() -> None:
    """A riichi accepted after its discard, and a dora, ask no new question."""
    scene = Scene("123m406p789s1122z").own("9p", "9p").turn("3s").draw().discard("1z")
    engine = MjaiEngine(HeuristicPolicy())
    engine.receive(told(scene)[:-2])
    riichi = {"type": "reach", "actor": 2}
    assert engine.receive([told(scene)[-2]]) == []
    assert engine.receive([riichi]) == []
    assert len(engine.receive([told(scene)[-1]])) == 1
    assert engine.receive([{"type": "reach_accepted", "actor": 2}]) == []


def test_a_batch_that_ends_on_an_aside_is_still_answered() -> None:
    scene = Scene("123m406p789s1122z").own("9p", "9p").turn("3s").draw()
    messages = [*told(scene), {"type": "reach", "actor": 2}]
    messages += [{"type": "dahai", "actor": 2, "pai": "E", "tsumogiri": False}]
    engine = MjaiEngine(HeuristicPolicy())
    assert len(engine.receive([*messages, {"type": "reach_accepted", "actor": 2}])) == 1


def eager(questions: Sequence[Question]) -> list[list[float]]:
    """Declares riichi, and makes the first legal discard."""
    yes = float(questions[0].slot is Slot.RIICHI)
    first = 1.0 if questions[0].slot is Slot.DISCARD else yes
    return [[first] + [yes] * (len(question.options) - 1) for question in questions]


def test_riichi_is_two_answers_or_one_with_both() -> None:
    scene = Scene("123m406p789s1122z").draw("9p")
    reach = {"type": "reach", "actor": 0}
    step_by_step = MjaiEngine(Stub(eager))
    assert step_by_step.receive(told(scene)) == [reach]
    [discard] = step_by_step.receive([reach])
    assert discard == {"type": "dahai", "actor": 0, "pai": "9p", "tsumogiri": True}
    at_once = MjaiEngine(Stub(eager), EngineSettings(riichi_at_once=True))
    assert at_once.receive(told(scene)) == [reach, discard]
    assert at_once.receive([reach]) == []
    assert at_once.receive([discard]) == []


def test_the_player_can_be_given_if_start_game_has_no_id() -> None:
    messages = told(Scene(FAR).draw("9p"))
    messages[0] = {"type": "start_game", "names": ["a", "b", "c", "d"]}
    assert MjaiEngine(HeuristicPolicy(), EngineSettings(player=0)).receive(messages)[0]["type"] == "dahai"
    messages[0] = {"type": "start_game", "id": None}
    assert MjaiEngine(HeuristicPolicy(), EngineSettings(player=0)).receive(messages)[0]["type"] == "dahai"
    with capture_logs() as logs:
        assert MjaiEngine(HeuristicPolicy()).receive(messages) == [NONE]
    assert "--seat" in logs[0]["reason"]


def test_hands_that_an_arena_shows_openly_do_not_disturb() -> None:
    table = Table(3)
    shown = [message for event in table.events if (message := render(event))]
    engine = MjaiEngine(HeuristicPolicy())
    closed = MjaiEngine(HeuristicPolicy())
    start, deal, draw = shown
    assert engine.receive([start | {"id": 0}, deal, draw]) == closed.receive(
        SeatFeed(0).messages(table.events)
    )


def test_incomplete_results_are_accepted() -> None:
    scene = Scene("123m406p789s1122z").own("9p", "9p")
    engine = MjaiEngine(HeuristicPolicy())
    engine.receive(told(scene))
    assert engine.receive([{"type": "hora", "actor": 2, "target": 0}, {"type": "hora"}]) == []
    assert engine.receive([{"type": "end_kyoku"}]) == []
    assert engine.receive(told(Scene(FAR).draw("9p"))[1:])[0]["type"] == "dahai"


def test_scores_missing_from_a_deal_are_the_last_ones_received() -> None:
    seen: list[list[int]] = []
    engine = MjaiEngine(Stub(lambda questions: seen.append(questions[0].record["scores"].tolist())))
    start, deal, draw = told(Scene(FAR).draw("9p"))
    del deal["scores"]
    after = [33000, 17000, 25000, 25000]
    for first in (start, {"type": "hora", "scores": after}, start):
        engine.receive([first, deal, draw])
        engine.receive([deal | {"scores": None}, draw])
    assert [scores for scores, _ in itertools.groupby(seen)] == [[25000] * 4, after, [25000] * 4]


# --- invalid messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        7,
        "dahai",
        [],
        {"type": "dahai", "actor": 1},
        {"type": "tsumo", "actor": 1, "pai": "?"},
        {"type": "tsumo", "actor": "1" * 100_000, "pai": "?"},
        {"type": "dahai", "actor": 0, "pai": "7z", "tsumogiri": False},
        {"type": "start_kyoku", "bakaze": "E"},
        {"type": "start_game"},
        {"type": "kita", "actor": 1, "pai": "N"},
    ],
)
def test_a_wrong_message_is_answered_none_and_the_next_round_is_played(wrong: object) -> None:
    engine = MjaiEngine(HeuristicPolicy())
    engine.receive(told(Scene(FAR).draw("9p")))
    with capture_logs() as logs:
        assert engine.receive([wrong]) == [NONE]
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["engine.misunderstood"]
    assert 0 < len(logs[0]["reason"]) <= 200
    assert engine.receive(told(Scene(FAR).draw("9p")))[0]["type"] == "dahai"


def test_messages_unknown_to_mjai_are_skipped() -> None:
    engine = MjaiEngine(HeuristicPolicy())
    messages = told(Scene(FAR).draw("9p"))
    with capture_logs() as logs:
        assert engine.receive([*messages[:2], {"type": "weather"}, {}, *messages[2:]])[0]["type"] == "dahai"
    assert [entry["event"] for entry in logs[:2]] == ["engine.ignored"] * 2
    assert engine.receive([{"type": "error", "message": "late"}]) == []


def test_an_invalid_message_costs_only_its_line() -> None:
    engine = MjaiEngine(HeuristicPolicy())
    *messages, draw = told(Scene(FAR).draw("9p"))
    engine.receive(messages)
    for wrong in (None, 7, "dahai", []):
        assert engine.receive([wrong]) == [NONE]
    assert engine.receive([draw])[0]["type"] == "dahai"


def test_in_a_lost_round_we_only_discard_what_we_draw() -> None:
    engine = MjaiEngine(HeuristicPolicy())
    messages = told(Scene("123m406p789s1122z").own("9p", "9p").turn("3s"))
    del messages[-2]
    assert engine.receive(messages) == [NONE]
    claim = {"type": "dahai", "actor": 3, "pai": "E", "tsumogiri": False}
    assert engine.receive([claim]) == []
    discarded = {"type": "dahai", "actor": 0, "pai": "5mr", "tsumogiri": True}
    assert engine.receive([{"type": "tsumo", "actor": 0, "pai": "5mr"}]) == [discarded]
    for draw in (
        {"actor": 1, "pai": "?"},
        {"actor": 0, "pai": "?"},
        {"actor": 0, "pai": ["E"]},
        {"actor": 0},
    ):
        assert engine.receive([{"type": "tsumo", **draw}]) == []


def test_a_round_that_is_over_asks_nothing_more() -> None:
    engine = MjaiEngine(HeuristicPolicy())
    engine.receive(told(Scene(FAR).own("9p", "9p").turn("5s").turn("5s").turn("4m")))
    engine.receive([{"type": "ryukyoku"}])
    with capture_logs():
        assert engine.receive([{"type": "tsumo", "actor": 0, "pai": "9p"}]) == [NONE]


def test_a_policy_that_fails_is_replaced_by_the_rules_for_the_game_after_some_failures() -> None:
    def fail(_: object) -> None:
        raise RuntimeError("no memory")

    messages = told(Scene("123m406p789s1122z").draw("9p"))
    broken = Stub(fail)
    engine = MjaiEngine(broken, EngineSettings(player=0, failures=2))
    by_rules = MjaiEngine(HeuristicPolicy()).receive(messages)
    sources = []
    for _ in range(4):
        with capture_logs() as logs:
            assert engine.receive(messages[1:]) == by_rules
        sources += [entry["source"] for entry in logs if entry["event"] == "decision.made"]
    assert sources == ["fallback", "fallback", "rule", "rule"]
    assert broken.asked == 2
    with capture_logs() as logs:
        engine.receive(messages)  # the next game
    assert logs[0]["event"] == "decision.fallback"
    assert broken.asked == 3


def _drop(messages: list[Any], at: int, rng: random.Random) -> None:
    del messages[at]


def _repeat(messages: list[Any], at: int, rng: random.Random) -> None:
    messages.insert(at, messages[at])


def _swap(messages: list[Any], at: int, rng: random.Random) -> None:
    messages[at : at + 2] = reversed(messages[at : at + 2])


def _change(messages: list[Any], at: int, rng: random.Random) -> None:
    key = rng.choice(list(messages[at]))
    messages[at] = messages[at] | {
        key: rng.choice([0, 3, -1, None, "?", "E", "5mr", [], {}, True, 1e308, "x" * 99])
    }


def _forget(messages: list[Any], at: int, rng: random.Random) -> None:
    messages[at] = {
        key: value for key, value in messages[at].items() if key != rng.choice(list(messages[at]))
    }


def _garbage(messages: list[Any], at: int, rng: random.Random) -> None:
    messages.insert(at, rng.choice([None, 3, "x", [], {"type": {}}, {"type": "tsumo"}, {"type": "hora"}]))


@functools.cache
def some_game() -> list[GameEvent]:
    return unpiped(33, "tonpuu", HeuristicPolicy())


@pytest.mark.parametrize("spoil", [_drop, _repeat, _swap, _change, _forget, _garbage])
def test_corrupted_messages_are_answered_legally_or_not_at_all(
    spoil: Callable[[list[Any], int, random.Random], None],
) -> None:
    """Every answer is legal in the round that the messages describe, or is ``none`` or tsumogiri."""
    rng = random.Random(4)
    events = some_game()
    fits = 0
    for player in range(scaled(2, 4)):
        messages: list[Any] = SeatFeed(player).messages(events)[:400]
        for _ in range(4):
            spoil(messages, rng.randrange(1, len(messages)), rng)
        engine = MjaiEngine(HeuristicPolicy())
        reader: MjaiReader | None = None
        for message in messages:
            with capture_logs():
                answer = engine.receive([message])
            reader = _read(reader, message)
            if not answer or answer == [NONE]:
                continue
            if reader is None:
                discarded = {"type": "dahai", "actor": player, "pai": message["pai"], "tsumogiri": True}
                assert answer == [discarded]
            else:
                legal = legal_actions(reader.state, player)
                assert read_action(answer[0], legal, reader.state, player) in legal
                fits += 1
    assert fits > 10


def test_a_game_that_we_converted_is_played_with_other_hands_masked() -> None:
    """The physical tiles that `suzaku convert` adds are not masked, and are as unknown as the faces."""
    plain, exact = MjaiEngine(HeuristicPolicy()), MjaiEngine(HeuristicPolicy())
    answers = 0
    for event in some_game():
        seen = seen_by(event, 1)
        answered = plain.receive([seen])
        answers += len(answered)
        assert exact.receive([{**(render(event, exact=True) or {}), **(seen or {})}]) == answered
    assert answers > 50


def _read(reader: MjaiReader | None, message: Any) -> MjaiReader | None:
    """The reader of the round after one more message; None once a message did not fit."""
    if not isinstance(message, dict):
        return reader
    if message.get("type") == "start_kyoku":
        reader, message = MjaiReader(), {"scores": [25000] * 4, **message}
    if reader is None or not MjaiReader.knows(message):
        return reader
    try:
        reader.read(message)
    except ReplayFormatError:
        return None
    return reader
