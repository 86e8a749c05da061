"""Policies with scripted answers, good and bad."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from game.actions import Action
from policies.flow.decisions import Source
from policies.flow.slots import Question, Slot


class Scripted:
    """Says yes to the scripted actions and no to the rest; prefers the first scripted discard."""

    source: Source = "model"

    def __init__(self, yes: dict[Action, float] | None = None) -> None:
        self.yes = yes or {}
        self.asked: list[Slot] = []

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        self.asked.append(slot)
        return [self._row(question) for question in questions]

    def _row(self, question: Question) -> list[float]:
        told = [self.yes.get(action, 0.0) for action in question.options]
        if question.slot is not Slot.DISCARD:
            return told
        wanted = [p + 1e-9 for p in told]
        return [p / sum(wanted) for p in wanted]


class Broken:
    """Answers with the result of a function of the number of options."""

    source: Source = "model"

    def __init__(self, answer: Callable[[int], Sequence[Sequence[float]]]) -> None:
        self._answer = answer
        self.calls = 0

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        self.calls += 1
        return self._answer(len(questions[0].options))


class Undecided:
    """Weighs discards by their kinds, with 0.3 for everything else: quick, and never certain."""

    source: Source = "model"

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        return [self.row(slot, question) for question in questions]

    def row(self, slot: Slot, question: Question) -> list[float]:
        """The answer to one question."""
        if slot is not Slot.DISCARD:
            return [0.3] * len(question.options)
        weights = [1.0 + action.tile // 4 % 3 for action in question.options]
        return [weight / sum(weights) for weight in weights]
