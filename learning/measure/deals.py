"""`suzaku eval deals`: close decisions of self-play, both choices played out over sampled deals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.shanten import shanten, waits
from game.warmup import warm_up
from kit.errors import ConfigError
from kit.workers.pool import Work
from learning.measure.deals_figures import DealsFigures, figures_of_deals
from learning.measure.deals_plan import (
    TRUE_HANDS,
    DealsPlan,
    DecisionDeals,
    GameDeals,
    HandErrors,
    SampledDeals,
)
from learning.runs.measurement import Measurement, SelfPlayDecision, found_in_game
from policies.checkpoint.files import reader_of
from policies.checkpoint.store import files_of, load, load_predictor
from policies.deals.deal import Deals, DealSampler, true_deals
from policies.deals.named import load_sampler, models_of, settings_of
from policies.flow.draws import drawn_bits, drawn_share
from policies.flow.slots import Policy
from policies.play.critic import Critic, critic_folder
from policies.play.named import Files, files_of_named, folder_of_named, load_named, predictor_files
from policies.play.playouts import Branching, CutValue, EndValue, Playouts, RewardValue, Unit, points_value
from policies.play.rollout import Choice, PolicyChooser, Request
from policies.play.sampling import distribution_of
from policies.reward.encoding import round_starts
from policies.reward.predictor import Predictor

_TABLES: Final = 128
"""Tables side by side while decisions are played out."""
_BITS: Final = np.arange(34, dtype=np.uint64)
_LEAST_WALLS: Final = 4
"""With fewer walls the noise of their mean cannot be estimated."""
_CHOSEN, _WALLS, _DEALS = range(3)
"""Purposes of random numbers."""


class CloseDecision(SelfPlayDecision, frozen=True):
    """A decision between two discards of similar probability.

    Attributes:
        options: the two likeliest discards of different kinds.
        chances: their probabilities.
    """

    options: tuple[Action, Action]
    chances: tuple[float, float]

    def true_deals(self, count: int, seed: int) -> Deals:
        """The true hands over redrawn walls."""
        return true_deals(self.view, self.record, count, seed)


def _close_decision(plan: DealsPlan, request: Request, choice: Choice) -> CloseDecision | None:
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


class DealsSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: the plan.
        files: checkpoints of the policy; None to load them by name.
        predictor: files of its reward predictor; None if it is not needed.
        critic: files of the critic; None if it is not needed.
    """

    plan: DealsPlan
    files: Files | None
    predictor: Files | None = None
    critic: Files | None = None


class _Judges(NamedTuple):
    """The policy, samplers and predictors of one process."""

    policy: Policy
    samplers: Mapping[str, DealSampler]
    predictor: Predictor | None
    critic: Critic | None


def judge_of_games(setup: DealsSetup) -> Work[int, GameDeals]:
    """Load everything; return the function that plays a game and its decisions out."""
    warm_up()
    plan = setup.plan
    policy = load_named(plan.policy, files=setup.files, compute=plan.compute).policy
    judges = _Judges(
        policy,
        {text: load_sampler(text) for text in plan.samplers if text != TRUE_HANDS},
        None if setup.predictor is None else load_predictor(Path(), reader_of(setup.predictor)),
        None if setup.critic is None else Critic.load(Path(), read=reader_of(setup.critic)),
    )

    def judge(number: int) -> Iterator[GameDeals]:
        begun = process_time()
        found = close_decisions(plan, policy, number)
        chosen = sorted(range(len(found)), key=lambda n: drawn_share(plan.seed, number, _CHOSEN, n))
        rows = [
            _play_out(plan, judges, found[place], drawn_bits(plan.seed, number, place))
            for place in sorted(chosen[: plan.per_game])
        ]
        yield GameDeals(number, len(found), tuple(rows), round(process_time() - begun, 2))

    return judge


def close_decisions(plan: DealsPlan, policy: Policy, number: int) -> list[CloseDecision]:
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


