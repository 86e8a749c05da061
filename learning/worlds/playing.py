"""Finds close decisions of self-play, and plays both choices to the end of the round over sampled worlds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.events import GameEvent
from game.state import clone
from game.warmup import warm_up
from game.workers.pool import Work
from learning.matches.watched import play_watched
from learning.worlds.plan import DecisionWorlds, GameWorlds, SampledWorlds, WorldsPlan, scores_of
from policies.checkpoint import load_predictor
from policies.checkpoint.files import reader_of
from policies.deals.deal import Deals, DealSampler, RoundView, true_deals
from policies.deals.named import load_sampler
from policies.draws import drawn_bits, drawn_share
from policies.named import Files, load_named
from policies.playouts import Branching, EndWorth, Playouts, RewardWorth, points_worth
from policies.reward import Predictor, round_starts
from policies.rollout import Choice, PolicyChooser, Request, Times
from policies.sampling import distribution_of
from policies.slots import Policy

_TABLES: Final = 128
"""Tables side by side while decisions are played out."""
_CHOSEN, _WALLS, _DEALS = range(3)
"""Purposes of random numbers."""


class CloseDecision(msgspec.Struct, frozen=True):
    """A discard between two tiles that the policy finds about as good.

    Attributes:
        view: what the player sees.
        record: the same with all hands.
        events: of the game so far, with all tiles known.
        options: the two likeliest discards of different kinds.
        chances: their probabilities.
    """

    view: RoundView
    record: np.void
    events: tuple[GameEvent, ...]
    options: tuple[Action, Action]
    chances: tuple[float, float]

    def true_deals(self, count: int, seed: int) -> Deals:
        """The true hands over redrawn walls."""
        return true_deals(self.view, self.record, count, seed)


class CloseFinder:
    """A chooser that plays by a policy, and keeps the close decisions.

    Args:
        policy: fills the five slots.
        close: least probability of the second choice.
        from_go_around: discards that a player must have made before.

    Attributes:
        found: the close decisions so far.
    """

    def __init__(self, policy: Policy, close: float, from_go_around: int = 0) -> None:
        self._chooser = PolicyChooser(policy)
        self._close, self._from_go_around = close, from_go_around
        self.found: list[CloseDecision] = []

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide; see `policies.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        for request, choice in zip(requests, choices, strict=True):
            if choice.verdict is not None and choice.verdict.step == "discard":
                self._look_at(request, choice)
        return choices

    def close(self, times: Times) -> None:
        """Nothing to do; see `policies.rollout.Chooser`."""

    def _look_at(self, request: Request, choice: Choice) -> None:
        assert choice.verdict is not None
        found = distribution_of(choice.verdict.answers[-1:])
        likeliest: dict[int, tuple[float, Action]] = {}
        for option, chance in sorted(zip(found.options, found.probabilities, strict=True), key=_falling):
            if option is not None and option.kind is ActionKind.DISCARD:
                likeliest.setdefault(option.tile >> 2, (chance, option))
        if len(likeliest) < 2:
            return
        (first, one), (second, other) = list(likeliest.values())[:2]
        if second < self._close or _discards(request.record, request.player) < self._from_go_around:
            return
        events = tuple(request.table.events)
        self.found.append(
            CloseDecision(RoundView.of(request), clone(request.record), events, (one, other), (first, second))
        )


def _falling(pair: tuple[Action | None, float]) -> float:
    return -pair[1]


class WorldsSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: what is measured.
        files: the policy's checkpoints; None to load them by name.
        predictor: the files of its reward predictor; None if it is not asked.
    """

    plan: WorldsPlan
    files: Files | None
    predictor: Files | None = None


def judge_of_games(setup: WorldsSetup) -> Work[int, GameWorlds]:
    """Load everything; return the function that plays a game and its decisions out."""
    warm_up()
    plan = setup.plan
    policy = load_named(plan.policy, files=setup.files, compute=plan.compute).policy
    samplers = [load_sampler(text) for text in plan.samplers]
    predictor = None if setup.predictor is None else load_predictor(Path(), reader_of(setup.predictor))

    def judge(number: int) -> Iterator[GameWorlds]:
        begun = process_time()
        found = close_decisions(plan, policy, number)
        chosen = sorted(range(len(found)), key=lambda n: drawn_share(plan.seed, number, _CHOSEN, n))
        rows = [
            _play_out(plan, policy, predictor, samplers, found[place], drawn_bits(plan.seed, number, place))
            for place in sorted(chosen[: plan.per_game])
        ]
        yield GameWorlds(number, len(found), tuple(rows), round(process_time() - begun, 2))

    return judge


def close_decisions(plan: WorldsPlan, policy: Policy, number: int) -> list[CloseDecision]:
    """The close decisions of a game.

    Raises:
        TrainingError: the game crashed.
    """
    finder = CloseFinder(policy, plan.close, plan.from_go_around)
    play_watched(finder, "deals", plan.seed, number, plan.length)
    return finder.found


def _play_out(
    plan: WorldsPlan,
    policy: Policy,
    predictor: Predictor | None,
    samplers: Sequence[DealSampler],
    decision: CloseDecision,
    seed: int,
) -> DecisionWorlds:
    true = decision.true_deals(plan.walls or 2 * plan.worlds, drawn_bits(seed, _WALLS))
    deals, spent = [true], []
    for number, sampler in enumerate(samplers):
        before = process_time()
        deals.append(sampler.deals(decision.view, plan.worlds, drawn_bits(seed, _DEALS, number) >> 1))
        spent.append(1000 * (process_time() - before))
    worths: list[EndWorth] = [points_worth]
    if predictor is not None:
        worths.append(RewardWorth(predictor, round_starts(decision.events)))
    found = differences_of(policy, decision, deals, worths) if plan.play else []
    nothing = [np.zeros(0)] * len(deals)
    points, final, *_ = (*found, nothing, nothing)
    player = decision.view.player
    return DecisionWorlds(
        event=len(decision.events),
        player=player,
        go_around=_discards(decision.record, player),
        chances=(round(decision.chances[0], 4), round(decision.chances[1], 4)),
        true=_points(points[0]),
        samplers=tuple(
            SampledWorlds(
                _points(differences),
                scores_of(each, decision.record),
                round(ms, 1),
                _final(rewards),
            )
            for differences, rewards, each, ms in zip(points[1:], final[1:], deals[1:], spent, strict=True)
        ),
        true_final=_final(final[0]),
    )


def _discards(record: np.void, player: int) -> int:
    """That a player has made."""
    return int(record["river_size"][player])


def _points(differences: NDArray[np.float64]) -> tuple[int, ...]:
    return tuple(differences.astype(np.int64).tolist())


def _final(differences: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(np.round(differences, 3).tolist())


def differences_of(
    policy: Policy,
    decision: CloseDecision,
    deals: Sequence[Deals],
    worths: Sequence[EndWorth] = (points_worth,),
) -> list[list[NDArray[np.float64]]]:
    """Play both choices to the end of the round in every deal, everybody by the same policy.

    Args:
        policy: who plays on.
        decision: the choice.
        deals: one or more sets.
        worths: of the ends of the rounds.

    Returns:
        For each worth and each set ``[n]``: that of the first choice minus that of the second.
    """
    branchings = [Branching(each, decision.options, range(len(each))) for each in deals]
    ends = Playouts(PolicyChooser(policy), decision.view.length, _TABLES).ends(branchings)
    return [
        [each.ahead(ended, worth) for each, ended in zip(branchings, ends, strict=True)] for worth in worths
    ]
