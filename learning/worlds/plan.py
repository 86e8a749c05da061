"""The settings of `suzaku eval deals`, its scores of hands, and the results that it keeps of each game."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.settlement import GameLength
from game.shanten import shanten, waits
from policies.compute import IN_PLAY, Compute
from policies.deals.deal import Deals
from policies.deals.named import SamplerSettings

_BITS: Final = np.arange(34, dtype=np.uint64)


class HandErrors(msgspec.Struct, frozen=True):
    """Squared errors of what the deals say on average, a mean over the opponents; 0 is perfect.

    The variance that comes from the number of deals is subtracted, as if there were any number of them; the
    variance that comes from few different hands behind them is not.

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


def scores_of(deals: Deals, record: np.void) -> HandErrors:
    """Compare deals of equal weight with the real hands.

    Args:
        deals: two or more.
        record: the round with all hands.
    """
    counts = deals.sampled_hands().counts[0]
    errors = np.zeros((3, 4))
    for place, opponent in enumerate(deals.view.opponents):
        melds = int(record["meld_count"][opponent])
        true = _traits(record["hand34"][opponent].copy(), melds)
        sampled = [_traits(hand.copy(), melds) for hand in counts[:, place]]
        for trait in range(4):
            values = np.array([each[trait] for each in sampled])
            noise = values.var(axis=0, ddof=1) / len(values)
            errors[place, trait] = (np.square(values.mean(axis=0) - true[trait]) - noise).sum()
    means = errors.mean(axis=0).tolist()
    return HandErrors(*(round(each, 5) for each in means))


def _traits(counts: NDArray[np.int8], melds: int) -> tuple[NDArray[np.float64], ...]:
    """Shanten, tenpai, waits and kinds held of a hand."""
    ready = np.uint64(waits(counts, melds)) if counts.sum() % 3 == 1 else np.uint64(0)
    waited = ((ready >> _BITS) & np.uint64(1)).astype(np.float64)
    distance = shanten(counts, melds)
    return (
        np.array([float(distance)]),
        np.array([float(distance <= 0)]),
        waited,
        (counts > 0).astype(np.float64),
    )


FORMAT: Final = "suzaku-worlds/2"


class WorldsPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        policy: who plays, and plays on, as `policies.named.load_named` takes it.
        identity: changes when the policy behind the name changes.
        samplers: as `policies.deals.named.load_sampler` takes them.
        settings: what these texts stand for.
        models: changes when the models of hands change that the samplers use; "" if they use none.
        games: number of self-play games.
        per_game: most decisions of a game.
        close: least probability of the second choice.
        worlds: deals of each sampler.
        seed: determines walls, choices and deals.
        play: whether to play the decisions out; if not, only the hands are compared.
        final: whether what the rounds lead to is also compared by the expected final reward.
        from_go_around: discards that a player must have made before a decision of his counts.
        walls: walls drawn for the true hands; 0 for twice as many as `worlds`.
        compute: how networks compute.
        length: length of the games.
        format: format of the results.
    """

    policy: str
    identity: str
    samplers: tuple[str, ...]
    settings: tuple[SamplerSettings, ...]
    models: str
    games: int
    per_game: int
    close: float
    worlds: int
    seed: int
    play: bool = True
    final: bool = False
    from_go_around: int = 0
    walls: int = 0
    compute: Compute = IN_PLAY
    length: GameLength = "hanchan"
    format: str = FORMAT

    @property
    def flags(self) -> dict[str, str]:
        """The plan as command-line flags; see `learning.matches.store.ResumablePlan`."""
        return {
            "--policy": self.policy,
            "--sampler": " ".join(self.samplers),
            "the settings of the samplers": " ".join(map(str, self.settings)),
            "--games": str(self.games),
            "--per-game": str(self.per_game),
            "--close": f"{self.close:g}",
            "--worlds": str(self.worlds),
            "--walls": str(self.walls or 2 * self.worlds),
            "--from-go-around": str(self.from_go_around),
            "--seed": str(self.seed),
            "--device": self.compute.device,
            "--precision": self.compute.precision,
            "--hands-only": "not given" if self.play else "given",
            "--final": "given" if self.final else "not given",
        }

    def continues(self, other: WorldsPlan) -> bool:
        """Whether the games of another plan are the first games of this one."""
        return other.games <= self.games and msgspec.structs.replace(other, games=self.games) == self


class SampledWorlds(msgspec.Struct, frozen=True):
    """The results of one sampler's worlds for one decision.

    Attributes:
        differences: points of the first choice minus points of the second, in each world.
        scores: errors of its hands.
        ms: CPU milliseconds that sampling took.
        final: the differences in the expected final reward; none if it is not asked for.
    """

    differences: tuple[int, ...]
    scores: HandErrors
    ms: float
    final: tuple[float, ...] = ()


class DecisionWorlds(msgspec.Struct, frozen=True):
    """One close decision.

    Attributes:
        event: number of events of the game before it.
        player: who decides.
        go_around: earlier discards of that player.
        chances: the policy's probabilities of the two discards.
        true: differences with the true hands, over redrawn walls.
        samplers: what each sampler gave, in the order of the plan.
        true_final: the true differences in the expected final reward; none if it is not asked for.
    """

    event: int
    player: int
    go_around: int
    chances: tuple[float, float]
    true: tuple[int, ...]
    samplers: tuple[SampledWorlds, ...]
    true_final: tuple[float, ...] = ()


class GameWorlds(msgspec.Struct, frozen=True):
    """The decisions of one game.

    Attributes:
        number: the game's.
        close: close decisions there were.
        decisions: those that were played out.
        seconds: CPU time of the game.
    """

    number: int
    close: int
    decisions: tuple[DecisionWorlds, ...]
    seconds: float
