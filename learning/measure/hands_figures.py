"""Predictions of hidden hands at decisions of real games, and their figures as the paper gives them.

Source: Sasaki, "Hand Generation in Mahjong using Diffusion Process Model", Dwango Media Village 2023.
"""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.layout import ROUND_STATE
from game.shanten import shanten, waits
from game.tiles import KINDS
from kit.jit import kernel, warms_up
from learning.data.choice import SelectedDecisions
from learning.data.corpus import Corpus
from learning.data.hidden import HiddenHands, hidden_hands
from learning.data.positions import positions_of
from learning.runs.progress import Progress
from learning.runs.statistics import Estimate, Means
from policies.hands.direct import DirectModel
from policies.hands.views import HandSampler
from policies.nets.architectures import SHANTEN_CLASSES

BINS: Final = 20
"""Bins of equal width in which probabilities are compared with shares."""
TURNS: Final = 18
"""Turns shown; later ones count as the last."""
_LEAST: Final = 1e-6
_NEWTON_STEPS: Final = 30
_AT_ONCE: Final = 20
_OTHERS: Final = 3


class HandDecisions(NamedTuple):
    """Decisions of real games, and the hands at them.

    Attributes:
        states: ``[N]`` of `ROUND_STATE`.
        players: ``[N]`` int64, who decides.
        games: ``[N]`` int64, a number for each game from 0.
        turns: ``[N]`` int64, discards the player has made.
        hands: all hands.
    """

    states: NDArray[np.void]
    players: NDArray[np.int64]
    games: NDArray[np.int64]
    turns: NDArray[np.int64]
    hands: HiddenHands


class HandPredictions(msgspec.Struct, frozen=True):
    """Predictions of a model at N decisions.

    Attributes:
        shanten: ``[N, 3, 7]`` probabilities.
        waits: ``[N, 3, 34]`` probabilities.
        seconds: CPU time of one core.
        samples: hands generated for each opponent and decision; 0 for none.
    """

    shanten: NDArray[np.float64]
    waits: NDArray[np.float64]
    seconds: float
    samples: int


