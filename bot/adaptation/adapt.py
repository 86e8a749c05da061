"""pMCPA in play: the process's side adapts the policy, the program's side decides by it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from bot.adaptation.messages import RoundKey, SeatView, WorkerSetup
from bot.adaptation.status import AdaptationStatus
from bot.player.decision_maker import SeatPrompt
from game.actions import ActionKind
from game.events import GameEvent
from game.observation import Observation
from kit.errors import DecisionError, ModelError, StateMismatchError
from policies.adaptation.adapt import Adapter, adapted_choice
from policies.adaptation.pmcpa import AdaptationProgress, PolicyAdaptation
from policies.adaptation.settings import ThinkingSettings
from policies.deals.deal import RoundView
from policies.flow.decisions import Decision, Improvement, Option
from policies.flow.draws import drawn_bits
from policies.flow.slots import Slot
from policies.nets.architectures import parameters_of
from policies.play.inference import NetworkPolicy
from policies.play.rollout import TABLES

MOST_DIVERGENCE: Final = 1.5
"""Multiple of the largest divergence that the settings allow; a model beyond it is faulty."""
BATCH: Final = TABLES
"""Play-outs in a batch, played side by side."""
_TRIAL: Final = 1
"""Purpose of random numbers."""
FIRST_UPDATE: Final = 128
"""Play-outs before something is learned."""
_UPDATE_GROWTH: Final = 4
"""Factor by which play-outs grow before the next update, which has half the noise."""
_LATER_SHARE: Final = 4
"""Play-outs added after each turn, as a fraction of the first number."""

log = structlog.get_logger(__name__)


class AdaptedWeights(msgspec.Struct, frozen=True):
    """From the process: the discard model, adapted to a round.

    Attributes:
        key: the round.
        turn: discards of all players when the latest play-outs began.
        of: play-outs planned so far.
        progress: how it went.
        weights: parameters of the network, by name.
    """

    key: RoundKey
    turn: int
    of: int
    progress: AdaptationProgress
    weights: dict[str, NDArray[np.float32]]


class _AdaptedPolicy(NamedTuple):
    key: RoundKey
    policy: NetworkPolicy
    playouts: int


class AdaptationClient:
    """The program's side of adaptation.

    Args:
        settings: of the adaptation.
        policy: the initial policy.
        drop: counts a result that is not used, by its reason.

    Attributes:
        status: progress of adapting to the current round; None if it is not adapted to.
    """

    def __init__(
        self, settings: ThinkingSettings, policy: NetworkPolicy, drop: Callable[[str], None]
    ) -> None:
        self._settings, self._policy, self._drop = settings, policy, drop
        self.status: AdaptationStatus | None = None
        self._round: RoundKey | None = None  # that it is of
        self._adapted: _AdaptedPolicy | None = None

    def see(self, view: SeatView, send: Callable[[SeatView], None]) -> None:
        """Have the process adapt to a round.

        Args:
            view: the round.
            send: sends the process a message.
        """
        if not self._settings.playouts:
            return
        if view.key != self._round:
            self._round = view.key
            self.status = AdaptationStatus(0, self._settings.playouts, self._settings.unit)
        send(view)

    def forget(self) -> None:
        """Forget what was found about a round."""
        self._adapted, self._round, self.status = None, None, None

    def adapted(self, key: RoundKey, prompt: SeatPrompt, decision: Decision) -> Decision:
        """The decision of the adapted policy, where there is one for this round; may be called on any thread.

        Args:
            key: the round.
            prompt: the decision.
            decision: by the initial policy.
        """
        found = self._adapted
        if found is None or decision.step != "discard" or decision.source != "model":
            return decision
        if found.key != key:
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

    def hear(self, message: AdaptedWeights) -> None:
        """Build the policy from weights, if something was learned and they are sound; on any thread."""
        try:
            allowed = MOST_DIVERGENCE * self._settings.adaptation.divergence
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
                self._settings.unit,
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


class _RoundChangedError(Exception):
    """The round that is being adapted to is over."""


class AdaptationServer:
    """The process's side of adaptation.

    Args:
        adapter: adapts.
        setup: of the process.
        send: sends the program a message.
        meanwhile: called between two steps; takes note of what the program says, and may do other work.

    Attributes:
        now: the round, at our turn; None if there is none to adapt to.
    """

    def __init__(
        self,
        adapter: Adapter,
        setup: WorkerSetup,
        send: Callable[[AdaptedWeights], None],
        meanwhile: Callable[[], None],
    ) -> None:
        self._adapter, self._setup, self._send, self._meanwhile = adapter, setup, send, meanwhile
        self.now: SeatView | None = None
        self._adaptation: PolicyAdaptation | None = None
        self._adapted: NetworkPolicy | None = None
        self._key: RoundKey | None = None
        self._wanted = 0  # play-outs, all in all
        self._learned = 0  # play-outs at the last update
        self._seen_turn = -1
        self._spent = 0.0  # CPU time of the adaptation

    def try_out(self, observation: Observation, events: tuple[GameEvent, ...]) -> None:
        """Adapt once, if it is wanted, so that nothing is loaded or compiled in play."""
        if not self._setup.thinking.playouts:
            return
        adaptation = self._adapter.adaptation(events, 0)
        view = RoundView.of(observation)
        self._adapter.play_out(adaptation, view, 2, 0)
        self._adapter.learn(adaptation, view, 1)

    def policy_of(self, key: RoundKey) -> NetworkPolicy | None:
        """The policy adapted to a round; None if nothing was learned."""
        return self._adapted if self._key == key else None

    def due(self) -> bool:
        """Whether there is a round to adapt to, with play-outs and time left."""
        if self.now is None:
            return False
        if self._key != self.now.key:
            return True
        done = self._adaptation.figures.playouts if self._adaptation else 0
        more = self._turn(self.now) != self._seen_turn or done < self._wanted
        return more and self._spent < self._setup.seconds

    def work(self) -> None:
        """Add a batch of play-outs and learn, until the round changes."""
        with contextlib.suppress(_RoundChangedError):
            self._step()

    def _step(self) -> None:
        """Add a batch of play-outs, and learn from all if there are enough new ones."""
        now = self.now
        assert now is not None
        if self._key != now.key:
            self._begin(now)
        elif self._turn(now) != self._seen_turn:
            self._wanted += self._setup.thinking.playouts // _LATER_SHARE
        self._seen_turn = self._turn(now)
        adaptation = self._adaptation
        assert adaptation is not None
        done = adaptation.figures.playouts
        # nothing new is learned before the next update is due
        update = min(max(FIRST_UPDATE, _UPDATE_GROWTH * self._learned), self._wanted)
        count = min(BATCH, update - done)
        if count <= 0:
            return
        begun = time.process_time()
        view = RoundView.of(now.observation)
        try:
            seed = drawn_bits(done) >> 1
            self._adapter.play_out(adaptation, view, count, seed, self._between)
            done = adaptation.figures.playouts
            in_time = self._spent + time.process_time() - begun < self._setup.seconds
            if done >= update or not in_time:
                self._learned = done
                self._adapter.learn(adaptation, view, drawn_bits(done, _TRIAL) >> 1, self._between)
                self._send_weights(now, adaptation)
        except (ModelError, StateMismatchError) as error:
            log.warning("adaptation.failed", reason=str(error))
            self._wanted = adaptation.figures.playouts
        finally:
            self._spent += time.process_time() - begun

    def _begin(self, now: SeatView) -> None:
        seed = drawn_bits(len(now.events)) >> 1
        self._adaptation, self._adapted = self._adapter.adaptation(now.events, seed), None
        self._key, self._wanted, self._learned, self._spent = now.key, self._setup.thinking.playouts, 0, 0.0

    def _between(self) -> None:
        """Between two steps of an adaptation, do what else there is.

        Raises:
            _RoundChangedError: the round is over, or another has begun.
        """
        begun = time.process_time()
        self._meanwhile()
        self._spent -= time.process_time() - begun  # it falls into the time of the adaptation
        if self.now is None or self.now.key != self._key:
            raise _RoundChangedError

    def _send_weights(self, now: SeatView, adaptation: PolicyAdaptation) -> None:
        self._adapted = adaptation.policy() if adaptation.figures.divergence else None
        assert self._key is not None
        self._send(
            AdaptedWeights(self._key, self._turn(now), self._wanted, adaptation.figures, adaptation.weights)
        )

    @staticmethod
    def _turn(now: SeatView) -> int:
        return int(now.observation.record["discard_count"])


def _is_discard(option: Option) -> bool:
    return option.action.kind is ActionKind.DISCARD
