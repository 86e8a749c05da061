"""Search in play: the program's side asks for the values of options, the process's side answers."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec
import structlog

from bot.adaptation.messages import RoundKey, SeatView, WorkerSetup
from bot.player.clock import Clock
from bot.player.decision_maker import SeatPrompt
from bot.player.pace import Pace, pass_delay_s
from game.actions import PASS, Action
from game.events import GameEvent
from game.observation import Observation
from kit.errors import ModelError, StateMismatchError
from policies.adaptation.search import Searcher
from policies.adaptation.settings import ThinkingSettings
from policies.flow.decisions import Decision, Improvement, Option
from policies.flow.draws import drawn_bits
from policies.flow.flow import TURN_STEPS
from policies.flow.slots import Policy

_SEARCHED_STEPS: Final = ("discard", "riichi", "kan", "call")
_FADE: Final = 0.8
"""Decay of the expected search time, so that one slow search does not stop all later ones."""

log = structlog.get_logger(__name__)


class SearchRequest(msgspec.Struct, frozen=True):
    """To the process: compare the options of a decision.

    Attributes:
        number: of the request; answers to older ones are dropped.
        now: the decision.
        base: what is done without a search.
        until: when the answer is due, by `time.monotonic`, which all processes share.
    """

    number: int
    now: SeatView
    base: Action
    until: float


class SearchAnswer(msgspec.Struct, frozen=True):
    """From the process: the answer to a request.

    Attributes:
        number: of the request.
        improvement: what was found; None if no options are close, or time was short.
    """

    number: int
    improvement: Improvement | None


class SearchClient:
    """The program's side of searches.

    Args:
        settings: what is searched.
        search_s: seconds from a prompt that a search may take.
        clock: of the prompts.
        pace: of answers.
        drop: counts a result that is not used, by its reason.
    """

    def __init__(
        self,
        settings: ThinkingSettings,
        search_s: float,
        clock: Clock,
        pace: Pace,
        drop: Callable[[str], None],
    ) -> None:
        self._settings, self._search_s, self._pass_s = settings, search_s, pass_delay_s(pace)
        self._clock, self._drop = clock, drop
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Improvement | None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def searched(
        self,
        send: Callable[[SearchRequest], None],
        key: RoundKey,
        prompt: SeatPrompt,
        decision: Decision,
        until: float,
    ) -> Decision:
        """The decision after a search, or the given one if it finds nothing in time; never raises.

        Args:
            send: sends the process a message.
            key: the round.
            prompt: the decision.
            decision: what is done without a search.
            until: when the decision must be made, by the clock.
        """
        # a pass that took longer than usual would tell the table that something was offered
        longest_s = min(self._search_s, self._pass_s) if PASS in prompt.legal else self._search_s
        seconds = min(until, prompt.opened_at + longest_s) - self._clock.now()
        if (
            seconds <= 0.0
            or decision.step not in _SEARCHED_STEPS
            or decision.source != "model"
            or not self._settings.searches(prompt.record, prompt.player)
        ):
            return decision
        seen = Observation(prompt.record, prompt.player, prompt.legal, prompt.length)
        now = SeatView(key, seen, prompt.events)
        until = time.monotonic() + seconds
        request = SearchRequest(next(self._numbers), now, decision.action, until)
        found = await self._ask(send, request, seconds)
        if found is None:
            return decision
        action = next((each for each in prompt.legal if each == found.values[0].action), None)
        if action is None:
            self._drop("the option is not legal")
            return decision
        return _with_search(decision, found)

    async def _ask(
        self, send: Callable[[SearchRequest], None], request: SearchRequest, seconds: float
    ) -> Improvement | None:
        self._loop = asyncio.get_running_loop()
        answer: asyncio.Future[Improvement | None] = self._loop.create_future()
        self._waiting[request.number] = answer
        send(request)
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        waited_for: set[asyncio.Future[Any]] = {answer, timer}
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:
            timer.cancel()
            self._waiting.pop(request.number, None)

    def hear(self, message: SearchAnswer) -> None:
        """Take note of an answer; may be called on any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take, message)

    def _take(self, message: SearchAnswer) -> None:
        answer = self._waiting.get(message.number)
        if answer is None:
            self._drop("late")
        elif not answer.done():
            answer.set_result(message.improvement)


class SearchServer:
    """The process's side of searches.

    Args:
        searcher: searches.
        setup: of the process.
        send: sends the program a message.
        listen: takes note of what the program says.

    Attributes:
        asked: the request to be answered.
        in_round: whether the round of the request is going on.
    """

    def __init__(
        self,
        searcher: Searcher,
        setup: WorkerSetup,
        send: Callable[[SearchAnswer], None],
        listen: Callable[[], None],
    ) -> None:
        self._searcher, self._setup, self._send, self._listen = searcher, setup, send, listen
        self.asked: SearchRequest | None = None
        self.in_round = False
        self._deals_s = self._batch_s = 0.0  # what they took in recent searches

    def try_out(self, observation: Observation, events: tuple[GameEvent, ...]) -> None:
        """Search once, if it is wanted, so that nothing is loaded or compiled in play."""
        if not self._setup.thinking.worlds:
            return
        (base, *_) = observation.legal
        asked = itertools.count()  # once before it samples, and once before the only batch
        self._searcher.search(observation, events, base, 0, go_on=lambda: next(asked) < 2)

    def answer(self, adapted: Callable[[RoundKey], Policy | None]) -> None:
        """Answer the request, in time or not at all.

        Args:
            adapted: the policy adapted to a round.
        """
        request, self.asked = self.asked, None
        assert request is not None
        number, now = request.number, request.now
        seed = drawn_bits(len(now.events), number) >> 1
        found: Improvement | None = None
        try:
            found = self._searcher.search(
                now.observation,
                now.events,
                request.base,
                seed,
                policy=adapted(now.key),
                go_on=self._in_time(request),
            )
        except (ModelError, StateMismatchError) as error:
            log.warning("adaptation.search_failed", reason=str(error))
        self._send(SearchAnswer(number, found))

    def _in_time(self, request: SearchRequest) -> Callable[[], bool]:
        """Whether what comes next will end in time: deals and a first batch of play-outs, then a batch."""
        began, steps = time.monotonic(), 0

        def go_on() -> bool:
            nonlocal began, steps
            self._listen()
            looked = time.monotonic()
            if steps == 1:
                self._deals_s = max(looked - began, _FADE * self._deals_s)
            elif steps > 1:
                self._batch_s = max(looked - began, _FADE * self._batch_s)
            expected = self._batch_s + (self._deals_s if steps == 0 else 0.0)
            began, steps = looked, steps + 1
            if looked + expected < request.until:
                return self.asked is None and self.in_round
            self._deals_s, self._batch_s = _FADE * self._deals_s, _FADE * self._batch_s
            return False

        return go_on


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
