"""Weights of iterations in the variants of CFR.

The variants differ in the weight of an iteration in the sums of regrets and of strategies, and CFR+ never
lets a sum of regrets fall below zero.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from game.jit import kernel

Update: TypeAlias = Literal["cfr", "plus", "linear"]
"""Variant of CFR."""


class RegretUpdate(NamedTuple):
    """A variant of CFR.

    Attributes:
        regret_power: an iteration t counts t to this power in the sums of regrets.
        strategy_power: the same for the sums of strategies.
        floor: sums of regrets stay at 0 or above.
        alternate: the players take turns, each answering the other's newest strategy.
    """

    regret_power: int
    strategy_power: int
    floor: bool
    alternate: bool


UPDATES: Final[dict[Update, RegretUpdate]] = {
    "cfr": RegretUpdate(0, 0, False, False),
    "plus": RegretUpdate(0, 1, True, True),
    "linear": RegretUpdate(1, 1, False, False),
}
"""Zinkevich et al. 2007; Tammelin 2014 (CFR+); Brown and Sandholm 2019 (linear CFR)."""


@kernel
def power(number: int, exponent: int) -> float:
    """The weight of an iteration: its number to a small power."""
    weight = 1.0
    for _ in range(exponent):
        weight *= number
    return weight
