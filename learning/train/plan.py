"""The plans of runs over decisions of games: stored with a run, used to resume it, and copied to its card."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, structs

from kit.errors import ConfigError
from kit.options import INTERNAL, Count, NotNegative, flag
from learning.data.choice import Selection
from learning.data.loader import FEATURES
from learning.data.position_kernels import AT_DRAWS, Sampled
from learning.runs.learner import LearnerPlan
from policies.checkpoint.card import HandModel, Model
from policies.features.table import CRITIC, HOSEI, LITE, SETS, looks_deep
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
_GENERATOR: Final = Preset(48, 4, 3e-3)
_LONG: Final = 500_000
"""Samples from which on a validation has its usual size."""


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
        validation_rows: samples per validation; default: 50,000, or a tenth of a smaller number of samples.
        patience: stop after this many validations without improvement; 0: never.
    """

    grows: ClassVar[tuple[str, ...]] = ("samples", "validation_rows")

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
    def architecture(self) -> Architecture:
        """Shape of the network."""
        raise NotImplementedError

    @property
    def slot(self) -> Sampled:
        """The slot whose decisions are the samples, or draws."""
        return Slot.DISCARD

    @property
    def known(self) -> tuple[str, ...]:
        """The players that the network is conditioned on."""
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
        identities: with the tower suits, condition the network on the player: a player with an official AI
            account by name (LuckyJ), others by rank (7-dan); may be repeated. `FOLDER@NAME` then imitates one
            of them.
    """

    model: Annotated[Slot, INTERNAL]
    tower: TowerName = "suits"
    squeeze: Annotated[int, Meta(ge=0, le=4096)] = 0
    identities: Annotated[tuple[str, ...], flag("--identity")] = ()

    def __post_init__(self) -> None:
        faults = faults_in(self, calls=self.model in CALL_SLOTS, purpose=self.model)
        if self.features in SETS and (self.features == HOSEI) != (self.tower in HOSEI_TOWERS):
            towers = " and ".join(HOSEI_TOWERS)
            faults.append(f"tower: {self.tower} does not go with {self.features}; {towers} go with {HOSEI}")
        if self.squeeze and self.tower != "suits":
            faults.append(f"squeeze: only the tower suits reduces its planes, not {self.tower}")
        if self.identities and self.tower != "suits":
            faults.append(f"identity: only the tower suits can know who plays, not {self.tower}")
        if twice := [name for name, times in Counter(self.identities).items() if times > 1]:
            faults.append(f"identity: {', '.join(twice)} is given twice")
        if not faults:
            try:
                shapes_of(self.architecture)
            except ValueError as exc:
                faults.append(f"width, depth: {exc}")
        if faults:
            raise ConfigError("\n".join(faults))

    @property
    def slot(self) -> Slot:
        """The slot whose decisions are the samples."""
        return self.model

    @property
    def known(self) -> tuple[str, ...]:
        """The players that the network is conditioned on."""
        return self.identities

    @property
    def architecture(self) -> Architecture:
        """Shape of the network."""
        outputs = outputs_of(self.model, self.tower)
        shape = architecture_of(self.tower, self.features, outputs, self.width, self.depth)
        if isinstance(shape, SuitsArchitecture):
            return structs.replace(shape, squeeze=self.squeeze, identities=self.identities)
        return shape


class HandsPlan(SamplesPlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns about hands.

    Attributes:
        model: one of `HAND_MODELS`.
        distil: diffusion: distil the model in --continue-from, which takes twice as many steps, to this many;
            0: learn from real hands only.
    """

    model: HandModel
    distil: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        faults = faults_in(self, calls=False, purpose=self.model)
        if self.features == HOSEI:
            faults.append(f"features: {HOSEI} does not go with the tower suits")
        if self.distil and self.model != "diffusion":
            faults.append(f"distil: only diffusion takes steps, not the {self.model} model")
        if faults:
            raise ConfigError("\n".join(faults))

    @property
    def architecture(self) -> Architecture:
        """Shape of the direct model."""
        return architecture_of("suits", self.features, outputs_of("direct", "suits"), self.width, self.depth)


class CriticPlan(SamplesPlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what the critic learns.

    Attributes:
        one_in: take every n-th draw of each game, different ones in each pass. Draws of a round share its
            result, so more games help more than more draws.
        predictor: hash of the reward predictor whose expectations the final rewards are measured by.
    """

    features: Annotated[str, INTERNAL] = CRITIC
    one_in: Count = 8
    predictor: Annotated[str, INTERNAL] = ""

    def __post_init__(self) -> None:
        if faults := faults_in(self, calls=None, purpose=self.model):
            raise ConfigError("\n".join(faults))

    @property
    def model(self) -> Literal["critic"]:
        """The model in training."""
        return "critic"

    @property
    def slot(self) -> Sampled:
        """Samples are the moments after draws."""
        return AT_DRAWS

    @property
    def architecture(self) -> Architecture:
        """Shape of the network."""
        return architecture_of("suits", CRITIC, outputs_of("critic", "suits"), self.width, self.depth)


def features_of(model: Slot, tower: str = "suits") -> str:
    """Default feature set of a model."""
    return HOSEI if tower in HOSEI_TOWERS else FEATURES[model]


def training_precision(name: str) -> FloatPrecision:
    """The precision that a name stands for on this machine; ``auto`` is the fastest."""
    return fast_precision() if name == "auto" else cast("FloatPrecision", name)


def completed(
    given: Mapping[str, Any], size: Preset, *, precision: str, selection: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The settings of a plan: the user's choices, and a size for what they leave open."""
    samples = given.get("samples") or 0
    short = {"validation_rows": max(1, samples // 10)} if 0 < samples < _LONG else {}
    return {
        **structs.asdict(size),
        **short,
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


def make_hands_plan(
    model: HandModel,
    *,
    preset: PresetName = "small",
    precision: str = "auto",
    features: str | None = None,
    selection: Mapping[str, Any] | None = None,
    **given: Any,
) -> HandsPlan:
    """As `make_plan`, for a model of hands; a generator's small network has one size, whatever the preset."""
    size = structs.replace(PRESET_SIZES[preset], learning_rate=4e-3) if model == "direct" else _GENERATOR
    return HandsPlan(
        model=model,
        features=features or LITE,
        **completed(given, size, precision=precision, selection=selection),
    )


def make_critic_plan(
    *,
    preset: PresetName = "small",
    precision: str = "auto",
    selection: Mapping[str, Any] | None = None,
    **given: Any,
) -> CriticPlan:
    """As `make_plan`, for the critic."""
    size = structs.replace(PRESET_SIZES[preset], learning_rate=3e-3)
    return CriticPlan(**completed(given, size, precision=precision, selection=selection))


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
