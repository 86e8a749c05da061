"""`suzaku eval adaptation`: hands of self-play, the policy adapted to each, and tests of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from game.layout import PHASE_TURN
from game.scoring.settlement import GameLength, RewardKind, placements
from game.warmup import warm_up
from kit.errors import ConfigError
from kit.options import INTERNAL, Count, Seed, flag
from kit.workers.pool import Work
from learning.runs.measurement import (
    Measurement,
    MeasurementReport,
    SelfPlayDecision,
    found_in_game,
    report_text,
)
from learning.runs.statistics import Estimate, Means
from learning.runs.store import ResumablePlan
from policies.adaptation.adapt import Adapter
from policies.adaptation.pmcpa import values_of_deals
from policies.adaptation.settings import AdaptationSettings, ThinkingSettings
from policies.adaptation.simulator import Simulator, load_simulator
from policies.checkpoint.files import reader_of
from policies.checkpoint.store import files_of
from policies.deals.deal import Deals, true_deals
from policies.deals.named import settings_of
from policies.deals.uniform import UniformDeals
from policies.flow.draws import drawn_bits
from policies.flow.slots import Slot
from policies.nets.compute import IN_PLAY, Compute
from policies.play.named import Files, folder_of_named, load_named, predictor_files
from policies.play.rollout import Choice, Request

FORMAT: Final = "suzaku-adaptation/8"
_COLUMNS: Final = (
    "play-outs",
    "allowed",
    "improved %",
    "gain a hand",
    "error",
    "changed %",
    "divergence",
    "signal %",
    "luck %",
    "CPU s",
)

_CLASSES: Final[tuple[tuple[str, range], ...]] = (
    ("East", range(4)),
    ("South 1 and 2", range(4, 6)),
    ("South 3 on", range(6, 12)),
)
"""Classes of rounds of the game, by their stakes."""


class AdaptationPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        policy: policy that plays and is adapted: network, phoenix or a folder of checkpoints.
        identity: changes when the policy behind the name changes.
        sampler: sampler of the deals to learn from (docs/hands.md).
        hands: hands to adapt to, each of another self-play game.
        playouts: rounds to learn from, ascending; tests follow each number; may be repeated.
        divergences: largest divergence from the initial policy, in nats a decision, ascending; each is
            tested; may be repeated. Further play-outs use the policy with the largest.
        tests: rounds of a test, over the same deals for the initial and the adapted policy.
        moment: take hands at the start of a round and test with new hands for the others, or in its middle
            and test with their true hands.
        reward: value of a round: its points, or global for the change of the expected final reward.
        settings: how to adapt, beside the divergence.
        seed: seed of games, hands and deals.
        compute: how networks compute.
        length: length of the games.
        format: format of the results.

    Raises:
        ConfigError: a value is not possible.
    """

    counted: ClassVar[str] = "hands"

    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    sampler: str = "uniform"
    hands: Count = 300
    playouts: tuple[Annotated[int, Meta(ge=2)], ...] = (100, 500, 2_000)
    divergences: Annotated[tuple[Annotated[float, Meta(ge=1e-6)], ...], flag("--divergence")] = (0.3,)
    tests: Annotated[int, Meta(ge=2)] = 400
    moment: Literal["start", "middle"] = "start"
    reward: RewardKind = "points"
    settings: AdaptationSettings = AdaptationSettings()
    seed: Seed = 0
    compute: Compute = IN_PLAY
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    format: Annotated[str, INTERNAL] = FORMAT

    def __post_init__(self) -> None:
        if not _ascending(self.playouts):
            found = ", ".join(map(str, self.playouts))
            raise ConfigError(f"--playouts: found {found}; give ascending numbers of at least 2")
        if not _ascending(self.divergences):
            found = ", ".join(f"{each:g}" for each in self.divergences)
            raise ConfigError(f"--divergence: found {found}; give ascending numbers above 0")
        if self.settings.trials == 1:
            raise ConfigError("--trials: found 1; give at least 2, or 0 for none")
        replays = self.settings.replays
        if any(count % replays for count in self.playouts):
            found = ", ".join(map(str, self.playouts))
            raise ConfigError(f"--playouts: found {found}; give multiples of --replays, which is {replays}")


def _ascending(numbers: tuple[float, ...]) -> bool:
    return len(numbers) > 0 and sorted(set(numbers)) == list(numbers)


