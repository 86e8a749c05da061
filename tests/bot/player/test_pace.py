from __future__ import annotations

import random

from bot.player.pace import PASS_DELAY_S, action_delay_s, ready_delay_s
from game.actions import PASS, RIICHI, Action, ActionKind

DISCARD = Action(ActionKind.DISCARD, 5)
RON = Action(ActionKind.RON, 5)


def test_instant_never_waits() -> None:
    rng = random.Random(1)
    assert [action_delay_s("instant", a, rng) for a in (PASS, DISCARD, RON)] == [0, 0, 0]
    assert ready_delay_s("instant", rng) == 0


def test_human_delays_are_those_people_are_used_to() -> None:
    rng = random.Random(1)
    for _ in range(200):
        assert 0.5 <= action_delay_s("human", DISCARD, rng) <= 1
        assert 1 <= action_delay_s("human", RON, rng) <= 2
        assert 1 <= action_delay_s("human", RIICHI, rng) <= 2
        assert 3 <= ready_delay_s("human", rng) <= 5


def test_a_pass_always_takes_the_same_time() -> None:
    rng = random.Random(1)
    assert {action_delay_s("human", PASS, rng) for _ in range(50)} == {PASS_DELAY_S}


def test_the_same_seed_gives_the_same_delays() -> None:
    first, second = (
        [action_delay_s("human", DISCARD, rng) for _ in range(20)]
        for rng in (random.Random(7), random.Random(7))
    )
    assert first == second
    assert len(set(first)) > 10
