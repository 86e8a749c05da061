"""Decisions in play: the decision flow, and an answer even if the policy gives none."""

from __future__ import annotations

from time import perf_counter

import structlog

from game.actions import PASS, WINS, Action, ActionKind
from game.layout import PHASE_TURN
from game.observation import Observation
from game.shanten import shanten
from policies.flow.decisions import Decision, Option, Source
from policies.flow.flow import Verdict, flow, reason_of, run_flows
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy

_log = structlog.get_logger(__name__)


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

    A policy that raises, gives an invalid answer or picks an illegal action is replaced by the heuristic, and
    the heuristic by tsumogiri or a pass. Never raises.

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
    wins = [action for action in legal if action.kind in WINS]
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
