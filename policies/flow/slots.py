"""The five model slots of the decision flow, and the policies that fill them: rules or networks.

A slot is asked a `Question` and answers with one probability per option. A `Policy` answers many questions of
one slot at once: a batch for a network, a loop for a rule-based player.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, Protocol

import msgspec
import numpy as np

from game.actions import Action
from game.observation import HiddenTiles
from game.scoring.settlement import GameLength
from kit.errors import ModelError
from policies.flow.decisions import Source

_SUM_TOLERANCE: Final = 0.01  # half-precision softmax rows miss 1 by a little


class Slot(StrEnum):
    """The five models of the paper.

    Source: Suphx, arXiv:2003.13590, table 1.
    """

    DISCARD = "discard"
    RIICHI = "riichi"
    CHI = "chi"
    PON = "pon"
    KAN = "kan"


def nothing_hidden() -> None:
    """No hidden tiles: only the player's view is known."""


class Question(msgspec.Struct, frozen=True):
    """A question to one slot.

    Attributes:
        slot: the model asked.
        record: the round, one record of `game.layout.ROUND_STATE`; must not be changed. It may hold more than
            ``player`` sees, such as all hands: only what the player sees may be used.
        player: who decides, absolute.
        options: the legal actions of the slot: every discard, or the one or more calls of its kind.
        length: length of the game; it determines the last rounds.
        hidden: gives what no player sees, for policies that learn with its help; None at a real table.
    """

    slot: Slot
    record: np.void
    player: int
    options: tuple[Action, ...]
    length: GameLength
    hidden: Callable[[], HiddenTiles | None] = nothing_hidden


class Policy(Protocol):
    """Anything that can fill the five slots."""

    @property
    def source(self) -> Source:
        """The source recorded for this policy's decisions: ``"model"`` or ``"rule"``."""

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        """Give each option of each question its probability.

        Args:
            slot: slot of all the questions.
            questions: one or more, from any rounds and players.

        Returns:
            One row per question, one number in 0–1 per option. In the discard slot a row adds up to 1; in
            the others each number is the probability of "yes" to that option alone, and above 0.5 the answer
            is "yes".
        """


def read_row(question: Question, answer: Sequence[float]) -> list[float]:
    """One question's answer, made sure of.

    Raises:
        ModelError: it is not one number for each option, or one is not finite or outside 0–1, or those of
            discards do not add up to 1.
    """
    try:
        row = [float(p) for p in answer]
    except (TypeError, ValueError):
        raise ModelError(f"{question.slot} slot: found {answer!r:.80}, expected a row of numbers") from None
    if len(row) != len(question.options):
        raise ModelError(f"{question.slot} slot: {len(row)} numbers for {len(question.options)} options")
    total = sum(row)  # finite only if each is
    if not math.isfinite(total):
        raise ModelError(f"{question.slot} slot: a probability is not finite")
    if row and not (min(row) >= 0.0 and max(row) <= 1.0 + _SUM_TOLERANCE):
        raise ModelError(f"{question.slot} slot: a probability is outside 0-1")
    if question.slot is Slot.DISCARD and abs(total - 1.0) > _SUM_TOLERANCE:
        raise ModelError(f"discard slot: the probabilities add up to {total:.3f}")
    return row
