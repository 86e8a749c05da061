"""Labels: the values of the options of close decisions, and how they are stored.

A row of the results is a game of a corpus. Its labels name a decision by its slot and its place among the
game's decisions of that slot (`learning.data.positions.positions_of`), so states need not be stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta

from kit.options import INTERNAL, Count, Seed, flag
from learning.runs.statistics import Estimate, Means
from learning.runs.store import ResumablePlan
from policies.flow.slots import Slot
from policies.nets.compute import IN_PLAY, Compute

if TYPE_CHECKING:
    from policies.play.playouts import Unit

FORMAT: Final = "suzaku-labels/3"
Labelled: TypeAlias = Literal["discard", "riichi", "chi", "pon"]
"""Models whose decisions are labelled."""
SLOTS: Final = tuple(Slot(model) for model in get_args(Labelled))
"""Their slots; a label has the number of its slot."""
NO: Final = -1
"""The option of not declaring riichi or not calling; other options of these slots count candidates from 0."""


class LabelsPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines labels.

    Attributes:
        policy: policy that selects the decisions and plays them out: network, phoenix or a folder of
            checkpoints.
        identity: changes when the policy behind the name changes.
        corpus: hash of the games.
        critic: folder of the critic; default: the included one.
        critic_identity: hash of its weights.
        hands_identity: hash of the weights of the model that says how likely a discard deals in.
        models: models whose decisions are labelled.
        first: place of the first game to label; parts of a corpus can be labelled on several machines.
        games: games to label, those that follow in the corpus.
        close: minimum probability of an option to value.
        options: maximum number of options to value per decision.
        worlds: walls drawn for a decision; all hands are the true ones.
        horizon: stop play-outs after this many discards, and let the critic value the rest; 0: no horizon.
        check: with a horizon, also play the decisions of every n-th game out to the end, to estimate the
            bias of the critic on riichi and calls, and correct it; 0: of no game.
        seed: seed of the walls.
        compute: how networks compute.
        format: format of the results.
    """

    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    corpus: Annotated[str, INTERNAL]
    critic: str = ""
    critic_identity: Annotated[str, INTERNAL] = ""
    hands_identity: Annotated[str, INTERNAL] = ""
    models: Annotated[tuple[Labelled, ...], flag("--model"), Meta(min_length=1)] = get_args(Labelled)
    first: Annotated[int, Meta(ge=0)] = 0
    games: Count = 1000
    close: Annotated[float, Meta(ge=0.01, le=0.5)] = 0.12
    options: Annotated[int, Meta(ge=2, le=14)] = 3
    worlds: Annotated[int, Meta(ge=2)] = 8
    horizon: Annotated[int, Meta(ge=0, le=70)] = 8
    check: Annotated[int, Meta(ge=0)] = 30
    seed: Seed = 0
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = FORMAT

    def checks(self, place: int) -> bool:
        """Whether the decisions of the game at a place of the corpus are also played out to the end."""
        return bool(self.horizon and self.check) and place % self.check == 0


class Label(msgspec.Struct, frozen=True, array_like=True):
    """The values of the options of one decision.

    Attributes:
        slot: place in `SLOTS`.
        place: of the decision among those of the slot in its game.
        options: kinds of discards, likeliest first; of other slots `NO` and the likeliest candidate.
        points: mean points of each beyond the first's, over the same worlds; a deal-in by the discard itself
            counts by its chance.
        errors: standard errors of these.
        reward: the same in final reward, without the reward of the luck of these deal-ins.
        reward_errors: standard errors of these.
    """

    slot: int
    place: int
    options: tuple[int, ...]
    points: tuple[int, ...]
    errors: tuple[int, ...]
    reward: tuple[float, ...]
    reward_errors: tuple[float, ...]

    def advantage(self, unit: Unit) -> float:
        """The advantage of declaring riichi or calling over declining."""
        value: float = getattr(self, unit)[1]
        return value if self.options[0] == NO else -value


class LabelledGame(msgspec.Struct, frozen=True):
    """The labels of a game.

    Attributes:
        number: its place among the games of the plan.
        game: its id.
        labels: of all its close decisions.
        seconds: CPU time.
        checked: the same labels without a horizon, over the same walls; empty if the game is not checked.
    """

    number: int
    game: str
    labels: tuple[Label, ...]
    seconds: float
    checked: tuple[Label, ...] = ()


def critic_bias(games: Sequence[LabelledGame], slot: Slot, unit: Unit) -> Estimate | None:
    """The critic's mean overestimate of riichi or a call: labels with a horizon less those without.

    Args:
        games: labelled games, some of them checked.
        slot: whose labels.
        unit: of the values.

    Returns:
        None for discards, of which none declines, and if no decision was checked.
    """
    if slot is Slot.DISCARD:
        return None
    found = [
        (label.advantage(unit) - whole.advantage(unit), game.game)
        for game in games
        if game.checked
        for label, whole in zip(game.labels, game.checked, strict=True)
        if SLOTS[label.slot] is slot
    ]
    return Means([game for _, game in found], [value for value, _ in found])[0] if found else None
