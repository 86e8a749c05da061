"""The paper's decision flow, and the one driver that runs it: for one decision in play, or for thousands.

On a draw: win → kan → riichi → discard. On another player's discard: win → the most confident "yes" among
chi, pon and kan. The five models are the slots of a `Policy`; winning and nine terminals are rules: a win is
declared unless it ends the game with us in fourth place.

Source: Suphx, arXiv:2003.13590, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
import structlog

from game.actions import PASS, WINS, Action, ActionKind
from game.events import Four
from game.observation import Observation
from game.scoring.settlement import LAST_ROUND, GameLength, deltas, game_over, liable_player, placements
from game.scoring.value import context_of, evaluate
from game.shanten import shanten_normal, shanten_seven_pairs
from game.tiles import TERMINALS_AND_HONOURS
from kit.errors import DecisionError, IllegalActionError, ModelError
from policies.flow.decisions import Step
from policies.flow.slots import Question, Slot, read_row

_YES: Final = 0.5
TURN_STEPS: Final[tuple[tuple[Slot, Step, tuple[ActionKind, ...]], ...]] = (
    (Slot.KAN, "kan", (ActionKind.ANKAN, ActionKind.KAKAN)),
    (Slot.RIICHI, "riichi", (ActionKind.RIICHI,)),
    (Slot.DISCARD, "discard", (ActionKind.DISCARD,)),
)
"""The questions on our turn, in order: a slot, the step it decides, and its actions."""
_CALL_SLOTS: Final = {
    ActionKind.CHI: Slot.CHI,
    ActionKind.PON: Slot.PON,
    ActionKind.DAIMINKAN: Slot.KAN,
}
_SLOTS: Final = (Slot.CHI, Slot.PON, Slot.KAN, Slot.RIICHI, Slot.DISCARD)
"""The order in which a flow asks: one pass over it gathers each slot's questions in one batch."""

_log = structlog.get_logger(__name__)


class SlotAnswer(msgspec.Struct, frozen=True):
    """One question to a slot, and its answer.

    Attributes:
        slot: the model asked.
        options: the legal actions of the slot.
        probabilities: one for each option; those of discards add up to 1, any other is that of "yes" to its
            option alone.
    """

    slot: Slot
    options: tuple[Action, ...]
    probabilities: tuple[float, ...]


class Verdict(msgspec.Struct, frozen=True):
    """The outcome of the flow.

    Attributes:
        action: what to do.
        step: the step that decided.
        by_slot: whether it decided by what slots answered; otherwise by a rule.
        answers: of all slots asked, in the order of the questions.
    """

    action: Action
    step: Step
    by_slot: bool
    answers: tuple[SlotAnswer, ...] = ()

    @property
    def probabilities(self) -> dict[Action, float]:
        """Of each option that a slot was asked about; a pass has what the best call leaves."""
        if not self.by_slot:
            return {self.action: 1.0}
        found = _probabilities(self.answers)
        if self.step == "call":
            found[PASS] = 1.0 - max(found.values(), default=0.0)
        return found


Pick: TypeAlias = Callable[[Sequence[SlotAnswer]], Action | None]
"""Chooses among the options of one step: from one answer, on a claim from those of all slots that may call.

None is "no" to all of them, which no discard slot may be told.
"""
Flow: TypeAlias = Generator[Question, Sequence[float], Verdict]
_ByKind: TypeAlias = dict[ActionKind, list[Action]]
"""Legal actions by their kind, in their order."""
Row: TypeAlias = Sequence[float] | Exception
"""One answer, or what went wrong with it."""
Answer: TypeAlias = Callable[[Slot, Sequence[Question]], Sequence[Sequence[float]]]
"""Answers questions of one slot, with a row for each; see `policies.flow.slots.Policy`."""


def most_likely(answers: Sequence[SlotAnswer]) -> Action | None:
    """The option of the highest probability, the first if several have it; "no" to calls not above 0.5."""
    best, most = None, -1.0
    for answer in answers:
        for option, probability in zip(answer.options, answer.probabilities, strict=True):
            if probability > most:
                best, most = option, probability
    return best if answers[0].slot is Slot.DISCARD or most > _YES else None


