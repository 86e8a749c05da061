"""Settings of run-time policy adaptation."""

from __future__ import annotations

import msgspec


class AdaptationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to adapt.

    Attributes:
        divergence: largest mean divergence KL(π₀ ‖ π), in nats a decision of the play-outs. It is allowed in
            full if the gradient is all signal, and falls with the square of the signal.
        trials: other deals on which the adapted policy is tested against the initial one; 0 for no test.
        proof: standard errors by which it must gain there to be kept.
        replays: play-outs of each deal. Their common part is the luck of the tiles, and is subtracted.
        temperature: of the draws in play-outs.
        steps: gradient steps each time something is learned.
        rows: most decisions in a gradient step; drawn anew for each.
        clip: of the importance ratios, as in `policies.gradient`.
        reject: as in `policies.gradient`.
    """

    divergence: float = 0.3
    trials: int = 128
    proof: float = 2.5
    replays: int = 2
    temperature: float = 1.0
    steps: int = 2
    rows: int = 8_192
    clip: float = 0.0
    reject: float = 4.0
