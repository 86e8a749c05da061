"""Samplers of deals by the text that names them in commands."""

from __future__ import annotations

from typing import Final

import msgspec

from game.errors import ConfigError
from policies.deals.deal import DealSampler
from policies.deals.likelihood import ALL, Evidence
from policies.deals.uniform import UniformDeals
from policies.deals.weighted import USUAL, WeightedDeals, WeightSettings
from policies.slots import Policy

_FORM: Final = (
    "uniform, or weighted:KEY=VALUE,... with drawn, candidates, kept, power, moves, last, floor, doings=a+b"
)


class _Flags(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a weighted sampler as they are written."""

    drawn: int = USUAL.drawn
    candidates: int = USUAL.candidates
    kept: int = USUAL.kept
    power: float = USUAL.power
    moves: int = USUAL.moves
    last: int = Evidence().last
    floor: float = Evidence().floor
    doings: str = "+".join(Evidence().doings)


def load_sampler(text: str, policy: Policy) -> DealSampler:
    """The sampler that a text names.

    Args:
        text: ``uniform`` or ``weighted``, with settings after a colon: ``weighted:power=0.5,candidates=128``.
        policy: how opponents are thought to decide.

    Raises:
        ConfigError: the text names no sampler.
    """
    settings = settings_of(text)
    return UniformDeals() if settings is None else WeightedDeals(policy, settings)


def settings_of(text: str) -> WeightSettings | None:
    """How a sampler weighs deals; None if it does not.

    Raises:
        ConfigError: the text names no sampler.

    >>> settings_of("weighted:power=0.5,last=4").power
    0.5
    """
    name, _, rest = text.partition(":")
    if text == "uniform":
        return None
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    try:
        if name != "weighted":
            raise ConfigError("there is no such sampler")
        found = msgspec.convert({key: value for key, _, value in pairs}, _Flags, strict=False)
        doings = tuple(doing for doing in ALL if doing in found.doings.split("+"))
        if (
            set(found.doings.split("+")) - set(ALL)
            or found.candidates < 0
            or found.drawn < 0
            or found.moves < 0
            or found.kept < 1
        ):
            raise ConfigError("a value is not possible")
        if not (0.0 < found.floor < 1.0 and found.power > 0.0 and found.last >= 0):
            raise ConfigError("a value is not possible")
    except (ConfigError, msgspec.ValidationError) as exc:
        raise ConfigError(f"--sampler {text}: {exc}; give {_FORM}") from None
    evidence = Evidence(doings, found.last, found.floor)
    return WeightSettings(found.drawn, found.candidates, found.kept, found.power, found.moves, evidence)
