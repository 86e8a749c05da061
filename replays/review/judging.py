"""Asks a policy about decisions: its choice, its probability of each option, and how far an action deviates.

The policy is asked through the one decision flow, about all decisions at once. Where the flow ends before its
last step, as with a declared riichi, it runs again without the actions of that step, so that every option
gets its probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from game.actions import PASS, Action, ActionKind
from game.errors import ModelError
from game.events import GameEvent
from game.observation import Observation
from game.settlement import GameLength
from policies.flow import Step, Verdict, flow, reason_of, run_flows
from policies.slots import Policy, Source
from replays.review.moments import Moment

STEPS: Final[dict[ActionKind, Step]] = {
    ActionKind.TSUMO: "win",
    ActionKind.RON: "win",
    ActionKind.NINE_TERMINALS: "nine_terminals",
    ActionKind.ANKAN: "kan",
    ActionKind.KAKAN: "kan",
    ActionKind.RIICHI: "riichi",
    ActionKind.DISCARD: "discard",
    ActionKind.CHI: "call",
    ActionKind.PON: "call",
    ActionKind.DAIMINKAN: "call",
    ActionKind.PASS: "call",
}
"""The step of the flow that an action belongs to."""
ORDER: Final[tuple[Step, ...]] = ("win", "nine_terminals", "kan", "riichi", "discard", "call")
_LAST: Final = ("discard", "call", "forced")
_HABIT_RATIO: Final = 0.2
"""Ratio where only the rule for nine terminals decides, which is more habit than knowledge."""


class Opinion(msgspec.Struct, frozen=True):
    """A policy's view of one decision.

    Attributes:
        preferred: its choice.
        step: the step that made the choice.
        source: a model or a rule.
        probabilities: probabilities of every legal action, from its own step.
        reached: the steps that the flow reached.
    """

    preferred: Action
    step: Step
    source: Source
    probabilities: Mapping[Action, float]
    reached: frozenset[Step]

    def agrees(self, done: Action) -> bool:
        """Whether an action is the policy's choice; discards of the same kind count as equal."""
        return self._same(done, self.preferred)

    def parted(self, done: Action) -> tuple[Step, float]:
        """The step at which an action deviates from the choice, and the ratio of their probabilities."""
        if self.agrees(done):
            return self.step, 1.0
        ours, theirs = STEPS[self.preferred.kind], STEPS[done.kind]
        step = min(ours, theirs, key=ORDER.index)
        if step == "nine_terminals":
            return step, _HABIT_RATIO
        best, actual = self._of(self.preferred), self._of(done)
        if ours != theirs:
            # "yes" against "no" of that step
            best, actual = (best, 1.0 - best) if step == ours else (1.0 - actual, actual)
        return step, min(1.0, max(0.0, actual) / best) if best > 0.0 else 1.0

    def _of(self, action: Action) -> float:
        """Probability of an action; for a discard that of its kind, which is stored for one of its copies."""
        return max(chance for other, chance in self.probabilities.items() if self._same(other, action))

    @staticmethod
    def _same(one: Action, other: Action) -> bool:
        if one.kind is other.kind is ActionKind.DISCARD:
            return one.tile >> 2 == other.tile >> 2
        return one == other


class Adviser(Protocol):
    """Anything besides a policy that can be asked about the decisions of a game.

    Attributes:
        name: its name in reports.
        identity: changes when what is behind the name changes.
    """

    name: str
    identity: str

    def opinions(
        self, moments: Sequence[Moment], events: Sequence[GameEvent], player: int, length: GameLength
    ) -> list[Opinion]:
        """Its view of a player's decisions.

        Args:
            moments: the decisions, in order.
            events: of the whole game.
            player: the player, absolute.
            length: length of the game.

        Raises:
            BotError: it gives no usable answer.
        """


def opinions(moments: Sequence[Moment], policy: Policy) -> list[Opinion]:
    """Ask a policy about decisions.

    Args:
        moments: the decisions.
        policy: the policy behind the five slots.

    Raises:
        ModelError: it gives no usable answer.
    """
    seen: list[dict[Action, float]] = [{} for _ in moments]
    verdicts: list[list[Verdict]] = [[] for _ in moments]
    waiting: list[tuple[int, Observation]] = list(enumerate(moments))
    while waiting:
        later: list[tuple[int, Observation]] = []
        flows = [flow(observation) for _, observation in waiting]
        for (place, observation), done in zip(waiting, run_flows(flows, policy.answer), strict=True):
            try:
                verdict = done.result()
            except Exception as error:
                raise ModelError(reason_of(error)) from error
            verdicts[place].append(verdict)
            seen[place] = {**verdict.probabilities, **seen[place]}
            rest = tuple(action for action in observation.legal if STEPS[action.kind] != verdict.step)
            if verdict.step not in _LAST:
                later.append((place, replace(observation, legal=rest)))
        waiting = later
    return [
        _opinion(moment, found, chances, policy.source)
        for moment, found, chances in zip(moments, verdicts, seen, strict=True)
    ]


def _opinion(
    moment: Moment, verdicts: Sequence[Verdict], chances: Mapping[Action, float], source: Source
) -> Opinion:
    first = verdicts[0]
    last = ORDER.index(first.step) if first.step in ORDER else len(ORDER)
    return Opinion(
        preferred=first.action,
        step=first.step,
        source=source if first.by_slot else "rule",
        probabilities={action: min(1.0, chances.get(action, 0.0)) for action in moment.legal},
        reached=frozenset(ORDER[: last + 1]),
    )


def ranked(opinion: Opinion) -> list[Action]:
    """The options: the choice first, then by step and descending probability; a pass is among the calls."""
    return sorted(
        opinion.probabilities,
        key=lambda action: (
            action != opinion.preferred,
            ORDER.index(STEPS[action.kind]),
            -opinion.probabilities[action],
            action == PASS,
        ),
    )
