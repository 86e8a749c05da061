"""`suzaku eval deals`: close decisions of self-play, both choices played out over sampled worlds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.shanten import shanten, waits
from game.warmup import warm_up
from kit.errors import ConfigError
from kit.workers.pool import Work
from learning.measure import Measurement, Moment, found_in_game
from learning.worlds.figures import WorldsFigures, figures_of
from learning.worlds.plan import DecisionWorlds, GameWorlds, HandErrors, SampledWorlds, WorldsPlan
from policies.checkpoint import files_of, load_predictor
from policies.checkpoint.files import reader_of
from policies.deals.deal import Deals, DealSampler, true_deals
from policies.deals.named import load_sampler, models_of, settings_of
from policies.flow.draws import drawn_bits, drawn_share
from policies.flow.slots import Policy
from policies.play.named import Files, files_of_named, folder_of_named, load_named
from policies.play.playouts import Branching, EndWorth, Playouts, RewardWorth, points_worth
from policies.play.rollout import Choice, PolicyChooser, Request
from policies.play.sampling import distribution_of
from policies.reward import Predictor, round_starts

_TABLES: Final = 128
"""Tables side by side while decisions are played out."""
_BITS: Final = np.arange(34, dtype=np.uint64)
_LEAST_WALLS: Final = 4
"""With fewer walls the noise of a mean over them is not known."""
_CHOSEN, _WALLS, _DEALS = range(3)
"""Purposes of random numbers."""


class CloseDecision(Moment, frozen=True):
    """A discard between two tiles that the policy finds about as good.

    Attributes:
        options: the two likeliest discards of different kinds.
        chances: their probabilities.
    """

    options: tuple[Action, Action]
    chances: tuple[float, float]

    def true_deals(self, count: int, seed: int) -> Deals:
        """The true hands over redrawn walls."""
        return true_deals(self.view, self.record, count, seed)


def _close_decision(plan: WorldsPlan, request: Request, choice: Choice) -> CloseDecision | None:
    """The decision of a request, if it is a close one."""
    if choice.verdict is None or choice.verdict.step != "discard":
        return None
    found = distribution_of(choice.verdict.answers[-1:])
    likeliest: dict[int, tuple[float, Action]] = {}
    for option, chance in sorted(
        zip(found.options, found.probabilities, strict=True), key=lambda pair: -pair[1]
    ):
        if option is not None and option.kind is ActionKind.DISCARD:
            likeliest.setdefault(option.tile >> 2, (chance, option))
    if len(likeliest) < 2:
        return None
    (first, one), (second, other) = list(likeliest.values())[:2]
    if second < plan.close or _discards(request.record, request.player) < plan.from_go_around:
        return None
    return CloseDecision.of(request, options=(one, other), chances=(first, second))


class WorldsSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: the plan.
        files: checkpoints of the policy; None to load them by name.
        predictor: files of its reward predictor; None if it is not needed.
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
    return found_in_game(
        partial(_close_decision, plan),
        policy,
        purpose="deals",
        seed=plan.seed,
        number=number,
        length=plan.length,
    )


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
        policy: plays on for everybody.
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


def scores_of(deals: Deals, record: np.void) -> HandErrors:
    """Compare deals of equal weight with the real hands.

    Args:
        deals: two or more.
        record: the round with all hands.
    """
    counts = deals.sampled_hands().counts[0]
    errors = np.zeros((3, 4))
    for place, opponent in enumerate(deals.view.opponents):
        melds = int(record["meld_count"][opponent])
        true = _traits(record["hand34"][opponent].copy(), melds)
        sampled = [_traits(hand.copy(), melds) for hand in counts[:, place]]
        for trait in range(4):
            values = np.array([each[trait] for each in sampled])
            noise = values.var(axis=0, ddof=1) / len(values)
            errors[place, trait] = (np.square(values.mean(axis=0) - true[trait]) - noise).sum()
    means = errors.mean(axis=0).tolist()
    return HandErrors(*(round(each, 5) for each in means))


def _traits(counts: NDArray[np.int8], melds: int) -> tuple[NDArray[np.float64], ...]:
    """Shanten, tenpai, waits and kinds held of a hand."""
    ready = np.uint64(waits(counts, melds)) if counts.sum() % 3 == 1 else np.uint64(0)
    waited = ((ready >> _BITS) & np.uint64(1)).astype(np.float64)
    distance = shanten(counts, melds)
    return (
        np.array([float(distance)]),
        np.array([float(distance <= 0)]),
        waited,
        (counts > 0).astype(np.float64),
    )


def make_plan(**given: Any) -> WorldsPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: a sampler or the policy does not exist, or has no reward predictor and needs one;
            or there are too few walls.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = WorldsPlan(**given, identity="", settings=(), models="")
    if 0 < plan.walls < _LEAST_WALLS:
        raise ConfigError(f"walls: {plan.walls} are too few to judge by; give at least {_LEAST_WALLS}, or 0")
    settings = tuple(settings_of(text) for text in plan.samplers)
    if plan.final:
        folder_of_named(plan.policy)
    identity = load_named(plan.policy).identity
    return msgspec.structs.replace(plan, identity=identity, settings=settings, models=models_of(settings))


def _setup(plan: WorldsPlan) -> WorldsSetup:
    predictor = files_of(folder_of_named(plan.policy), ("reward",)) if plan.final else None
    return WorldsSetup(plan, files_of_named(plan.policy), predictor)


def _figures(plan: WorldsPlan, rows: Sequence[GameWorlds]) -> WorldsFigures:
    if not any(row.decisions for row in rows):
        raise ConfigError("no decision of these games is close; give more --games or a lower --close")
    return figures_of(plan, rows)


DEALS: Final = Measurement("deals", WorldsPlan, GameWorlds, _figures, _setup, judge_of_games)
