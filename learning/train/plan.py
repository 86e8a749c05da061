"""The plan of a training run: stored with the run, used to resume it, and copied to its checkpoint's card."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, structs

from kit.errors import ConfigError
from kit.options import INTERNAL, Count, NotNegative, Share, flag
from learning.data.layout import Room
from learning.data.position_kernels import Sampled
from learning.runs.learner import LearnerPlan
from policies.checkpoint import Model
from policies.features.table import HOSEI, LITE, LITE_CALL, SETS, looks_deep
from policies.flow.slots import Slot
from policies.nets.architectures import (
    HOSEI_TOWERS,
    Architecture,
    SuitsArchitecture,
    TowerName,
    architecture_of,
    outputs_of,
)
from policies.nets.compute import FloatPrecision
from policies.nets.device import fast_precision
from policies.nets.shapes import shapes_of

PresetName: TypeAlias = Literal["tiny", "small", "medium", "paper"]

Channels: TypeAlias = Annotated[int, Meta(ge=1, le=4096)]
BatchSize: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
LearningRate: TypeAlias = Annotated[float, Meta(ge=0.0, le=100.0)]

CALL_SLOTS: Final = (Slot.CHI, Slot.PON, Slot.KAN)


class Preset(msgspec.Struct, frozen=True):
    """A network's size and the learning rate that suits it."""

    width: int
    depth: int
    learning_rate: float


PRESET_SIZES: Final[dict[PresetName, Preset]] = {
    "tiny": Preset(32, 2, 1e-2),
    "small": Preset(64, 6, 1e-2),
    "medium": Preset(128, 10, 5e-3),
    "paper": Preset(256, 50, 2e-3),
}


HOSEI_SIZES: Final[dict[str, Preset]] = {
    "hosei": Preset(512, 2, 1e-3),
    "hosei-base": Preset(100, 2, 1e-3),
}
"""The sizes of `HOSEI_TOWERS`, whatever the preset."""


class Selection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Selects the decisions to learn from.

    Attributes:
        rooms: only games in this room; may be repeated; default: all rooms.
        least_rank: only players of at least this rank; 16 is 7-dan.
        player: only the player with this name.
        ai: whether the player is an official AI account; either if None.
        favour: take the decisions of this player (LuckyJ) or rank (7-dan) more often, as NAME=TIMES; may be
            repeated.
        share: share of the games to use, 0 to 1; a smaller share is a subset of a larger one.
        decisions: stop adding games once they hold this many decisions; 0 for all games.
    """

    rooms: Annotated[tuple[Room, ...], flag("--room")] = ()
    least_rank: Annotated[int, Meta(le=100)] = -1
    player: str = ""
    ai: bool | None = None
    favour: tuple[str, ...] = ()
    share: Share = 1.0
    decisions: Annotated[int, Meta(ge=0)] = 0


class SamplesPlan(LearnerPlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a run over decisions of real games, which each model extends by its own.

    Attributes:
        width: number of channels; default: the preset's.
        depth: number of blocks; default: the preset's.
        selection: the decisions to learn from.
        passes: passes over all decisions.
        samples: maximum number of samples; 0 for no limit. The schedule of the learning rate ends there.
        batch_size: samples per step.
        learning_rate: peak learning rate; default: the preset's or the model's.
        warm_up: steps over which the learning rate rises, before it falls as a cosine to 0.
        augment: permute the suits and mirror the ranks (1 to 9) at random.
        validate_every: samples between two validations.
        validation_rows: samples per validation.
        patience: stop after this many validations without improvement; 0: never.
    """

    width: Channels
    depth: Annotated[int, Meta(ge=1, le=1000)]
    selection: Selection = Selection()
    passes: NotNegative = 1.0
    samples: Annotated[int, Meta(ge=0)] = 0
    batch_size: BatchSize = 512
    learning_rate: LearningRate
    warm_up: Annotated[int, INTERNAL] = 300
    augment: bool = True
    validate_every: Count = 500_000
    validation_rows: Count = 50_000
    patience: Annotated[int, Meta(ge=0)] = 0

    @property
    def model(self) -> Model | Slot:
        """The model in training."""
        raise NotImplementedError

    @property
    def slot(self) -> Sampled:
        """The slot whose decisions are the samples, or draws."""
        return Slot.DISCARD

    @property
    def known(self) -> tuple[str, ...]:
        """The players that the network is told apart."""
        return ()

    @property
    def one_in(self) -> int:
        """A pass takes one decision in so many of each game."""
        return 1

    @property
    def deep(self) -> bool:
        """Whether LA1 and LA2 must be computed by search: the set has them, and not both are blanked."""
        return looks_deep(self.features, self.without)


