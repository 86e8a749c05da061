"""One known round with a question for each slot, to warm up and test a policy before it plays."""

from __future__ import annotations

from typing import Final

import numpy as np

from game.actions import ActionKind
from game.events import Discard, Draw, StartRound
from game.rules import legal_actions
from game.state import apply, clone, new_round
from game.tiles import UNSEEN, parse_hand
from kit.errors import ModelError
from policies.flow.slots import Policy, Question, Slot, read_row

_DEALER: Final = "1111m234567p67s5z"
"""Tenpai with the drawn tile, and with a closed kan."""
_DRAWN: Final = "8s"
_NEXT: Final = "67888s23499m123z"
"""Can call the dealer's discard for a chi, pon or kan."""
_INDICATOR: Final = "9s"


def known_questions() -> list[Question]:
    """A question for each slot."""
    tiles = parse_hand(_DEALER + _DRAWN + _NEXT + _INDICATOR)
    hidden = (UNSEEN,) * 13
    hands = (tuple(tiles[:13]), tuple(tiles[14:27]), hidden, hidden)
    drawn, indicator = tiles[13], tiles[27]
    record = new_round()
    apply(record, StartRound(0, 0, 0, 0, (25000,) * 4, indicator, hands))
    apply(record, Draw(0, drawn))
    turn = clone(record)
    apply(record, Discard(0, drawn, True))
    return [
        _question(Slot.KAN, turn, 0, ActionKind.ANKAN),
        _question(Slot.RIICHI, turn, 0, ActionKind.RIICHI),
        _question(Slot.DISCARD, turn, 0, ActionKind.DISCARD),
        _question(Slot.CHI, record, 1, ActionKind.CHI),
        _question(Slot.PON, record, 1, ActionKind.PON),
    ]


def try_policy(policy: Policy) -> None:
    """Ask every slot once, alone and as a batch of two: whatever is lazy is loaded by it.

    Raises:
        ModelError: an answer is not usable.
    """
    for question in known_questions():
        for batch in ([question], [question, question]):
            rows = policy.answer(question.slot, batch)
            if len(rows) != len(batch):
                raise ModelError(f"{question.slot} slot: {len(rows)} answers to {len(batch)} questions")
            for row in rows:
                read_row(question, row)


def _question(slot: Slot, record: np.void, player: int, kind: ActionKind) -> Question:
    options = tuple(action for action in legal_actions(record, player) if action.kind is kind)
    return Question(slot, record, player, options, "hanchan")