def flow(observation: Observation, pick: Pick = most_likely) -> Flow:
    """The decision flow as a generator: it yields questions and is sent the answers; see `run_flows`.

    Args:
        observation: the decision to be made.
        pick: how an option is chosen once the slots have answered.

    Raises:
        ModelError: an answer has the wrong length, is not finite or is outside 0–1.
        IllegalActionError: there is no legal action, or another was picked.
    """
    legal = observation.legal
    if not legal:
        raise IllegalActionError("no legal action")
    if len(legal) == 1:
        return Verdict(legal[0], "forced", by_slot=False)
    by_kind = _by_kind(legal)
    for kind in WINS & by_kind.keys():
        for action in by_kind[kind]:
            if should_win(observation.record, observation.player, action, observation.length):
                return Verdict(action, "win", by_slot=False)
    if by_kind.keys() <= WINS:  # a win that must not be declared, and no alternative
        return Verdict(legal[0], "forced", by_slot=False)
    verdict = yield from (_claim if ActionKind.PASS in by_kind else _turn)(observation, by_kind, pick)
    if verdict.action not in legal:
        raise IllegalActionError(f"{verdict.action} is not among the legal actions")
    return verdict


def _turn(observation: Observation, legal: _ByKind, pick: Pick) -> Flow:
    abort = legal.get(ActionKind.NINE_TERMINALS)
    if abort and should_abort(observation.record, observation.player, observation.length):
        return Verdict(abort[0], "nine_terminals", by_slot=False)
    answers: list[SlotAnswer] = []
    for slot, step, kinds in TURN_STEPS:
        if legal.keys().isdisjoint(kinds):
            continue
        options = tuple(action for kind in kinds for action in legal.get(kind, ()))
        answers.append((yield from _ask(observation, slot, options)))
        picked = pick(answers[-1:])
        if picked is not None:
            return Verdict(picked, step, by_slot=True, answers=tuple(answers))
    raise IllegalActionError("no discard among the legal actions, or none was picked")


def _claim(observation: Observation, legal: _ByKind, pick: Pick) -> Flow:
    answers: list[SlotAnswer] = []
    for kind, slot in _CALL_SLOTS.items():
        options = legal.get(kind)
        if options:
            answers.append((yield from _ask(observation, slot, tuple(options))))
    picked = pick(answers) if answers else None
    action = PASS if picked is None else picked
    # without answers a win was declined by its rule, and there is nothing to call
    return Verdict(action, "call", by_slot=bool(answers), answers=tuple(answers))


def _by_kind(legal: Sequence[Action]) -> _ByKind:
    found: _ByKind = {}
    for action in legal:
        found.setdefault(action.kind, []).append(action)
    return found


def _ask(
    observation: Observation, slot: Slot, options: tuple[Action, ...]
) -> Generator[Question, Sequence[float], SlotAnswer]:
    question = Question(
        slot, observation.record, observation.player, options, observation.length, observation.hidden
    )
    answer = yield question
    return SlotAnswer(slot, options, tuple(read_row(question, answer)))


def _probabilities(answers: Iterable[SlotAnswer]) -> dict[Action, float]:
    return {
        option: probability
        for answer in answers
        for option, probability in zip(answer.options, answer.probabilities, strict=True)
    }


class Running:
    """One decision in progress: the question it waits for, then its verdict or its error."""

    __slots__ = ("_steps", "error", "question", "verdict")

    def __init__(self, steps: Flow) -> None:
        self.question: Question | None = None
        self.verdict: Verdict | None = None
        self.error: Exception | None = None
        self._steps = steps
        self._go_on(None)

    def send(self, row: Row) -> None:
        """Answer the question."""
        self.question = None
        self._go_on(row)

    def result(self) -> Verdict:
        """The verdict.

        Raises:
            Exception: what the policy raised, or what is wrong with its answer.
        """
        if self.error is not None:
            raise self.error
        assert self.verdict is not None, "the flow has ended"
        return self.verdict

    def usable(self) -> Verdict:
        """The verdict of a policy whose answer may be done without.

        Raises:
            ModelError: whatever the policy raised, or what is wrong with its answer.
        """
        try:
            return self.result()
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(reason_of(error)) from error

    def _go_on(self, row: Row | None) -> None:
        try:
            if isinstance(row, Exception):
                raise row
            self.question = next(self._steps) if row is None else self._steps.send(row)
        except StopIteration as done:
            self.verdict = done.value
        except Exception as error:
            self.error = error


def _warn(reason: str) -> None:
    _log.warning("decision.fallback", reason=reason)


