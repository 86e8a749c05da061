"""Finds the answers of self-play that are not clear, and plays "yes" and "no" to the end of the round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.settlement import GameLength
from game.state import clone
from game.warmup import warm_up
from game.workers.pool import Work
from learning.answers.plan import AnswersPlan, GameAnswers, PlayedAnswer
from learning.matches.watched import play_watched
from policies.candidates import chances_of
from policies.checkpoint import load_predictor
from policies.checkpoint.files import reader_of
from policies.deals.deal import true_deals
from policies.deals.view import RoundView
from policies.draws import drawn_bits
from policies.flow import SlotAnswer
from policies.inference import load_policy
from policies.named import Files
from policies.playouts import Branching, EndWorth, Playouts, RewardWorth, points_worth
from policies.reward import round_starts
from policies.rollout import Choice, PolicyChooser, Request, Times
from policies.slots import Policy, Slot

_TABLES: Final = 128
"""Tables side by side while answers are played out."""


class UnclearAnswer(msgspec.Struct, frozen=True):
    """A question to which the model says neither "yes" nor "no" for certain.

    Attributes:
        slot: the model.
        chance: its probability of "yes", to the option that it finds best.
        yes: that option.
        no: what the policy would do without options of this kind.
        view: what the player sees.
        record: the same with all hands.
        starts: ``[T]`` of `policies.reward.ROUND_START`, the rounds of the game up to the present one.
    """

    slot: Slot
    chance: float
    yes: Action
    no: Action
    view: RoundView
    record: np.void
    starts: NDArray[np.void]


class UnclearFinder:
    """A chooser that plays by a policy, and keeps the unclear answers.

    Args:
        policy: fills the five slots.
        least: least probability of "yes", and of "no".

    Attributes:
        found: the answers so far.
    """

    def __init__(self, policy: Policy, least: float) -> None:
        self._policy, self._chooser, self._least = policy, PolicyChooser(policy), least
        self.found: list[UnclearAnswer] = []

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide; see `policies.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        for request, choice in zip(requests, choices, strict=True):
            for answer in choice.verdict.answers if choice.verdict is not None else ():
                if answer.slot is not Slot.DISCARD:
                    self._look_at(request, answer)
        return choices

    def close(self, times: Times) -> None:
        """Nothing to do; see `policies.rollout.Chooser`."""

    def _look_at(self, request: Request, answer: SlotAnswer) -> None:
        chance = max(answer.probabilities)
        if not self._least <= chance <= 1.0 - self._least:
            return
        kinds = {option.kind for option in answer.options}
        others = [option for option, _ in chances_of(request, self._policy) if option.kind not in kinds]
        if others:
            self.found.append(
                UnclearAnswer(
                    answer.slot,
                    chance,
                    yes=answer.options[answer.probabilities.index(chance)],
                    no=others[0],
                    view=RoundView.of(request),
                    record=clone(request.record),
                    starts=round_starts(request.table.events),
                )
            )


class AnswersSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: what is measured.
        files: the policy's six checkpoints.
    """

    plan: AnswersPlan
    files: Files


def answers_of_games(setup: AnswersSetup) -> Work[int, GameAnswers]:
    """Load everything; return the function that plays a game and its unclear answers out."""
    warm_up()
    plan, read = setup.plan, reader_of(setup.files)
    policy = load_policy(Path(), compute=plan.compute, read=read)
    predictor = load_predictor(Path(), read)

    def play(number: int) -> Iterator[GameAnswers]:
        begun = process_time()
        found = unclear_answers(plan, policy, number)
        seeds = [drawn_bits(plan.seed, number, place) for place in range(len(found))]
        rewards = [RewardWorth(predictor, each.starts) for each in found]
        played = play_out(policy, found, rewards, plan.walls, plan.length, seeds)
        yield GameAnswers(number, tuple(played), round(process_time() - begun, 2))

    return play


def unclear_answers(plan: AnswersPlan, policy: Policy, number: int) -> list[UnclearAnswer]:
    """The unclear answers of a game.

    Raises:
        TrainingError: the game crashed.
    """
    finder = UnclearFinder(policy, plan.least)
    play_watched(finder, "answers", plan.seed, number, plan.length)
    return finder.found


def play_out(
    policy: Policy,
    answers: Sequence[UnclearAnswer],
    rewards: Sequence[EndWorth],
    walls: int,
    length: GameLength,
    seeds: Sequence[int],
) -> list[PlayedAnswer]:
    """Play "yes" and "no" to the end of the round, with the true hands over redrawn walls.

    Args:
        policy: plays on for everybody.
        answers: questions.
        rewards: for each, what ends of the round are worth as a final reward.
        walls: number of walls.
        length: length of the games.
        seeds: for each, determines them.

    Raises:
        ModelError: a table crashed.
    """
    branchings = [
        Branching(true_deals(each.view, each.record, walls, seed), (each.yes, each.no), range(walls))
        for each, seed in zip(answers, seeds, strict=True)
    ]
    ends = Playouts(PolicyChooser(policy), length, _TABLES).ends(branchings)
    return [
        PlayedAnswer(
            each.slot,
            round(each.chance, 4),
            tuple(branching.ahead(ended, points_worth).astype(np.int64).tolist()),
            tuple(np.round(branching.ahead(ended, reward), 3).tolist()),
        )
        for each, reward, branching, ended in zip(answers, rewards, branchings, ends, strict=True)
    ]
