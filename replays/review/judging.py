"""Asks a policy about decisions: its choice, its probability of each option, and the hand after each.

The policy is asked through the one decision flow, about all decisions at once. Where the flow ends before its
last step, as with a declared riichi, it runs again without the actions of that step, so that every option
gets its probability. Riichi and its discard are one action, so the policy is also asked for the discard that
would follow a riichi.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from game.actions import DISCARDS, PASS, RIICHI, Action, ActionKind
from game.events import GameEvent
from game.fold.calls import kuikae_mask
from game.observation import Observation
from game.scoring.settlement import GameLength
from game.shanten import discard_table, ukeire
from game.state import unseen34
from game.tiles import KINDS, mjai_text
from kit.errors import ModelError
from policies.flow.decisions import Decision, Option, Source, Step
from policies.flow.flow import Verdict, flow, reason_of, run_flows
from policies.flow.slots import Policy
from policies.play.sampling import joint
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
        riichi: probabilities of the discards once riichi is declared, as riichi actions with a tile.
    """

    preferred: Action
    step: Step
    source: Source
    probabilities: Mapping[Action, float]
    reached: frozenset[Step]
    riichi: Mapping[Action, float] = {}

    @property
    def options(self) -> dict[Action, float]:
        """All options in one distribution, with riichi once for each discard."""
        found = joint(self.probabilities)
        if self.riichi:
            declared = found.pop(RIICHI)
            found |= {action: declared * share for action, share in self.riichi.items()}
        return {action: min(1.0, chance) for action, chance in found.items()}

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
        if ours == theirs == "riichi":
            return "discard", _ratio(self._of(done, self.riichi), self._of(self.preferred, self.riichi))
        best, actual = (self._of(action, self.probabilities) for action in (self.preferred, done))
        if ours != theirs:
            # "yes" against "no" of that step
            best, actual = (best, 1.0 - best) if step == ours else (1.0 - actual, actual)
        return step, _ratio(actual, best)

    def _of(self, action: Action, among: Mapping[Action, float]) -> float:
        """Probability of an action; for a discard that of its kind, which is stored for one of its copies."""
        if action.kind is ActionKind.RIICHI and RIICHI in among:
            return among[RIICHI]
        return max(chance for other, chance in among.items() if self._same(other, action))

    @staticmethod
    def _same(one: Action, other: Action) -> bool:
        if one.kind is other.kind and one.kind in DISCARDS:
            return one.tile >> 2 == other.tile >> 2
        return one == other


def _ratio(actual: float, best: float) -> float:
    return min(1.0, max(0.0, actual) / best) if best > 0.0 else 1.0


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


def opinions(moments: Sequence[Observation], policy: Policy) -> list[Opinion]:
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
    riichi = _after_riichi(moments, policy)
    return [
        _opinion(moment, found, chances, policy.source, after)
        for moment, found, chances, after in zip(moments, verdicts, seen, riichi, strict=True)
    ]


def look_further(decision: Decision, observation: Observation, policy: Policy) -> Decision:
    """The decision with what the policy says about later steps; as it is if the policy fails at that.

    Args:
        decision: by the policy.
        observation: what was decided about.
        policy: the policy behind the five slots.
    """
    if decision.step == "kan" or RIICHI in observation.legal:
        with suppress(ModelError):
            (found,) = opinions([observation], policy)
            later = {a: p for a, p in found.probabilities.items() if STEPS[a.kind] not in found.reached}
            later |= found.riichi
            return replace(decision, later=tuple(Option(*each) for each in later.items()))
    return decision


def with_tile(action: Action, riichi: Mapping[Action, float]) -> Action:
    """An action; a riichi with the likeliest of its discards, where they are known."""
    return max(riichi, key=riichi.__getitem__) if action == RIICHI and riichi else action


def _after_riichi(moments: Sequence[Observation], policy: Policy) -> list[Verdict | None]:
    """The policy's choice of a discard after a riichi; None where riichi is not possible."""
    declared = [moment.declared for moment in moments]
    asked = run_flows([flow(each) for each in declared if each is not None], policy.answer)
    answers = iter(asked)
    return [None if each is None else next(answers).usable() for each in declared]


