"""What an option loses against the preferred one, and how far that may be off.

The rules value hands with more confidence than they earn: where rounds are played out from recorded
decisions, options differ by a small part of what the rules' values differ by. So these are shrunk to that
part, and what rollouts leave open is the error. `suzaku eval loss` measures both.
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
    "same_shanten": 0.1,
    "other_shanten": 0.25,
    "tenpai": 0.5,
    "riichi": 0.5,
    "win": 1.0,
}
"""How much of the difference between two hands' values is found in rollouts."""
SPREAD: Final = 3.0
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
    return Loss(value, math.hypot(SPREAD, RISK_ERROR * preferred.risk, RISK_ERROR * option.risk))


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
