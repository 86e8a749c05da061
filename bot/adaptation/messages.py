"""Messages between the program and its thinking process, beside those of `kit.workers.child`."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.events import GameEvent
from game.observation import Observation
from policies.adaptation import AdaptationProgress
from policies.adaptation.thinking import ThinkingSettings
from policies.flow.decisions import Improvement
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
        seed: determines deals and draws.
    """

    folder: Path
    thinking: ThinkingSettings
    device: DeviceName
    seconds: float
    memory_mb: int
    seed: int = 0


class AdaptRequest(msgspec.Struct, frozen=True):
    """To the process: adapt to this.

    Attributes:
        key: the round.
        observation: as our seat sees it.
        events: of the game so far, as our seat saw them.
    """

    key: RoundKey
    observation: Observation
    events: tuple[GameEvent, ...]


class SearchRequest(msgspec.Struct, frozen=True):
    """To the process: compare the options of a decision.

    Attributes:
        number: of the request; answers to older ones are dropped.
        now: the decision.
        base: what is done without a search.
        until: when the answer is due, by `time.monotonic`, which all processes share.
    """

    number: int
    now: AdaptRequest
    base: Action
    until: float


class RoundOver(msgspec.Struct, frozen=True):
    """To the process: stop thinking about the round."""


class AdaptedWeights(msgspec.Struct, frozen=True):
    """From the process: the discard model, adapted to a round.

    Attributes:
        key: the round.
        turn: discards of all players when the latest play-outs began.
        of: play-outs that there are to be, as far as the round has got.
        progress: how it went.
        weights: parameters of the network, by name.
    """

    key: RoundKey
    turn: int
    of: int
    progress: AdaptationProgress
    weights: dict[str, NDArray[np.float32]]


class SearchAnswer(msgspec.Struct, frozen=True):
    """From the process: the answer to a request.

    Attributes:
        number: of the request.
        improvement: what was found; None if no options are close, or time was short.
    """

    number: int
    improvement: Improvement | None


ToWorker: TypeAlias = AdaptRequest | SearchRequest | RoundOver
FromWorker: TypeAlias = AdaptedWeights | SearchAnswer
