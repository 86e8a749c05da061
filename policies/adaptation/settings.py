"""Settings of run-time policy adaptation."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from kit.options import INTERNAL, Count


class AdaptationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to adapt.

    Attributes:
        divergence: largest mean divergence KL(π₀ ‖ π), in nats a decision of the play-outs. It is allowed in
            full if the gradient is all signal, and falls with the square of the signal.
        trials: deals on which the adapted policy is tested; it is dropped unless it gains. 0: no test.
        proof: standard errors by which it must gain to be kept.
        replays: play-outs of each deal; the mean of the others is the baseline of each.
        temperature: sampling temperature of the play-outs; the lower, the more often the likeliest is chosen.
        steps: gradient steps in each lesson.
        rows: most decisions in a gradient step; drawn anew for each.
        clip: of the importance ratios, as in `policies.training.gradient`.
        reject: as in `policies.training.gradient`.
    """

    divergence: Annotated[float, INTERNAL] = 0.3
    trials: Annotated[int, Meta(ge=0)] = 128
    proof: Annotated[float, INTERNAL] = 2.5
    replays: Count = 2
    temperature: Annotated[float, Meta(ge=0.05, le=100.0)] = 2.0
    steps: Count = 2
    rows: Annotated[int, INTERNAL] = 8_192
    clip: Annotated[float, INTERNAL] = 0.0
    reject: Annotated[float, INTERNAL] = 4.0
