"""Takes hands from self-play, adapts the policy to each, and tests it, in a worker process."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Final

import msgspec
import numpy as np

from game.events import GameEvent
from game.layout import PHASE_TURN
from game.observation import Observation
from game.settlement import placements
from game.state import clone
from game.warmup import warm_up
from game.workers.pool import Work
from learning.adaptation.plan import AdaptationPlan, AdaptedTo, HandRow
from learning.matches.watched import play_watched
from policies.adaptation.adaptation import worth_of_deals
from policies.checkpoint.files import reader_of
from policies.deals import Deals, RoundView, UniformDeals
from policies.deals.deal import true_deals
from policies.draws import drawn_bits
from policies.named import Files
from policies.rollout import Choice, PolicyChooser, Request, Times
from policies.slots import Policy
from policies.thinking import Thinker, ThinkingSettings, load_thinker

_TABLES: Final = 128
_PICK, _LEARN, _TEST, _TRIAL = range(4)
"""Purposes of random numbers."""


class DealtHand(msgspec.Struct, frozen=True):
    """A hand to adapt to.

    Attributes:
        view: what the player sees.
        record: the same with all hands.
        events: of the game so far.
    """

    view: RoundView
    record: np.void
    events: tuple[GameEvent, ...]


class HandFinder:
    """A chooser that plays by a policy, and keeps moments to adapt at.

    Args:
        policy: fills the five slots.
        later: whether later draws of a round count, not the first.

    Attributes:
        found: of each player and round, the moments so far.
    """

    def __init__(self, policy: Policy, *, later: bool) -> None:
        self._chooser = PolicyChooser(policy)
        self._later = later
        self.found: list[DealtHand] = []

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide; see `policies.rollout.Chooser`."""
        for request in requests:
            if request.record["phase"] == PHASE_TURN and self._counts(request):
                events = tuple(request.table.events)
                self.found.append(DealtHand(RoundView.of(request), clone(request.record), events))
        return self._chooser.choose(requests, times)

    def close(self, times: Times) -> None:
        """Nothing to do; see `policies.rollout.Chooser`."""

    def _counts(self, observation: Observation) -> bool:
        record, player = observation.record, observation.player
        return bool((record["river_size"][player] > 0 or record["meld_count"][player] > 0) == self._later)


class AdaptationSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: what is measured.
        files: the policy's six checkpoints.
    """

    plan: AdaptationPlan
    files: Files


def adapter(setup: AdaptationSetup) -> Work[int, HandRow]:
    """Load everything; return the function that adapts to a hand and tests it."""
    warm_up()
    plan = setup.plan
    settings = ThinkingSettings(sampler=plan.sampler, reward=plan.reward, adaptation=plan.settings)
    thinker = load_thinker(Path(), settings, plan.compute, reader_of(setup.files))
    experiment = _Experiment(plan, thinker)

    def adapt(number: int) -> Iterator[HandRow]:
        yield experiment.row(number)

    return adapt


class _Experiment:
    """Adapts to the hands of a plan."""

    def __init__(self, plan: AdaptationPlan, thinker: Thinker) -> None:
        self._plan, self._thinker, self._policy = plan, thinker, thinker.policy

    def row(self, number: int) -> HandRow:
        """Adapt to a hand, test after each number of play-outs."""
        plan, hand = self._plan, self._hand(number)
        if hand is None:
            return HandRow(number, 0, 0, 0.0, ())
        view, tests = hand.view, self._tests(hand, number)
        worth = self._thinker.worth(hand.events)
        before = worth_of_deals(self._policy, self._policy, tests, worth)
        adaptation = self._thinker.adaptation(hand.events, plan.seed)
        found, played = [], 0.0
        for done, count in zip((0, *plan.playouts), plan.playouts, strict=False):
            begun = process_time()
            seed = drawn_bits(plan.seed, number, _LEARN, count) >> 1
            self._thinker.play_out(adaptation, view, count - done, seed)
            played += process_time() - begun
            for allowed in plan.divergences:
                begun = process_time()
                self._thinker.learn(
                    adaptation, view, drawn_bits(plan.seed, number, _TRIAL, count) >> 1, divergence=allowed
                )
                spent = played + process_time() - begun
                gains = np.zeros_like(before)
                if adaptation.figures.divergence:
                    gains = worth_of_deals(adaptation.policy(), self._policy, tests, worth) - before
                found.append(
                    AdaptedTo(
                        playouts=count,
                        allowed=allowed,
                        gain=float(gains.mean()),
                        error=float(gains.std(ddof=1)) / math.sqrt(len(gains)),
                        changed=float((gains != 0.0).mean()),
                        divergence=round(adaptation.figures.divergence, 5),
                        luck=round(adaptation.figures.luck, 4),
                        signal=round(adaptation.figures.signal, 4),
                        seconds=round(spent, 2),
                    )
                )
        record = hand.record
        place = placements(tuple(int(score) for score in record["scores"]))[view.player]
        return HandRow(number, int(record["round_index"]), place, float(before.mean()), tuple(found))

    def _hand(self, number: int) -> DealtHand | None:
        """A hand of game ``number``, drawn from all that its players had at such a moment."""
        plan = self._plan
        finder = HandFinder(self._policy, later=plan.moment == "middle")
        play_watched(finder, "adaptation", plan.seed, number, plan.length)
        if not finder.found:
            return None
        return finder.found[drawn_bits(plan.seed, number, _PICK) % len(finder.found)]

    def _tests(self, hand: DealtHand, number: int) -> Deals:
        plan, seed = self._plan, drawn_bits(self._plan.seed, number, _TEST) >> 1
        if plan.moment == "start":
            return UniformDeals().deals(hand.view, plan.tests, seed)
        return true_deals(hand.view, hand.record, plan.tests, seed)
