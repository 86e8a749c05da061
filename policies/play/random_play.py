"""A random player: every option of a slot is equally likely.

It shows what the rest of the program costs, and is the weakest opponent. Its randomness is derived from the
position, so it is deterministic, alone and in a batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from policies.flow.slots import Question, Slot, Source

_SPAN: Final = 1 << 32


class RandomPolicy:
    """Discards any legal tile, and accepts every second call, riichi and kan on average.

    Args:
        seed: another seed gives other games.
    """

    source: Source = "rule"

    def __init__(self, seed: int = 0) -> None:
        self._key = seed.to_bytes(8, "little", signed=True)

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        """Give each option of each question its probability; see `policies.flow.slots.Policy`."""
        return [self._answer(slot, question) for question in questions]

    def _answer(self, slot: Slot, question: Question) -> list[float]:
        draws = self._draws(question)
        if slot is not Slot.DISCARD:
            return [draw / _SPAN for draw in draws]
        chosen = draws[0] * len(question.options) // _SPAN
        return [float(place == chosen) for place in range(len(question.options))]

    def _draws(self, question: Question) -> list[int]:
        """Numbers below 2³², one per option, derived from the whole record."""
        salt = f"{question.slot}{question.player}".encode()
        position = hashlib.blake2b(question.record.tobytes(), key=self._key, person=salt[:16]).digest()
        numbers: list[int] = np.frombuffer(position, dtype="<u4").tolist()
        return [numbers[place % len(numbers)] for place in range(len(question.options))]
