from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from game.actions import ActionKind
from game.layout import ROUND_STATE
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


def test_what_lies_between_the_fields_of_a_record_does_not_count() -> None:
    scene = Scene("123456789m139p5z").draw("9s")
    raw = np.frombuffer(bytearray(scene.record.tobytes()), np.uint8)
    between = np.ones(len(raw), bool)
    for dtype, offset in (field[:2] for field in (ROUND_STATE.fields or {}).values()):
        between[offset : offset + dtype.itemsize] = False
    assert between.any()
    rows = set()
    for filler in (0, 255):
        raw[between] = filler
        (record,) = np.frombuffer(raw.tobytes(), ROUND_STATE)
        question = Question(Slot.DISCARD, record, 0, tuple(scene.legal()[-13:]), "hanchan")
        answers = [RandomPolicy(seed).answer(Slot.DISCARD, [question]) for seed in range(3)]
        rows.add(str(answers))
    assert len(rows) == 1


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
