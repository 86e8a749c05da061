"""The plan of a run of self-play learning: stored with the run, used to resume it, and copied to its card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from game.scoring.settlement import GameLength, RewardKind
from kit.errors import ConfigError
from kit.options import INTERNAL, Count, NotNegative, Seed
from policies.nets.compute import Compute, FloatPrecision

ReinforcementPresetName: TypeAlias = Literal["tiny", "small", "large"]

_SIZES: Final[Mapping[ReinforcementPresetName, Mapping[str, Any]]] = {
    "tiny": {
        "games": 48,
        "block_games": 8,
        "steps": 2,
        "oracle_games": 16,
        "fade_games": 16,
        "evaluate_every": 24,
        "evaluation_games": 16,
    },
    "small": {"games": 20_000, "block_games": 128, "steps": 6},
    "large": {"games": 1_500_000, "block_games": 1_024, "steps": 8, "evaluate_every": 50_000},
}


class ReinforcementPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns; two runs of a plan on one machine give the same numbers.

    Attributes:
        reward: reward of a round: its points, or global for the change of the expected final reward.
        baseline: baseline of the rewards: none, a critic's prediction, or that of an oracle critic, which
            sees all tiles.
        seats: seats that learn: all, or one against three opponents.
        opponents: opponents of one learning seat: the initial policy, or past versions of the learner.
        games: games to learn from; default: the preset's.
        block_games: games between two versions of the policy; default: the preset's.
        length: length of the games.
        lag: blocks by which play may lag behind learning: block b is played with the policy after block
            b - lag; 0: playing and learning take turns.
        temperature: sampling temperature of the discards; the lower, the more often the likeliest is chosen.
        steps: steps of the optimiser per block; default: the preset's.
        learning_rate: peak learning rate.
        warm_up: steps over which the learning rate rises to its peak, where it stays.
        weight_decay: weight decay of AdamW.
        averaging: decay of the moving average of the weights, which is evaluated and kept.
        clip: clipping range of the importance ratio, as in PPO; 0 for none.
        reject: leave out decisions with a larger importance ratio.
        anchor: weight of the penalty on divergence from the initial policy.
        oracle_games: oracle guiding: games in which the policy also sees the other hands and the wall;
            default: 0, or the preset's.
        fade_games: oracle guiding: games over which this information is then faded out; learning continues at
            a tenth of the rate; default: 0, or the preset's.
        entropy: target entropy in nats; default: that of the first block.
        entropy_step: step size of the coefficient that keeps the entropy there, β of equation (3).
        critic_width: channels of the critic.
        critic_depth: blocks of the critic.
        critic_rate: learning rate of the critic.
        past: blocks between two versions kept for --opponents past.
        seed: seed of walls, draws and order.
        precision: precision of the learner's arithmetic.
        compute: how the actors' networks compute.
        evaluate_every: games between two evaluations; default: the preset's.
        evaluation_games: games of an evaluation against the initial policy; default: the preset's.
    """

    grows: ClassVar[tuple[str, ...]] = ("games",)

    reward: RewardKind = "global"
    baseline: Literal["none", "critic", "oracle"] = "critic"
    seats: Literal["all", "one"] = "all"
    opponents: Literal["start", "past"] = "start"
    games: Count = 20_000
    block_games: Count = 128
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    lag: Annotated[int, Meta(ge=0, le=100)] = 1
    temperature: Annotated[float, Meta(ge=0.05, le=100.0)] = 1.0
    steps: Count = 6
    learning_rate: Annotated[float, Meta(ge=0.0, le=100.0)] = 1e-4
    warm_up: Annotated[int, INTERNAL] = 20
    weight_decay: Annotated[float, INTERNAL] = 0.0
    averaging: Annotated[float, Meta(ge=0.0, le=0.9999)] = 0.99
    clip: NotNegative = 0.2
    reject: Annotated[float, Meta(ge=1.0)] = 4.0
    anchor: NotNegative = 0.0
    oracle_games: Annotated[int, Meta(ge=0)] = 0
    fade_games: Annotated[int, Meta(ge=0)] = 0
    entropy: NotNegative | None = None
    entropy_step: NotNegative = 1e-2
    critic_width: Annotated[int, INTERNAL] = 32
    critic_depth: Annotated[int, INTERNAL] = 3
    critic_rate: Annotated[float, INTERNAL] = 1e-3
    past: Count = 20
    seed: Seed = 0
    precision: FloatPrecision = "fp32"
    compute: Annotated[Compute, INTERNAL] = Compute()
    evaluate_every: Count = 5_000
    evaluation_games: Annotated[int, Meta(ge=4)] = 400

    def __post_init__(self) -> None:
        faults = [
            f"{name}: {getattr(self, name)} must be above {least}"
            for name, least in (("learning_rate", 0), ("reject", 1))
            if not getattr(self, name) > least
        ]
        if self.opponents == "past" and self.seats == "all":
            faults.append("--opponents past goes with --seats one")
        if faults:
            raise ConfigError("\n".join(faults))

    @property
    def blocks(self) -> int:
        """Number of blocks; the last one is as large as the others."""
        return -(-self.games // self.block_games)

    @property
    def rounded_games(self) -> int:
        """Games in all blocks."""
        return self.blocks * self.block_games

    @property
    def guided(self) -> bool:
        """Whether the policy learns by oracle guiding."""
        return self.oracle_games + self.fade_games > 0

    def gamma(self, block: int) -> float:
        """Share of the hidden planes that a guided policy sees in a block: 1, then falling, then 0.

        >>> plan = ReinforcementPlan(block_games=10, oracle_games=20, fade_games=40)
        >>> [plan.gamma(block) for block in range(8)]
        [1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
        >>> [ReinforcementPlan(block_games=10, oracle_games=20).gamma(block) for block in range(4)]
        [1.0, 1.0, 0.0, 0.0]
        """
        faded = block * self.block_games - self.oracle_games
        if faded < 0:
            return 1.0
        return max(0.0, 1.0 - faded / self.fade_games) if self.fade_games else 0.0

    def rate(self, block: int, step: int) -> float:
        """The learning rate of a step, counted over all blocks; a tenth once no hidden planes are left."""
        rate = self.learning_rate * min(1.0, (step + 1) / max(1, self.warm_up))
        return rate / 10.0 if self.guided and self.gamma(block) == 0.0 else rate

    def numbers(self, block: int) -> range:
        """The numbers of a block's games."""
        return range(block * self.block_games, (block + 1) * self.block_games)


def make_reinforcement_plan(preset: ReinforcementPresetName = "small", **settings: Any) -> ReinforcementPlan:
    """Make a plan from the user's choices; the rest comes from the preset.

    Raises:
        ConfigError: a setting is not valid.
    """
    return ReinforcementPlan(**{**_SIZES[preset], **settings})
