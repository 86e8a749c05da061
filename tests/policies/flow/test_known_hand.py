from __future__ import annotations

from game.rules import legal_actions
from policies.flow.known_hand import known_questions
from policies.flow.slots import Slot


def test_every_slot_has_a_question_with_legal_options() -> None:
    questions = known_questions()
    assert sorted(question.slot for question in questions) == sorted(Slot)
    for question in questions:
        assert question.options
        assert set(question.options) <= set(legal_actions(question.record, question.player))
