"""Delays before an answer is sent, so that people can follow the game and offered calls stay hidden."""

from __future__ import annotations

from random import Random
from typing import Final, Literal, TypeAlias

from game.actions import Action, ActionKind

Pace: TypeAlias = Literal["instant", "human"]

PASS_DELAY_S: Final = 1.0
"""Constant: a delay that depended on the hand would reveal to the table what was offered."""
DISCARD_DELAY_S: Final = (0.5, 1.0)
CALL_DELAY_S: Final = (1.0, 2.0)
READY_DELAY_S: Final = (3.0, 4.8)
"""Between rounds; the server continues by itself after five seconds."""


def action_delay_s(pace: Pace, action: Action, rng: Random) -> float:
    """Seconds between receiving a choice and answering it with ``action``.

    Source: delays of the official client and of open bots (`docs/tenhou-protocol.md`, section 5.2).
    """
    if pace == "instant":
        return 0.0
    if action.kind is ActionKind.PASS:
        return pass_delay_s(pace)
    return rng.uniform(*(DISCARD_DELAY_S if action.kind is ActionKind.DISCARD else CALL_DELAY_S))


def pass_delay_s(pace: Pace) -> float:
    """Seconds between an offered call and passing it."""
    return 0.0 if pace == "instant" else PASS_DELAY_S


def ready_delay_s(pace: Pace, rng: Random) -> float:
    """Seconds before telling the server that we are ready for the next round."""
    return 0.0 if pace == "instant" else rng.uniform(*READY_DELAY_S)
