"""The loss of an option compared with the preferred one, and its standard error.

The loss counts only what rollouts confirm. In rounds played out from recorded decisions, the difference
between the rules' values of two hands is confirmed in full if only one of them is tenpai, nearly so between
riichi and no riichi, by half between other hands of different shanten, and not at all between hands of the
same shanten. The rest is the error. `suzaku eval loss` measures both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from game.actions import RIICHI, Action
from replays.review.worth import Worth

Kind: TypeAlias = Literal["same_shanten", "other_shanten", "tenpai", "riichi", "win"]
"""Kinds of choices: between discards that leave the same shanten, different shanten, or only one of them
tenpai; about riichi; about a win."""

SHARE: Final[Mapping[Kind, float]] = {
    "same_shanten": 0.0,
    "other_shanten": 0.5,
    "tenpai": 1.0,
    "riichi": 0.9,
    "win": 1.0,
}
"""Share of the difference between two hands' values that rollouts confirm."""
SPREAD: Final[Mapping[Kind, float]] = {
    "same_shanten": 3.0,
    "other_shanten": 3.0,
    "tenpai": 7.0,
    "riichi": 7.0,
    "win": 7.0,
}
"""Standard deviation of the remaining error, in rank points."""
RISK_ERROR: Final = 0.3
"""Standard error of a tile's risk of dealing in, as a share of it."""
CLEAR: Final = 1.3
"""Number of standard errors from 0 at which a loss has the right sign nine times out of ten."""


class Loss(NamedTuple):
    """Reward lost against the preferred option, with its standard error."""

    value: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether the loss clearly differs from 0."""
        return abs(self.value) >= CLEAR * self.error > 0.0


def losses(worth: Mapping[Action, Worth], preferred: Action) -> dict[Action, Loss]:
    """The loss of each option; empty if the preferred one has no value.

    Args:
        worth: values of the options.
        preferred: one of the legal actions.
    """
    if preferred not in worth:
        return {}
    best = worth[preferred]
    return {
        option: loss_of(best, value, kind_of(worth, preferred, option))
        if option != preferred
        else Loss(0.0, 0.0)
        for option, value in worth.items()
    }


def loss_of(preferred: Worth, option: Worth, kind: Kind) -> Loss:
    """The loss of an option compared with the preferred one.

    Args:
        preferred: value of the preferred option.
        option: value of the option.
        kind: kind of choice between the two.
    """
    onward = preferred.onward - option.onward
    value = preferred.certain - option.certain + option.risk - preferred.risk + SHARE[kind] * onward
    return Loss(value, math.hypot(SPREAD[kind], RISK_ERROR * preferred.risk, RISK_ERROR * option.risk))


def kind_of(worth: Mapping[Action, Worth], preferred: Action, option: Action) -> Kind:
    """The kind of choice between two options that have values."""
    if RIICHI in (preferred, option):
        return "riichi"
    one, other = worth[preferred].shanten, worth[option].shanten
    if one is None or other is None:
        return "win"
    if one == other:
        return "same_shanten"
    return "other_shanten" if one and other else "tenpai"
