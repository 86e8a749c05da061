"""Results of the thinking process, and whether to use them: adapted policies, and the values of options.

The process may be late, dead, hung, out of memory or wrong, and may speak of an earlier round. Then the
initial policy decides, which is never changed, and the log says so once.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from bot.adaptation.messages import (
    AdaptedWeights,
    AdaptRequest,
    FromWorker,
    RoundKey,
    RoundOver,
    SearchAnswer,
    SearchRequest,
    WorkerSetup,
)
from bot.adaptation.status import AdaptationStatus
from bot.player.clock import Clock
from bot.player.decision_maker import SeatPrompt
from bot.player.pace import Pace, pass_delay_s
from game.actions import PASS, ActionKind
from game.events import GameEvent
from game.observation import Observation
from game.scoring.settlement import LAST_ROUND
from kit.errors import DecisionError, ModelError
from kit.workers.child import STARTS, Child, ChildReady, Line
from policies.adaptation.thinking import adapted_choice
from policies.flow.decisions import Decision, Improvement, Option
from policies.flow.flow import TURN_STEPS
from policies.flow.slots import Slot
from policies.nets.architectures import parameters_of
from policies.play.inference import NetworkPolicy

When: TypeAlias = Literal["always", "last_rounds", "stake"]

MOST_DIVERGENCE: Final = 1.5
"""Multiple of the largest divergence that the settings allow; a model beyond it is faulty."""
_IN_REACH: Final = 16_000
"""Points between two places that one hand can make up."""
_SEARCHED_STEPS: Final = ("discard", "riichi", "kan", "call")

log = structlog.get_logger(__name__)


class _AdaptedPolicy(NamedTuple):
    key: RoundKey
    policy: NetworkPolicy
    playouts: int


class Thoughts:
    """Thinks about the rounds of one seat in a process of its own; a `bot.player.seat_player.Improver`.

    Args:
        setup: of the process.
        policy: of the start.
        search_s: seconds from a prompt that a search may take; 0 for no search.
        when: in which rounds.
        clock: of the prompts.
        pace: of answers.
        serve: the life of the process, if not the usual one.

    Attributes:
        process: the running one; None if it has been lost for good, or has ended.
        dropped: results that were not used, by reason.
        status: how adapting to the running round goes; None if it is not adapted to.
    """

    def __init__(
        self,
        setup: WorkerSetup,
        policy: NetworkPolicy,
        search_s: float,
        when: When,
        clock: Clock,
        pace: Pace,
        serve: Callable[[Line, WorkerSetup], None] | None = None,
    ) -> None:
        self.dropped: dict[str, int] = {}
        self.status: AdaptationStatus | None = None
        self._round: RoundKey | None = None  # that it is of
        self._setup, self._policy, self._search_s, self._when = setup, policy, search_s, when
        self._clock, self._pass_s, self._serve = clock, pass_delay_s(pace), serve
        self.process: Child[WorkerSetup] | None = None
        self._starts = 0
        self._game_id = ""
        self._adapted: _AdaptedPolicy | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Improvement | None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    # --- the process ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process; it warms up by itself. Without it, if the system has nothing left for it."""
        from bot.adaptation.worker import serve  # noqa: PLC0415 - the program itself does not need it

        self._starts += 1
        try:
            self.process = Child(self._serve or serve, self._setup, self._heard, self._replace)
        except OSError as error:
            log.warning("adaptation.off", reason=f"it cannot be started: {error}", until="the program ends")

    def close(self) -> None:
        """End the process, and wait for it."""
        process, self.process = self.process, None
        if process is not None:
            process.close()
            process.join()

    def _usable(self) -> Child[WorkerSetup] | None:
        """The process, replaced if it hangs; None if there is none that can be used now."""
        process = self.process
        if process is not None and process.hangs:
            process.close()
            self._replace("it hangs")
            process = self.process
        return process if process is not None and process.ready.is_set() else None

    def _replace(self, reason: str) -> None:
        """Start another process, once."""
        self.process = None
        self._forget()
        if self._starts < STARTS:
            log.warning("adaptation.restarted", reason=reason)
            self.start()
        else:
            log.warning("adaptation.off", reason=reason, until="the program ends")

    # --- what the player tells and asks ----------------------------------------------------------------

    def begin_game(self, game_id: str) -> None:
        """A new game begins."""
        self._game_id = game_id
        self._forget()

    def see(self, observation: Observation, events: tuple[GameEvent, ...]) -> None:
        """The round as our seat sees it now."""
        process, thinking = self._usable(), self._setup.thinking
        if process is not None and thinking.playouts and self._wanted(observation):
            key = self._key(observation)
            if key != self._round:
                self._round = key
                self.status = AdaptationStatus(0, thinking.playouts, thinking.reward)
            process.send(AdaptRequest(key, observation, events))

    def round_over(self) -> None:
        """The round has ended."""
        self._forget()
        if (process := self.process) is not None:
            process.send(RoundOver())

    def adapted(self, prompt: SeatPrompt, decision: Decision) -> Decision:
        """The decision of the adapted policy, where there is one for this round; may be called on any thread.

        Args:
            prompt: the decision.
            decision: by the initial policy.
        """
        found = self._adapted
        if found is None or decision.step != "discard" or decision.source != "model":
            return decision
        if found.key != self._key(prompt):
            self._drop("an old round")
            return decision
        began = time.perf_counter()
        base = [(each.action, each.probability) for each in decision.options if _is_discard(each)]
        try:
            choice = adapted_choice(prompt, base, found.policy)
        except DecisionError as error:
            self._drop(str(error))
            return decision
        rest = tuple(each for each in decision.options if not _is_discard(each))
        return msgspec.structs.replace(
            decision,
            action=choice.options[0].action,
            options=(*choice.options, *rest),
            latency_ms=decision.latency_ms + (time.perf_counter() - began) * 1000.0,
            improvement=Improvement(
                "adapted",
                decision.action,
                tuple(Option(*pair) for pair in base),
                found.playouts,
                choice.divergence,
            ),
        )

    async def searched(self, prompt: SeatPrompt, decision: Decision, until: float) -> Decision:
        """The decision after a search, or the given one if it finds nothing in time; never raises.

        Args:
            prompt: the decision.
            decision: what is done without a search.
            until: when the decision must be made, by the clock.
        """
        # a pass that took longer than usual would tell the table that something was offered
        longest_s = min(self._search_s, self._pass_s) if PASS in prompt.legal else self._search_s
        until = min(until, prompt.opened_at + longest_s)
        seconds, process = until - self._clock.now(), self._usable()
        if (
            process is None
            or seconds <= 0.0
            or decision.step not in _SEARCHED_STEPS
            or decision.source != "model"
            or not self._setup.thinking.searches(prompt.record, prompt.player)
            or not self._wanted(prompt)
        ):
            return decision
        found = await self._ask(process, prompt, decision, seconds)
        if found is None:
            return decision
        action = next((each for each in prompt.legal if each == found.values[0].action), None)
        if action is None:
            self._drop("the option is not legal")
            return decision
        return _with_search(decision, found)

    async def _ask(
        self, process: Child[WorkerSetup], prompt: SeatPrompt, decision: Decision, seconds: float
    ) -> Improvement | None:
        self._loop = asyncio.get_running_loop()
        number = next(self._numbers)
        answer: asyncio.Future[Improvement | None] = self._loop.create_future()
        self._waiting[number] = answer
        seen = Observation(prompt.record, prompt.player, prompt.legal, prompt.length)
        now = AdaptRequest(self._key(prompt), seen, prompt.events)
        process.send(SearchRequest(number, now, decision.action, time.monotonic() + seconds))
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        waited_for: set[asyncio.Future[Any]] = {answer, timer}
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:
            timer.cancel()
            self._waiting.pop(number, None)

    # --- what the process says; on its thread -----------------------------------------------------------

    def _heard(self, message: FromWorker | ChildReady) -> None:
        match message:
            case ChildReady():
                log.info("adaptation.ready")
            case AdaptedWeights():
                self._take_weights(message)
            case SearchAnswer() if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._take_answer, message)

    def _take_answer(self, message: SearchAnswer) -> None:
        answer = self._waiting.get(message.number)
        if answer is None:
            self._drop("late")
        elif not answer.done():
            answer.set_result(message.improvement)

    def _take_weights(self, message: AdaptedWeights) -> None:
        """Build the policy from weights, if something was learned and they are sound."""
        try:
            allowed = MOST_DIVERGENCE * self._setup.thinking.adaptation.divergence
            if not message.progress.divergence <= allowed:
                raise ModelError("the adapted policy is too far from the initial policy")
            adapted = None
            if message.progress.divergence:
                policy = self._with_weights(message.weights)
                adapted = _AdaptedPolicy(message.key, policy, message.progress.playouts)
        except (ModelError, KeyError, RuntimeError) as error:
            self._drop(str(error))
            return
        self._adapted = adapted
        progress = message.progress
        if message.key == self._round:
            self.status = AdaptationStatus(
                progress.playouts,
                message.of,
                self._setup.thinking.reward,
                progress.gain,
                progress.gain_error,
                used=adapted is not None,
            )
        log.info(
            "adaptation.learned",
            round=message.key[1],
            honba=message.key[2],
            turn=message.turn,
            playouts=progress.playouts,
            divergence=round(progress.divergence, 4),
            gain=round(progress.gain, 4),
        )

    def _with_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> NetworkPolicy:
        """The policy with other weights of the discard model.

        Raises:
            KeyError: one is missing.
            ModelError: one is not finite, or has another shape.
        """
        model = self._policy.model(Slot.DISCARD)
        arrays = dict(model.weights.arrays)
        for name, before in parameters_of(arrays).items():
            arrays[name] = weights[name]
            if arrays[name].shape != before.shape or not np.isfinite(arrays[name]).all():
                raise ModelError("an adapted weight has another shape or is not finite")
        return self._policy.replaced({Slot.DISCARD: model.with_arrays(arrays)})

    # --- helpers ---------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Forget what was found about a round."""
        self._adapted, self._round, self.status = None, None, None

    def _drop(self, reason: str) -> None:
        """Count a result that is not used, and log each reason once."""
        if reason not in self.dropped:
            log.warning("adaptation.dropped", reason=reason)
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def _key(self, observation: Observation) -> RoundKey:
        record = observation.record
        return self._game_id, int(record["round_index"]), int(record["honba"])

    def _wanted(self, observation: Observation) -> bool:
        """Whether this round is one to think about."""
        if self._when == "always":
            return True
        record = observation.record
        if int(record["round_index"]) < LAST_ROUND[observation.length] - 1:
            return False
        if self._when == "last_rounds":
            return True
        own = int(record["scores"][observation.player])
        others = [int(record["scores"][player]) for player in range(4) if player != observation.player]
        return any(abs(own - score) <= _IN_REACH for score in others)


def _is_discard(option: Option) -> bool:
    return option.action.kind is ActionKind.DISCARD


def _with_search(decision: Decision, found: Improvement) -> Decision:
    """The decision with what a search found; with what the adapted policy had to say before it, if any.

    A search that prefers a discard to a riichi or a kan has asked for the probabilities of discards itself.
    """
    action = found.values[0].action
    said = {each.action: each.probability for each in found.values}
    step = next((step for _, step, kinds in TURN_STEPS if action.kind in kinds), decision.step)
    before = decision.improvement
    if before is not None:
        found = msgspec.structs.replace(
            found,
            base=before.base,
            base_options=before.base_options,
            divergence=before.divergence,
            playouts=before.playouts + found.playouts,
        )
    options = [
        option if option.probability else Option(option.action, said.get(option.action, 0.0))
        for option in sorted(decision.options, key=lambda option: option.action != action)
    ]
    return msgspec.structs.replace(
        decision, action=action, step=step, options=tuple(options), improvement=found
    )
