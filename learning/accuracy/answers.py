"""Answers of networks and of the rule-based player in positions of real games."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from game.actions import ActionKind
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from learning.accuracy.data import EvaluatedPlayers
from learning.accuracy.scores import Answers, Mask, part_of
from learning.corpus.reader import Corpus, Numbers
from learning.samples.choice import SelectedDecisions
from learning.samples.loader import Batch, Facts, Loader
from learning.samples.positions import Positions, positions_of
from policies.features.table import KINDS
from policies.flow.probabilities import Logits, chances
from policies.flow.slots import Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.nets.architectures import YES, YES_NO
from policies.play.inference import Averaging, Model

Chances: TypeAlias = NDArray[np.float64]
OnProgress: TypeAlias = Callable[[int], object]
"""Called with the number of rows or decisions just completed."""

BATCH: Final = 1024
_YES: Final = 0.5
"""A chance above this means yes, as in `policies.flow.slots.Policy`."""
_WALK_GAMES: Final = 64
"""Games whose positions are in memory at once."""
_ACTIONS: Final = {
    Slot.DISCARD: (ActionKind.DISCARD,),
    Slot.RIICHI: (ActionKind.RIICHI,),
    Slot.CHI: (ActionKind.CHI,),
    Slot.PON: (ActionKind.PON,),
    Slot.KAN: (ActionKind.DAIMINKAN, ActionKind.ANKAN, ActionKind.KAKAN),
}


class _Rows(NamedTuple):
    """Some rows: ``place``, ``chance`` and ``happened`` as in `Answers`, but a ``place`` for each row."""

    place: NDArray[np.int8]
    chance: NDArray[np.float32]
    happened: Mask

    @classmethod
    def of(cls, parts: Iterable[_Rows]) -> _Rows:
        """Concatenate rows."""
        columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(*columns)


class _AnsweredRows(NamedTuple):
    rows: _Rows
    decision: Numbers
    facts: Facts


def answers_of(
    corpus: Corpus,
    players: EvaluatedPlayers,
    slot: Slot,
    model: Model,
    *,
    deep: bool = True,
    averaging: Averaging = 1,
    workers: int = 2,
    on_progress: OnProgress = lambda _: None,
) -> Answers:
    """Ask a network about every decision, people's first, in the order of `learning.samples.positions`.

    Args:
        corpus: the corpus.
        players: the players and games to select.
        slot: the slot.
        model: the network.
        deep: whether LA1 and LA2 are computed by search, in a set that has them.
        averaging: permutations to average over.
        workers: number of threads that compute, and of threads that encode.
        on_progress: called with the progress.
    """

    def judged(batch: Batch) -> _AnsweredRows:
        assert batch.facts is not None
        rows = _judge(model.scores(batch.planes.numpy(), averaging), batch)
        return _AnsweredRows(rows, batch.decision.numpy(), batch.facts)

    parts: list[Answers] = []
    for choice, ai in zip(players, (False, True), strict=True):
        loader = Loader(
            corpus,
            choice,
            slot,
            features=model.features,
            deep=deep,
            batch_size=BATCH,
            augment=False,
            facts=True,
            workers=workers,
        )
        batches: list[_AnsweredRows] = []
        for batch in _in_threads(judged, loader.epoch(), workers):
            batches.append(batch)
            on_progress(len(batch.decision))
        if batches:
            parts.append(_by_decision(batches, slot, ai=ai))
    return _joined(parts)


def heuristic_answers(
    corpus: Corpus,
    players: EvaluatedPlayers,
    slot: Slot,
    answers: Answers,
    chosen: Mask,
    on_progress: OnProgress = lambda _: None,
) -> Answers:
    """Ask the rule-based player about some of the decisions that a network was asked about.

    Args:
        corpus: the corpus.
        players: as for `answers_of`.
        slot: as for `answers_of`.
        answers: result of `answers_of`.
        chosen: ``[D]`` the decisions to ask about.
        on_progress: called with the progress.
    """
    asked = part_of(answers, chosen)
    parts: list[_Rows] = []
    owners: list[int] = []
    first = 0
    for found in _walk(corpus, players, slot):
        for decision in np.flatnonzero(chosen[first : first + len(found.players)]).tolist():
            rows = _ask(corpus, slot, found, decision)
            owners += [len(parts)] * len(rows.chance)
            parts.append(rows)
            on_progress(1)
        first += len(found.players)
    assert first == len(chosen)
    rows = _Rows.of(parts)
    owner = np.array(owners, np.int64)
    place, taken, answered = _decided(rows, owner, slot)
    assert np.array_equal(taken, asked.taken), "these are other decisions"
    return asked._replace(
        place=place, answered=answered, chance=rows.chance, happened=rows.happened, owner=owner
    )


# --- networks ---------------------------------------------------------------------------------------------


def _in_threads(
    work: Callable[[Batch], _AnsweredRows], batches: Iterable[Batch], workers: int
) -> Iterator[_AnsweredRows]:
    """Results in order. Each thread computes on one core: small products gain nothing from two."""
    waiting: deque[Future[_AnsweredRows]] = deque()
    with ThreadPoolExecutor(workers, "accuracy", torch.set_num_threads, (1,)) as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(work, batch))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _judge(logits: Logits, batch: Batch) -> _Rows:
    labels = batch.labels.numpy()
    if batch.legal is not None:
        return _discards(chances(logits, batch.legal.numpy()), labels)
    yes = chances(logits, np.ones((len(logits), YES_NO), np.bool_))[:, YES]
    return _yes_no(yes, labels)


def _by_decision(batches: Sequence[_AnsweredRows], slot: Slot, *, ai: bool) -> Answers:
    """The answers ordered by game and by decision, independent of the batches."""
    rows = _Rows.of(batch.rows for batch in batches)
    columns: list[Any] = [np.concatenate(column) for column in zip(*(b.facts for b in batches), strict=True)]
    facts = Facts(*columns)
    decision = np.concatenate([b.decision for b in batches])
    order = np.lexsort((decision, facts.game))
    decision = decision[order]
    begins = np.flatnonzero(np.concatenate(([True], decision[1:] != decision[:-1])))
    owner = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(order))))
    rows = _Rows(rows.place[order], rows.chance[order], rows.happened[order])
    place, taken, answered = _decided(rows, owner, slot)
    first = order[begins]
    return Answers(
        place=place,
        taken=taken,
        answered=answered,
        chance=rows.chance,
        happened=rows.happened,
        owner=owner,
        turn=facts.turn[first],
        riichi=facts.riichi[first],
        rank=facts.rank[first],
        ai=np.full(len(first), ai),
        game=facts.game[first],
    )


def _joined(parts: Sequence[Answers]) -> Answers:
    """Concatenate answers."""
    if not parts:
        flags, small, numbers = np.empty(0, np.bool_), np.empty(0, np.int8), np.empty(0, np.int64)
        chance = np.empty(0, np.float32)
        return Answers(small, flags, flags, chance, flags, numbers, small, flags, small, flags, numbers)
    sizes = np.cumsum([0, *(len(part.place) for part in parts[:-1])])
    moved = [part._replace(owner=part.owner + at) for part, at in zip(parts, sizes.tolist(), strict=True)]
    return Answers(*(np.concatenate(column) for column in zip(*moved, strict=True)))


# --- the rule-based player --------------------------------------------------------------------------------


def _walk(corpus: Corpus, players: EvaluatedPlayers, slot: Slot) -> Iterator[Positions]:
    for choice in players:
        for at in range(0, len(choice.games), _WALK_GAMES):
            part = slice(at, at + _WALK_GAMES)
            yield positions_of(corpus, SelectedDecisions(choice.games[part], choice.players[part]), slot)


def _ask(corpus: Corpus, slot: Slot, found: Positions, decision: int) -> _Rows:
    record, player = found.states[decision], int(found.players[decision])
    options = tuple(action for action in legal_actions(record, player) if action.kind in _ACTIONS[slot])
    hanchan = corpus.index["hanchan"][found.games[decision]]
    length: GameLength = "hanchan" if hanchan else "tonpuu"
    (answer,) = HeuristicPolicy().answer(slot, [Question(slot, record, player, options, length)])
    first, end = np.searchsorted(found.owners, (decision, decision + 1))
    labels = found.labels[first:end].astype(np.int64)
    if slot is not Slot.DISCARD:
        # the melds are in the order of the rules in both places
        return _yes_no(np.array(answer), labels)
    kinds = np.zeros((1, KINDS))
    for option, chance in zip(options, answer, strict=True):
        kinds[0, option.tile >> 2] = max(kinds[0, option.tile >> 2], chance)
    return _discards(kinds, labels)


# --- rows -------------------------------------------------------------------------------------------------


def _discards(chance34: Chances, labels: NDArray[np.int64]) -> _Rows:
    """Rows about discards; of two equal chances the one of the lower kind counts as likelier."""
    actual = np.take_along_axis(chance34, labels[:, None], axis=1)
    before = (chance34 > actual) | ((chance34 == actual) & (np.arange(KINDS) < labels[:, None]))
    place = before.sum(axis=1).astype(np.int8)
    return _Rows(place, chance34.max(axis=1).astype(np.float32), place == 0)


def _yes_no(chance: Chances, labels: NDArray[np.int64]) -> _Rows:
    return _Rows(np.zeros(len(labels), np.int8), chance.astype(np.float32), labels == 1)


def _decided(rows: _Rows, owner: Numbers, slot: Slot) -> tuple[NDArray[np.int8], Mask, Mask]:
    """``place``, ``taken`` and ``answered`` of decisions: the likeliest candidate if it is above one half."""
    if slot is Slot.DISCARD:
        never = np.zeros(len(rows.place), np.bool_)
        return rows.place, never, never
    begins = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    highest = np.maximum.reduceat(rows.chance, begins)
    answered = highest > _YES
    taken = np.logical_or.reduceat(rows.happened, begins)
    # the first in case of a tie
    likeliest = np.flatnonzero(rows.chance == highest[owner])
    best = likeliest[np.unique(owner[likeliest], return_index=True)[1]]
    right = np.where(answered, rows.happened[best], ~taken)
    return (~right).astype(np.int8), taken, answered
