"""Tables side by side: the same games as one by one, whatever the policies do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import pytest
from structlog.testing import capture_logs

from game.events import EndGame, Four
from game.table.restore import seen_by
from game.table.table import Table
from policies.flow.decisions import Source
from policies.flow.slots import Policy, Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from policies.play.named import RandomPolicy
from policies.play.rollout import FinishedGame, PolicyChooser, Rollout, Seating, Times
from tests.policies.fakes import Broken
from tests.policies.models import a_policy

ALL_FIRST: Four = (0, 0, 0, 0)


def rollout(*policies: Policy, tables: int = 8) -> Rollout:
    return Rollout([PolicyChooser(policy) for policy in policies], tables=tables, length="tonpuu")


def seatings(count: int, players: Four = ALL_FIRST) -> list[Seating]:
    return [Seating(number, 1000 + number, players) for number in range(count)]


def games(run: Rollout, count: int, players: Four = ALL_FIRST) -> dict[int, FinishedGame]:
    return {played.seating.number: played for played in run.play(seatings(count, players))}


class Watched:
    """Random play that records how it was asked, and runs something in between."""

    source: Source = "model"

    def __init__(self, instead: Callable[[Sequence[Question]], None] = lambda _: None) -> None:
        self.sizes: list[tuple[Slot, int]] = []
        self._instead = instead
        self._policy = RandomPolicy()

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        self.sizes.append((slot, len(questions)))
        self._instead(questions)
        return self._policy.answer(slot, questions)


def test_a_game_is_the_same_alone_and_among_others() -> None:
    one_by_one = games(rollout(RandomPolicy(), tables=1), 3)
    together = games(rollout(RandomPolicy(), tables=3), 3)
    some = games(rollout(RandomPolicy(), tables=2), 3)
    assert one_by_one == together == some
    assert sorted(together) == list(range(3))
    assert all(isinstance(played.events[-1], EndGame) for played in together.values())


def test_a_rollout_plays_the_same_games_as_single_decisions() -> None:
    table = Table(1000, length="tonpuu")
    policies: list[Policy] = [HeuristicPolicy(), RandomPolicy(), RandomPolicy(), RandomPolicy()]
    asked = [0, 0, 0, 0]
    while not table.done:
        answers = {}
        for player in table.waiting():
            observation = table.observe(player)
            asked[player] += len(observation.legal) > 1
            answers[player] = decide(observation, policies[player]).action
        table.step(answers)
    played = games(rollout(HeuristicPolicy(), RandomPolicy(), tables=1), 1, (0, 1, 1, 1))[0]
    assert played.events == tuple(table.events)
    assert played.decisions == tuple(asked)
    assert not played.faults


def test_rounds_under_way_are_played_to_their_ends_and_no_further() -> None:
    run, alone = rollout(RandomPolicy(), tables=2), rollout(RandomPolicy(), tables=1)
    whole = games(rollout(RandomPolicy()), 3)

    def tables() -> list[tuple[Seating, Table]]:
        return [(each, Table(each.seed, length="tonpuu")) for each in seatings(3)]

    ended = {seating.number: table for seating, table in run.finish_rounds(tables())}
    assert sorted(ended) == list(range(3))
    for number, table in ended.items():
        assert len(table.results) == 1
        assert tuple(table.events) == whole[number].events[: len(table.events)]
    again = {seating.number: table.scores for seating, table in alone.finish_rounds(tables())}
    assert again == {number: table.scores for number, table in ended.items()}


def test_a_round_that_crashes_is_an_error() -> None:
    (seating,) = seatings(1)
    table = Table(seating.seed, length="tonpuu")
    table.step = None  # type: ignore[assignment, method-assign]
    with pytest.raises(RuntimeError, match="game 0: "):
        list(rollout(RandomPolicy()).finish_rounds([(seating, table)]))


def test_games_depend_on_seeds_and_seats_and_their_walls_on_the_seed_and_the_round_alone() -> None:
    run = rollout(RandomPolicy(1), RandomPolicy(2))
    seated = [Seating(0, 7, (0, 1, 1, 1)), Seating(1, 7, (1, 0, 1, 1)), Seating(2, 8, (0, 1, 1, 1))]
    found = {played.seating.number: played.events for played in run.play(seated)}
    assert len(set(found.values())) == 3
    assert found[0][1] == found[1][1] != found[2][1]


def test_questions_of_all_tables_come_in_one_batch_for_each_slot() -> None:
    policy = Watched()
    found = games(rollout(policy, tables=6), 6)
    discards = [size for slot, size in policy.sizes if slot is Slot.DISCARD]
    assert max(discards) == 6
    asked = sum(sum(played.decisions) for played in found.values())
    assert len(policy.sizes) < asked / 2


class Closing(PolicyChooser):
    """Counts how often it was closed."""

    closed = 0

    def close(self, times: Times) -> None:
        self.closed += 1


def test_choosers_are_closed_when_no_more_is_played() -> None:
    chooser = Closing(RandomPolicy())
    run = Rollout([chooser], tables=2, length="tonpuu")
    playing = run.play(seatings(3))
    next(playing)
    assert chooser.closed == 0
    playing.close()
    assert chooser.closed == 1
    games(run, 1)
    assert chooser.closed == 2


def test_networks_use_only_what_their_player_sees() -> None:
    policy = a_policy()
    compared = 0

    def compare(questions: Sequence[Question]) -> None:
        nonlocal compared
        masked = [msgspec.structs.replace(q, record=seen_by(q.record, q.player)) for q in questions]
        slot = questions[0].slot
        assert policy.answer(slot, masked) == policy.answer(slot, questions)
        compared += len(questions)

    games(rollout(Watched(compare)), 1)
    assert compared > 150


# --- fault 12 (docs/faults.md) -----------------------------------------------------------------------------


def test_a_batch_that_fails_is_asked_again_one_by_one() -> None:
    def fail_together(questions: Sequence[Question]) -> None:
        if len(questions) > 1:
            raise MemoryError("too many at once")

    plain = games(rollout(RandomPolicy()), 3)
    with capture_logs() as logs:
        found = games(rollout(Watched(fail_together)), 3)
    assert found == plain
    assert {entry["event"] for entry in logs} == {"decision.fallback"}
    assert any("MemoryError: too many at once" in entry["reason"] for entry in logs)


def test_one_bad_position_costs_one_decision() -> None:
    def fail_once(questions: Sequence[Question]) -> None:
        if any(int(question.record["scores"][0]) == 25000 and question.player == 2 for question in questions):
            raise ValueError("no such position")

    with capture_logs():
        found = games(rollout(Watched(fail_once)), 3)
    faults = [fault for played in found.values() for fault in played.faults]
    assert faults
    assert {fault.player for fault in faults} == {2}
    assert {fault.reason for fault in faults} == {"ValueError: no such position"}
    assert str(faults[0]).startswith("E1-0 turn ")
    asked = sum(sum(played.decisions) for played in found.values())
    assert len(faults) < asked / 4
    assert not any(played.crash for played in found.values())


def test_nonsense_is_replaced_by_the_heuristic_and_counted() -> None:
    with capture_logs() as logs:
        broken = games(rollout(Broken(lambda count: [[float("nan")] * count])), 1)[0]
    sound = games(rollout(HeuristicPolicy()), 1)[0]
    assert broken.events == sound.events
    faults = Counter(fault.player for fault in broken.faults)
    assert all(20 < faults[player] <= broken.decisions[player] for player in range(4))
    assert not sound.faults
    assert 0 < len(logs) < 40  # each reason is logged once


def test_a_game_that_crashes_is_kept_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Table.step
    steps = Counter[int]()

    def fail(self: Table, actions: object) -> object:
        steps[self.seed] += 1
        if self.seed == 1001 and steps[self.seed] == 30:
            raise RuntimeError("the table broke")
        return step(self, actions)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "step", fail)
    with capture_logs() as logs:
        found = games(rollout(RandomPolicy(), tables=2), 4)
    assert found[1].crash == "RuntimeError: the table broke"
    assert found[1].seating.seed == 1001
    assert len(found[1].events) > 30
    assert [number for number, played in found.items() if played.crash] == [1]
    assert sorted(found) == [0, 1, 2, 3]
    assert [entry["event"] for entry in logs] == ["game.crashed"]
