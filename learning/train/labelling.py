"""Values the options of close decisions by play-outs with the true hands.

All players play on by the policy. The options of a decision share their worlds: the hands are those of the
game, and the walls are drawn anew. The policy that learns from the values sees only what its player sees, and
so averages over the hands. A deal-in by a discard itself counts by its chance (`policies.play.deal_ins`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import PASS, Action, ActionKind
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from game.table.restore import seen_by
from game.table.table import Table
from game.warmup import warm_up
from kit.errors import ConfigError
from kit.workers.pool import Work
from learning.data.choice import ALL_PLAYERS, SelectedDecisions
from learning.data.corpus import Corpus
from learning.data.games import played_games
from learning.data.position_kernels import Positions
from learning.data.positions import positions_of
from learning.runs.measurement import Measurement
from learning.runs.statistics import Estimate, Means
from learning.train.labels import (
    NO,
    SLOTS,
    Label,
    LabelledGame,
    LabelsPlan,
    critic_bias,
)
from policies.checkpoint.files import reader_of
from policies.checkpoint.store import files_of, load, load_predictor
from policies.deals.deal import RoundView, true_deals
from policies.flow.draws import drawn_bits
from policies.flow.slots import Policy, Question, Slot
from policies.hands.direct import HAND_MODELS_FOLDER, DirectModel
from policies.play.critic import Critic, critic_folder
from policies.play.deal_ins import REWARD_OF_LUCK, DiscardChoice, deal_in_costs, luck_of_deal_ins
from policies.play.named import Files, files_of_named, load_named, predictor_files
from policies.play.playouts import (
    Branching,
    CutValue,
    EndValue,
    Playouts,
    RewardValue,
    Unit,
    points_value,
    values_of,
)
from policies.play.rollout import PolicyChooser
from policies.reward.predictor import Predictor

_KINDS_OF: Final = {
    Slot.DISCARD: ActionKind.DISCARD,
    Slot.RIICHI: ActionKind.RIICHI,
    Slot.CHI: ActionKind.CHI,
    Slot.PON: ActionKind.PON,
}


class LabelsSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        plan: the plan.
        corpus: folder of the games.
        files: checkpoints of the policy; None to load them by name.
        predictor: files of its reward predictor.
        critic: files of the critic; None if play-outs go to the end.
    """

    plan: LabelsPlan
    corpus: Path
    files: Files | None
    predictor: Files
    critic: Files | None


class CloseDecision(NamedTuple):
    """A decision to be labelled: its options as labels name them, and the actions to play out."""

    slot: Slot
    place: int
    state: np.void
    player: int
    options: tuple[int, ...]
    actions: tuple[Action, ...]


def labels_of_games(setup: LabelsSetup) -> Work[int, LabelledGame]:
    """Load everything; return the function that labels a game.

    Raises:
        ConfigError: this machine has another corpus in the folder.
    """
    warm_up()
    plan, corpus = setup.plan, Corpus(setup.corpus)
    if corpus.card["content_sha256"] != plan.corpus:
        raise ConfigError(f"{setup.corpus}: another corpus lies there on this machine; copy the one to label")
    policy = load_named(plan.policy, files=setup.files, compute=plan.compute).policy
    predictor = load_predictor(Path(), reader_of(setup.predictor))
    critic = None if setup.critic is None else Critic.load(Path(), read=reader_of(setup.critic))
    hands = DirectModel.load()

    def label(number: int) -> Iterator[LabelledGame]:
        begun, place = process_time(), plan.first + number
        length: GameLength = "hanchan" if corpus.index["hanchan"][place] else "tonpuu"
        found = _close_decisions(plan, policy, corpus, place, length)
        starts = played_games(corpus, np.array([place])).games.starts[0]
        branchings = [_branching(plan, place, each, length) for each in found]
        costs = deal_in_costs(
            hands,
            {
                n: DiscardChoice(each.state, each.player, each.options)
                for n, each in enumerate(found)
                if each.slot is Slot.DISCARD
            },
        )

        def valued(horizon: int) -> tuple[Label, ...]:
            playouts = Playouts(PolicyChooser(policy), length, horizon=horizon)
            # of all rounds, since networks are faster the more they are asked
            ends = playouts.ends(branchings)
            labels: dict[int, Label] = {}
            for rounds, last in enumerate(starts, 1):
                end_values = _end_values(predictor, starts[:rounds], critic)
                here = [
                    n
                    for n, each in enumerate(found)
                    if all(each.state[name] == last[name] for name in _ROUND)
                ]
                for player in {found[n].player for n in here}:
                    own = [n for n in here if found[n].player == player]
                    points, rewards = (
                        values_of([branchings[n] for n in own], [ends[n] for n in own], each)
                        for each in end_values
                    )
                    for n, value, reward in zip(own, points, rewards, strict=True):
                        labels[n] = label_of(found[n], ends[n], value, reward, costs.get(n))
            return tuple(labels[n] for n in sorted(labels))

        labels, checked = valued(plan.horizon), valued(0) if plan.checks(place) else ()
        spent = round(process_time() - begun, 2)
        yield LabelledGame(number, corpus.game_id(place), labels, spent, checked)

    return label


