"""How a policy is adapted to a dealt hand."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import msgspec

LessonKind: TypeAlias = Literal["natural", "gradient"]
"""How an adaptation learns from its play-outs."""
LESSONS: Final[tuple[LessonKind, ...]] = get_args(LessonKind)


class AdaptationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to adapt.

    Attributes:
        lesson: how to learn from the play-outs: by the natural gradient of the last layer, or by gradient
            steps.
        divergence: mean divergence KL(π₀ ‖ π) in nats, over the decisions of the play-outs, beyond which a
            policy does not move. Gradient steps lead so far if the gradient is all signal; the more of it is
            noise, the shorter is the way: the divergence falls with the square of the signal.
        sure: standard errors that what the natural gradient finds must be worth, by deals that had no say;
            otherwise the policy stays as it is.
        trials: other deals over which a policy that has moved is tried, against that of the start; 0 for
            none.
        proof: standard errors that it must gain there, or what was learned is given up.
        replays: play-outs of each deal. They differ by the draws, so what they have in common was luck.
        temperature: of the draws in play-outs.
        min_p: what is less likely than this share of the likeliest is not drawn in play-outs.
        steps: gradient steps each time something is learned.
        rows: most decisions a gradient step learns from; drawn anew for each.
        blocks: last blocks of the network that learn by the gradient, beside its head; None for the whole
            network.
        clip: of ratios in the gradient, as in `policies.gradient`.
        reject: as in `policies.gradient`.
    """

    lesson: LessonKind = "natural"
    divergence: float = 0.3
    sure: float = 1.0
    trials: int = 128
    proof: float = 2.5
    replays: int = 2
    temperature: float = 1.0
    min_p: float = 0.0
    steps: int = 2
    rows: int = 8_192
    blocks: int | None = None
    clip: float = 0.0
    reject: float = 4.0
