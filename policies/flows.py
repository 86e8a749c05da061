"""Many decision flows side by side, with the questions of each slot in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np

from game.actions import Action
from game.settlement import GameLength
from policies.decision import Flow, Verdict, flow, reason_of
from policies.slots import Question, Slot

_SLOTS: Final = (Slot.CHI, Slot.PON, Slot.KAN, Slot.RIICHI, Slot.DISCARD)
"""The order in which a flow asks: one pass over it gathers each slot's questions in one batch."""

Row: TypeAlias = Sequence[float] | Exception
"""One answer, or what went wrong with it."""
Answer: TypeAlias = Callable[[Slot, list[Question]], Sequence[Row]]
"""Answers questions of one slot, with a row for each."""


class Case(msgspec.Struct, frozen=True):
    """One decision to be made.

    Attributes:
        record: the round as the player sees it; must not change before the decision.
        player: absolute.
        legal: the legal actions.
        length: of the game.
    """

    record: np.void
    player: int
    legal: tuple[Action, ...]
    length: GameLength


class Running:
    """One decision in progress: the question it waits for, then its verdict or fault."""

    __slots__ = ("_steps", "fault", "question", "verdict")

    def __init__(self, case: Case) -> None:
        self.question: Question | None = None
        self.verdict: Verdict | None = None
        self.fault = ""
        self._steps: Flow = flow(case.record, case.player, case.legal, case.length)
        self._go_on(None)

    def send(self, row: Row) -> None:
        """Answer the question."""
        self.question = None
        self._go_on(row)

    def _go_on(self, row: Row | None) -> None:
        try:
            if isinstance(row, Exception):
                raise row
            self.question = next(self._steps) if row is None else self._steps.send(row)
        except StopIteration as done:
            self.verdict = done.value
        except Exception as error:
            self.fault = reason_of(error)


def run_flows(cases: Sequence[Case], answer: Answer) -> list[Running]:
    """Decide all cases with as few questions as possible; each ends with a verdict or a fault."""
    flows = [Running(case) for case in cases]
    for slot in _SLOTS:
        while waiting := [each for each in flows if each.question and each.question.slot is slot]:
            rows = answer(slot, [each.question for each in waiting if each.question])
            for each, row in zip(waiting, rows, strict=True):
                each.send(row)
    return flows
