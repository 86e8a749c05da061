"""The plan of a run that learns about opponents' hands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from kit.errors import ConfigError
from kit.options import INTERNAL
from learning.train.plan import (
    PRESET_SIZES,
    Preset,
    PresetName,
    SamplesPlan,
    completed,
    faults_in,
)
from policies.checkpoint import HandModel
from policies.features.table import HOSEI, LITE
from policies.nets.architectures import Architecture, architecture_of, outputs_of


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of the answers of the direct heads in the loss, which is summed over kinds.

    Attributes:
        shanten: for each opponent.
        waits: for each opponent and kind.
        deal_ins: the same.
        copies: the same.
    """

    shanten: float = 1.0
    waits: float = 1.0
    deal_ins: float = 1.0
    copies: float = 0.05


class HandsPlan(SamplesPlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns about hands.

    Attributes:
        model: one of `HAND_MODELS`.
        weights: direct: how much each answer counts.
        draws: generators: noisy or partial hands that each state is shown with.
        hidden: diffusion: share of the rows that are shown without the state, for guidance.
        scale: diffusion: factor of the level of four copies in a hand; 1 in the paper.
        distil: diffusion: distil the model in --continue-from, which takes twice as many steps, to this many;
            0: learn from real hands only.
    """

    model: HandModel
    weights: Annotated[Weights, INTERNAL] = Weights()
    draws: Annotated[int, INTERNAL] = 4
    hidden: Annotated[float, INTERNAL] = 0.1
    scale: Annotated[float, INTERNAL] = 4.0
    distil: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        faults = faults_in(self, calls=False, purpose=self.model)
        if self.features == HOSEI:
            faults.append(f"features: {HOSEI} does not go with the tower suits")
        if self.draws < 1:
            faults.append(f"draws: {self.draws} must be above 0")
        if not 0.0 <= self.hidden < 1.0:
            faults.append(f"hidden: {self.hidden} must be 0 to 1")
        if not self.scale > 0:
            faults.append(f"scale: {self.scale} must be above 0")
        if self.distil and self.model != "diffusion":
            faults.append(f"distil: only diffusion takes steps, not the {self.model} model")
        if faults:
            raise ConfigError("\n".join(faults))

    @property
    def architecture(self) -> Architecture:
        """Shape of the direct model."""
        return architecture_of("suits", self.features, outputs_of("direct", "suits"), self.width, self.depth)


_GENERATOR: Final = Preset(48, 4, 3e-3)
"""Size of the small network of a generator, whatever the preset."""


def make_hands_plan(
    model: HandModel,
    *,
    preset: PresetName = "small",
    precision: str = "auto",
    features: str | None = None,
    selection: Mapping[str, Any] | None = None,
    **given: Any,
) -> HandsPlan:
    """Make a plan from the user's choices; the rest comes from the preset, the model and the machine.

    Raises:
        ConfigError: a setting is not valid.
    """
    of_preset = msgspec.structs.replace(PRESET_SIZES[preset], learning_rate=4e-3)
    size = of_preset if model == "direct" else _GENERATOR
    return HandsPlan(
        model=model,
        features=features or LITE,
        **completed(given, size, precision=precision, selection=selection),
    )
