"""A step's options with their probabilities, and actions drawn in proportion to them.

A draw depends on the game, the player and the moment, and on nothing else: a game stays the same whatever is
played beside it.

On a claim, the slots' separate answers become one distribution. A "yes" of probability p has the odds
``p / (1 - p)``, a pass has 1, and options are drawn in proportion to their odds. The likeliest of them is the
one that `policies.flow.flow.most_likely` takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from game.actions import PASS, Action, ActionKind
from game.observation import Observation
from policies.flow.draws import drawn_share
from policies.flow.flow import TURN_STEPS, Pick, SlotAnswer, flow, most_likely, run_flows
from policies.flow.slots import Policy, Slot
from policies.play.rollout import Request

_SUREST: Final = 1e-7
"""Probabilities are kept this far from 0 and 1 where odds are computed."""

_RULED: Final = (ActionKind.TSUMO, ActionKind.RON, ActionKind.NINE_TERMINALS)
_TURN: Final = tuple((slot, kinds) for slot, _, kinds in TURN_STEPS)
_CLAIM: Final = ((Slot.CHI, (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN)),)

Picks: TypeAlias = Callable[[Request], Pick]
"""Gives each request of a rollout the function that picks its option."""


class Distribution(NamedTuple):
    """The options of one step of the flow, with their probabilities.

    Attributes:
        options: actions; None is "no" to all of them.
        probabilities: one for each, adding up to 1.
    """

    options: tuple[Action | None, ...]
    probabilities: tuple[float, ...]


def distribution_of(answers: Sequence[SlotAnswer], temperature: float = 1.0) -> Distribution:
    """The options of one step and the probability of each.

    Args:
        answers: what the slots of the step answered.
        temperature: below 1 sharpens, above 1 flattens: the power 1 / temperature of probabilities or odds.

    >>> riichi = [SlotAnswer(Slot.RIICHI, ("riichi",), (0.75,))]
    >>> distribution_of(riichi).probabilities
    (0.25, 0.75)
    """
    options: list[Action | None] = []
    weights: list[float] = []
    if answers[0].slot is not Slot.DISCARD:
        options, weights = [None], [1.0]
    for answer in answers:
        options += answer.options
        for probability in answer.probabilities:
            weights.append(probability if answer.slot is Slot.DISCARD else _odds(probability))
    if temperature != 1.0:
        weights = [weight ** (1.0 / temperature) for weight in weights]
    total = math.fsum(weights)
    return Distribution(tuple(options), tuple(weight / total for weight in weights))


def joint(given: Mapping[Action, float]) -> dict[Action, float]:
    """One distribution over all options of a decision.

    Each step of a turn divides the probability that the "no" of earlier steps leaves, and a pass has what the
    calls leave. A win or an abort that its rule takes has probability 1.

    Args:
        given: the probability of each option in its own step, as slots and rules answer; discards that were
            not asked for, all 0, share what is left equally.

    >>> riichi, one, other = Action(ActionKind.RIICHI), *(Action(ActionKind.DISCARD, tile) for tile in (0, 4))
    >>> [round(share, 2) for share in joint({riichi: 0.8, one: 0.75, other: 0.25}).values()]
    [0.8, 0.15, 0.05]
    """
    found = dict.fromkeys(given, 0.0)
    ruled = next((action for action in given if action.kind in _RULED and given[action] > 0.0), None)
    if ruled is not None:
        return found | {ruled: 1.0}
    left = 1.0
    for slot, kinds in _CLAIM if PASS in given else _TURN:
        options = tuple(action for action in given if action.kind in kinds)
        if not options:
            continue
        answers = tuple(given[each] for each in options)
        if slot is Slot.DISCARD and not any(answers):  # not asked, because an earlier step decided
            answers = (1.0 / len(options),) * len(options)
        step = distribution_of([SlotAnswer(slot, options, answers)])
        shares = {each: left * share for each, share in zip(step.options, step.probabilities, strict=True)}
        left = shares.pop(None, 0.0)
        found |= {action: share for action, share in shares.items() if action is not None}
    return found | {PASS: left} if PASS in given else found


def _odds(probability: float) -> float:
    sure = min(max(probability, _SUREST), 1.0 - _SUREST)
    return sure / (1.0 - sure)


def drawing(temperature: float = 1.0, stream: int = 0) -> Picks:
    """Draws discards; all else is decided by the likeliest option.

    Args:
        temperature: as in `distribution_of`.
        stream: other numbers give other draws.
    """

    def picks(request: Request) -> Pick:
        def pick(answers: Sequence[SlotAnswer]) -> Action | None:
            if answers[0].slot is not Slot.DISCARD:
                return most_likely(answers)
            found = distribution_of(answers, temperature)
            share = drawn_share(*request.moment, stream, _DISCARD_PURPOSE)
            return found.options[place_at(found.probabilities, share)]

        return pick

    return picks


def place_at(probabilities: Sequence[float], share: float) -> int:
    """The option that a number in [0, 1) falls on.

    >>> [place_at((0.5, 0.0, 0.5), share) for share in (0.0, 0.49, 0.5, 0.99)]
    [0, 0, 2, 2]
    """
    last = 0
    for place, probability in enumerate(probabilities):
        if probability > 0.0:
            last = place
            if share < probability:
                return place
        share -= probability
    return last  # rounding left a little over


_DISCARD_PURPOSE: Final = 0
"""Purpose of the draw of a discard: other draws of the same moment have other numbers."""


def chances_of(observation: Observation, policy: Policy) -> list[tuple[Action, float]]:
    """Options with weights: the ratio of two is the policy's odds of one over the other.

    The heaviest is what the flow would do. A kan or riichi has the probability of its "yes", and the
    likeliest discard the probability that their "no" leaves. On a claim the weights are probabilities. Of
    several copies of a tile kind one is listed.

    Args:
        observation: the decision to be made.
        policy: fills the five slots.

    Returns:
        Likeliest first; empty if a rule decides, or if there is no choice.

    Raises:
        ModelError: the policy gave no usable answer.
    """
    (running,) = run_flows([flow(observation, _to_the_discard)], policy.answer)
    verdict = running.usable()
    if not verdict.by_slot:
        return []
    found = _on_claim(verdict.answers) if verdict.step == "call" else _on_turn(verdict.answers)
    return sorted(found, key=lambda pair: -pair[1])


def _to_the_discard(answers: Sequence[SlotAnswer]) -> Action | None:
    """Answer "no" until there is a discard to choose, so that all slots are asked."""
    return most_likely(answers) if answers[0].slot is Slot.DISCARD else None


def _on_claim(answers: Sequence[SlotAnswer]) -> list[tuple[Action, float]]:
    found = distribution_of(answers)
    options = [PASS if option is None else option for option in found.options]
    return list(zip(options, found.probabilities, strict=True))


def _on_turn(answers: Sequence[SlotAnswer]) -> list[tuple[Action, float]]:
    found: list[tuple[Action, float]] = []
    left = 1.0
    for answer in answers[:-1]:
        pairs = zip(answer.options, answer.probabilities, strict=True)
        found += [(option, left * chance) for option, chance in pairs]
        left *= 1.0 - max(answer.probabilities)
    discards = answers[-1]
    highest = max(discards.probabilities)
    kinds: dict[int, tuple[Action, float]] = {}
    for option, chance in zip(discards.options, discards.probabilities, strict=True):
        if option.tile >> 2 not in kinds or chance > kinds[option.tile >> 2][1]:
            kinds[option.tile >> 2] = option, chance
    return found + [(option, left * chance / highest) for option, chance in kinds.values()]
