"""The plan of a run that trains the critic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import structs

from kit.errors import ConfigError
from kit.options import INTERNAL, Count
from learning.data.position_kernels import AT_DRAWS, Sampled
from learning.train.plan import PRESET_SIZES, PresetName, SamplesPlan, completed, faults_in
from policies.features.table import CRITIC
from policies.nets.architectures import Architecture, architecture_of, outputs_of


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


def make_critic_plan(
    *,
    preset: PresetName = "small",
    precision: str = "auto",
    selection: Mapping[str, Any] | None = None,
    **given: Any,
) -> CriticPlan:
    """Make a plan from the user's choices; the rest comes from the preset and the machine.

    Raises:
        ConfigError: a setting is not valid.
    """
    size = structs.replace(PRESET_SIZES[preset], learning_rate=3e-3)
    return CriticPlan(**completed(given, size, precision=precision, selection=selection))