def run_flows(flows: Iterable[Flow], answer: Answer, warn: Callable[[str], None] = _warn) -> list[Running]:
    """Run flows to their ends side by side, with as few and as large batches of questions as possible.

    The questions of a batch that fails are asked again one by one, so that one bad position costs one
    decision. Each flow ends with a verdict or an error.

    Args:
        flows: not yet begun.
        answer: a policy's.
        warn: told why a batch failed.
    """
    running = [Running(steps) for steps in flows]
    for slot in _SLOTS:
        while waiting := [each for each in running if each.question and each.question.slot is slot]:
            rows = _rows(answer, slot, [each.question for each in waiting if each.question], warn)
            for each, row in zip(waiting, rows, strict=True):
                each.send(row)
    return running


def _rows(answer: Answer, slot: Slot, questions: list[Question], warn: Callable[[str], None]) -> list[Row]:
    try:
        rows = answer(slot, questions)
        if len(rows) != len(questions):
            raise ModelError(f"{slot} slot: {len(rows)} answers to {len(questions)} questions")
        return list(rows)
    except Exception as error:
        if len(questions) == 1:
            return [error]
        warn(f"a batch of {len(questions)}: {reason_of(error)}")
        return [row for question in questions for row in _rows(answer, slot, [question], warn)]


def reason_of(error: Exception) -> str:
    """One line for logs and reports: what went wrong."""
    text = " ".join(str(error).split())[:200]
    if isinstance(error, DecisionError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# --- the rules ---------------------------------------------------------------------------------------------


def should_win(record: np.void, player: int, action: Action, length: GameLength) -> bool:
    """Whether to declare a tsumo or ron.

    Declines only a win that ends the game with us fourth, with ties broken by the seat order of East 1. A win
    does not end the game while all players stay below 30,000 and another wind remains, nor when we are dealer
    and not first. Hidden information is ignored: ura dora, and other winners on the same tile.

    Args:
        record: the round when the win is possible, our hand known.
        player: us, absolute.
        action: the win.
        length: length of the game.
    """
    round_index = int(record["round_index"])
    if round_index < LAST_ROUND[length]:
        # before the last round the game ends only if a score falls below 0, and then that player is last
        return True
    scores = _scores_after(record, player, action)
    if scores is None:
        return True
    repeats = player == int(record["dealer"])
    if not game_over(round_index, repeats, scores, length, aborted=False):
        return True
    return placements(scores)[player] != 4


def _scores_after(record: np.void, player: int, action: Action) -> Four | None:
    """Scores after the payment of the win; None if we find no yaku in it and must trust the offer."""
    from_player = player if action.kind is ActionKind.TSUMO else int(record["last_player"])
    value = evaluate(context_of(record, player, action.tile, from_player))
    if value is None:
        return None
    paid = deltas(
        value,
        player,
        from_player,
        int(record["dealer"]),
        honba=int(record["honba"]),
        riichi_sticks=int(record["riichi_sticks"]),
        liable=liable_player(record, player, value),
    )
    first, second, third, fourth = (int(had) + gets for had, gets in zip(record["scores"], paid, strict=True))
    return first, second, third, fourth


_KEEP_SHANTEN: Final = 3
"""Four normal melds or seven pairs this close are worth more than a new deal."""
_ORPHANS_KINDS: Final = 11
"""With this many kinds thirteen orphans are worth trying; with fewer, only when far behind."""
_BEHIND: Final = 16_000
"""Points behind first place in the last rounds from which an abort is the worse choice."""


def should_abort(record: np.void, player: int, length: GameLength) -> bool:
    """Whether to abort the round with nine or more kinds of terminals and honours.

    Plays on with a hand close to a win other than thirteen orphans, with eleven kinds or more, and with ten
    when only a very large win would still help.
    """
    hand = record["hand34"][player]
    if min(shanten_normal(hand, 0), shanten_seven_pairs(hand)) <= _KEEP_SHANTEN:
        return False
    kinds = sum(1 for kind in TERMINALS_AND_HONOURS if hand[kind] > 0)
    if kinds >= _ORPHANS_KINDS:
        return False
    scores = [int(score) for score in record["scores"]]
    late = int(record["round_index"]) >= LAST_ROUND[length] - 1
    return not (kinds >= _ORPHANS_KINDS - 1 and late and max(scores) - scores[player] >= _BEHIND)
