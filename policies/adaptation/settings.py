"""Settings of search and adaptation."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from game.ranking import Uma
from game.scoring.settlement import RewardKind
from kit.options import INTERNAL, Count

USUAL_SAMPLER: Final = "diffusion"
"""Of the samplers, its hands are closest to the true ones, and it is fast."""


class AdaptationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to adapt.

    Attributes:
        divergence: largest mean divergence KL(π₀ ‖ π), in nats a decision of the play-outs. It is allowed in
            full if the gradient is all signal, and falls with the square of the signal.
        trials: deals on which the adapted policy is tested; it is dropped unless it gains. 0: no test.
        proof: standard errors by which it must gain to be kept.
        replays: play-outs of each deal; the mean of the others is the baseline of each.
        temperature: sampling temperature of the play-outs; the lower, the more often the likeliest is chosen.
        steps: gradient steps in each update.
        rows: most decisions in a gradient step; drawn anew for each.
        reject: as in `policies.policy_gradient.loss`.
    """

    divergence: Annotated[float, INTERNAL] = 0.3
    trials: Annotated[int, Meta(ge=0)] = 128
    proof: Annotated[float, INTERNAL] = 2.5
    replays: Count = 2
    temperature: Annotated[float, Meta(ge=0.05, le=100.0)] = 2.0
    steps: Count = 2
    rows: Annotated[int, INTERNAL] = 8_192
    reject: Annotated[float, INTERNAL] = 4.0


class ThinkingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of search and adaptation.

    Attributes:
        worlds: most deals over which a search compares options; 0 for no search.
        horizon: discards after which a search cuts its play-outs, and a critic values the rest of the round;
            0 to play them to its end.
        from_go_around: discards that a player must have made before a search is worth its time.
        playouts: rounds that an adaptation plays out; 0 for none.
        sampler: of the deals, as `policies.deals.named.load_sampler` takes it.
        reward: value of the end of a round: its points, or the expected final reward.
        uma: what a final reward is in, None for that of the predictor.
        adaptation: how the policy is adapted.
    """

    worlds: int = 0
    horizon: int = 0
    from_go_around: int = 0
    playouts: int = 0
    sampler: str = USUAL_SAMPLER
    reward: RewardKind = "global"
    uma: Uma | None = None
    adaptation: AdaptationSettings = AdaptationSettings()

    @property
    def unit(self) -> RewardKind | Literal["uma"]:
        """The unit of gains."""
        return "uma" if self.uma and self.reward == "global" else self.reward

    def searches(self, record: np.void, player: int) -> bool:
        """Whether options are compared in a round.

        Args:
            record: the round, as far as the player sees it.
            player: whose decision it is, absolute.
        """
        return self.worlds > 0 and int(record["river_size"][player]) >= self.from_go_around