def _play_out(plan: DealsPlan, judges: _Judges, decision: CloseDecision, seed: int) -> DecisionDeals:
    end_values: dict[Unit, EndValue] = {"points": points_value}
    if judges.predictor is not None:
        end_values["reward"] = RewardValue(judges.predictor, round_starts(decision.events))

    def played(deals: Deals, horizon: int = 0) -> dict[Unit, NDArray[np.float64]]:
        return differences_of(judges.policy, decision, deals, end_values, horizon, judges.critic)

    samplers = []
    for number, text in enumerate(plan.samplers):
        before = process_time()
        deals = _deals_of(judges, text, decision, plan.worlds, drawn_bits(seed, _DEALS, number) >> 1)
        ms, errors = 1000 * (process_time() - before), scores_of(deals, decision.record)
        for horizon in plan.horizons:
            before = process_time()
            found = played(deals, horizon) if plan.play else {}
            play_ms = 1000 * (process_time() - before)
            samplers.append(_sampled(found, errors, round(ms, 1), round(play_ms, 1)))
    walls = decision.true_deals(plan.walls or 2 * plan.worlds, drawn_bits(seed, _WALLS))
    true = _sampled(played(walls) if plan.play else {}, HandErrors(0.0, 0.0, 0.0, 0.0), 0.0, 0.0)
    player = decision.view.player
    return DecisionDeals(
        event=len(decision.events),
        player=player,
        go_around=_discards(decision.record, player),
        chances=(round(decision.chances[0], 4), round(decision.chances[1], 4)),
        true=true.differences,
        samplers=tuple(samplers),
        true_final=true.final,
    )


def _deals_of(judges: _Judges, text: str, decision: CloseDecision, count: int, seed: int) -> Deals:
    if text == TRUE_HANDS:
        return decision.true_deals(count, seed)
    return judges.samplers[text].deals(decision.view, count, seed)


def _sampled(
    found: Mapping[Unit, NDArray[np.float64]], errors: HandErrors, ms: float, play_ms: float
) -> SampledDeals:
    points, reward = (found.get(unit, np.zeros(0)) for unit in ("points", "reward"))
    final = tuple(np.round(reward, 3).tolist())
    return SampledDeals(tuple(points.astype(np.int64).tolist()), errors, ms, final, play_ms)


def _discards(record: np.void, player: int) -> int:
    """That a player has made."""
    return int(record["river_size"][player])


def differences_of(
    policy: Policy,
    decision: CloseDecision,
    deals: Deals,
    end_values: Mapping[Unit, EndValue],
    horizon: int = 0,
    critic: Critic | None = None,
) -> dict[Unit, NDArray[np.float64]]:
    """Play both choices out in every deal, everybody by the same policy.

    Args:
        policy: plays on for everybody.
        decision: the choice.
        deals: one or more.
        end_values: value the ends of the rounds, by their units.
        horizon: as for `policies.play.playouts.Playouts`.
        critic: values rounds that were cut; needed with a horizon.

    Returns:
        For each unit ``[n]``: the advantage of the first choice over the second.
    """
    branching = Branching(deals, decision.options, range(len(deals)))
    playouts = Playouts(PolicyChooser(policy), decision.view.length, _TABLES, horizon)
    (ends,) = playouts.ends([branching])
    if critic is not None and horizon:
        end_values = {unit: CutValue(value, unit, critic) for unit, value in end_values.items()}
    return {unit: branching.ahead(ends, value) for unit, value in end_values.items()}


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


def make_plan(**given: Any) -> DealsPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: a sampler or the policy does not exist, or has no reward predictor and needs one;
            or there are too few walls.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = DealsPlan(**given, identity="", settings=(), models="")
    sampled = [text for text in plan.samplers if text != TRUE_HANDS]
    if 0 < plan.walls < _LEAST_WALLS:
        raise ConfigError(f"walls: {plan.walls} are too few to judge by; give at least {_LEAST_WALLS}, or 0")
    settings = tuple(settings_of(text) for text in sampled)
    if plan.final:
        folder_of_named(plan.policy)
    identity = load_named(plan.policy).identity
    critic = load(critic_folder(plan.critic), "critic").card.tensors.sha256 if any(plan.horizons) else ""
    return msgspec.structs.replace(
        plan, identity=identity, settings=settings, models=models_of(settings), critic_identity=critic
    )


def _setup(plan: DealsPlan) -> DealsSetup:
    predictor = predictor_files(plan.policy) if plan.final else None
    critic = files_of(critic_folder(plan.critic), ("critic",)) if any(plan.horizons) else None
    return DealsSetup(plan, files_of_named(plan.policy), predictor, critic)


def _figures(plan: DealsPlan, rows: Sequence[GameDeals]) -> DealsFigures:
    if not any(row.decisions for row in rows):
        raise ConfigError("no decision of these games is close; give more --games or a lower --close")
    return figures_of_deals(plan, rows)


DEALS: Final = Measurement("deals", DealsPlan, GameDeals, _figures, _setup, judge_of_games)
