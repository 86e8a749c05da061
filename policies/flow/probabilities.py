"""Probabilities of a question's options, from a network's scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.rules import action_row
from game.tiles import KINDS, RED_FIVES
from policies.flow.chi_places import places_in_run
from policies.flow.slots import Question
from policies.nets.architectures import YES

Logits: TypeAlias = NDArray[np.float32]


def chances(logits: Logits, legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Softmax over the legal kinds.

    Args:
        logits: ``[N, 34]``.
        legal: ``[N, 34]`` bool, at least one true in every row.

    Returns:
        ``[N, 34]`` float64; 0 where ``legal`` is false.
    """
    scores = np.where(legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def share_out(chance34: Sequence[float], options: Sequence[Action]) -> list[float]:
    """Give each discard its probability, from the network's probability for each kind.

    A kind stands for one tile: its first option that is not a red five, else its first. A red five is
    therefore discarded only if no other tile of its kind is an option. Whether it is the drawn copy or
    another is up to the options, which name the drawn one if it is of that kind.

    Args:
        chance34: ``[34]``, adding up to 1 over the kinds of the options.
        options: discards.
    """
    tiles = [option.tile for option in options]
    place_of: dict[int, int] = {}
    for place, tile in enumerate(tiles):
        first = place_of.setdefault(tile >> 2, place)
        if tiles[first] in RED_FIVES and tile not in RED_FIVES:
            place_of[tile >> 2] = place
    row = [0.0] * len(tiles)
    for kind, place in place_of.items():
        row[place] = chance34[kind]
    return row


def of_discards(questions: Sequence[Question], logits: Logits) -> list[list[float]]:
    """Probabilities of the options of discards, from ``[N, 34]`` scores of kinds."""
    sizes = [len(question.options) for question in questions]
    tiles = [option.tile for question in questions for option in question.options]
    rows, kinds = np.repeat(np.arange(len(questions)), sizes), np.array(tiles, np.intp) >> 2
    legal = np.zeros((len(questions), KINDS), np.bool_)
    legal[rows, kinds] = True
    chance34 = chances(logits, legal)
    each, ends = chance34[rows, kinds].tolist(), np.cumsum(sizes).tolist()
    shares = [each[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    for row in np.flatnonzero(legal.sum(axis=1) < sizes).tolist():  # two tiles of a kind
        shares[row] = share_out(chance34[row].tolist(), questions[row].options)
    return shares


def of_runs(questions: Sequence[Question], logits: Logits) -> list[list[float]]:
    """Probabilities of the candidates of chi, from ``[N, 4]`` scores of none and of each place in the run."""
    shares = chances(logits, np.ones(logits.shape, np.bool_)).tolist()
    calls = [action_row(option) for question in questions for option in question.options]
    places = iter(places_in_run(np.array(calls, np.int16)).tolist())
    return [
        [share[next(places)] for _ in question.options]
        for question, share in zip(questions, shares, strict=True)
    ]


def of_yes(logits: Logits) -> NDArray[np.float64]:
    """Softmax over no and yes, ``[N]``: the probability of yes."""
    ahead = logits[:, YES].astype(np.float64) - logits[:, 1 - YES]
    return 0.5 + 0.5 * np.tanh(0.5 * ahead)
