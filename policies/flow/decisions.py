"""A decision and what is known of it, as logs, records and reviews keep it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from game.actions import Action, ActionKind
from game.scoring.settlement import RewardKind

Step: TypeAlias = Literal["win", "nine_terminals", "kan", "riichi", "discard", "call", "forced"]
Source: TypeAlias = Literal["model", "rule", "fallback"]
Way: TypeAlias = Literal["adapted", "search", "both"]

KINDS_OF_MODEL: Final[Mapping[str, frozenset[ActionKind]]] = {
    "rule": frozenset((ActionKind.TSUMO, ActionKind.RON, ActionKind.NINE_TERMINALS)),
    "kan": frozenset((ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.DAIMINKAN)),
    "riichi": frozenset((ActionKind.RIICHI,)),
    "pon": frozenset((ActionKind.PON,)),
    "chi": frozenset((ActionKind.CHI,)),
}
"""The actions about which a model, or a rule, is asked; all others are discards."""


def model_of(choices: tuple[Action, Action]) -> str:
    """The model whose question the choices answer differently: the first in the order of the flow."""
    kinds = {choice.kind for choice in choices}
    return next((model for model, of_model in KINDS_OF_MODEL.items() if kinds & of_model), "discard")


class Option(msgspec.Struct, frozen=True):
    """One legal action and the probability its slot gave it; 0 if an earlier step decided."""

    action: Action
    probability: float


class OptionValue(msgspec.Struct, frozen=True):
    """The result of a search for one option.

    Attributes:
        action: the option.
        probability: the policy's.
        ahead: its advantage over the policy's first choice in the play-outs.
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
        base: what the initial policy would have done.
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


class Decision(msgspec.Struct, frozen=True):
    """One decision, with everything a log line or a review needs.

    Attributes:
        action: what to do.
        source: a model, a rule, or a fallback after a fault.
        step: the step of the flow that decided.
        options: every legal action, the chosen one first, then by descending probability. Discards add up to
            1; a kan, riichi or call has its own "yes"; pass has what the best call leaves.
        shanten: shanten of the current concealed hand, -1 for a win.
        latency_ms: time the decision took.
        budget_ms: time allowed, 0 for no limit; filled in by the player that keeps to it.
        fallback_reason: what went wrong, "" if nothing did.
        improvement: what an adapted policy or a search had to say, None if neither decided.
        later: what the policy gives the options of the steps that its choice ends early, and the discards
            once riichi is declared, as riichi actions with a tile; empty if that was not asked.
    """

    action: Action
    source: Source
    step: Step
    options: tuple[Option, ...]
    shanten: int
    latency_ms: float
    budget_ms: float = 0.0
    fallback_reason: str = ""
    improvement: Improvement | None = None
    later: tuple[Option, ...] = ()

    @property
    def probability(self) -> float:
        """The probability of the chosen action."""
        return next((option.probability for option in self.options if option.action == self.action), 0.0)