class AdaptationStep(msgspec.Struct, frozen=True):
    """The test after some play-outs, with one divergence.

    Attributes:
        playouts: rounds learned from.
        allowed: largest divergence, as `AdaptationSettings.divergence`.
        gain: mean value of the adapted policy minus that of the initial policy, over the deals of the test.
        error: its standard error.
        changed: share of the deals that end differently.
        divergence: of the adapted policy from the initial policy, in nats a decision.
        luck: share of the variance of the play-outs explained by the tiles of their deals.
        signal: as in `policies.adaptation.policy_update.UpdateResult`.
        seconds: CPU time to play and learn, without tests.
    """

    playouts: int
    allowed: float
    gain: float
    error: float
    changed: float
    divergence: float
    luck: float
    signal: float
    seconds: float


class HandRow(msgspec.Struct, frozen=True):
    """One hand.

    Attributes:
        number: the hand's.
        round_index: the round, 0 East 1 … 8 West 1.
        place: the player's place before the round, 1 to 4.
        value: mean value of a round to the initial policy.
        adapted: the tests, of each number of play-outs with each divergence; empty if the game had no such
            hand.
    """

    number: int
    round_index: int
    place: int
    value: float
    adapted: tuple[AdaptationStep, ...]


class PlayoutFigures(msgspec.Struct, frozen=True):
    """After one number of play-outs, with one divergence.

    Attributes:
        playouts: rounds learned from.
        allowed: largest divergence, in nats a decision, reached if the gradient has no noise.
        improved: share of the hands with a gain above 0 among those with another result.
        changed: share of the hands with another result.
        gain: mean gain of a hand.
        error: mean standard error of the gain of one hand.
        divergence: mean divergence from the initial policy, nats a decision.
        luck: mean share of the variance of the play-outs explained by the tiles of their deals.
        signal: mean share of the squared length of the gradient that is not noise.
        seconds: mean CPU time of a hand.
        gains: the gain by round of the game.
    """

    playouts: int
    allowed: float
    improved: Estimate
    changed: float
    gain: Estimate
    error: float
    divergence: float
    luck: float
    signal: float
    seconds: float
    gains: dict[str, Estimate]


class AdaptationFigures(msgspec.Struct, frozen=True):
    """All figures.

    Attributes:
        hands: number of hands.
        playouts: by number of play-outs, and by divergence.
    """

    hands: int
    playouts: tuple[PlayoutFigures, ...]


def adaptation_figures(plan: AdaptationPlan, rows: Sequence[HandRow]) -> AdaptationFigures:
    """The figures of some hands.

    Args:
        plan: the plan.
        rows: the hands.

    Raises:
        ConfigError: none has tests.
    """
    tested = [row for row in rows if row.adapted]
    if not tested:
        raise ConfigError("no player of these games had such a hand; give more --hands")
    rounds = np.array([row.round_index for row in tested])
    return AdaptationFigures(
        len(tested),
        tuple(
            _playout_figures([row.adapted[place] for row in tested], rounds)
            for place in range(len(plan.playouts) * len(plan.divergences))
        ),
    )


def _playout_figures(tests: Sequence[AdaptationStep], rounds: NDArray[np.int64]) -> PlayoutFigures:
    gains = np.array([test.gain for test in tests])
    other = np.array([test.changed > 0.0 for test in tests])
    return PlayoutFigures(
        playouts=tests[0].playouts,
        allowed=tests[0].allowed,
        improved=_mean((gains > 0.0)[other]),
        changed=float(other.mean()),
        gain=_mean(gains),
        error=float(np.mean([test.error for test in tests])),
        divergence=float(np.mean([test.divergence for test in tests])),
        luck=float(np.mean([test.luck for test in tests])),
        signal=float(np.mean([test.signal for test in tests])),
        seconds=float(np.mean([test.seconds for test in tests])),
        gains={
            name: _mean(gains[some]) for name, part in _CLASSES if (some := np.isin(rounds, list(part))).any()
        },
    )


def _mean(values: NDArray[Any]) -> Estimate:
    return Means(np.arange(len(values)), values)[0] if len(values) else Estimate(None, None, None)


def text_of(report: MeasurementReport[AdaptationPlan, AdaptationFigures]) -> str:
    """The report for people; the verdict is that of the most play-outs and the largest divergence."""
    plan, found = report.plan, report.figures
    last, unit = found.playouts[-1], "points" if plan.reward == "points" else "final reward"
    measured = (
        f"{found.hands:,} hands at the {plan.moment} of a round of {plan.length} self-play, "
        f"seed {plan.seed}; deals to learn from: {plan.sampler}; tests of {plan.tests:,} rounds, "
        f"gains in {unit}; {plan.compute.precision}"
    )
    verdict = (
        f"{plan.policy} adapted with {last.playouts:,} play-outs, {unit} a hand: {last.gain.text(1)}: "
        f"{last.gain.verdict('it gains', 'it loses')}"
    )
    return report_text((verdict,), _COLUMNS, map(_cells, found.playouts), measured)


