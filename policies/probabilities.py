"""Probabilities of a question's options, from a network's scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.rules import action_row
from game.tiles import KINDS, RED_FIVES
from policies.chi_places import places_in_run
from policies.networks import YES
from policies.slots import Question

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
    kinds = [tile >> 2 for tile in tiles]
    if len(set(kinds)) == len(kinds):
        return [chance34[kind] for kind in kinds]
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
    legal = np.zeros((len(questions), KINDS), np.bool_)
    for row, question in enumerate(questions):
        legal[row, [option.tile >> 2 for option in question.options]] = True
    shares = chances(logits, legal).tolist()
    return [share_out(share, question.options) for share, question in zip(shares, questions, strict=True)]


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