_ROUND: Final = ("round_index", "honba")
"""Fields that tell the rounds of a game apart."""


def _close_decisions(
    plan: LabelsPlan, policy: Policy, corpus: Corpus, number: int, length: GameLength
) -> list[CloseDecision]:
    """The decisions of a game that the policy finds close."""
    game = SelectedDecisions(np.array([number]), np.array([ALL_PLAYERS], np.uint8))
    found: list[CloseDecision] = []
    for slot in map(Slot, plan.models):
        positions = positions_of(corpus, game, slot)
        legal = [
            legal_actions(*each) for each in zip(positions.states, positions.players.tolist(), strict=True)
        ]
        asked = _questions(slot, positions, legal, length)
        answers = policy.answer(slot, asked) if asked else ()
        of_discards = [_discards(actions) for actions in legal] if slot is Slot.RIICHI else [()] * len(asked)
        for place, (question, answer) in enumerate(zip(asked, answers, strict=True)):
            options = _options(plan, question, answer)
            if len(options) < 2:
                continue
            instead = PASS
            if slot is Slot.RIICHI:
                instead = _likeliest_discard(policy, question, of_discards[place])
            actions = tuple(instead if option == NO else _action(question, option) for option in options)
            found.append(CloseDecision(slot, place, question.record, question.player, options, actions))
    return found


def _questions(
    slot: Slot, positions: Positions, legal: Sequence[Sequence[Action]], length: GameLength
) -> list[Question]:
    kind = _KINDS_OF[slot]
    return [
        Question(slot, state, player, tuple(each for each in actions if each.kind is kind), length)
        for state, player, actions in zip(positions.states, positions.players.tolist(), legal, strict=True)
    ]


def _discards(actions: Sequence[Action]) -> tuple[Action, ...]:
    return tuple(each for each in actions if each.kind is ActionKind.DISCARD)


def _likeliest_discard(policy: Policy, question: Question, discards: tuple[Action, ...]) -> Action:
    asked = msgspec.structs.replace(question, slot=Slot.DISCARD, options=discards)
    (answer,) = policy.answer(Slot.DISCARD, [asked])
    return discards[int(np.argmax(answer))]


def _options(plan: LabelsPlan, question: Question, answer: Sequence[float]) -> tuple[int, ...]:
    """The options to value, as labels name them, likeliest first; fewer than two if the choice is clear."""
    if question.slot is not Slot.DISCARD:
        yes = int(np.argmax(answer))
        if not plan.close <= answer[yes] <= 1.0 - plan.close:
            return ()
        return (NO, yes) if answer[yes] <= 0.5 else (yes, NO)
    chances: dict[int, float] = {}
    for action, chance in zip(question.options, answer, strict=True):
        kind = action.tile >> 2
        chances[kind] = max(chance, chances.get(kind, 0.0))
    ranked = sorted(chances, key=lambda kind: -chances[kind])
    return tuple(kind for kind in ranked[: plan.options] if chances[kind] >= plan.close)


