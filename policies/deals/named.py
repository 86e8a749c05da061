"""Samplers of deals by the text that names them in commands."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import msgspec

from game.errors import ConfigError
from policies.deals.deal import DealSampler
from policies.deals.likelihood import ALL, Evidence
from policies.deals.uniform import UniformDeals
from policies.deals.weighted import USUAL, WeightedDeals, WeightSettings
from policies.slots import Policy

if TYPE_CHECKING:
    from policies.checkpoint.card import Model

HandsName: TypeAlias = Literal["uniform", "autoregressive", "diffusion"]

_HANDS: Final = get_args(HandsName)
_FORM: Final = (
    "uniform, autoregressive, diffusion:steps=NUMBER, or weighted:KEY=VALUE,... with hands=uniform, "
    "autoregressive or diffusion, steps, drawn, candidates, kept, power, moves, last, floor, doings=a+b"
)
_LEARNED_CANDIDATES: Final = 192
"""Guesses at each hand where a model makes them, which takes far longer than to draw uniformly."""


class SamplerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a text that names a sampler says.

    Attributes:
        hands: who proposes hands: uniform draws, or one of the models of `policies.hands`.
        steps: of diffusion; 0 for as many as the model is made for.
        weights: how deals are weighted; None if they are not.
    """

    hands: HandsName = "uniform"
    steps: int = 0
    weights: WeightSettings | None = None


class _Flags(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a weighted sampler as they are written."""

    hands: HandsName = "uniform"
    steps: int = 0
    drawn: int = USUAL.drawn
    candidates: int | None = None
    kept: int = USUAL.kept
    power: float = USUAL.power
    moves: int = USUAL.moves
    last: int = Evidence().last
    floor: float = Evidence().floor
    doings: str = "+".join(Evidence().doings)


def load_sampler(text: str, policy: Policy) -> DealSampler:
    """The sampler that a text names.

    Args:
        text: ``uniform``, ``autoregressive``, ``diffusion`` or ``weighted``, with settings after a colon:
            ``diffusion:steps=4``, ``weighted:power=0.5,candidates=128``, ``weighted:hands=autoregressive``.
        policy: how opponents are thought to decide.

    Raises:
        ConfigError: the text names no sampler.
        CheckpointError: the model of hands cannot be used.
    """
    settings = settings_of(text)
    proposals = _proposals(settings)
    if settings.weights is None:
        return proposals or UniformDeals()
    return WeightedDeals(policy, settings.weights, proposals)


def _proposals(settings: SamplerSettings) -> DealSampler | None:
    """Deals whose hands a model makes; None for uniform ones."""
    if settings.hands == "uniform":
        return None
    from policies.deals.learned import DealsOfHands  # noqa: PLC0415 - torch is for those who need it

    if settings.hands == "autoregressive":
        from policies.hands.autoregressive import load_autoregressive  # noqa: PLC0415

        return DealsOfHands(load_autoregressive())
    from policies.hands.diffusion import DiffusionSettings, load_diffusion  # noqa: PLC0415

    return DealsOfHands(load_diffusion(settings=DiffusionSettings(steps=settings.steps)))


def models_of(settings: Sequence[SamplerSettings]) -> str:
    """Changes when the included models of hands change that these samplers use; "" if they use none.

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
    """What a text says of a sampler.

    Raises:
        ConfigError: the text names no sampler.

    >>> settings_of("weighted:power=0.5,last=4").weights.power
    0.5
    >>> settings_of("diffusion:steps=4").steps
    4
    """
    name, _, rest = text.partition(":")
    pairs = {key: value for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair)}
    try:
        if name == "weighted":
            return _weighted(msgspec.convert(pairs, _Flags, strict=False))
        if name not in _HANDS or set(pairs) - ({"steps"} if name == "diffusion" else set()):
            raise ConfigError("there is no such sampler")
        found = msgspec.convert({"hands": name, **pairs}, _Flags, strict=False)
        if found.steps < 0:
            raise ConfigError("a value is not possible")
    except (ConfigError, msgspec.ValidationError) as exc:
        raise ConfigError(f"--sampler {text}: {exc}; give {_FORM}") from None
    return SamplerSettings(hands=found.hands, steps=found.steps)


def _weighted(found: _Flags) -> SamplerSettings:
    doings = tuple(doing for doing in ALL if doing in found.doings.split("+"))
    usual = USUAL.candidates if found.hands == "uniform" else _LEARNED_CANDIDATES
    candidates = usual if found.candidates is None else found.candidates
    if (
        set(found.doings.split("+")) - set(ALL)
        or min(candidates, found.drawn, found.moves, found.last, found.steps) < 0
        or found.kept < 1
        or not 0.0 < found.floor < 1.0
        or not found.power > 0.0
        or (found.moves > 0 and found.hands != "uniform")
    ):
        raise ConfigError("a value is not possible")
    weights = WeightSettings(
        found.drawn,
        candidates,
        found.kept,
        found.power,
        found.moves,
        Evidence(doings, found.last, found.floor),
    )
    return SamplerSettings(hands=found.hands, steps=found.steps, weights=weights)
