"""What players decided in games played to learn from: states, actions, behaviour probabilities, scores.

Discards are one kind of row, answers of the models that say yes or no another. There an option has the
score ``yes - no``, which is the logarithm of its odds, "none of them" has 0, and a draw is from the softmax
of these scores. A claim may ask several models; for each, all that the others said is one option.

States are kept as records of `game.layout.ROUND_STATE`, not as planes: these are six times as large, and the
encoder makes them again when they are needed.

Many discards are clear, and teach next to nothing: a choice with probability p moves the logits by 1 - p at
most. So a decision is kept with a probability that falls with its clarity, and counts for as many as it
stands for. The expected gradient stays the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import PASS, Action
from game.events import EndGame
from game.layout import ROUND_STATE
from game.rules import action_row
from game.tiles import TILES
from policies.draws import drawn_share
from policies.flow import SlotAnswer, Verdict
from policies.reward import round_starts
from policies.rollout import Choice, FinishedGame, PolicyChooser, Request, Times
from policies.sampling import Distribution, distribution_of, drawing, explores
from policies.slots import Policy, Slot

DECISION: Final = np.dtype(
    [
        ("state", ROUND_STATE),  # all hands known
        ("player", "i1"),  # absolute
        ("round", "i2"),  # the round in its game, from 0
        ("legal", "u8"),  # mask of the kinds that could be discarded
        ("drawn", "u8"),  # of those drawn from: one if it was clear
        ("kind", "i1"),  # the kind that was
        ("probability", "f4"),  # of that kind, by the policy that acted
        ("weight", "f4"),  # decisions it stands for
        ("hidden_seed", "u8"),  # determines what a guided policy was shown
    ]
)
"""A discard that was drawn, or one that was clear."""

OPTIONS: Final = 6
"""Most options that a model which answers yes or no can have in one decision: five ways to chi a five."""
NONE_DRAWN: Final = 1 << OPTIONS
"""Bit of the mask of options drawn from: none of the model's."""
ANSWERING: Final = (Slot.RIICHI, Slot.CHI, Slot.PON, Slot.KAN)
"""The models that answer yes or no, in the order of their numbers in `ANSWER`."""
ANSWER: Final = np.dtype(
    [
        ("state", ROUND_STATE),  # all hands known
        ("player", "i1"),  # absolute
        ("round", "i2"),  # the round in its game, from 0
        ("slot", "i1"),  # the model asked, a place in `ANSWERING`
        ("options", "i1"),  # how many it had
        ("calls", "i2", (OPTIONS, len(action_row(PASS)))),  # they, as `game.rules.action_row` writes them
        ("drawn", "i1"),  # mask of those drawn from, with `NONE_DRAWN`: one bit if the answer was clear
        ("chosen", "i1"),  # the option drawn, or -1 for none of this model
        ("others", "f4"),  # score of none of this model: 0, or more if other models were asked too
        ("probability", "f4"),  # of what was drawn, by the policy that acted
        ("weight", "f4"),  # decisions it stands for
    ]
)
"""What one model that answers yes or no was asked, and what was drawn, or that its answer was clear."""


