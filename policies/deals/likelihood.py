"""How likely it is that a policy would have played hands as the opponents did."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.jit import kernel, warms_up
from game.layout import ROUND_STATE
from game.observation import Observation
from game.restore import fill_hand
from game.rules import legal_actions
from game.settlement import GameLength
from game.tiles import face_of
from policies.deals.past import Doing, Past, PastDecision
from policies.flow import Running, SlotAnswer, flow, run_flows
from policies.sampling import distribution_of
from policies.slots import Policy, Question, Slot

ALL: Final[tuple[Doing, ...]] = ("discard", "riichi", "call", "pass")


class Evidence(msgspec.Struct, frozen=True):
    """Which decisions of the opponents count.

    Attributes:
        doings: their kinds.
        last: only the latest so many of each opponent that are of these kinds; 0 for all.
        floor: least probability of a decision: what a policy never does, a player still may.
    """

    doings: tuple[Doing, ...] = ("discard", "riichi", "call")
    last: int = 0
    floor: float = 1e-3

    def of(self, past: Past) -> list[PastDecision]:
        """The decisions that count."""
        found = [each for each in past.decisions if each.doing in self.doings]
        return found[-self.last :] if self.last else found


class HandLikelihood:
    """Weighs guesses at the hand of one opponent.

    Args:
        policy: how the opponent is thought to decide.
        past: what the opponent did.
        evidence: what of it counts.
        length: length of the game.

    Attributes:
        decisions: those that count, in order.
        evaluations: rows given to networks so far.
    """

    def __init__(self, policy: Policy, past: Past, evidence: Evidence, length: GameLength) -> None:
        self._policy, self._past, self._length = policy, past, length
        self._floor = math.log(evidence.floor)
        self.decisions = evidence.of(past)
        self.evaluations = 0

    def logs(
        self,
        hands: NDArray[np.int16],
        orders: NDArray[np.int16],
        decisions: Sequence[PastDecision] | None = None,
    ) -> NDArray[np.float64]:
        """``[n]``: log likelihood of what the opponent did.

        Args:
            hands: ``[n, size]``, concealed tiles now, one just drawn last.
            orders: ``[n, draws]`` from `Past.orders`.
            decisions: some of `decisions`; None for all.
        """
        counted = self.decisions if decisions is None else decisions
        if not counted:
            return np.zeros(len(hands))
        before = self._past.hands_before(hands, orders, counted)
        asked = [
            (decision, each)
            for decision in counted
            for each in self._observations(decision, *before[decision.event])
        ]
        flows = [flow(each, _Repeating(decision.taken)) for decision, each in asked]
        done = run_flows(flows, self._answer)
        logs = [max(self._floor, _log(*each)) for each in zip([one for one, _ in asked], done, strict=True)]
        found: NDArray[np.float64] = np.array(logs).reshape(len(counted), len(hands)).sum(axis=0)
        return found

    def _answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        of_calls = slot in (Slot.CHI, Slot.PON, Slot.KAN)
        self.evaluations += sum(len(each.options) if of_calls else 1 for each in questions)
        return self._policy.answer(slot, questions)

    def _observations(
        self, decision: PastDecision, held: NDArray[np.bool_], drawn: NDArray[np.int16]
    ) -> list[Observation]:
        rows = np.repeat(np.asarray(decision.record).reshape(1), len(held))
        _fill_rows(rows, self._past.player, held, drawn)
        return [Observation(row, self._past.player, self._legal(decision, row), self._length) for row in rows]

    def _legal(self, decision: PastDecision, record: np.void) -> tuple[Action, ...]:
        legal = legal_actions(record, self._past.player)
        if decision.claimed:
            legal = [action for action in legal if action.kind is not ActionKind.CHI]
        return tuple(legal)


@kernel
def _fill_rows(
    rows: NDArray[np.void], player: int, held: NDArray[np.bool_], drawn: NDArray[np.int16]
) -> None:
    """Fill in a player's hand in each row.

    Args:
        rows: ``[n]`` of `ROUND_STATE`.
        player: absolute.
        held: ``[n, 136]``, the tiles in the hand.
        drawn: ``[n]``, the tile just drawn, -1 for none.
    """
    hand = np.empty(14, np.int16)
    for number in range(len(rows)):
        size = 0
        for tile in range(136):
            if held[number, tile] and tile != drawn[number]:
                hand[size] = tile
                size += 1
        if drawn[number] >= 0:
            hand[size] = drawn[number]
            size += 1
        fill_hand(rows[number : number + 1], player, hand[:size])


class _Repeating:
    """Chooses in a decision flow what was done."""

    def __init__(self, taken: Action) -> None:
        self._key = _key(taken)

    def __call__(self, answers: Sequence[SlotAnswer]) -> Action | None:
        for answer in answers:
            for option in answer.options:
                if option.kind is self._key[0] and _key(option) == self._key:
                    return option
        return None


def _key(action: Action) -> tuple[ActionKind, int, tuple[int, ...]]:
    """What two copies of the same action have in common: copies of a face are alike."""
    tile = face_of(action.tile) if action.tile >= 0 else -1
    return action.kind, tile, tuple(sorted(face_of(each) for each in action.consumed))


def _log(decision: PastDecision, done: Running) -> float:
    """Log probability of a decision; far below any floor if the flow does something else."""
    verdict = done.verdict
    if verdict is None:
        # Nothing was legal: a hand that could not claim a tile has passed on it.
        return 0.0 if decision.doing == "pass" else -math.inf
    if _key(verdict.action) != _key(decision.taken):
        return -math.inf
    if not verdict.by_slot:
        return 0.0
    steps: list[Sequence[SlotAnswer]] = [(answer,) for answer in verdict.answers]
    if decision.taken.kind in _ON_CLAIM:
        steps = [verdict.answers]
    return math.fsum(_log_step(step, verdict.action) for step in steps)


def _log_step(answers: Sequence[SlotAnswer], chosen: Action) -> float:
    """Log probability of the action, or of "no" to all options where it is not among them."""
    found = distribution_of(answers)
    place = found.options.index(chosen if chosen in found.options else None)
    return math.log(max(found.probabilities[place], sys.float_info.min))


_ON_CLAIM: Final[Collection[ActionKind]] = frozenset(
    (ActionKind.PASS, ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN)
)


@warms_up
def _warm_up() -> None:
    rows = np.zeros(1, ROUND_STATE)
    held = np.zeros((1, 136), np.bool_)
    held[0, :13] = True
    _fill_rows(rows, 0, held, np.full(1, -1, np.int16))