def _action(question: Question, option: int) -> Action:
    """The action of an option; of the copies of a kind the first, which keeps red fives."""
    if question.slot is Slot.DISCARD:
        return next(each for each in question.options if each.tile >> 2 == option)
    return question.options[option]


def _branching(plan: LabelsPlan, number: int, decision: CloseDecision, length: GameLength) -> Branching:
    """The options of a decision over its worlds."""
    view = RoundView(seen_by(decision.state, decision.player), decision.player, length)
    seed = drawn_bits(plan.seed, number, SLOTS.index(decision.slot), decision.place)
    deals = true_deals(view, decision.state, plan.worlds, seed)
    return Branching(deals, decision.actions, range(plan.worlds))


def _end_values(
    predictor: Predictor, starts: NDArray[np.void], critic: Critic | None
) -> tuple[EndValue, EndValue]:
    """Values of play-outs of the last of these rounds, in points and in final reward."""
    points, reward = points_value, RewardValue(predictor, starts)
    if critic is None:
        return points, reward
    return CutValue(points, "points", critic), CutValue(reward, "reward", critic)


def label_of(
    decision: CloseDecision,
    ends: Sequence[Table],
    values: NDArray[np.float64],
    rewards: NDArray[np.float64],
    costs: NDArray[np.float64] | None,
) -> Label:
    """The label of a decision.

    Args:
        decision: the decision.
        ends: where its play-outs ended.
        values: ``[worlds, options]`` points.
        rewards: the same in final reward.
        costs: expected loss of each option by a deal-in; None if the actual ones count.
    """
    if costs is not None:
        luck = luck_of_deal_ins(values, ends, int(decision.state["scores"][decision.player]), costs)
        values, rewards = values - luck, rewards - REWARD_OF_LUCK * luck
    (points, errors), (reward, reward_errors) = _means(values), _means(rewards)
    return Label(
        SLOTS.index(decision.slot),
        decision.place,
        decision.options,
        tuple(points.round().astype(int).tolist()),
        tuple(errors.round().astype(int).tolist()),
        tuple(reward.round(2).tolist()),
        tuple(reward_errors.round(2).tolist()),
    )


