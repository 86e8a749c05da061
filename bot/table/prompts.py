"""The prompt that a seat's page shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from bot.tenhou.session.prompts import riichi_discards
from game.actions import Action, ActionKind
from game.tiles import face_of
from replays.review.moments import action_text


class OpenPrompt(msgspec.Struct, frozen=True):
    """A prompt that waits for the person, or for an answer given without asking.

    Attributes:
        number: as the page knows it; unlike the session's, no two games share one.
        prompt_id: as the session knows it.
        legal: the legal actions; equal faces count once.
        twin: the discard from the hand of the face just drawn, if there is one.
    """

    number: int
    prompt_id: int
    legal: tuple[Action, ...]
    twin: tuple[Action, ...] = ()

    @property
    def choices(self) -> tuple[Action, ...]:
        """Everything the person may choose."""
        return (*self.legal, *self.twin)

    def shown(self, record: np.void, player: int) -> dict[str, Any]:
        """The prompt as the page is told it.

        Args:
            record: the round as the seat sees it.
            player: who sits there, absolute.
        """
        actions = [msgspec.to_builtins(action_text(action, record)) for action in self.choices]
        return {
            "number": self.number,
            "actions": actions,
            "riichi": _after_riichi(self.choices, record, player),
        }


def _after_riichi(legal: Sequence[Action], record: np.void, player: int) -> list[int]:
    """The discards, as indices, that are possible after a riichi."""
    if not any(action.kind is ActionKind.RIICHI for action in legal):
        return []
    allowed = {face_of(action.tile) for action in riichi_discards(record, player)}
    return [
        place
        for place, action in enumerate(legal)
        if action.kind is ActionKind.DISCARD and face_of(action.tile) in allowed
    ]
