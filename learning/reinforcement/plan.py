"""The plan of a run of self-play learning: stored with the run, used to resume it, and copied to its card."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from game.errors import ConfigError
from game.settlement import GameLength, RewardKind
from policies.compute import Compute, FloatPrecision
from policies.slots import Slot

BaselineKind: TypeAlias = Literal["none", "critic", "oracle"]
"""What is subtracted from it: nothing, or what a critic expected of the position, which may see all tiles."""
CreditKind: TypeAlias = Literal["reward", "afterstates"]
"""What a discard is credited with: the reward of its round, or what a critic expects of its afterstate."""
OptimiserKind: TypeAlias = Literal["adam", "natural"]
"""How models learn: all weights by Adam's steps, or the last layers by those of the natural gradient."""
SeatsKind: TypeAlias = Literal["all", "one"]
"""Which seats learn: all four, or one against three opponents."""
OpponentsKind: TypeAlias = Literal["start", "past"]
"""Who the opponents of one learning seat are: the policy of the start, or past versions of the learner."""
AlsoLearns: TypeAlias = Literal["riichi", "chi", "pon", "kan"]
"""A model that learns beside the discard model."""
ReinforcementPresetName: TypeAlias = Literal["tiny", "small", "large"]

REWARD_KINDS: Final[tuple[RewardKind, ...]] = get_args(RewardKind)
BASELINES: Final[tuple[BaselineKind, ...]] = get_args(BaselineKind)
CREDITS: Final[tuple[CreditKind, ...]] = get_args(CreditKind)
OPTIMISERS: Final[tuple[OptimiserKind, ...]] = get_args(OptimiserKind)
SEATS_KINDS: Final[tuple[SeatsKind, ...]] = get_args(SeatsKind)
OPPONENTS: Final[tuple[OpponentsKind, ...]] = get_args(OpponentsKind)
ALSO_LEARN: Final[tuple[AlsoLearns, ...]] = get_args(AlsoLearns)
REINFORCEMENT_PRESETS: Final[tuple[ReinforcementPresetName, ...]] = get_args(ReinforcementPresetName)

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
_CLEAR: Final = 0.125
"""Share of clear decisions on which the divergence from the start is held."""


class ReinforcementPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns; two runs of a plan on one machine give the same numbers.

    Attributes:
        reward: what a round is worth.
        baseline: what is subtracted from it.
        credit: what a discard is credited with; ``afterstates`` goes without a baseline, and needs an anchor.
        optimiser: how models learn from it.
        trace: λ of generalised advantage estimation: how much of what comes after the next decision is
            credited to one; 1 credits the whole reward.
        seats: which seats learn.
        opponents: who plays the others, if one seat learns.
        also: models that learn beside the discard model.
        last_blocks: last blocks of each network that learn, beside its head; None for the whole network.
        games: games of the run.
        block_games: games between two versions of the policy.
        replays: games over the same walls; what the others won is subtracted from the rewards.
        length: length of the games.
        lag: blocks that actors may be behind the learner: block ``b`` is played with the policy after block
            ``b - lag``. 0 never plays and learns at the same time.
        temperature: of the draws in play.
        min_p: options less than this share as likely as the likeliest one are not drawn; 0 draws any.
        explore: share of the decisions that are drawn; in the others the likeliest option is taken.
        thinning: how clear decisions are thinned out (`policies.trajectories`); 0 keeps all.
        steps: steps of the optimiser per block.
        learning_rate: rises over the first `warm_up` steps, then constant.
        warm_up: steps.
        weight_decay: weight decay of AdamW.
        averaging: share of the averaged weights kept at each step.
        clip: PPO's limit on ratios, 0 for none.
        reject: decisions with a larger ratio are left out.
        anchor: weight of the divergence from the start, in clear discards too.
        tie_break: share of the likeliest discard's probability from which a second score decides between
            discards, which then is all that learns of the discard model (`policies.towers.tie_break`); 0 for
            none.
        hold: weight of the part of it that does not concern the options drawn from among themselves; of the
            natural gradient, weight of the movement of options that are not drawn from.
        size: how far a step of the natural gradient moves scores of options drawn from, at most; root mean
            square in nats.
        memory: games after which what the natural gradient follows has faded to 1/e.
        oracle_games: games in which the policy sees what is hidden, if it is guided.
        fade_games: games after these in which it sees less and less; afterwards the learning rate is a tenth.
            Both 0 for no oracle guiding.
        entropy: entropy to hold in nats; None for that of the first block.
        entropy_step: β of equation (3).
        critic_width: channels of the critic.
        critic_depth: blocks of the critic.
        critic_rate: learning rate of the critic.
        critic_games: games at the start from which only the critic learns, if it is one of afterstates.
        past: blocks between two past versions that are kept as opponents.
        seed: of walls, draws and order.
        precision: precision of the learner's arithmetic.
        compute: how the actors' networks compute.
        evaluate_every: games between two evaluations.
        evaluation_games: games of an evaluation against the start.
    """

    reward: RewardKind = "global"
    baseline: BaselineKind = "critic"
    credit: CreditKind = "reward"
    optimiser: OptimiserKind = "adam"
    trace: float = 1.0
    seats: SeatsKind = "all"
    opponents: OpponentsKind = "start"
    also: tuple[AlsoLearns, ...] = ()
    last_blocks: int | None = None
    games: int = 20_000
    block_games: int = 128
    replays: int = 1
    length: GameLength = "hanchan"
    lag: int = 1
    temperature: float = 1.0
    min_p: float = 0.0
    explore: float = 1.0
    thinning: float = 1.0
    steps: int = 6
    learning_rate: float = 1e-4
    warm_up: int = 20
    weight_decay: float = 0.0
    averaging: float = 0.99
    clip: float = 0.2
    reject: float = 4.0
    anchor: float = 0.0
    hold: float = 0.0
    tie_break: float = 0.0
    size: float = 0.01
    memory: float = 5_000.0
    oracle_games: int = 0
    fade_games: int = 0
    entropy: float | None = None
    entropy_step: float = 1e-2
    critic_width: int = 32
    critic_depth: int = 3
    critic_rate: float = 1e-3
    critic_games: int = 0
    past: int = 20
    seed: int = 0
    precision: FloatPrecision = "fp32"
    compute: Compute = Compute()
    evaluate_every: int = 5_000
    evaluation_games: int = 400

    def __post_init__(self) -> None:
        faults = [
            f"{name}: {getattr(self, name)} must be above 0"
            for name in _ABOVE_ZERO
            if not 0.0 < getattr(self, name) < math.inf
        ]
        faults += [
            f"{name}: {getattr(self, name)} must not be negative"
            for name in _NOT_NEGATIVE
            if not 0.0 <= (getattr(self, name) or 0.0) < math.inf
        ]
        if not 0.0 <= self.averaging < 1.0:
            faults.append(f"averaging: {self.averaging} must be at least 0 and below 1")
        if not 0.0 <= self.trace <= 1.0:
            faults.append(f"trace: {self.trace} must be at least 0 and at most 1")
        if self.trace < 1.0 and self.baseline == "none":
            faults.append("trace: below 1 it needs a baseline that expects something: critic or oracle")
        if self.credit == "afterstates":
            faults += self._faults_with_afterstates()
        elif self.critic_games:
            faults.append("critic_games: only a critic of afterstates (credit) learns before the policy")
        if self.optimiser == "natural":
            faults += self._faults_with_natural()
        elif self.tie_break:
            faults.append("tie_break: only the natural optimiser teaches it alone; set optimiser to natural")
        if not 0.0 <= self.min_p < 1.0:
            faults.append(f"min_p: {self.min_p} must be at least 0 and below 1")
        if not 0.0 <= self.tie_break < 1.0:
            faults.append(f"tie_break: {self.tie_break} must be at least 0 and below 1")
        if not 0.0 < self.explore <= 1.0:
            faults.append(f"explore: {self.explore} must be above 0 and at most 1")
        if self.hold and not self.min_p:
            faults.append("hold: needs min_p, or all options are drawn from and none is held; try 0.2")
        if self.reject <= 1.0:
            faults.append(f"reject: {self.reject} must be above 1")
        if self.replays > 0 and self.block_games % self.replays:
            faults.append(f"replays: {self.replays} does not divide the {self.block_games} games of a block")
        if faults:
            raise ConfigError("\n".join(faults))

    def _faults_with_afterstates(self) -> list[str]:
        faults = []
        if not self.anchor:
            faults.append(
                "anchor: must be above 0 with afterstates, or the policy does all the critic says; try 0.03"
            )
        if self.trace < 1.0:
            faults.append("trace: credits rewards, which is not done with afterstates; leave it at 1")
        if self.also:
            faults.append(f"also: only discards have afterstates, not {', '.join(self.also)}")
        if self.guided:
            faults.append("oracle_games, fade_games: a critic of afterstates does not see what is hidden")
        return faults

    def _faults_with_natural(self) -> list[str]:
        faults = []
        if self.baseline != "none" or self.credit != "reward":
            faults.append("optimiser: natural learns from rewards as they are; set baseline to none")
        if self.anchor:
            faults.append("anchor: natural takes steps of a given size and holds with hold; leave it out")
        if self.last_blocks is not None:
            faults.append("last_blocks: natural always teaches the last layer alone; leave it out")
        if self.guided:
            faults.append("oracle_games, fade_games: natural teaches no policy that sees what is hidden")
        return faults

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The models that learn, and are drawn from in play; the discard model first."""
        return (Slot.DISCARD, *(Slot(name) for name in ALSO_LEARN if name in self.also))

    @property
    def clear(self) -> float:
        """Share of the decisions without a draw that are kept so that they stay as they are."""
        return _CLEAR if self.min_p and (self.anchor or self.hold) else 0.0

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
        """Whether the policy is guided by what is hidden."""
        return self.oracle_games + self.fade_games > 0

    def gamma(self, block: int) -> float:
        """The share of what is hidden that a guided policy is shown in a block: 1, then falling, then 0.

        >>> plan = ReinforcementPlan(block_games=10, oracle_games=20, fade_games=40)
        >>> [plan.gamma(block) for block in range(8)]
        [1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
        """
        faded = block * self.block_games - self.oracle_games
        if faded <= 0:
            return 1.0
        return max(0.0, 1.0 - faded / self.fade_games) if self.fade_games else 0.0

    def learns(self, block: int) -> bool:
        """Whether the policy learns from a block, and not only the critic."""
        return block * self.block_games >= self.critic_games

    def rate(self, block: int, step: int) -> float:
        """The learning rate of a step, counted over all blocks; a tenth once nothing hidden is shown."""
        taken = step - self.steps * -(-self.critic_games // self.block_games)  # by the policy
        rate = self.learning_rate * min(1.0, (taken + 1) / max(1, self.warm_up))
        return rate / 10.0 if self.guided and self.gamma(block) == 0.0 else rate

    def numbers(self, block: int) -> range:
        """The numbers of a block's games."""
        return range(block * self.block_games, (block + 1) * self.block_games)


_NOT_NEGATIVE: Final = (
    "last_blocks",
    "lag",
    "thinning",
    "warm_up",
    "weight_decay",
    "clip",
    "anchor",
    "hold",
    "entropy_step",
    "oracle_games",
    "fade_games",
    "critic_games",
)
_ABOVE_ZERO: Final = (
    "games",
    "block_games",
    "replays",
    "temperature",
    "steps",
    "learning_rate",
    "size",
    "memory",
    "critic_width",
    "critic_depth",
    "critic_rate",
    "past",
    "evaluate_every",
    "evaluation_games",
)


def make_reinforcement_plan(preset: str = "small", **settings: Any) -> ReinforcementPlan:
    """Make a plan from the user's choices; the rest comes from the preset.

    Args:
        preset: size of the run.
        settings: of `ReinforcementPlan`; None for the preset's.

    Raises:
        ConfigError: a setting is not valid.
    """
    known = {name: sizes for name, sizes in _SIZES.items() if name == preset}
    if not known:
        raise ConfigError(f"preset: no preset {preset!r}; there are {', '.join(REINFORCEMENT_PRESETS)}")
    for name, choices in _CHOICES.items():
        given = settings.get(name)
        for each in given if isinstance(given, tuple) else (given,):
            if each is not None and each not in choices:
                raise ConfigError(f"{name}: no {each!r}; there are {', '.join(choices)}")
    (sizes,) = known.values()
    chosen = {name: value for name, value in settings.items() if value is not None}
    return ReinforcementPlan(**{**sizes, **chosen})


_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "reward": REWARD_KINDS,
    "baseline": BASELINES,
    "credit": CREDITS,
    "seats": SEATS_KINDS,
    "opponents": OPPONENTS,
    "also": ALSO_LEARN,
    "optimiser": OPTIMISERS,
}