def decisions_of(corpus: Corpus, choice: SelectedDecisions, most: int, seed: int) -> HandDecisions:
    """Decisions drawn evenly from games.

    Args:
        corpus: the games.
        choice: which of them, and whose decisions.
        most: number of decisions to draw.
        seed: seed of the draw.
    """
    total = int(corpus.index["discards"][choice.games].sum(dtype=np.int64))
    share = min(1.0, 1.3 * most / max(1, total))
    rng = np.random.default_rng((seed, 1))
    parts: list[tuple[NDArray[Any], ...]] = []
    for first in range(0, len(choice.games), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        found = positions_of(corpus, SelectedDecisions(choice.games[part], choice.players[part]))
        drawn = np.flatnonzero(rng.random(len(found.players)) < share)
        parts.append((found.states[drawn], found.players[drawn], found.games[drawn]))
    states, players, games = (np.concatenate(values) for values in zip(*parts, strict=True))
    rows = np.arange(len(players))
    if len(rows) > most:
        rows = np.sort(rng.permutation(rows)[:most])
    states, whose = states[rows], players[rows].astype(np.int64)
    return HandDecisions(
        states=states,
        players=whose,
        games=np.unique(games[rows], return_inverse=True)[1].astype(np.int64),
        turns=states["river_size"][np.arange(len(rows)), whose].astype(np.int64),
        hands=hidden_hands(states, players[rows]),
    )


def predicted_directly(model: DirectModel, decisions: HandDecisions) -> HandPredictions:
    """Predictions of the direct heads."""
    begun = time.process_time()
    found = model.read(decisions.states, decisions.players)
    seconds = time.process_time() - begun
    return HandPredictions(found.shanten.astype(np.float64), found.waits.astype(np.float64), seconds, 0)


def predicted_by_samples(
    sampler: HandSampler, decisions: HandDecisions, samples: int, seed: int, *, title: str, quiet: bool
) -> HandPredictions:
    """Predictions of generated hands: the share of them with each shanten and each wait.

    Args:
        sampler: generates the hands.
        decisions: the decisions.
        samples: hands for each opponent and decision.
        seed: seed of the hands.
        title: shown with the progress.
        quiet: show no progress.
    """
    count = len(decisions.players)
    by_shanten = np.zeros((count, _OTHERS, SHANTEN_CLASSES))
    by_wait = np.zeros((count, _OTHERS, 34))
    seconds = 0.0
    with Progress("hands.progress", title, "decisions", total=count, quiet=quiet) as progress:
        for row in range(count):
            one = slice(row, row + 1)
            begun = time.process_time()
            sampled = sampler.sample(decisions.states[one], decisions.players[one], samples, seed)
            seconds += time.process_time() - begun
            _count_hands(
                sampled.counts[0],
                decisions.states[one],
                decisions.players[row],
                by_shanten[row],
                by_wait[row],
            )
            progress.advance(1)
    return HandPredictions(by_shanten / samples, by_wait / samples, seconds, samples)


@kernel
def _count_hands(
    hands: NDArray[np.int8],
    state: NDArray[np.void],
    player: int,
    by_shanten: NDArray[np.float64],
    by_wait: NDArray[np.float64],
) -> None:
    """Add the shanten and the waits of some samples ``[n, 3, 34]``."""
    rec = state[0]
    for sample in range(len(hands)):
        for seat in range(3):
            melds = int(rec.meld_count[(player + seat + 1) % 4])
            hand34 = hands[sample, seat]
            distance = max(0, shanten(hand34, melds))
            by_shanten[seat, min(6, distance)] += 1
            mask = waits(hand34, melds) if distance == 0 else np.uint64(0)
            for kind in range(34):
                by_wait[seat, kind] += (mask >> np.uint64(kind)) & np.uint64(1)


@warms_up
def _warm_up() -> None:
    hands, shares = np.zeros((1, _OTHERS, KINDS), np.int8), np.zeros((_OTHERS, SHANTEN_CLASSES))
    _count_hands(hands, np.zeros(1, ROUND_STATE), 0, shares, np.zeros((_OTHERS, KINDS)))


class WaitFigures(msgspec.Struct, frozen=True):
    """Calibration of predicted waits, over opponents and kinds.

    Attributes:
        ece: expected calibration error, in `BINS` bins.
        curve: ``[20, 3]`` by bin: cases, mean prediction, actual share.
    """

    ece: Estimate
    curve: list[list[float]]


class ModelFigures(msgspec.Struct, frozen=True):
    """Figures of one model.

    Attributes:
        model: its name.
        l2: mean distance of the expected shanten from the true one.
        l2_deviation: standard deviation of that distance.
        by_turn: ``[18, 7]`` mean predicted shares of the shanten, by turn.
        ready: mean predicted share of ready hands.
        waits: calibration of waits.
        scaled_waits: the same after Platt scaling.
        hands_per_s: hands per second of one core's time; for the direct heads, hands described.
    """

    model: str
    l2: Estimate
    l2_deviation: float
    by_turn: list[list[float]]
    ready: float
    waits: WaitFigures
    scaled_waits: WaitFigures
    hands_per_s: float


def model_figures(model: str, found: HandPredictions, decisions: HandDecisions) -> ModelFigures:
    """All figures of a model."""
    truth = np.minimum(decisions.hands.shanten, SHANTEN_CLASSES - 1)
    missed = np.abs(found.shanten @ np.arange(SHANTEN_CLASSES) - truth)
    return ModelFigures(
        model=model,
        l2=Means(decisions.games, missed.mean(1))[0],
        l2_deviation=float(missed.std()),
        by_turn=shares_by_turn(found.shanten, decisions).tolist(),
        ready=float(found.shanten[..., 0].mean()),
        waits=_wait_figures(found.waits, decisions),
        scaled_waits=_wait_figures(platt_scaled(found, decisions), decisions),
        hands_per_s=truth.size * max(1, found.samples) / max(_LEAST, found.seconds),
    )


def shares_by_turn(shanten: NDArray[np.float64], decisions: HandDecisions) -> NDArray[np.float64]:
    """``[18, 7]`` mean shares of the shanten by turn; NaN for turns without decisions."""
    turns = np.minimum(decisions.turns, TURNS - 1)
    sums, counts = np.zeros((TURNS, SHANTEN_CLASSES)), np.bincount(turns, minlength=TURNS)
    np.add.at(sums, turns, shanten.mean(1))
    with np.errstate(invalid="ignore"):
        shares: NDArray[np.float64] = sums / counts[:, None]
    return shares


def true_shares(decisions: HandDecisions) -> NDArray[np.float64]:
    """``[N, 3, 7]``: 1 for the true shanten."""
    shares: NDArray[np.float64] = np.eye(SHANTEN_CLASSES)[
        np.minimum(decisions.hands.shanten, SHANTEN_CLASSES - 1)
    ]
    return shares


def platt_scaled(found: HandPredictions, decisions: HandDecisions) -> NDArray[np.float64]:
    """``[N, 3, 34]``: probabilities of waits after Platt scaling.

    Each half of the games is scaled by a fit to the other half (cross-fitting).

    Source: Platt, "Probabilistic outputs for support vector machines", 1999.
    """
    # shares of samples are moved from 0 and 1 by half a hand; probabilities stay within bounds
    shares = (found.waits * found.samples + 0.5) / (found.samples + 1.0) if found.samples else found.waits
    shares = np.clip(shares, _LEAST, 1.0 - _LEAST)
    scores = np.log(shares) - np.log1p(-shares)
    scaled = np.empty_like(shares)
    for half in (0, 1):
        here = decisions.games % 2 == half
        slope, offset = _logistic(scores[~here].ravel(), decisions.hands.waits[~here].ravel())
        scaled[here] = 1.0 / (1.0 + np.exp(-(slope * scores[here] + offset)))
    return scaled


def _wait_figures(chances: NDArray[np.float64], decisions: HandDecisions) -> WaitFigures:
    """Calibration of ``[N, 3, 34]`` probabilities."""
    share, truth = (each.reshape(len(chances), -1) for each in (chances, decisions.hands.waits))
    bins = np.minimum((BINS * share).astype(np.int64), BINS - 1)
    missed = np.zeros((len(share), BINS))
    np.add.at(missed, (np.arange(len(share))[:, None], bins), share - truth)
    columns = [np.bincount(bins.ravel(), weights, BINS) for weights in (None, share.ravel(), truth.ravel())]
    cases = np.maximum(columns[0], 1)
    return WaitFigures(
        Means(decisions.games, missed).of(lambda means: np.abs(means).sum(-1) / share.shape[1]),
        np.stack([columns[0], columns[1] / cases, columns[2] / cases], 1).tolist(),
    )


def _logistic(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset of a logistic regression, by Newton's method."""
    inputs = np.stack([scores, np.ones_like(scores)], 1)
    weights = np.array([1.0, 0.0])
    for _ in range(_NEWTON_STEPS):
        chances = 1.0 / (1.0 + np.exp(-(inputs @ weights)))
        gradient = inputs.T @ (truth - chances)
        curvature = (inputs * (chances * (1.0 - chances))[:, None]).T @ inputs + 1e-9 * np.eye(2)
        change = np.linalg.solve(curvature, gradient)
        weights = weights + change
        if np.abs(change).max() < 1e-8:
            break
    return float(weights[0]), float(weights[1])