def _opinion(
    moment: Observation,
    verdicts: Sequence[Verdict],
    chances: Mapping[Action, float],
    source: Source,
    after: Verdict | None,
) -> Opinion:
    first = verdicts[0]
    declared = after.probabilities if after is not None else {}
    riichi = {Action(ActionKind.RIICHI, action.tile): chance for action, chance in declared.items()}
    last = ORDER.index(first.step) if first.step in ORDER else len(ORDER)
    return Opinion(
        preferred=with_tile(first.action, riichi),
        step=first.step,
        source=source if first.by_slot else "rule",
        probabilities={action: min(1.0, chances.get(action, 0.0)) for action in moment.legal},
        reached=frozenset(ORDER[: last + 1]),
        riichi=riichi,
    )


def ranked(opinion: Opinion) -> dict[Action, float]:
    """The options with their probabilities: the choice first, then the likeliest.

    Where a rule decides and leaves them nothing, the others go by step and by their probability in it.
    """
    found = opinion.options
    own = {**opinion.probabilities, **opinion.riichi}
    order = sorted(
        found,
        key=lambda action: (
            action != opinion.preferred,
            -round(found[action], 6),
            ORDER.index(STEPS[action.kind]),
            -own[action],
            action == PASS,
        ),
    )
    return {action: found[action] for action in order}


_CALLS: Final = (ActionKind.CHI, ActionKind.PON)
_NEW_MELD: Final = (*_CALLS, ActionKind.DAIMINKAN, ActionKind.ANKAN)
_TENPAI: Final = 0


class Shape(NamedTuple):
    """A hand of 3n+1 tiles.

    Attributes:
        shanten: -1 to 8.
        mask: a bit for each kind that lowers it and has an unseen copy.
        copies: number of these unseen copies.
        discard: the best discard, which led to it, in mjai notation; "" if no discard follows the action.
    """

    shanten: int
    mask: int
    copies: int
    discard: str = ""


class After:
    """The hand after each action of one decision."""

    def __init__(self, seen: Observation) -> None:
        record, player = seen.record, seen.player
        self._hand34: NDArray[np.int8] = record["hand34"][player]
        self._melds = int(record["meld_count"][player])
        self._unseen34 = unseen34(record, player)
        may_discard = any(action.kind is ActionKind.DISCARD for action in seen.legal)
        self._discards = self._table(self._hand34, self._melds) if may_discard else {}

    def of(self, action: Action) -> Shape | None:
        """The hand after an action; None for actions that end the round."""
        if action.kind in DISCARDS and action.tile >= 0:
            return self._discards[action.tile >> 2]
        if action.kind is ActionKind.RIICHI:
            return _best({kind: each for kind, each in self._discards.items() if each.shanten == _TENPAI})
        if action.kind is ActionKind.PASS:
            return self._shape(self._hand34, self._melds)
        if action.kind is ActionKind.KAKAN:
            return self._shape(self._without((action.tile,)), self._melds)
        if action.kind not in _NEW_MELD:
            return None
        hand34, melds = self._without(action.consumed), self._melds + 1
        if action.kind not in _CALLS:
            return self._shape(hand34, melds)  # a replacement tile is drawn before the discard
        first, second = (tile >> 2 for tile in action.consumed)
        barred = int(kuikae_mask(action.tile >> 2, first, second))
        table = self._table(hand34, melds)
        return _best({kind: each for kind, each in table.items() if not barred >> kind & 1})

    def _without(self, tiles: Sequence[int]) -> NDArray[np.int8]:
        hand34 = self._hand34.copy()
        for tile in tiles:
            hand34[tile >> 2] -= 1
        return hand34

    def _shape(self, hand34: NDArray[np.int8], melds: int) -> Shape:
        distance, mask, copies = ukeire(hand34, melds, self._unseen34)
        return Shape(int(distance), self._live(int(mask)), int(copies))

    def _table(self, hand34: NDArray[np.int8], melds: int) -> dict[int, Shape]:
        """Hands by the kind discarded from a hand of 3n+2 tiles."""
        distances, masks = np.empty(KINDS, np.int8), np.empty(KINDS, np.uint64)
        copies = np.empty(KINDS, np.int16)
        discard_table(hand34, melds, self._unseen34, distances, masks, copies)
        return {
            kind: Shape(int(distances[kind]), self._live(int(masks[kind])), int(copies[kind]))
            for kind in np.flatnonzero(hand34).tolist()
        }

    def _live(self, mask: int) -> int:
        return sum(1 << kind for kind in range(KINDS) if mask >> kind & 1 and self._unseen34[kind] > 0)


def _best(shapes: dict[int, Shape]) -> Shape:
    kind = min(shapes, key=lambda each: (shapes[each].shanten, -shapes[each].copies))
    return shapes[kind]._replace(discard=mjai_text(4 * kind + 3))
