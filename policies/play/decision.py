"""Decisions in play: the decision flow, and an answer even if the policy gives none."""

from __future__ import annotations

from time import perf_counter
from typing import Final, Literal, TypeAlias

import msgspec
import structlog

from game.actions import PASS, Action, ActionKind
from game.layout import PHASE_TURN
from game.observation import Observation
from game.scoring.settlement import RewardKind
from game.shanten import shanten
from policies.flow.flow import Step, Verdict, flow, reason_of, run_flows
from policies.flow.slots import Policy, Source
from policies.heuristic.player import HeuristicPolicy

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


__all__ = ["Decision", "Option", "decide", "decide_strictly", "fall_back", "last_resort"]

_WINS: Final = (ActionKind.TSUMO, ActionKind.RON)
_log = structlog.get_logger(__name__)


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

    @property
    def probability(self) -> float:
        """The probability of the chosen action."""
        return next((option.probability for option in self.options if option.action == self.action), 0.0)


def decide_strictly(observation: Observation, policy: Policy) -> Decision:
    """Decide by the policy alone.

    Raises:
        Exception: whatever the policy raises, or what is wrong with its answers.
    """
    started = perf_counter()
    verdict = _verdict(observation, policy)
    return _decision(observation, verdict, policy.source if verdict.by_slot else "rule", started=started)


def decide(observation: Observation, policy: Policy) -> Decision:
    """Decide, whatever the policy does.

    A policy that raises, answers nonsense or picks no legal action is replaced by the heuristic, and the
    heuristic by tsumogiri or a pass. Never raises.

    Args:
        observation: the decision to be made.
        policy: fills the five slots.
    """
    started = perf_counter()
    try:
        return decide_strictly(observation, policy)
    except Exception as error:
        reason = reason_of(error)
        _log.warning("decision.fallback", reason=reason, exc_info=True)
        return fall_back(observation, reason, started=started)


def fall_back(observation: Observation, reason: str, *, started: float | None = None) -> Decision:
    """The decision if the policy has none or is late: the heuristic's, else tsumogiri or pass. Never raises.

    Args:
        observation: the decision to be made.
        reason: why the policy's answer is not used.
        started: `perf_counter` when the decision began, now if None.
    """
    started = perf_counter() if started is None else started
    try:
        verdict = _verdict(observation, HeuristicPolicy())
    except Exception as error:
        second = reason_of(error)
        if second != reason:
            _log.warning("decision.fallback", reason=second, exc_info=True)
            reason = f"{reason}; then heuristic: {second}"
        verdict = Verdict(last_resort(observation), "forced", by_slot=False)
    return _decision(observation, verdict, "fallback", started=started, reason=reason)


def last_resort(observation: Observation) -> Action:
    """The answer without evaluation: a win, else a pass, else the tile just drawn."""
    record, player, legal = observation.record, observation.player, observation.legal
    wins = [action for action in legal if action.kind in _WINS]
    if wins:
        return wins[0]
    if PASS in legal:
        return PASS
    tsumogiri = Action(ActionKind.DISCARD, int(record["drawn"]))
    if tsumogiri in legal:
        return tsumogiri
    if legal:
        return next((action for action in legal if action.kind is ActionKind.DISCARD), legal[0])
    own_turn = int(record["phase"]) == PHASE_TURN and int(record["turn"]) == player
    return tsumogiri if own_turn and tsumogiri.tile >= 0 else PASS


def _verdict(observation: Observation, policy: Policy) -> Verdict:
    (running,) = run_flows([flow(observation)], policy.answer)
    return running.result()


def _decision(
    observation: Observation,
    verdict: Verdict,
    source: Source,
    *,
    started: float,
    reason: str = "",
) -> Decision:
    record, player = observation.record, observation.player
    seen = verdict.probabilities
    options = sorted(
        (Option(action, seen.get(action, 0.0)) for action in observation.legal),
        key=lambda option: (option.action != verdict.action, -option.probability),
    )
    distance = shanten(record["hand34"][player], int(record["meld_count"][player]))
    return Decision(
        action=verdict.action,
        source=source,
        step=verdict.step,
        options=tuple(options),
        shanten=int(distance),
        latency_ms=(perf_counter() - started) * 1000.0,
        fallback_reason=reason,
    )