def _means(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean advantages of ``[worlds, options]`` over the first option, and their standard errors."""
    beyond = values - values[:, :1]
    return beyond.mean(axis=0), beyond.std(axis=0, ddof=1) / np.sqrt(len(beyond))


class Accepting(msgspec.Struct, frozen=True):
    """Advantages of declaring riichi or calling over declining, where the likelier answer is the same.

    Attributes:
        likely: whether it is the policy's likelier answer.
        to_the_end: whether play-outs went to the end of the round, in the games that were checked so.
        decisions: their number.
        points: mean points.
        reward: mean final reward.
    """

    likely: bool
    to_the_end: bool
    decisions: int
    points: Estimate
    reward: Estimate


class SlotFigures(msgspec.Struct, frozen=True):
    """The labels of one slot.

    Attributes:
        slot: the slot.
        labels: their number.
        deviation: standard deviation of the true differences between the two likeliest options, in points,
            without the noise of the worlds.
        signal: share of the variance of these differences, as measured, that is not noise.
        reward_signal: the same in final reward.
        changed: share of the decisions in which another option than the likeliest is worth most.
        accepting: the advantage of declaring or calling, where the policy would and where it would not;
            empty for discards.
        critic_bias: the critic's mean overestimate of riichi and calls, in points.
        reward_critic_bias: the same in final reward.
    """

    slot: Slot
    labels: int
    deviation: float
    signal: float
    reward_signal: float
    changed: float
    accepting: tuple[Accepting, ...]
    critic_bias: Estimate | None
    reward_critic_bias: Estimate | None


class LabelsFigures(msgspec.Struct, frozen=True):
    """All labels.

    Attributes:
        games: number of games.
        labels: number of labels.
        ms: CPU milliseconds a label.
        slots: figures of each slot.
    """

    games: int
    labels: int
    ms: float
    slots: tuple[SlotFigures, ...]


def _figures(plan: LabelsPlan, rows: Sequence[LabelledGame]) -> LabelsFigures:
    labels = [label for row in rows for label in row.labels]
    if not labels:
        raise ConfigError("no decision of these games is close; give more --games or a lower --close")
    found = [[label for label in labels if label.slot == number] for number in range(len(SLOTS))]
    return LabelsFigures(
        games=len(rows),
        labels=len(labels),
        ms=1000 * sum(row.seconds for row in rows) / len(labels),
        slots=tuple(_slot_figures(slot, each, rows) for slot, each in zip(SLOTS, found, strict=True) if each),
    )


def _slot_figures(slot: Slot, labels: Sequence[Label], rows: Sequence[LabelledGame]) -> SlotFigures:
    deviation, signal = _signal([(label.points[1], label.errors[1]) for label in labels])
    _, reward_signal = _signal([(label.reward[1], label.reward_errors[1]) for label in labels])
    return SlotFigures(
        slot,
        len(labels),
        deviation,
        signal,
        reward_signal,
        float(np.mean([max(label.points) > 0 for label in labels])),
        () if slot is Slot.DISCARD else tuple(_accepting(slot, rows)),
        *(critic_bias(rows, slot, unit) for unit in get_args(Unit)),
    )


def _accepting(slot: Slot, rows: Sequence[LabelledGame]) -> Iterator[Accepting]:
    for to_the_end, likely in itertools.product((False, True), (False, True)):
        found = [
            (label, row.game)
            for row in rows
            for label in (row.checked if to_the_end else row.labels)
            if SLOTS[label.slot] is slot and (label.options[0] != NO) is likely
        ]
        if found:
            values = [[label.advantage(unit) for unit in get_args(Unit)] for label, _ in found]
            means = Means([game for _, game in found], values)
            yield Accepting(likely, to_the_end, len(found), means[0], means[1])


def _signal(found: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Of measured values and their errors: the true values' standard deviation, and share of the variance."""
    values, errors = np.array(found, np.float64).T
    measured = float(values.var())
    true = max(0.0, measured - float(np.square(errors).mean()))
    return true**0.5, true / measured if measured else 0.0


def make_labels_plan(corpus: Corpus, **given: Any) -> LabelsPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: the corpus has fewer games, or there is no such policy.
        CheckpointError: the checkpoints of the policy, of the critic or of the hands cannot be used.
    """
    plan = LabelsPlan(**given, identity="", corpus=corpus.card["content_sha256"])
    if plan.first + plan.games > len(corpus):
        after = f" after --first {plan.first}" if plan.first else ""
        raise ConfigError(f"--games {plan.games}{after}: the corpus has {len(corpus)}")
    critic = load(critic_folder(plan.critic), "critic").card.tensors.sha256 if plan.horizon else ""
    return msgspec.structs.replace(
        plan,
        identity=load_named(plan.policy).identity,
        critic_identity=critic,
        hands_identity=load(HAND_MODELS_FOLDER, "direct").card.tensors.sha256,
    )


def setup_of(corpus: Path, plan: LabelsPlan) -> LabelsSetup:
    """The setup of a worker."""
    critic = files_of(critic_folder(plan.critic), ("critic",)) if plan.horizon else None
    return LabelsSetup(plan, corpus, files_of_named(plan.policy), predictor_files(plan.policy), critic)


def labels(corpus: Path) -> Measurement[LabelsPlan, LabelledGame, LabelsFigures]:
    """`suzaku train labels`: a row for each game of a corpus."""
    return Measurement(
        "labels", LabelsPlan, LabelledGame, _figures, partial(setup_of, corpus), labels_of_games
    )
