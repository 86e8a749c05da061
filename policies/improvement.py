"""How a decision was improved on in the time of the round: by an adapted policy, by search, or by both."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from game.actions import Action
from game.settlement import RewardKind

Way: TypeAlias = Literal["adapted", "search", "both"]


class Option(msgspec.Struct, frozen=True):
    """One legal action and the probability its slot gave it; 0 if an earlier step decided."""

    action: Action
    probability: float


class OptionValue(msgspec.Struct, frozen=True):
    """The result of a search for one option.

    Attributes:
        action: the option.
        probability: the policy's.
        ahead: how much more it is worth than the policy's first choice, as the play-outs have it.
        error: standard error of that.
        expected: the same with the prior.
        doubt: standard deviation of that.
        deals: over which it was played out.
    """

    action: Action
    probability: float
    ahead: float
    error: float
    expected: float
    doubt: float
    deals: int


class Improvement(msgspec.Struct, frozen=True):
    """How a decision was improved, and by how much.

    Attributes:
        way: an adapted policy decided, or a search, or a search among the options of an adapted policy.
        base: what the policy of the start would have done.
        base_options: its probabilities of discards, where an adapted policy gave others; else empty.
        playouts: rounds played out for it.
        divergence: KL(π₀ ‖ π) in nats of the adapted policy on this decision, 0 without one.
        values: of the options a search compared, best first, in units of worth; empty without one.
        worth: that unit: ``points``, or ``global`` for the expected final reward.
    """

    way: Way
    base: Action
    base_options: tuple[Option, ...] = ()
    playouts: int = 0
    divergence: float = 0.0
    values: tuple[OptionValue, ...] = ()
    worth: RewardKind = "points"
