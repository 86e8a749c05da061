"""Figures of predicted hands as the paper gives them, each with its interval over games.

Source: Sasaki, "Hand Generation in Mahjong using Diffusion Process Model", Dwango Media Village 2023.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from learning.measure.hands_predicted import Foresight, HandDecisions
from learning.runs.statistics import Estimate, Means
from policies.nets.architectures import SHANTEN_CLASSES

BINS: Final = 20
"""Bins of equal width in which probabilities are compared with shares."""
TURNS: Final = 18
"""Turns shown; later ones count as the last."""
_LEAST: Final = 1e-6
_NEWTON_STEPS: Final = 30


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


def model_figures(model: str, found: Foresight, decisions: HandDecisions) -> ModelFigures:
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


def platt_scaled(found: Foresight, decisions: HandDecisions) -> NDArray[np.float64]:
    """``[N, 3, 34]``: probabilities of waits after Platt scaling.

    Each half of the games is scaled by what the other half teaches, so that nothing is fitted to itself.

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
    said, truth = (each.reshape(len(chances), -1) for each in (chances, decisions.hands.waits))
    bins = np.minimum((BINS * said).astype(np.int64), BINS - 1)
    missed = np.zeros((len(said), BINS))
    np.add.at(missed, (np.arange(len(said))[:, None], bins), said - truth)
    columns = [np.bincount(bins.ravel(), weights, BINS) for weights in (None, said.ravel(), truth.ravel())]
    cases = np.maximum(columns[0], 1)
    return WaitFigures(
        Means(decisions.games, missed).of(lambda means: np.abs(means).sum(-1) / said.shape[1]),
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
