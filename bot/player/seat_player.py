"""One seat: answers the session's prompts in time.

Decisions are made on a worker thread from a copy of the state. Whatever goes wrong there (an exception, NaN,
an illegal choice, a hang), the prompt is answered before its deadline: by the policy, else by the rules, else
by tsumogiri or a pass.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import structlog

from bot.player.clock import Clock
from bot.player.pace import Pace, Uniform, action_delay_s
from bot.player.tally import DecisionTally
from bot.player.worker import WorkerThread
from game.actions import Action
from game.errors import DeadlineExceeded, DecisionError, IllegalActionError, LocalProtocolError, ModelError
from game.observation import Observation
from policies.decision import Decision, Option, PolicyGuard, fall_back, last_resort
from policies.slots import Policy
from replays.record import DecisionRecord

log = structlog.get_logger(__name__)

RULES_RESERVE_MS: Final = 300
"""Part of the budget reserved for the rule-based answer."""
TOP_OPTIONS: Final = 3
JOIN_S: Final = 2.0
"""Longer than any decision takes unless it hangs."""

Reply: TypeAlias = Callable[[int, Action], None]
"""Sends the answer to a prompt; raises LocalProtocolError if the prompt is over."""


class PlayerSettings(msgspec.Struct, frozen=True):
    """How a seat decides and answers.

    Attributes:
        budget_ms: time from receiving a prompt to sending its answer, network not counted.
        failures: number of failed decisions after which the rules play the rest of the game.
        pace: ``instant``, or ``human`` with delays as people have.
    """

    budget_ms: int = 3000
    failures: int = 3
    pace: Pace = "instant"


class SeatPrompt(Observation, frozen=True, kw_only=True):
    """A choice put to our seat; its record is a copy that nothing else modifies.

    Attributes:
        prompt_id: the session's number for it; answers to older numbers are dropped.
        opened_at: when its frame arrived, by our clock.
    """

    prompt_id: int
    opened_at: float


class _RunningDecision(NamedTuple):
    """A running decision: its prompt, its worker, and until when to wait for it."""

    prompt: SeatPrompt
    worker: WorkerThread
    until: float


class SeatPlayer:
    """Answers one seat's prompts, one at a time; runs on the event loop and never blocks it.

    Args:
        load_policy: creates the policy; called on the worker, and again for the game after one with failures.
        settings: budget and pace.
        clock: measures the budget.
        rng: seeded, for the human pace.
        on_decision: called with every decision after its answer was sent.
        date: Unix time, for the records only.
    """

    def __init__(
        self,
        load_policy: Callable[[], Policy],
        settings: PlayerSettings,
        clock: Clock,
        rng: Uniform,
        *,
        on_decision: Callable[[DecisionRecord], None] | None = None,
        date: Callable[[], float] = time.time,
    ) -> None:
        self.tally = DecisionTally()
        self.decisions: list[DecisionRecord] = []
        self._load_policy = load_policy
        self._guard: PolicyGuard | None = None
        self._settings = settings
        self._clock = clock
        self._rng = rng
        self._on_decision = on_decision
        self._thinker = WorkerThread("decision")
        self._rules = WorkerThread("rules")
        self._left_behind: list[WorkerThread] = []
        self._unwanted: dict[asyncio.Future[Decision], _RunningDecision] = {}
        self._prompt: SeatPrompt | None = None
        self._task: asyncio.Task[None] | None = None
        self._faults = 0
        self._restarted = False
        self._was_late = False
        self._date = date
        self._log = log

    @property
    def pace(self) -> Pace:
        """The pace of answers."""
        return self._settings.pace

    def begin_game(self, game_id: str) -> None:
        """Start a new game: clear the decisions of the last one, and reload the policy if it failed there."""
        if self._faults:
            self._guard = None
        self._faults = 0
        self._restarted = False
        self.decisions = []
        self._log = log.bind(game_id=game_id)

    def ask(self, prompt: SeatPrompt, reply: Reply) -> None:
        """Start deciding on a prompt; an older open prompt is dropped, for only the newest matters."""
        self.withdraw()
        self._prompt = prompt
        self._task = asyncio.create_task(self._answer(prompt, reply), name="decision")

    def withdraw(self, prompt_id: int | None = None) -> None:
        """Cancel the prompt with this number, or whichever is open; a later result of it is dropped."""
        if self._prompt is None or prompt_id not in (None, self._prompt.prompt_id):
            return
        self._prompt = None
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def close(self) -> None:
        """Drop the open prompt and let the workers end, without waiting for them."""
        task = self._task
        self.withdraw()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)
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

    async def _answer(self, prompt: SeatPrompt, reply: Reply) -> None:
        self._was_late = False
        decision = await self._decide(prompt)
        waited_ms = await self._wait_politely(prompt, decision.action)
        self._prompt = None  # from here on there is nothing to cancel
        try:
            reply(prompt.prompt_id, decision.action)
        except LocalProtocolError as exc:
            self.tally.late += 1
            self._log_late(prompt, str(exc))
        else:
            self._record(prompt, decision, self._elapsed_ms(prompt) - waited_ms)

    async def _decide(self, prompt: SeatPrompt) -> Decision:
        """The policy's answer, else the rules', else the last resort; always before the deadline."""
        try:
            return self._marked(await self._ask_policy(prompt))
        except Exception as exc:  # decision fallback: on any failure the rules answer the prompt
            reason = _reason(exc)
            trace = None if isinstance(exc, DecisionError) else exc
            self._log.warning("decision.fallback", reason=reason, exc_info=trace)
            self._faults += 1
            if self._guard is not None:
                self._guard.note_fault()
        try:
            return self._marked(await self._ask_rules(prompt, reason))
        except Exception as exc:  # decision fallback: the rules failed too, so answer without thinking
            self._log.error("decision.fallback", reason=_reason(exc), exc_info=exc)
            return self._marked(_without_thinking(prompt, f"{reason}; then rules: {_reason(exc)}"))

    async def _ask_policy(self, prompt: SeatPrompt) -> Decision:
        thinker = self._usable_thinker()

        def work() -> Decision:
            if self._guard is None:
                self._guard = PolicyGuard(self._load_policy(), self._settings.failures)
            decision = self._guard.decide(prompt)
            if self._guard.tripped and not decision.fallback_reason:
                reason = "the policy failed too often in this game"
                return msgspec.structs.replace(decision, source="fallback", fallback_reason=reason)
            return decision

        reserve_ms = min(RULES_RESERVE_MS, self._settings.budget_ms / 2)
        until = self._deadline(prompt) - reserve_ms / 1000
        decision = await self._in_time(thinker.submit(work), _RunningDecision(prompt, thinker, until))
        self._faults += bool(decision.fallback_reason)
        return decision

    async def _ask_rules(self, prompt: SeatPrompt, reason: str) -> Decision:
        if self._rules.busy:
            raise DeadlineExceeded("the rules are still busy with an older prompt")

        def work() -> Decision:
            return fall_back(prompt, reason)

        job = _RunningDecision(prompt, self._rules, self._deadline(prompt))
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
            self.tally.late += not self._was_late
            self._was_late = True
            raise DeadlineExceeded(f"no answer after {self._elapsed_ms(prompt):.0f} ms")
        decision = future.result()
        if decision.action not in prompt.legal:
            raise IllegalActionError(f"{decision.action} is not among the legal actions")
        return decision

    def _usable_thinker(self) -> WorkerThread:
        """The worker; a hung or dead one is replaced once per game.

        Raises:
            ModelError: it hung or died a second time.
        """
        if self._thinker.alive and not self._overdue():
            return self._thinker
        if self._restarted:
            raise ModelError("the decision worker hung or died twice in this game")
        self._log.warning("decision.worker_restarted", alive=self._thinker.alive)
        self._restarted = True
        self._guard = None  # a hung thread may still hold the old policy
        self._thinker.close()
        self._left_behind = [worker for worker in (*self._left_behind, self._thinker) if worker.alive]
        self._thinker = WorkerThread("decision")
        return self._thinker

    def _overdue(self) -> bool:
        now = self._clock.now()
        return any(job.worker is self._thinker and job.until <= now for job in self._unwanted.values())

    def _drop(self, future: asyncio.Future[Decision]) -> None:
        """Handle a result that arrived too late."""
        job = self._unwanted.pop(future)
        if not future.cancelled():
            future.exception()  # retrieve it, or asyncio reports it as never retrieved
            self._log_late(job.prompt, "the prompt is over")

    def _log_late(self, prompt: SeatPrompt, why: str) -> None:
        after_ms = round(self._elapsed_ms(prompt), 2)
        self._log.warning("decision.late", prompt_id=prompt.prompt_id, after_ms=after_ms, why=why)

    def _marked(self, decision: Decision) -> Decision:
        return msgspec.structs.replace(decision, budget_ms=float(self._settings.budget_ms))

    def _record(self, prompt: SeatPrompt, decision: Decision, latency_ms: float) -> None:
        made = DecisionRecord(
            time=self._date(),
            round_index=int(prompt.record["round_index"]),
            honba=int(prompt.record["honba"]),
            turn=int(prompt.record["discard_count"]),
            player=prompt.player,
            decision=decision,
            fallback=bool(decision.fallback_reason),
            late=self._was_late,
        )
        self.tally.add(latency_ms, fallback=made.fallback)
        if self.decisions and _same_choice(self.decisions[-1], made):
            self.decisions.pop()  # asked again after a lost connection: only the last answer counts
        self.decisions.append(made)
        self._log.info(
            "decision.made",
            round=made.round_index,
            turn=made.turn,
            seat=made.player,
            action=str(decision.action),
            source=decision.source,
            probability=round(decision.probability, 4),
            top=[f"{option.action} {option.probability:.2f}" for option in decision.options[:TOP_OPTIONS]],
            shanten=decision.shanten,
            latency_ms=round(latency_ms, 2),
            budget_ms=self._settings.budget_ms,
        )
        if self._on_decision is not None:
            self._on_decision(made)

    def _deadline(self, prompt: SeatPrompt) -> float:
        return prompt.opened_at + self._settings.budget_ms / 1000

    def _elapsed_ms(self, prompt: SeatPrompt) -> float:
        return (self._clock.now() - prompt.opened_at) * 1000

    async def _wait_politely(self, prompt: SeatPrompt, action: Action) -> float:
        """Wait as the pace requires without missing the deadline; return the milliseconds waited."""
        delay_s = action_delay_s(self._settings.pace, action, self._rng)
        began = self._clock.now()
        if (left := min(prompt.opened_at + delay_s, self._deadline(prompt)) - began) > 0:
            await self._clock.sleep(left)
        return (self._clock.now() - began) * 1000


def _same_choice(first: DecisionRecord, second: DecisionRecord) -> bool:
    places = [(made.round_index, made.honba, made.turn) for made in (first, second)]
    options = [{option.action for option in made.decision.options} for made in (first, second)]
    return places[0] == places[1] and options[0] == options[1]


def _reason(exc: Exception) -> str:
    return str(exc) if isinstance(exc, DecisionError) else f"{type(exc).__name__}: {exc}"


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