def options_of(answers: NDArray[np.void]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
    """What there was, what was drawn from, and what was drawn, with none of the calls as the last option.

    Args:
        answers: ``[N]`` of `ANSWER`, at least one.

    Returns:
        Two masks ``[N, K + 1]`` and places ``[N]``, where K is the largest number of calls.
    """
    most = int(answers["options"].max())
    none = np.ones((len(answers), 1), bool)
    asked = np.concatenate([np.arange(most) < answers["options"][:, None], none], 1)
    drawn = answers["drawn"][:, None] >> np.append(np.arange(most), OPTIONS) & 1
    chosen = np.where(answers["chosen"] < 0, most, answers["chosen"])
    return asked, drawn.astype(bool), chosen.astype(np.int64)


_KEPT_PURPOSE: Final = 99
"""Purpose of the draw that decides whether a discard is kept; those of other steps follow."""
_PURPOSES: Final[Mapping[Slot, int]] = {Slot.DISCARD: 0} | {slot: n for n, slot in enumerate(ANSWERING, 1)}


class Trajectory(msgspec.Struct, frozen=True):
    """A finished game, as far as one learns from it.

    Attributes:
        number: the game's, as in its seating.
        starts: ``[T]`` of `policies.reward.ROUND_START`: the rounds.
        scores: ``[4]`` final scores.
        decisions: ``[N]`` of `DECISION`, of all players who learn.
        answers: ``[M]`` of `ANSWER`, of the models that are drawn from.
        walls: ``[T, 136]`` int16, the wall of each round in deal order.
        drawn: decisions that were drawn, kept or not.
    """

    number: int
    starts: NDArray[np.void]
    scores: NDArray[np.int32]
    decisions: NDArray[np.void]
    answers: NDArray[np.void]
    walls: NDArray[np.int16]
    drawn: int

    def of(self, slot: Slot) -> NDArray[np.void]:
        """What one model decided: rows of `DECISION` for discards, else of `ANSWER`."""
        if slot is Slot.DISCARD:
            return self.decisions
        rows: NDArray[np.void] = self.answers[self.answers["slot"] == ANSWERING.index(slot)]
        return rows

    @property
    def points(self) -> NDArray[np.int32]:
        """``[T, 4]``: the points each player gained in each round, with the sticks left at the end."""
        after = np.concatenate([self.starts["scores"][1:], self.scores[None]])
        gained: NDArray[np.int32] = after - self.starts["scores"]
        return gained


class Recorder:
    """A chooser that draws what some models decide from a policy's probabilities, and remembers it.

    Take each game as the rollout yields it: once the rollout is closed, everything is forgotten.

    Args:
        policy: fills the five slots.
        temperature: of the draws; see `policies.sampling.distribution_of`.
        stream: other numbers give other draws over the same walls.
        thinning: keep a decision with ``thinning`` times the standard deviation of its choice as probability;
            0 keeps all.
        slots: the models that are drawn from; the others take the most likely option.
        min_p: leaves unlikely options out of the draws; see `policies.sampling.distribution_of`.
        explore: share of the decisions with a choice that are drawn; in the others the likeliest option is
            taken, and they are not remembered.
        clear: keep this share of the decisions that ``min_p`` leaves no choice for. They teach nothing, but
            what they should stay can be held.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        temperature: float = 1.0,
        stream: int = 0,
        thinning: float = 0.0,
        slots: Collection[Slot] = (Slot.DISCARD,),
        min_p: float = 0.0,
        explore: float = 1.0,
        clear: float = 0.0,
    ) -> None:
        self._slots = frozenset(slots)
        self._chooser = PolicyChooser(policy, drawing(self._slots, temperature, stream, min_p, explore))
        self._temperature, self._stream, self._thinning = temperature, stream, thinning
        self._min_p, self._explore, self._clear = min_p, explore, clear
        self._games: defaultdict[int, _RunningTrajectory] = defaultdict(_RunningTrajectory)

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide, and remember; see `policies.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        for request, choice in zip(requests, choices, strict=True):
            if choice.verdict is not None and choice.verdict.by_slot:
                for answers in _steps(choice.verdict):
                    if all(answer.slot in self._slots for answer in answers):
                        self._remember(request, answers, choice.verdict.action)
        return choices

    def close(self, times: Times) -> None:
        """Forget all games; see `policies.rollout.Chooser`."""
        self._games.clear()

    def take(self, game: FinishedGame) -> Trajectory:
        """What was remembered of a game that has ended, which is then forgotten."""
        found = self._games.pop(game.seating.number, None) or _RunningTrajectory()
        starts = round_starts(game.events)
        ending = game.events[-1]
        assert isinstance(ending, EndGame), "a game that crashed has no trajectory"
        walls = np.full((len(starts), TILES), -1, np.int16)
        for number, wall in found.walls.items():
            walls[number] = wall
        return Trajectory(
            number=game.seating.number,
            starts=starts,
            scores=np.array(ending.scores, np.int32),
            decisions=np.array(found.rows, DECISION),
            answers=np.array(found.answers, ANSWER),
            walls=walls,
            drawn=found.drawn,
        )

    def take_decisions(self, number: int) -> NDArray[np.void]:
        """``[N]`` of `DECISION`: what was decided so far in a game, or in a round of it; then forgotten."""
        found = self._games.pop(number, None) or _RunningTrajectory()
        return np.array(found.rows, DECISION)

    def _remember(self, request: Request, answers: Sequence[SlotAnswer], action: Action) -> None:
        """Remember one step of a decision that ended with ``action``, in this step or a later one."""
        drawn = distribution_of(answers, self._temperature, self._min_p)
        open_to_draws = len(drawn.options) > 1
        if open_to_draws and not explores(request, answers[0].slot, self._stream, self._explore):
            return
        if answers[0].slot is Slot.DISCARD:
            self._remember_discard(request, answers[0], drawn, action)
        else:
            self._remember_answers(request, answers, drawn, action)

    def _remember_discard(
        self, request: Request, answer: SlotAnswer, drawn: Distribution, action: Action
    ) -> None:
        legal, kinds = _kinds(answer.options), _kinds(drawn.options)
        game = self._games[request.number]
        if _is_one(legal):
            return
        game.drawn += not _is_one(kinds)
        share = self._clear if _is_one(kinds) else self._share(drawn)
        if not self._keeps(request, Slot.DISCARD, share):
            return
        probability = drawn.probabilities[drawn.options.index(action)]
        kind = action.tile >> 2
        hidden = request.hidden().seed
        game.rows.append((*self._where(request), legal, kinds, kind, probability, 1.0 / share, hidden))

    def _remember_answers(
        self, request: Request, answers: Sequence[SlotAnswer], drawn: Distribution, action: Action
    ) -> None:
        game = self._games[request.number]
        game.drawn += len(drawn.options) > 1
        for answer in answers:
            open_to_draws = len(drawn.options) > 1 and any(each in drawn.options for each in answer.options)
            share = self._share(drawn) if open_to_draws else self._clear
            if self._keeps(request, answers[0].slot, share):
                row = self._row(answer, answers, drawn, action)
                game.answers.append((*self._where(request), *row, 1.0 / share))

    def _share(self, drawn: Distribution) -> float:
        """How likely a decision with a choice is kept."""
        return min(1.0, self._thinning * _deviation(drawn)) if self._thinning else 1.0

    def _keeps(self, request: Request, slot: Slot, share: float) -> bool:
        return drawn_share(*request.moment, self._stream, _KEPT_PURPOSE + _PURPOSES[slot]) < share

    def _where(self, request: Request) -> tuple[object, int, int]:
        """From ``state`` to ``round`` of `DECISION` and `ANSWER`."""
        number = len(request.table.results)
        walls = self._games[request.number].walls
        if number not in walls:
            walls[number] = np.array(request.table.wall, np.int16)
        return request.record.copy(), request.player, number

    def _row(
        self, answer: SlotAnswer, answers: Sequence[SlotAnswer], drawn: Distribution, action: Action
    ) -> tuple[object, ...]:
        """From ``slot`` to ``probability`` of `ANSWER`: the step as one of its models sees it.

        Args:
            answer: of the model.
            answers: of all models asked.
            drawn: what was drawn from.
            action: what was drawn.
        """
        options = answer.options
        chances = dict(zip(drawn.options, drawn.probabilities, strict=True))
        own = sum(1 << place for place, option in enumerate(options) if option in chances)
        others = [option for option in chances if option not in options]
        chosen = options.index(action) if action in options else -1
        # scores are counted from that of "none", whether it was drawn from or not
        whole = distribution_of(answers, self._temperature)
        sizes = dict(zip(whole.options, whole.probabilities, strict=True))
        none = math.fsum(sizes[option] for option in {None, *others}) / sizes[None]
        calls = np.full((OPTIONS, len(action_row(PASS))), -1, np.int16)
        for place, option in enumerate(options):
            calls[place] = action_row(option)
        return (
            ANSWERING.index(answer.slot),
            len(options),
            calls,
            own | (NONE_DRAWN if others else 0),
            chosen,
            self._temperature * math.log(none),
            chances[action] if chosen >= 0 else math.fsum(chances[option] for option in others),
        )


def _steps(verdict: Verdict) -> Sequence[Sequence[SlotAnswer]]:
    """The answers of a decision, step by step: a claim is one step, a turn has one for each model asked."""
    each = [(answer,) for answer in verdict.answers]
    return [verdict.answers] if each and verdict.step == "call" else each


class _RunningTrajectory:
    """What is remembered of a game in progress."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []
        self.answers: list[tuple[object, ...]] = []
        self.walls: dict[int, NDArray[np.int16]] = {}
        self.drawn = 0


def _kinds(discards: Sequence[Action | None]) -> int:
    """Mask of the kinds of some discards."""
    found = 0
    for discard in discards:
        assert discard is not None, "a discard"
        found |= 1 << (discard.tile >> 2)
    return found


def _is_one(kinds: int) -> bool:
    """Whether a mask has a single kind."""
    return kinds > 0 and kinds & (kinds - 1) == 0


def _deviation(options: Distribution) -> float:
    """Standard deviation of a choice: the root of the mean squared length of the gradient of its logits."""
    return math.sqrt(max(0.0, 1.0 - math.fsum(p * p for p in options.probabilities)))
