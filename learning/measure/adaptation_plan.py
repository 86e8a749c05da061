"""The plan of `suzaku eval adaptation`, and the row of a hand."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from game.scoring.settlement import GameLength, RewardKind
from kit.errors import ConfigError
from kit.options import INTERNAL, Count, Seed, flag
from learning.runs.store import ResumablePlan
from policies.adaptation import AdaptationSettings
from policies.nets.compute import IN_PLAY, Compute

FORMAT: Final = "suzaku-adaptation/7"


class AdaptationPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        policy: policy that plays and is adapted: network, phoenix, large or a folder of checkpoints.
        identity: changes when the policy behind the name changes.
        sampler: sampler of the deals to learn from (docs/hands.md).
        hands: hands to adapt to, each of another self-play game.
        playouts: rounds to learn from, ascending; tests follow each number; may be repeated.
        divergences: largest divergence from the initial policy, in nats a decision, ascending; each is
            tested; may be repeated. Further play-outs use the policy with the largest.
        tests: rounds of a test, over the same deals for the initial and the adapted policy.
        moment: take hands at the start of a round and test with new hands for the others, or in its middle
            and test with their true hands.
        reward: worth of a round: its points, or global for the change of the expected final reward.
        settings: how to adapt, beside the divergence.
        seed: seed of games, hands and deals.
        compute: how networks compute.
        length: length of the games.
        format: format of the results.

    Raises:
        ConfigError: a value is not possible.
    """

    counted: ClassVar[str] = "hands"

    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    sampler: str = "uniform"
    hands: Count = 300
    playouts: tuple[Annotated[int, Meta(ge=2)], ...] = (100, 500, 2_000)
    divergences: Annotated[tuple[Annotated[float, Meta(ge=1e-6)], ...], flag("--divergence")] = (0.3,)
    tests: Annotated[int, Meta(ge=2)] = 400
    moment: Literal["start", "middle"] = "start"
    reward: RewardKind = "points"
    settings: AdaptationSettings = AdaptationSettings()
    seed: Seed = 0
    compute: Compute = IN_PLAY
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    format: Annotated[str, INTERNAL] = FORMAT

    def __post_init__(self) -> None:
        if not _ascending(self.playouts) or self.playouts[0] < 2:
            found = ", ".join(map(str, self.playouts))
            raise ConfigError(f"--playouts: found {found}; give ascending numbers of at least 2")
        if not _ascending(self.divergences) or self.divergences[0] <= 0.0:
            found = ", ".join(f"{each:g}" for each in self.divergences)
            raise ConfigError(f"--divergence: found {found}; give ascending numbers above 0")
        if self.settings.trials == 1:
            raise ConfigError("--trials: found 1; give at least 2, or 0 for none")
        replays = self.settings.replays
        if any(count % replays for count in self.playouts):
            found = ", ".join(map(str, self.playouts))
            raise ConfigError(f"--playouts: found {found}; give multiples of --replays, which is {replays}")


def _ascending(numbers: tuple[float, ...]) -> bool:
    return len(numbers) > 0 and sorted(set(numbers)) == list(numbers)


class AdaptationStep(msgspec.Struct, frozen=True):
    """The test after some play-outs, with one divergence.

    Attributes:
        playouts: rounds learned from.
        allowed: largest divergence, as `AdaptationSettings.divergence`.
        gain: mean worth of the adapted policy minus that of the policy as it was, over the deals of the test.
        error: its standard error.
        changed: share of the deals that end differently.
        divergence: of the adapted policy from the initial policy, in nats a decision.
        luck: share of the variance of the play-outs explained by the tiles of their deals.
        signal: as in `policies.adaptation.gradient_lesson.LessonResult`.
        seconds: CPU time to play and learn, without tests.
    """

    playouts: int
    allowed: float
    gain: float
    error: float
    changed: float
    divergence: float
    luck: float
    signal: float
    seconds: float


class HandRow(msgspec.Struct, frozen=True):
    """One hand.

    Attributes:
        number: the hand's.
        round_index: the round, 0 East 1 … 8 West 1.
        place: the player's place before the round, 1 to 4.
        worth: mean worth of the initial policy.
        adapted: the tests, of each number of play-outs with each divergence; empty if the game had no such
            hand.
    """

    number: int
    round_index: int
    place: int
    worth: float
    adapted: tuple[AdaptationStep, ...]
