"""All that the decision flow may do at one decision, with what the policy thinks of each option."""

from __future__ import annotations

from collections.abc import Sequence

from game.actions import PASS, Action
from game.observation import Observation
from policies.flow import SlotAnswer, flow, most_likely, run_flows
from policies.sampling import distribution_of
from policies.slots import Policy, Slot


def chances_of(observation: Observation, policy: Policy) -> list[tuple[Action, float]]:
    """Options with figures whose ratios say how sure the policy is of one rather than of another.

    The likeliest is what the flow would do. A kan or riichi has its "yes", and the likeliest discard has what
    their "no" leaves. On a claim the figures are probabilities. Of the copies of a tile kind one is listed.

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
    """Says "no" until there is a discard to choose, so that all slots are asked."""
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
