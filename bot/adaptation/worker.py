"""The life of the process that thinks: it plays out, learns and searches, until the program ends."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Final

import structlog

from bot.adaptation.messages import (
    AdaptedWeights,
    AdaptRequest,
    RoundKey,
    RoundOver,
    SearchAnswer,
    SearchRequest,
    ToWorker,
    WorkerSetup,
)
from game.table.table import Table
from game.warmup import warm_up
from kit.errors import ModelError, StateMismatchError
from kit.workers.child import Line
from policies.adaptation import PolicyAdaptation
from policies.adaptation.thinking import Thinker, ThinkingSettings, load_thinker
from policies.deals.deal import RoundView
from policies.flow.decisions import Improvement
from policies.flow.draws import drawn_bits
from policies.nets.compute import choose_compute
from policies.nets.device import use_one_torch_thread
from policies.play.inference import NetworkPolicy
from policies.play.rollout import TABLES

BATCH: Final = TABLES
"""Play-outs in a batch, played side by side."""
_TRIAL: Final = 1
"""Purpose of random numbers."""
FIRST_LESSON: Final = 128
"""Play-outs before something is learned."""
_LESSON_GROWTH: Final = 4
"""Factor by which play-outs grow before the next lesson, which has half the noise."""
_LATER_SHARE: Final = 4
"""Play-outs added after each turn, as a fraction of the first number."""
_FADE: Final = 0.8
"""Decay of the expected search time, so that one slow search does not stop all later ones."""

log = structlog.get_logger(__name__)


def serve(line: Line, setup: WorkerSetup) -> None:
    """Adapt and search until the program ends; the life of a `kit.workers.child.Child`.

    Args:
        line: to the program.
        setup: what to do, and with what.
    """
    use_one_torch_thread()
    line.memory_mb = setup.memory_mb
    thinking = Thinking(line, setup, load_thinker(setup.folder, setup.thinking, choose_compute(setup.device)))
    thinking.try_out()
    line.ready()
    thinking.run()


class _RoundChangedError(Exception):
    """The round that is being adapted to is over."""


class Thinking:
    """Does one thing at a time, and looks between the steps at what it was told."""

    def __init__(self, line: Line, setup: WorkerSetup, thinker: Thinker) -> None:
        self._line, self._setup, self._thinker = line, setup, thinker
        self._settings: ThinkingSettings = thinker.settings
        self._now: AdaptRequest | None = None  # at our turn
        self._in_round = False
        self._asked: SearchRequest | None = None
        self._adaptation: PolicyAdaptation | None = None
        self._adapted: NetworkPolicy | None = None
        self._key: RoundKey | None = None
        self._wanted = 0  # play-outs, all in all
        self._learned = 0  # play-outs at the last lesson
        self._seen_turn = -1
        self._spent = 0.0  # CPU time of the adaptation
        self._deals_s = self._batch_s = 0.0  # what they took in recent searches

    def try_out(self) -> None:
        """Think about the first discard of a game, so that nothing is loaded or compiled in play."""
        warm_up()
        table = Table(seed=0)
        observation, events = table.observe(table.waiting()[0]), tuple(table.events)
        if self._settings.worlds:
            (base, *_) = observation.legal
            self._thinker.search(observation, events, base, 0, go_on=_only(1))
        if self._settings.playouts:
            adaptation = self._thinker.adaptation(events, 0)
            view = RoundView.of(observation)
            self._thinker.play_out(adaptation, view, 2, 0)
            self._thinker.learn(adaptation, view, 1)

    def run(self) -> None:
        """Think; ends with the connection.

        Raises:
            EOFError: the connection was closed.
        """
        while True:
            self._listen(wait=True)
            self.work()

    def work(self) -> None:
        """Do everything that has been asked for."""
        self._listen(wait=False)
        while self._asked is not None or self._may_adapt():
            if self._asked is not None:
                self._search()
            else:
                with contextlib.suppress(_RoundChangedError):
                    self._adapt()
            self._listen(wait=False)

    def _listen(self, *, wait: bool) -> None:
        """Take note of everything that was said; wait for something if there is nothing to do."""
        for message in self._line.hear(wait=wait):
            self._heard(message)

    def _heard(self, message: ToWorker) -> None:
        match message:
            case AdaptRequest():
                self._now, self._in_round = message, True
            case SearchRequest():  # of a claim, perhaps, which is no position to adapt from
                self._asked, self._in_round = message, True
            case RoundOver():
                self._now, self._asked, self._in_round = None, None, False

    # --- search --------------------------------------------------------------------------------------

    def _search(self) -> None:
        """Answer the request, in time or not at all."""
        request, self._asked = self._asked, None
        assert request is not None
        number, now = request.number, request.now
        seed = drawn_bits(self._setup.seed, len(now.events), number) >> 1
        adapted = self._adapted if self._key == now.key else None
        found: Improvement | None = None
        try:
            found = self._thinker.search(
                now.observation, now.events, request.base, seed, policy=adapted, go_on=self._in_time(request)
            )
        except (ModelError, StateMismatchError) as error:
            log.warning("adaptation.search_failed", reason=str(error))
        self._line.send(SearchAnswer(number, found))

    def _in_time(self, request: SearchRequest) -> Callable[[], bool]:
        """Whether what comes next will end in time: deals and a first batch of play-outs, then a batch."""
        began, steps = time.monotonic(), 0

        def go_on() -> bool:
            nonlocal began, steps
            self._listen(wait=False)
            looked = time.monotonic()
            if steps == 1:
                self._deals_s = max(looked - began, _FADE * self._deals_s)
            elif steps > 1:
                self._batch_s = max(looked - began, _FADE * self._batch_s)
            expected = self._batch_s + (self._deals_s if steps == 0 else 0.0)
            began, steps = looked, steps + 1
            if looked + expected < request.until:
                return self._asked is None and self._in_round
            self._deals_s, self._batch_s = _FADE * self._deals_s, _FADE * self._batch_s
            return False

        return go_on

    # --- adaptation ----------------------------------------------------------------------------------

    def _may_adapt(self) -> bool:
        """Whether there is a round to adapt to, with play-outs and time left."""
        if self._now is None or self._settings.playouts == 0:
            return False
        if self._key != self._now.key:
            return True
        done = self._adaptation.figures.playouts if self._adaptation else 0
        more = self._turn(self._now) != self._seen_turn or done < self._wanted
        return more and self._spent < self._setup.seconds

    def _adapt(self) -> None:
        """Add a batch of play-outs, and learn from all if there are enough new ones."""
        now = self._now
        assert now is not None
        if self._key != now.key:
            self._begin(now)
        elif self._turn(now) != self._seen_turn:
            self._wanted += self._settings.playouts // _LATER_SHARE
        self._seen_turn = self._turn(now)
        adaptation = self._adaptation
        assert adaptation is not None
        done = adaptation.figures.playouts
        # nothing new is learned before the next lesson is due
        lesson = min(max(FIRST_LESSON, _LESSON_GROWTH * self._learned), self._wanted)
        count = min(BATCH, lesson - done)
        if count <= 0:
            return
        begun = time.process_time()
        view = RoundView.of(now.observation)
        try:
            seed = drawn_bits(self._setup.seed, done) >> 1
            self._thinker.play_out(adaptation, view, count, seed, self._between)
            done = adaptation.figures.playouts
            in_time = self._spent + time.process_time() - begun < self._setup.seconds
            if done >= lesson or not in_time:
                self._learned = done
                self._thinker.learn(
                    adaptation, view, drawn_bits(self._setup.seed, done, _TRIAL) >> 1, self._between
                )
                self._send_weights(now, adaptation)
        except (ModelError, StateMismatchError) as error:
            log.warning("adaptation.failed", reason=str(error))
            self._wanted = adaptation.figures.playouts
        finally:
            self._spent += time.process_time() - begun

    def _begin(self, now: AdaptRequest) -> None:
        seed = drawn_bits(self._setup.seed, len(now.events)) >> 1
        self._adaptation, self._adapted = self._thinker.adaptation(now.events, seed), None
        self._key, self._wanted, self._learned, self._spent = now.key, self._settings.playouts, 0, 0.0

    def _between(self) -> None:
        """Between two steps of an adaptation, answer what is asked.

        Raises:
            _RoundChangedError: the round is over, or another has begun.
        """
        self._listen(wait=False)
        if self._asked is not None:
            begun = time.process_time()
            self._search()
            self._spent -= time.process_time() - begun  # it falls into the time of the adaptation
        if self._now is None or self._now.key != self._key:
            raise _RoundChangedError

    def _send_weights(self, now: AdaptRequest, adaptation: PolicyAdaptation) -> None:
        self._adapted = adaptation.policy() if adaptation.figures.divergence else None
        assert self._key is not None
        self._line.send(
            AdaptedWeights(self._key, self._turn(now), self._wanted, adaptation.figures, adaptation.weights)
        )

    @staticmethod
    def _turn(now: AdaptRequest) -> int:
        return int(now.observation.record["discard_count"])


def _only(times: int) -> Callable[[], bool]:
    """Allows so many batches."""
    left = [times + 1]  # the search asks once more before it samples

    def go_on() -> bool:
        left[0] -= 1
        return left[0] >= 0

    return go_on
