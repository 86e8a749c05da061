"""The plan of `suzaku eval deals`, and the row of a game."""

from __future__ import annotations

import itertools
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from game.scoring.settlement import GameLength
from kit.options import INTERNAL, Count, Seed, flag, switch
from learning.runs.store import ResumablePlan
from policies.deals.named import SamplerSettings
from policies.nets.compute import IN_PLAY, Compute

FORMAT: Final = "suzaku-worlds/3"
TRUE_HANDS: Final = "true"
"""Name of the sampler that deals the true hands, over walls of its own."""


class DealsPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        policy: policy that plays the games and the play-outs: network, phoenix or a folder of
            checkpoints.
        identity: changes when the policy behind the name changes.
        samplers: sampler of deals: uniform, autoregressive, diffusion, diffusion:steps=NUMBER, or true: the
            true hands over other walls; may be repeated; default: uniform and diffusion.
        horizons: stop play-outs over sampled deals after this many discards, and let the critic value the
            rest; 0: no horizon; may be repeated; default: 0.
        critic: folder of the critic; default: the included one.
        critic_identity: hash of its weights; "" if none is used.
        settings: the samplers that these texts name.
        models: changes when the models of hands change that the samplers use; "" if they use none.
        games: self-play games to take decisions from.
        per_game: maximum number of close decisions to play out per game.
        close: minimum probability of the second choice in a close decision.
        worlds: deals of each sampler for a decision.
        seed: seed of games, decisions and deals.
        play: whether to play the decisions out; if not, only the hands are compared.
        final: compare choices by the expected final reward too.
        from_go_around: only decisions of players with at least this many discards.
        walls: walls drawn with the true hands, to judge the choices; 0 for twice as many as --worlds.
        compute: how networks compute.
        length: length of the games.
        format: format of the results.
    """

    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    samplers: Annotated[tuple[str, ...], flag("--sampler")] = ("uniform", "diffusion")
    horizons: Annotated[tuple[Annotated[int, Meta(ge=0, le=70)], ...], flag("--horizon")] = (0,)
    critic: str = ""
    critic_identity: Annotated[str, INTERNAL] = ""
    settings: Annotated[tuple[SamplerSettings, ...], INTERNAL]
    models: Annotated[str, INTERNAL]
    games: Count = 500
    per_game: Count = 2
    close: Annotated[float, Meta(ge=0.01, le=0.5)] = 0.15
    worlds: Annotated[int, Meta(ge=4)] = 70
    seed: Seed = 0
    play: Annotated[bool, switch("--hands-only", False, "Compare the hands only, without play-outs.")] = True
    final: bool = False
    from_go_around: Annotated[int, Meta(ge=0, le=17)] = 0
    walls: Annotated[int, Meta(ge=0)] = 0
    compute: Compute = IN_PLAY
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    format: Annotated[str, INTERNAL] = FORMAT

    @property
    def ways(self) -> tuple[tuple[str, int], ...]:
        """The samplers, each with every horizon: the order of the rows' samplers."""
        return tuple(itertools.product(self.samplers, self.horizons))


class HandErrors(msgspec.Struct, frozen=True):
    """Squared errors of the means over deals, averaged over the opponents; 0 is perfect.

    The variance due to the number of deals is subtracted, as for infinitely many deals; the variance due to
    repeated hands among them is not.

    Attributes:
        shanten: of the mean shanten.
        tenpai: of the share of tenpai hands.
        waits: of the share of deals in which a kind is a wait, summed over the kinds.
        held: of the share of deals in which a kind is held, summed over the kinds.
    """

    shanten: float
    tenpai: float
    waits: float
    held: float


class SampledDeals(msgspec.Struct, frozen=True):
    """One sampler at one decision, with play-outs up to one horizon.

    Attributes:
        differences: points of the first choice minus points of the second, in each deal.
        scores: errors of its hands.
        ms: CPU milliseconds that sampling took.
        final: the differences in the expected final reward; none if it is not asked for.
        play_ms: CPU milliseconds that playing all its deals out took.
    """

    differences: tuple[int, ...]
    scores: HandErrors
    ms: float
    final: tuple[float, ...] = ()
    play_ms: float = 0.0


class DecisionDeals(msgspec.Struct, frozen=True):
    """One close decision.

    Attributes:
        event: number of events of the game before it.
        player: the player who decides.
        go_around: earlier discards of that player.
        chances: the policy's probabilities of the two discards.
        true: differences with the true hands, over redrawn walls.
        samplers: results of each of `DealsPlan.ways`.
        true_final: the true differences in the expected final reward; none if it is not asked for.
    """

    event: int
    player: int
    go_around: int
    chances: tuple[float, float]
    true: tuple[int, ...]
    samplers: tuple[SampledDeals, ...]
    true_final: tuple[float, ...] = ()


class GameDeals(msgspec.Struct, frozen=True):
    """The decisions of one game.

    Attributes:
        number: the game's.
        close: close decisions there were.
        decisions: those that were played out.
        seconds: CPU time of the game.
    """

    number: int
    close: int
    decisions: tuple[DecisionDeals, ...]
    seconds: float
