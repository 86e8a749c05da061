"""Samplers of deals by the text that names them in commands."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import msgspec

from game.errors import ConfigError
from policies.deals.deal import DealSampler
from policies.deals.uniform import UniformDeals

if TYPE_CHECKING:
    from policies.checkpoint.card import Model

SamplerName: TypeAlias = Literal["uniform", "autoregressive", "diffusion"]

SAMPLERS: Final[tuple[SamplerName, ...]] = get_args(SamplerName)


class SamplerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a sampler.

    Attributes:
        hands: uniform hands, or the model of `policies.hands` that samples them.
        steps: of diffusion; 0 for as many as the model was trained for.
    """

    hands: SamplerName = "uniform"
    steps: int = 0


def load_sampler(text: str) -> DealSampler:
    """Load the sampler that a text names.

    Args:
        text: ``uniform``, ``autoregressive``, ``diffusion`` or, for instance, ``diffusion:steps=4``.

    Raises:
        ConfigError: the text names no sampler.
        CheckpointError: the model of hands cannot be used.
    """
    settings = settings_of(text)
    if settings.hands == "uniform":
        return UniformDeals()
    from policies.deals.learned import DealsOfHands  # noqa: PLC0415 - torch is for those who need it

    if settings.hands == "autoregressive":
        from policies.hands.autoregressive import load_autoregressive  # noqa: PLC0415

        return DealsOfHands(load_autoregressive())
    from policies.hands.diffusion import DiffusionSettings, load_diffusion  # noqa: PLC0415

    return DealsOfHands(load_diffusion(settings=DiffusionSettings(steps=settings.steps)))


def models_of(settings: Sequence[SamplerSettings]) -> str:
    """Hash the included models of hands that these samplers use; "" if they use none.

    Raises:
        CheckpointError: one cannot be used.
    """
    names: set[Model] = {each.hands for each in settings if each.hands != "uniform"}
    if not names:
        return ""
    from policies.checkpoint import files_of  # noqa: PLC0415 - torch is for those who need it
    from policies.hands.direct import HAND_MODELS_FOLDER  # noqa: PLC0415

    digest = hashlib.sha256()
    for name, content in sorted(files_of(HAND_MODELS_FOLDER, ["direct", *sorted(names)]).items()):
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()


def settings_of(text: str) -> SamplerSettings:
    """Parse the text that names a sampler.

    Raises:
        ConfigError: the text names no sampler.

    >>> settings_of("diffusion:steps=4").steps
    4
    """
    name, _, rest = text.partition(":")
    pairs = {key: value for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair)}
    try:
        if name not in SAMPLERS or set(pairs) - ({"steps"} if name == "diffusion" else set()):
            raise ConfigError("there is no such sampler")
        found = msgspec.convert({"hands": name, **pairs}, SamplerSettings, strict=False)
        if found.steps < 0:
            raise ConfigError("a value is not possible")
    except (ConfigError, msgspec.ValidationError) as exc:
        raise ConfigError(
            f"--sampler {text}: {exc}; give uniform, autoregressive, diffusion or diffusion:steps=NUMBER"
        ) from None
    return found
