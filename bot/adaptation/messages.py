"""Messages between the program and its thinking process; `search` and `adapt` add their own."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import msgspec

from game.events import GameEvent
from game.observation import Observation
from policies.adaptation.settings import ThinkingSettings
from policies.nets.compute import DeviceName

RoundKey: TypeAlias = tuple[str, int, int]
"""A round: its game, its index and its honba."""


class WorkerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Setup of the process.

    Attributes:
        folder: of the checkpoints.
        thinking: what to do.
        device: where its networks compute.
        seconds: most CPU time of the process for adapting in one round.
        memory_mb: the process gives up if it takes more.
    """

    folder: Path
    thinking: ThinkingSettings
    device: DeviceName
    seconds: float
    memory_mb: int


class SeatView(msgspec.Struct, frozen=True):
    """To the process: a round as our seat sees it now.

    Attributes:
        key: the round.
        observation: of our seat.
        events: of the game so far, as our seat saw them.
    """

    key: RoundKey
    observation: Observation
    events: tuple[GameEvent, ...]


class RoundOver(msgspec.Struct, frozen=True):
    """To the process: stop thinking about the round."""
