"""The ``meta`` of an engine's answers: its probabilities, in the form Mortal introduced.

Actions have 46 numbers: the 37 faces of a discard, riichi, chi with the called tile lowest, in the middle and
highest, pon, kan, win, nine terminals and pass. ``mask_bits`` has a bit for each that is legal, and
``q_values`` a number for each of these bits, ascending. Readers turn them into probabilities with a softmax
of temperature 0.1, so we write a tenth of the logarithm of each probability.

Source: the struct of Mortal's metadata (``libriichi/src/mjai/event.rs``) and the default temperature of
mjai-reviewer; both as of 2024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from game.actions import CALLS, Action, ActionKind
from game.observation import Observation
from game.state import is_furiten
from game.tiles import face_of
from policies.flow.decisions import Decision
from policies.play.sampling import joint
from replays.mjai.lines import Message

TEMPERATURE: Final = 0.1
"""Of the softmax that turns ``q_values`` into probabilities."""

_LEAST: Final = 1e-6
"""A probability below this is written as this; JSON has no infinity."""
_KANS: Final = (ActionKind.ANKAN, ActionKind.KAKAN)
_CHI: Final = 38
_ACTIONS: Final = 46
_NUMBERS: Final = {
    ActionKind.RIICHI: 37,
    ActionKind.PON: 41,
    ActionKind.DAIMINKAN: 42,
    ActionKind.ANKAN: 42,
    ActionKind.KAKAN: 42,
    ActionKind.TSUMO: 43,
    ActionKind.RON: 43,
    ActionKind.NINE_TERMINALS: 44,
    ActionKind.PASS: 45,
}


def number_of(action: Action) -> int:
    """The number of an action; kans of all kinds, and calls that differ in a red five, share one.

    >>> number_of(Action(ActionKind.DISCARD, 16)), number_of(Action(ActionKind.CHI, 4, (0, 8)))
    (34, 39)
    """
    if action.kind is ActionKind.DISCARD:
        return face_of(action.tile)
    if action.kind is ActionKind.CHI:
        return _CHI + sum(tile >> 2 < action.tile >> 2 for tile in action.consumed)
    return _NUMBERS[action.kind]


def write_meta(decision: Decision, observation: Observation) -> Message:
    """The ``meta`` of an answer.

    Args:
        decision: the decision.
        observation: what was to be decided.
    """
    chances = [0.0] * _ACTIONS
    mask = 0
    for action, chance in _joint(decision).items():
        chances[number_of(action)] += chance
        mask |= 1 << number_of(action)
    listed = [chances[number] for number in range(_ACTIONS) if mask >> number & 1]
    return {
        "q_values": [round(TEMPERATURE * math.log(max(chance, _LEAST)), 5) for chance in listed],
        "mask_bits": mask,
        "is_greedy": True,
        "batch_size": 1,
        "eval_time_ns": round(decision.latency_ms * 1e6),
        "shanten": decision.shanten,
        "at_furiten": is_furiten(observation.record, observation.player),
        "probabilities": [round(chance, 6) for chance in listed],
    }


def _joint(decision: Decision) -> dict[Action, float]:
    """One distribution over all options; discards that the flow did not reach share evenly what is left."""
    said = {option.action: option.probability for option in decision.options}
    if decision.step in ("win", "nine_terminals", "forced"):
        return {action: float(action == decision.action) for action in said}
    return joint(said)


def read_chances(answer: object, legal: Sequence[Action], chosen: Action) -> dict[Action, float]:
    """The probability of each action in its own step, as a review shows them, from an engine's answer.

    Discards add up to 1; any other action has the probability of "yes" to it, and a pass what the best call
    leaves. Without usable ``meta`` the chosen action has 1.

    Args:
        answer: the engine's answer, one JSON value.
        legal: the legal actions.
        chosen: the action that the answer means.
    """
    joint = _read_joint(answer, legal, chosen)
    wins = {ActionKind.TSUMO, ActionKind.RON, ActionKind.NINE_TERMINALS}
    found = {action: float(action == chosen) for action in legal if action.kind in wins}
    discards = [action for action in legal if action.kind is ActionKind.DISCARD]
    rest = sum(joint[action] for action in discards)
    for action in discards:
        found[action] = joint[action] / rest if rest > 0.0 else 1.0 / len(discards)
    riichi = [action for action in legal if action.kind is ActionKind.RIICHI]
    for action in riichi:
        found[action] = _share(joint[action], rest)
    rest += sum(joint[action] for action in riichi)
    for action in legal:
        if action.kind in _KANS:
            found[action] = _share(joint[action], rest)
    passing = [action for action in legal if action.kind is ActionKind.PASS]
    for action in legal:
        if action.kind in CALLS:
            found[action] = _share(joint[action], sum(joint[each] for each in passing))
    best = max((chance for action, chance in found.items() if action not in discards), default=0.0)
    return found | dict.fromkeys(passing, 1.0 - best)


def _share(chance: float, other: float) -> float:
    return chance / (chance + other) if chance > 0.0 else 0.0


def _read_joint(answer: object, legal: Sequence[Action], chosen: Action) -> dict[Action, float]:
    meta = answer.get("meta") if isinstance(answer, Mapping) else None
    chances = _by_number(meta) if isinstance(meta, Mapping) else {}
    if number_of(chosen) not in chances:
        return {action: float(action == chosen) for action in legal}
    # actions that share a number: the chosen one, else the first, stands for all of them
    first: dict[int, Action] = {}
    for action in (chosen, *legal):
        first.setdefault(number_of(action), action)
    return {
        action: chances.get(number_of(action), 0.0) if first[number_of(action)] == action else 0.0
        for action in legal
    }


def _by_number(meta: Mapping[Any, Any]) -> dict[int, float]:
    """The probabilities by number; nothing if they are missing, malformed or not finite."""
    mask, values = meta.get("mask_bits"), meta.get("q_values")
    if not isinstance(mask, int) or not isinstance(values, list) or not 0 <= mask < 1 << _ACTIONS:
        return {}
    numbers = [number for number in range(_ACTIONS) if mask >> number & 1]
    if len(numbers) != len(values) or not all(_is_number(value) for value in values):
        return {}
    most = max(values, default=0.0)
    weights = [math.exp((value - most) / TEMPERATURE) for value in values]
    return {number: weight / sum(weights) for number, weight in zip(numbers, weights, strict=True)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6
