"""The paper's decision flow: always turns a table and the legal actions into one action.

On a draw: win → kan → riichi → discard. On another player's discard: win → the most confident "yes" among
chi, pon and kan. The five models are the slots of a `Policy`; winning and nine terminals are rules.

Source: Suphx, arXiv:2003.13590, section 2.1.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from time import perf_counter
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import structlog

from game.actions import PASS, Action, ActionKind
from game.errors import DecisionError, IllegalActionError, ModelError
from game.layout import PHASE_TURN
from game.settlement import GameLength
from game.shanten import shanten
from policies.heuristic.player import HeuristicPolicy
from policies.nine_terminals import should_abort
from policies.slots import Policy, Question, Slot, Source, read_row
from policies.winning import should_win

__all__ = [
    "Decision",
    "Flow",
    "Option",
    "Policy",
    "PolicyGuard",
    "Question",
    "Slot",
    "Source",
    "Step",
    "Verdict",
    "decide",
    "fall_back",
    "flow",
    "last_resort",
    "reason_of",
]

Step: TypeAlias = Literal["win", "nine_terminals", "kan", "riichi", "discard", "call", "forced"]

_YES: Final = 0.5
_WINS: Final = (ActionKind.TSUMO, ActionKind.RON)
_CALL_SLOTS: Final = {
    ActionKind.CHI: Slot.CHI,
    ActionKind.PON: Slot.PON,
    ActionKind.DAIMINKAN: Slot.KAN,
}
_log = structlog.get_logger(__name__)


class Option(msgspec.Struct, frozen=True):
    """One legal action and the probability its slot gave it; 0 if an earlier step decided."""

    action: Action
    probability: float


class Decision(msgspec.Struct, frozen=True):
    """One decision, with everything a log line or a review needs.

    Attributes:
        action: what to do.
        source: a model, a rule, or a fallback after a fault.
        step: the step of the flow that decided.
        options: every legal action, the chosen one first, then by descending probability. Discards add up to
            1; a kan, riichi or call has its own "yes"; pass has what the best call leaves.
        shanten: of the current concealed hand, -1 for a win.
        latency_ms: time the decision took.
        budget_ms: time allowed, 0 for no limit.
        fallback_reason: what went wrong, "" if nothing did.
    """

    action: Action
    source: Source
    step: Step
    options: tuple[Option, ...]
    shanten: int
    latency_ms: float
    budget_ms: float = 0.0
    fallback_reason: str = ""

    @property
    def probability(self) -> float:
        """The probability of the chosen action."""
        return next((option.probability for option in self.options if option.action == self.action), 0.0)


class Verdict(msgspec.Struct, frozen=True):
    """The outcome of the flow: the action, the step, whether a slot decided, and the probabilities seen."""

    action: Action
    step: Step
    by_slot: bool
    probabilities: dict[Action, float]


Flow: TypeAlias = Generator[Question, Sequence[float], Verdict]


def flow(record: np.void, player: int, legal: Sequence[Action], length: GameLength) -> Flow:
    """The decision flow as a generator: it yields questions and is sent the answers.

    Running many generators side by side gives batches of questions per slot; `decide` runs a single one.

    Raises:
        ModelError: an answer has the wrong length, is not finite or is outside 0–1.
    """
    legal = tuple(legal)
    if len(legal) == 1:
        return Verdict(legal[0], "forced", by_slot=False, probabilities={legal[0]: 1.0})
    for action in legal:
        if action.kind in _WINS and should_win(record, player, action, length):
            return Verdict(action, "win", by_slot=False, probabilities={action: 1.0})
    rest = tuple(action for action in legal if action.kind not in _WINS)
    if not rest:  # a win that must not be declared, and no alternative
        return Verdict(legal[0], "forced", by_slot=False, probabilities={legal[0]: 1.0})
    if PASS in rest:
        return (yield from _claim(record, player, rest, length))
    return (yield from _turn(record, player, rest, length))


def _turn(record: np.void, player: int, legal: tuple[Action, ...], length: GameLength) -> Flow:
    seen: dict[Action, float] = {}
    abort = _of_kind(legal, ActionKind.NINE_TERMINALS)
    if abort and should_abort(record, player, length):
        return Verdict(abort[0], "nine_terminals", by_slot=False, probabilities={abort[0]: 1.0})
    for slot, step, kinds in (
        (Slot.KAN, "kan", (ActionKind.ANKAN, ActionKind.KAKAN)),
        (Slot.RIICHI, "riichi", (ActionKind.RIICHI,)),
    ):
        options = _of_kind(legal, *kinds)
        if not options:
            continue
        seen.update((yield from _ask(Question(slot, record, player, options, length))))
        best = max(options, key=lambda action: seen[action])
        if seen[best] > _YES:
            return Verdict(best, "kan" if step == "kan" else "riichi", by_slot=True, probabilities=seen)
    discards = _of_kind(legal, ActionKind.DISCARD)
    if not discards:
        raise IllegalActionError("no discard among the legal actions")
    seen.update((yield from _ask(Question(Slot.DISCARD, record, player, discards, length))))
    best = max(discards, key=lambda action: seen[action])
    return Verdict(best, "discard", by_slot=True, probabilities=seen)


def _claim(record: np.void, player: int, legal: tuple[Action, ...], length: GameLength) -> Flow:
    seen: dict[Action, float] = {}
    for kind, slot in _CALL_SLOTS.items():
        options = _of_kind(legal, kind)
        if options:
            seen.update((yield from _ask(Question(slot, record, player, options, length))))
    best = max(seen, key=lambda action: seen[action], default=PASS)
    confidence = seen.get(best, 0.0)
    seen[PASS] = 1.0 - confidence
    return Verdict(best if confidence > _YES else PASS, "call", by_slot=True, probabilities=seen)


def _of_kind(legal: tuple[Action, ...], *kinds: ActionKind) -> tuple[Action, ...]:
    return tuple(action for action in legal if action.kind in kinds)


def _ask(question: Question) -> Generator[Question, Sequence[float], dict[Action, float]]:
    answer = yield question
    return dict(zip(question.options, read_row(question, answer), strict=True))


def _drive(
    record: np.void, player: int, legal: Sequence[Action], policy: Policy, length: GameLength
) -> Verdict:
    steps = flow(record, player, legal, length)
    try:
        question = next(steps)
        while True:
            rows = policy.answer(question.slot, (question,))
            if len(rows) != 1:
                raise ModelError(f"{question.slot} slot: {len(rows)} answers to one question")
            question = steps.send(rows[0])
    except StopIteration as done:
        verdict: Verdict = done.value
    if verdict.action not in legal:
        raise IllegalActionError(f"{verdict.action} is not among the legal actions")
    return verdict


def decide(
    record: np.void,
    player: int,
    legal: Sequence[Action],
    policy: Policy,
    length: GameLength,
    *,
    budget_ms: float = 0.0,
) -> Decision:
    """Decide, whatever the policy does.

    A policy that raises, answers nonsense or picks no legal action is replaced by the heuristic, and the
    heuristic by tsumogiri or a pass. Never raises.

    Args:
        record: the round as the player sees it.
        player: absolute.
        legal: the legal actions, not empty.
        policy: fills the five slots.
        length: of the game.
        budget_ms: time allowed, recorded in the decision only.
    """
    started = perf_counter()
    try:
        if not legal:
            raise IllegalActionError("no legal action")
        verdict = _drive(record, player, legal, policy, length)
        source = policy.source if verdict.by_slot else "rule"
        return _decision(record, player, legal, verdict, source, started=started, budget_ms=budget_ms)
    except Exception as error:
        reason = reason_of(error)
        _log.warning("decision.fallback", reason=reason, exc_info=True)
        return fall_back(record, player, legal, length, reason, budget_ms=budget_ms, started=started)


def fall_back(
    record: np.void,
    player: int,
    legal: Sequence[Action],
    length: GameLength,
    reason: str,
    *,
    budget_ms: float = 0.0,
    started: float | None = None,
) -> Decision:
    """The decision if the policy has none or is late: the heuristic's, else tsumogiri or pass. Never raises.

    Args:
        record: the round as the player sees it.
        player: absolute.
        legal: the legal actions.
        length: of the game.
        reason: why the policy's answer is not used.
        budget_ms: time allowed.
        started: `perf_counter` when the decision began, now if None.
    """
    started = perf_counter() if started is None else started
    try:
        verdict = _drive(record, player, legal, HeuristicPolicy(), length)
    except Exception as error:
        second = reason_of(error)
        if second != reason:
            _log.warning("decision.fallback", reason=second, exc_info=True)
            reason = f"{reason}; then heuristic: {second}"
        action = last_resort(record, player, legal)
        verdict = Verdict(action, "forced", by_slot=False, probabilities={action: 1.0})
    return _decision(
        record, player, legal, verdict, "fallback", started=started, budget_ms=budget_ms, reason=reason
    )


def last_resort(record: np.void, player: int, legal: Sequence[Action]) -> Action:
    """The answer without evaluation: a win, else a pass, else the tile just drawn."""
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


def reason_of(error: Exception) -> str:
    """One line for logs and reports: what went wrong."""
    text = " ".join(str(error).split())[:200]
    if isinstance(error, DecisionError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _decision(
    record: np.void,
    player: int,
    legal: Sequence[Action],
    verdict: Verdict,
    source: Source,
    *,
    started: float,
    budget_ms: float,
    reason: str = "",
) -> Decision:
    seen = verdict.probabilities
    options = sorted(
        (Option(action, seen.get(action, 0.0)) for action in legal),
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
        budget_ms=budget_ms,
        fallback_reason=reason,
    )


class PolicyGuard:
    """Falls back to the heuristic for the rest of a game after ``limit`` faults of the policy."""

    def __init__(self, policy: Policy, limit: int = 3) -> None:
        self._trusted = policy
        self._rules = HeuristicPolicy()
        self._limit = limit
        self.faults = 0

    @property
    def tripped(self) -> bool:
        """Whether the heuristic plays the rest of this game."""
        return self.faults >= self._limit

    @property
    def policy(self) -> Policy:
        """The policy that fills the slots now."""
        return self._rules if self.tripped else self._trusted

    def new_game(self) -> None:
        """Use the policy again."""
        self.faults = 0

    def note_fault(self) -> None:
        """Count a fault detected elsewhere, such as an answer after its deadline."""
        self.faults += 1
        if self.faults == self._limit:
            _log.warning("decision.fallback", reason=f"{self.faults} faults: rules for the rest of the game")

    def decide(
        self,
        record: np.void,
        player: int,
        legal: Sequence[Action],
        length: GameLength,
        budget_ms: float = 0.0,
    ) -> Decision:
        """Like the function `decide`, but counts faults."""
        decision = decide(record, player, legal, self.policy, length, budget_ms=budget_ms)
        if decision.source == "fallback":
            self.note_fault()
        return decision
