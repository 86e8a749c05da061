"""What an option loses against the preferred one, and how far that may be off.

The loss counts what rollouts confirm. Where rounds are played out from recorded decisions, the rules' values
of two hands are worth what they say if one of them is tenpai or declares riichi, half of it between other
hands of different shanten, and nothing between hands of the same. What rollouts leave open is the error.
`suzaku eval loss` measures both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from game.actions import RIICHI, Action
from replays.review.worth import Worth

Kind: TypeAlias = Literal["same_shanten", "other_shanten", "tenpai", "riichi", "win"]
"""Sorts of choices: between discards that leave the same shanten or not, or of which one leaves a tenpai hand
and the other does not; about riichi; about a win."""

SHARE: Final[Mapping[Kind, float]] = {
    "same_shanten": 0.0,
    "other_shanten": 0.5,
    "tenpai": 1.0,
    "riichi": 0.9,
    "win": 1.0,
}
"""How much of the difference between two hands' values is found in rollouts."""
SPREAD: Final[Mapping[Kind, float]] = {
    "same_shanten": 3.0,
    "other_shanten": 3.0,
    "tenpai": 7.0,
    "riichi": 7.0,
    "win": 7.0,
}
"""Standard deviation of what is then still missing, in rank points."""
RISK_ERROR: Final = 0.3
"""Standard error of a tile's risk of dealing in, as a share of it."""
CLEAR: Final = 1.3
"""Errors from 0 at which a loss has the right sign nine times of ten."""


class Loss(NamedTuple):
    """Reward lost against the preferred option, with its standard error."""

    value: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether it is told apart from 0."""
        return abs(self.value) >= CLEAR * self.error > 0.0


def losses(worth: Mapping[Action, Worth], preferred: Action) -> dict[Action, Loss]:
    """What each option loses; nothing where the preferred one has no value.

    Args:
        worth: of the options.
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
    """What an option loses against the preferred one.

    Args:
        preferred: what that is worth.
        option: what this one is worth.
        kind: what sort of choice it is.
    """
    onward = preferred.onward - option.onward
    value = preferred.certain - option.certain + option.risk - preferred.risk + SHARE[kind] * onward
    return Loss(value, math.hypot(SPREAD[kind], RISK_ERROR * preferred.risk, RISK_ERROR * option.risk))


def kind_of(worth: Mapping[Action, Worth], preferred: Action, option: Action) -> Kind:
    """What sort of choice it is between two options that are worth something."""
    if RIICHI in (preferred, option):
        return "riichi"
    one, other = worth[preferred].shanten, worth[option].shanten
    if one is None or other is None:
        return "win"
    if one == other:
        return "same_shanten"
    return "other_shanten" if one and other else "tenpai"