def _cells(found: PlayoutFigures) -> tuple[str, ...]:
    return (
        f"{found.playouts:,}",
        f"{found.allowed:g}",
        found.improved.text(1, 100.0),
        found.gain.text(1),
        f"{found.error:.1f}",
        f"{100.0 * found.changed:.1f}",
        f"{found.divergence:.4f}",
        f"{100.0 * found.signal:.1f}",
        f"{100.0 * found.luck:.1f}",
        f"{found.seconds:.1f}",
    )


_PICK, _LEARN, _TEST, _TRIAL = range(4)
"""Purposes of random numbers."""


def adapter(setup: tuple[AdaptationPlan, Files]) -> Work[int, HandRow]:
    """Load everything; return the function that adapts to a hand and tests it.

    Args:
        setup: the plan, and the policy's six checkpoints.
    """
    warm_up()
    plan, files = setup
    settings = ThinkingSettings(sampler=plan.sampler, reward=plan.reward, adaptation=plan.settings)
    experiment = _Experiment(plan, load_simulator(Path(), settings, plan.compute, reader_of(files)))

    def adapt(number: int) -> Iterator[HandRow]:
        yield experiment.row(number)

    return adapt


class _Experiment:
    """Adapts to the hands of a plan."""

    def __init__(self, plan: AdaptationPlan, simulator: Simulator) -> None:
        self._plan, self._simulator, self._policy = plan, simulator, simulator.policy
        self._adapter = Adapter(simulator)

    def row(self, number: int) -> HandRow:
        """Adapt to a hand, test after each number of play-outs."""
        plan, hand = self._plan, self._hand(number)
        if hand is None:
            return HandRow(number, 0, 0, 0.0, ())
        view, tests = hand.view, self._tests(hand, number)
        value = self._simulator.value(hand.events)
        before = values_of_deals(self._policy, self._policy, tests, value)
        adaptation = self._adapter.adaptation(hand.events, plan.seed)
        found, played = [], 0.0
        for done, count in zip((0, *plan.playouts), plan.playouts, strict=False):
            begun = process_time()
            seed = drawn_bits(plan.seed, number, _LEARN, count) >> 1
            self._adapter.play_out(adaptation, view, count - done, seed)
            played += process_time() - begun
            for allowed in plan.divergences:
                begun = process_time()
                self._adapter.learn(
                    adaptation, view, drawn_bits(plan.seed, number, _TRIAL, count) >> 1, divergence=allowed
                )
                spent = played + process_time() - begun
                gains = np.zeros_like(before)
                if adaptation.figures.divergence:
                    gains = values_of_deals(adaptation.policy(), self._policy, tests, value) - before
                found.append(
                    AdaptationStep(
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

    def _hand(self, number: int) -> SelfPlayDecision | None:
        """A hand of game ``number``, drawn from all of its hands at the plan's moment."""
        plan = self._plan
        found = found_in_game(
            self._hand_at,
            self._policy,
            purpose="adaptation",
            seed=plan.seed,
            number=number,
            length=plan.length,
        )
        return found[drawn_bits(plan.seed, number, _PICK) % len(found)] if found else None

    def _hand_at(self, request: Request, _: Choice) -> SelfPlayDecision | None:
        """The hand at a first own draw of a round, or at a later one."""
        record, player = request.record, request.player
        later = bool(record["river_size"][player] > 0 or record["meld_count"][player] > 0)
        if record["phase"] != PHASE_TURN or later != (self._plan.moment == "middle"):
            return None
        return SelfPlayDecision.of(request)

    def _tests(self, hand: SelfPlayDecision, number: int) -> Deals:
        plan, seed = self._plan, drawn_bits(self._plan.seed, number, _TEST) >> 1
        if plan.moment == "start":
            return UniformDeals().deals(hand.view, plan.tests, seed)
        return true_deals(hand.view, hand.record, plan.tests, seed)


def make_plan(**given: Any) -> AdaptationPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: a setting is not possible, or the sampler or the policy does not exist.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = AdaptationPlan(**given, identity="")
    settings_of(plan.sampler)
    return msgspec.structs.replace(plan, identity=load_named(plan.policy).identity)


def _setup(plan: AdaptationPlan) -> tuple[AdaptationPlan, Files]:
    return plan, files_of(folder_of_named(plan.policy), Slot) | predictor_files(plan.policy)


ADAPTATION: Final = Measurement("adaptation", AdaptationPlan, HandRow, adaptation_figures, _setup, adapter)