class TrainingPlan(SamplesPlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns; two runs of a plan on one machine give the same numbers.

    Attributes:
        model: one of the five models.
        tower: body of the network.
        squeeze: with the tower suits, number of channels to reduce the planes to first; 0: no reduction. 32
            is faster, and better in short runs.
        normalised: whether batch normalisation follows the convolutions of the tower `suits`.
        identities: with the tower suits, let the network know who plays: a player with an official AI
            account by name (LuckyJ), others by rank (7-dan); may be repeated. `FOLDER@NAME` then answers like
            one of them.
    """

    model: Annotated[Slot, INTERNAL]
    tower: TowerName = "suits"
    squeeze: Annotated[int, Meta(ge=0, le=4096)] = 0
    normalised: Annotated[bool, INTERNAL] = True
    identities: Annotated[tuple[str, ...], flag("--identity")] = ()

    def __post_init__(self) -> None:
        _check(self)

    @property
    def slot(self) -> Slot:
        """The slot whose decisions are the samples."""
        return self.model

    @property
    def known(self) -> tuple[str, ...]:
        """The players that the network is told apart."""
        return self.identities

    @property
    def architecture(self) -> Architecture:
        """Shape of the network."""
        outputs = outputs_of(self.model, self.tower)
        shape = architecture_of(self.tower, self.features, outputs, self.width, self.depth)
        if isinstance(shape, SuitsArchitecture):
            return structs.replace(
                shape, squeeze=self.squeeze, normalised=self.normalised, identities=self.identities
            )
        return shape


def times_of(selection: Selection) -> dict[str, int]:
    """How often the decisions of favoured players are taken, by their names.

    >>> times_of(Selection(favour=("LuckyJ=20", "10-dan=2")))
    {'LuckyJ': 20, '10-dan': 2}

    Raises:
        ConfigError: a text is not NAME=TIMES.
    """
    times = {}
    for text in selection.favour:
        name, _, count = text.rpartition("=")
        if not name or not count.isdecimal() or not int(count):
            raise ConfigError(f"--favour {text}: give it as NAME=TIMES, such as LuckyJ=10")
        times[name] = int(count)
    return times


def features_of(model: Slot, tower: str = "suits") -> str:
    """Default feature set of a model."""
    if tower in HOSEI_TOWERS:
        return HOSEI
    return LITE_CALL if model in CALL_SLOTS else LITE


def training_precision(name: str) -> FloatPrecision:
    """The precision that a name stands for on this machine; ``auto`` is the fastest."""
    return fast_precision() if name == "auto" else cast("FloatPrecision", name)


def completed(
    given: Mapping[str, Any], size: Preset, *, precision: str, selection: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The settings of a plan: the user's choices, and a size for what they leave open."""
    return {
        **structs.asdict(size),
        **{name: value for name, value in given.items() if value is not None},
        "precision": training_precision(precision),
        "selection": Selection(**(selection or {})),
    }


def make_plan(
    model: str,
    *,
    preset: PresetName = "small",
    tower: TowerName = "suits",
    precision: str = "auto",
    features: str | None = None,
    selection: Mapping[str, Any] | None = None,
    **given: Any,
) -> TrainingPlan:
    """Make a plan from the user's choices; the rest comes from the preset, the model and the machine.

    Raises:
        ConfigError: a setting is not valid.
    """
    size = HOSEI_SIZES[tower] if tower in HOSEI_SIZES else PRESET_SIZES[preset]
    return TrainingPlan(
        model=Slot(model),
        features=features or features_of(Slot(model), tower),
        tower=tower,
        **completed(given, size, precision=precision, selection=selection),
    )


def learning_rate_at(plan: SamplesPlan, step: int, steps: int) -> float:
    """Learning rate of a step: a linear rise, then a cosine down to 0.

    >>> plan = make_plan("discard", learning_rate=1.0, warm_up=10)
    >>> [round(learning_rate_at(plan, step, 110), 2) for step in (0, 9, 10, 60, 110)]
    [0.1, 1.0, 1.0, 0.5, 0.0]
    """
    if step < plan.warm_up:
        return plan.learning_rate * (step + 1) / plan.warm_up
    done = (step - plan.warm_up) / max(1, steps - plan.warm_up)
    return plan.learning_rate * 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))


def _check(plan: TrainingPlan) -> None:
    """Reject settings that cannot be trained.

    Raises:
        ConfigError: one line per fault.
    """
    faults = faults_in(plan, calls=plan.model in CALL_SLOTS, purpose=plan.model)
    if plan.features in SETS and (plan.features == HOSEI) != (plan.tower in HOSEI_TOWERS):
        towers = " and ".join(HOSEI_TOWERS)
        faults.append(f"tower: {plan.tower} does not go with {plan.features}; {towers} go with {HOSEI}")
    if plan.squeeze and plan.tower != "suits":
        faults.append(f"squeeze: only the tower suits reduces its planes, not {plan.tower}")
    if plan.identities and plan.tower != "suits":
        faults.append(f"identity: only the tower suits can know who plays, not {plan.tower}")
    if twice := [name for name, times in Counter(plan.identities).items() if times > 1]:
        faults.append(f"identity: {', '.join(twice)} is given twice")
    if not faults:
        faults += _impossible_sizes(plan)
    if faults:
        raise ConfigError("\n".join(faults))


def faults_in(plan: SamplesPlan, *, calls: bool | None, purpose: str) -> list[str]:
    """The faults of a plan that do not depend on what it learns.

    Args:
        plan: the plan.
        calls: whether its samples are calls; None if no slot's decisions are.
        purpose: purpose of the feature set, in words.
    """
    faults = []
    chosen = SETS.get(plan.features)
    if chosen is None:
        faults.append(f"features: no set {plan.features!r}; there are {', '.join(SETS)}")
    else:
        if calls is not None and not chosen.fits(calls=calls):
            faults.append(f"features: {plan.features} is for {chosen.purpose}, not for {purpose}")
        known = [group.id for group in chosen.groups]
        faults += [
            f"without: {plan.features} has no group {name!r}; there are {', '.join(known)}"
            for name in plan.without
            if name not in known
        ]
    faults += [
        f"{name}: {getattr(plan, name)} must be above 0"
        for name in ("passes", "learning_rate")
        if getattr(plan, name) <= 0
    ]
    if not 0.0 < plan.selection.share <= 1.0:
        faults.append(f"share: {plan.selection.share} must be above 0 and at most 1")
    return faults


def _impossible_sizes(plan: TrainingPlan) -> list[str]:
    """The fault of a width or depth that the tower cannot have."""
    try:
        shapes_of(plan.architecture)
    except ValueError as exc:
        return [f"width, depth: {exc}"]
    return []
