from __future__ import annotations

from collections import Counter

import pytest

from game.actions import ActionKind
from policies.flow.slots import Question, Slot
from policies.play.named import RandomPolicy
from tests.scene import Scene


def test_randomness_comes_from_the_position_and_the_seed() -> None:
    one, other = Scene("123456789m139p5z").draw("9s"), Scene("123456789m139p5z").draw("8s")
    questions = [
        Question(Slot.DISCARD, scene.record, 0, tuple(scene.legal()[-13:]), "hanchan")
        for scene in (one, other)
    ]
    together = RandomPolicy(3).answer(Slot.DISCARD, questions)
    alone = [RandomPolicy(3).answer(Slot.DISCARD, [question])[0] for question in questions]
    assert together == alone
    rows = {tuple(RandomPolicy(seed).answer(Slot.DISCARD, questions[:1])[0]) for seed in range(40)}
    assert len(rows) > 8


def test_every_discard_has_its_turn() -> None:
    scene = Scene("123456789m139p5z").draw("9s")
    options = tuple(action for action in scene.legal() if action.kind is ActionKind.DISCARD)
    question = Question(Slot.DISCARD, scene.record, 0, options, "hanchan")
    counts: Counter[int] = Counter()
    for seed in range(1400):
        row = RandomPolicy(seed).answer(Slot.DISCARD, [question])[0]
        assert sum(row) == pytest.approx(1.0)
        counts[row.index(1.0)] += 1
    assert set(counts) == set(range(len(options)))
    assert max(counts.values()) < 2 * min(counts.values())


def test_calls_are_taken_about_every_second_time() -> None:
    scene = Scene("33345m678p2256s1z", round_index=3).turn("3m")
    pon = tuple(action for action in scene.legal() if action.kind is ActionKind.PON)
    question = Question(Slot.PON, scene.record, 0, pon, "hanchan")
    yes = sum(RandomPolicy(seed).answer(Slot.PON, [question])[0][0] > 0.5 for seed in range(400))
    assert 160 < yes < 240
