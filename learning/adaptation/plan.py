"""The settings of `suzaku eval adaptation`, and the results that it keeps of each hand."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import msgspec

from game.errors import ConfigError
from game.settlement import GameLength, RewardKind
from policies.adaptation import AdaptationSettings
from policies.compute import IN_PLAY, Compute

FORMAT: Final = "suzaku-adaptation/7"

Moment: TypeAlias = Literal["start", "middle"]
"""When in a round the hand is taken: at the first own draw, or at a later one."""
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)


class AdaptationPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        policy: who plays and is adapted, as `policies.named.load_named` takes it.
        identity: changes when the policy behind the name changes.
        sampler: of the deals to learn from, as `policies.deals.named.load_sampler` takes it.
        hands: number of hands, each of another self-play game.
        playouts: rounds learned from, ascending; tests follow each.
        divergences: how far the policy may move, ascending; each is tested. Further rounds are played by the
            policy that moved furthest.
        tests: deals of a test, the same for the policy as it was and as adapted.
        moment: when in the round. At the start the tests draw hands anew, as nothing is known of them; later
            they have the opponents' true hands, and only the wall is drawn.
        reward: what the end of a round is worth: its points, or the expected final reward.
        settings: how to adapt, beside the divergence.
        seed: determines games, hands and deals.
        compute: how networks compute.
        length: length of the games.
        format: format of the results.

    Raises:
        ConfigError: a value is not possible.
    """

    policy: str
    identity: str
    sampler: str
    hands: int
    playouts: tuple[int, ...]
    divergences: tuple[float, ...]
    tests: int
    moment: Moment
    reward: RewardKind
    settings: AdaptationSettings
    seed: int
    compute: Compute = IN_PLAY
    length: GameLength = "hanchan"
    format: str = FORMAT

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
        if self.moment not in MOMENTS:
            raise ConfigError(f"--moment: found {self.moment!r}, expected {' or '.join(MOMENTS)}")

    @property
    def flags(self) -> dict[str, str]:
        """The plan as command-line flags; see `learning.matches.store.ResumablePlan`."""
        settings = self.settings
        return {
            "--policy": self.policy,
            "--sampler": self.sampler,
            "--hands": str(self.hands),
            "--playouts": " ".join(map(str, self.playouts)),
            "--tests": str(self.tests),
            "--moment": self.moment,
            "--reward": self.reward,
            "--steps": str(settings.steps),
            "--divergence": " ".join(f"{each:g}" for each in self.divergences),
            "--trials": str(settings.trials),
            "--replays": str(settings.replays),
            "--temperature": f"{settings.temperature:g}",
            "--seed": str(self.seed),
            "--device": self.compute.device,
            "--precision": self.compute.precision,
        }

    def continues(self, other: AdaptationPlan) -> bool:
        """Whether the hands of another plan are the first hands of this one."""
        return other.hands <= self.hands and msgspec.structs.replace(other, hands=self.hands) == self


def _ascending(numbers: tuple[float, ...]) -> bool:
    return len(numbers) > 0 and sorted(set(numbers)) == list(numbers)


class AdaptedTo(msgspec.Struct, frozen=True):
    """The test after some play-outs, with one divergence.

    Attributes:
        playouts: rounds learned from.
        allowed: how far the policy could move, as `AdaptationSettings.divergence`.
        gain: mean of what the adapted policy is worth more, over the deals of the test.
        error: its standard error.
        changed: share of the deals that end differently.
        divergence: of the adapted policy from the policy of the start, in nats a decision.
        luck: share of the variance of the play-outs that the tiles of their deals explain.
        signal: as in `policies.adaptation.gradient_lesson.Learned`.
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
        worth: mean worth of the policy as it was.
        adapted: the tests, of each number of play-outs with each divergence; empty if the game had no such
            hand.
    """

    number: int
    round_index: int
    place: int
    worth: float
    adapted: tuple[AdaptedTo, ...]
