"""Decides in time: by the policy, else by the rules, else by tsumogiri or a pass.

Decisions are made on a worker thread from a copy of the state. Whatever goes wrong there (an exception, NaN,
an illegal choice, a hang), there is a decision before the deadline.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import structlog

from bot.player.clock import Clock
from bot.player.tally import DecisionTally
from bot.player.worker import WorkerThread
from game.events import GameEvent
from game.observation import Observation
from kit.errors import DeadlineExceeded, DecisionError, IllegalActionError, ModelError
from policies.flow.decisions import Decision, Option
from policies.flow.flow import reason_of
from policies.flow.slots import Policy
from policies.play.decide import decide_strictly, fall_back, last_resort
from replays.review.judging import look_further

log = structlog.get_logger(__name__)

RULES_RESERVE_MS: Final = 300
"""Part of the budget reserved for the rule-based answer."""
FURTHER: Final = 3
"""Most questions that looking further asks for each of the decision; only people see the answers."""
JOIN_S: Final = 2.0
"""Longer than any decision takes unless it hangs."""


class SeatPrompt(Observation, frozen=True, kw_only=True):
    """A choice put to our seat; its record is a copy that nothing else modifies.

    Attributes:
        prompt_id: the session's number for it; answers to older numbers are dropped.
        opened_at: when its frame arrived, by our clock.
        events: of the game so far, as our seat saw them.
    """

    prompt_id: int
    opened_at: float
    events: tuple[GameEvent, ...] = ()


Adapt: TypeAlias = Callable[[SeatPrompt, Decision], Decision]
"""Replaces a decision of the initial policy by that of an adapted one."""


class _RunningDecision(NamedTuple):
    """A running decision: its prompt, its worker, and until when to wait for it."""

    prompt: SeatPrompt
    worker: WorkerThread
    until: float


class DecisionMaker:
    """Decides on one prompt at a time, on a thread for the policy and one for the rules.

    Args:
        load_policy: creates the policy; called on the worker, and again for the game after one with failures.
        budget_ms: time from receiving a prompt to its decision.
        failures: number of failed decisions after which the rules play the rest of the game.
        clock: measures the budget.
        tally: counts late decisions.
        adapt: asked after the policy, on its worker; None if nothing adapts.

    Attributes:
        was_late: whether the last decision took longer than its budget.
    """

    def __init__(
        self,
        load_policy: Callable[[], Policy],
        budget_ms: int,
        failures: int,
        clock: Clock,
        tally: DecisionTally,
        adapt: Adapt | None = None,
    ) -> None:
        self.was_late = False
        self._adapt = adapt
        self._load_policy = load_policy
        self._policy: Policy | None = None
        self._budget_ms = budget_ms
        self._failures = failures
        self._clock = clock
        self._tally = tally
        self._thinker = WorkerThread("decision")
        self._rules = WorkerThread("rules")
        self._left_behind: list[WorkerThread] = []
        self._unwanted: dict[asyncio.Future[Decision], _RunningDecision] = {}
        self._faults = 0
        self._restarted = False
        self._log = log

    def begin_game(self, game_id: str) -> None:
        """Start a new game: reload the policy if it failed in the last one."""
        if self._faults:
            self._policy = None
        self._faults = 0
        self._restarted = False
        self._log = log.bind(game_id=game_id)

    def close(self) -> None:
        """Let the workers end, without waiting for them."""
        for future in tuple(self._unwanted):
            future.cancel()
        self._thinker.close()
        self._rules.close()

    def join(self, timeout_s: float = JOIN_S) -> bool:
        """End the workers and wait for them; return whether all have ended.

        The program must not exit while a network runs on a worker: the interpreter ends a daemon thread where
        it next takes the lock, and inside C++ code that aborts the process. A hung worker is abandoned.
        """
        until = time.monotonic() + timeout_s  # threads run in real time, whatever the injected clock shows
        workers = (*self._left_behind, self._thinker, self._rules)
        for worker in workers:
            worker.close()
        return all(worker.join(max(0.0, until - time.monotonic())) for worker in workers)

    def deadline(self, prompt: SeatPrompt) -> float:
        """When the prompt must be answered, by the clock."""
        return prompt.opened_at + self._budget_ms / 1000

    def elapsed_ms(self, prompt: SeatPrompt) -> float:
        """Time since the prompt's frame arrived."""
        return (self._clock.now() - prompt.opened_at) * 1000

    def log_late(self, prompt: SeatPrompt, why: str) -> None:
        """Log that a decision came too late to be used."""
        after_ms = round(self.elapsed_ms(prompt), 2)
        self._log.warning("decision.late", prompt_id=prompt.prompt_id, after_ms=after_ms, why=why)

    async def decide(self, prompt: SeatPrompt) -> Decision:
        """The policy's answer, else the rules', else the last resort; always before the deadline."""
        self.was_late = False
        reason = "the policy failed too often in this game"
        if self._faults < self._failures:
            try:
                return self._marked(await self._ask_policy(prompt))
            except Exception as exc:  # decision fallback: on any failure the rules answer the prompt
                reason = reason_of(exc)
                trace = None if isinstance(exc, DecisionError) else exc
                self._log.warning("decision.fallback", reason=reason, exc_info=trace)
                self._note_fault()
        try:
            return self._marked(await self._ask_rules(prompt, reason))
        except Exception as exc:  # decision fallback: the rules failed too, so answer without thinking
            self._log.error("decision.fallback", reason=reason_of(exc), exc_info=exc)
            return self._marked(_without_thinking(prompt, f"{reason}; then rules: {reason_of(exc)}"))

    def _note_fault(self) -> None:
        self._faults += 1
        if self._faults == self._failures:
            text = f"{self._faults} faults: rules for the rest of the game"
            self._log.warning("decision.fallback", reason=text)

    async def _ask_policy(self, prompt: SeatPrompt) -> Decision:
        thinker = self._usable_thinker()
        reserve_ms = min(RULES_RESERVE_MS, self._budget_ms / 2)
        until = self.deadline(prompt) - reserve_ms / 1000

        def work() -> Decision:
            if self._policy is None:
                self._policy = self._load_policy()
            began = self._clock.now()
            decision = decide_strictly(prompt, self._policy)
            decided = self._clock.now()
            if decided + FURTHER * (decided - began) < until:
                decision = look_further(decision, prompt, self._policy)
            return self._adapt(prompt, decision) if self._adapt else decision

        return await self._in_time(thinker.submit(work), _RunningDecision(prompt, thinker, until))

    async def _ask_rules(self, prompt: SeatPrompt, reason: str) -> Decision:
        if self._overdue(self._rules):
            raise DeadlineExceeded("the rules are still busy with an older prompt")

        def work() -> Decision:
            return fall_back(prompt, reason)

        job = _RunningDecision(prompt, self._rules, self.deadline(prompt))
        return await self._in_time(self._rules.submit(work), job)

    async def _in_time(self, future: asyncio.Future[Decision], job: _RunningDecision) -> Decision:
        """The result if it arrives in time and is legal; a late result is dropped when it arrives."""
        prompt = job.prompt
        timer = asyncio.ensure_future(self._clock.sleep(job.until - self._clock.now()))
        waited_for: set[asyncio.Future[Any]] = {future, timer}
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            if not future.done():
                self._unwanted[future] = job
                future.add_done_callback(self._drop)
        if not future.done():
            self._tally.late += not self.was_late
            self.was_late = True
            raise DeadlineExceeded(f"no answer after {self.elapsed_ms(prompt):.0f} ms")
        decision = future.result()
        if decision.action not in prompt.legal:
            raise IllegalActionError(f"{decision.action} is not among the legal actions")
        return decision

    def _usable_thinker(self) -> WorkerThread:
        """The worker; a hung or dead one is replaced once per game.

        Raises:
            ModelError: it hung or died a second time.
        """
        if self._thinker.alive and not self._overdue(self._thinker):
            return self._thinker
        if self._restarted:
            raise ModelError("the decision worker hung or died twice in this game")
        self._log.warning("decision.worker_restarted", alive=self._thinker.alive)
        self._restarted = True
        self._policy = None  # a hung thread may still hold the old policy
        self._thinker.close()
        self._left_behind = [worker for worker in (*self._left_behind, self._thinker) if worker.alive]
        self._thinker = WorkerThread("decision")
        return self._thinker

    def _overdue(self, worker: WorkerThread) -> bool:
        """Whether a worker still computes an answer whose time is over."""
        now = self._clock.now()
        return any(job.worker is worker and job.until <= now for job in self._unwanted.values())

    def _drop(self, future: asyncio.Future[Decision]) -> None:
        """Handle a result that arrived too late."""
        job = self._unwanted.pop(future)
        if not future.cancelled():
            future.exception()  # retrieve it, or asyncio reports it as never retrieved
            self.log_late(job.prompt, "the prompt is over")

    def _marked(self, decision: Decision) -> Decision:
        return msgspec.structs.replace(decision, budget_ms=float(self._budget_ms))


def _without_thinking(prompt: SeatPrompt, reason: str) -> Decision:
    action = last_resort(prompt)
    return Decision(
        action=action,
        source="fallback",
        step="forced",
        options=(Option(action, 1.0),),
        shanten=0,
        latency_ms=0.0,
        fallback_reason=reason,
    )
