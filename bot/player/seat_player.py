"""One seat: answers the session's prompts in time, at a given pace, and records its decisions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random
from typing import Final, Protocol, TypeAlias

import msgspec
import structlog

from bot.player.clock import Clock
from bot.player.decision_maker import JOIN_S, DecisionMaker, SeatPrompt
from bot.player.pace import Pace, action_delay_s
from bot.player.tally import DecisionTally
from game.actions import Action, ActionKind
from game.events import GameEvent
from game.observation import Observation
from kit.errors import LocalProtocolError
from policies.flow.decisions import Decision
from policies.flow.slots import Policy
from replays.record import DecisionRecord

log = structlog.get_logger(__name__)

TOP_OPTIONS: Final = 3

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


class Improver(Protocol):
    """May improve the policy's decisions while a round is played; implemented by `bot.adaptation`."""

    def begin_game(self, game_id: str) -> None:
        """A new game begins."""

    def see(self, observation: Observation, events: tuple[GameEvent, ...]) -> None:
        """The round as our seat sees it now, with the events of the game so far; returns at once."""

    def round_over(self) -> None:
        """The round has ended; returns at once."""

    def adapted(self, prompt: SeatPrompt, decision: Decision) -> Decision:
        """The decision, or another by an adapted policy; called on the decision's worker."""
        ...

    async def searched(self, prompt: SeatPrompt, decision: Decision, until: float) -> Decision:
        """The decision, or another that a search found by ``until``, by the clock; never raises."""
        ...


class SeatPlayer:
    """Answers one seat's prompts, one at a time; runs on the event loop and never blocks it.

    Args:
        load_policy: creates the policy; called on the worker, and again for the game after one with failures.
        settings: budget and pace.
        clock: measures the budget.
        rng: seeded, for the human pace.
        on_decision: called with every decision after its answer was sent.
        thoughts: improves on decisions; None if nothing does.
        date: Unix time, for the records only.
    """

    def __init__(
        self,
        load_policy: Callable[[], Policy],
        settings: PlayerSettings,
        clock: Clock,
        rng: Random,
        *,
        on_decision: Callable[[DecisionRecord], None] | None = None,
        thoughts: Improver | None = None,
        date: Callable[[], float] = time.time,
    ) -> None:
        self.tally = DecisionTally()
        self.decisions: list[DecisionRecord] = []
        self._settings = settings
        self._clock = clock
        self._rng = rng
        self._on_decision = on_decision
        self._thoughts = thoughts
        adapt = thoughts.adapted if thoughts else None
        self._maker = DecisionMaker(
            load_policy, settings.budget_ms, settings.failures, clock, self.tally, adapt
        )
        self._prompt: SeatPrompt | None = None
        self._task: asyncio.Task[None] | None = None
        self._date = date
        self._log = log

    @property
    def pace(self) -> Pace:
        """The pace of answers."""
        return self._settings.pace

    def begin_game(self, game_id: str) -> None:
        """Start a new game: clear the decisions of the last one, and reload the policy if it failed there."""
        self._maker.begin_game(game_id)
        if self._thoughts is not None:
            self._thoughts.begin_game(game_id)
        self.decisions = []
        self._log = log.bind(game_id=game_id)

    def ask(self, prompt: SeatPrompt, reply: Reply) -> None:
        """Start deciding on a prompt; an older open prompt is dropped, for only the newest matters."""
        self.withdraw()
        if any(action.kind is ActionKind.DISCARD for action in prompt.legal):
            self.see(prompt, prompt.events)
        self._prompt = prompt
        self._task = asyncio.create_task(self._answer(prompt, reply), name="decision")

    def see(self, observation: Observation, events: tuple[GameEvent, ...]) -> None:
        """Think about the round as it stands, beside the game."""
        if self._thoughts is not None:
            self._thoughts.see(observation, events)

    def round_over(self) -> None:
        """Think no more about the round."""
        if self._thoughts is not None:
            self._thoughts.round_over()

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
        self._maker.close()

    def join(self, timeout_s: float = JOIN_S) -> bool:
        """End the workers and wait for them; return whether all have ended."""
        return self._maker.join(timeout_s)

    async def _answer(self, prompt: SeatPrompt, reply: Reply) -> None:
        decision = await self._maker.decide(prompt)
        thought_from = self._clock.now()
        if self._thoughts is not None:
            decision = await self._thoughts.searched(prompt, decision, self._maker.deadline(prompt))
        thought_ms = (self._clock.now() - thought_from) * 1000
        waited_ms = thought_ms + await self._wait_politely(prompt, decision.action)
        self._prompt = None  # from here on there is nothing to cancel
        try:
            reply(prompt.prompt_id, decision.action)
        except LocalProtocolError as exc:
            self.tally.late += 1
            self._maker.log_late(prompt, str(exc))
        else:
            self._record(prompt, decision, self._maker.elapsed_ms(prompt) - waited_ms)

    def _record(self, prompt: SeatPrompt, decision: Decision, latency_ms: float) -> None:
        made = DecisionRecord(
            time=self._date(),
            round_index=int(prompt.record["round_index"]),
            honba=int(prompt.record["honba"]),
            turn=int(prompt.record["discard_count"]),
            player=prompt.player,
            decision=decision,
            fallback=bool(decision.fallback_reason),
            late=self._maker.was_late,
        )
        self.tally.add(latency_ms, decision, fallback=made.fallback)
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
            **_improved(decision),
            latency_ms=round(latency_ms, 2),
            budget_ms=self._settings.budget_ms,
        )
        if self._on_decision is not None:
            self._on_decision(made)

    async def _wait_politely(self, prompt: SeatPrompt, action: Action) -> float:
        """Wait as the pace requires without missing the deadline; return the milliseconds waited."""
        delay_s = action_delay_s(self._settings.pace, action, self._rng)
        began = self._clock.now()
        if (left := min(prompt.opened_at + delay_s, self._maker.deadline(prompt)) - began) > 0:
            await self._clock.sleep(left)
        return (self._clock.now() - began) * 1000


def _improved(decision: Decision) -> dict[str, object]:
    """Fields of a log line about an adapted policy or a search."""
    found = decision.improvement
    return {} if found is None else {"by": found.way, "base": str(found.base), "playouts": found.playouts}


def _same_choice(first: DecisionRecord, second: DecisionRecord) -> bool:
    places = [(made.round_index, made.honba, made.turn) for made in (first, second)]
    options = [{option.action for option in made.decision.options} for made in (first, second)]
    return places[0] == places[1] and options[0] == options[1]
