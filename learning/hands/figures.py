"""Figures of predicted hands, each with its interval over games."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from learning.hands.foresight import Foresight, HandDecisions
from learning.matches.statistics import Estimate, Floats, Statistic, estimate, ratio, resample
from policies.nets.architectures import SHANTEN_CLASSES

BINS: Final = 20
"""Bins of equal width in which probabilities are compared with shares."""
TURNS: Final = 18
"""Turns shown; later ones count as the last."""
_RESAMPLES: Final = 1000
_LEAST: Final = 1e-6
_DANGER_BINS: Final = 400
_NEWTON_STEPS: Final = 30


class WaitFigures(msgspec.Struct, frozen=True):
    """Quality of predicted waits, for each opponent and kind.

    Attributes:
        cases: opponents times kinds.
        rate: share of them that are waits.
        ece: expected calibration error, in `BINS` bins.
        log_loss: mean; the shares of generated hands are moved from 0 and 1 by half a hand.
    """

    cases: int
    rate: float
    ece: Estimate
    log_loss: Estimate


class ModelFigures(msgspec.Struct, frozen=True):
    """Figures of one model.

    Attributes:
        model: its name.
        samples: hands generated for each opponent and decision, 0 for none.
        l2: mean distance of the expected shanten from the true one, the paper's figure.
        l2_deviation: standard deviation of that distance.
        root_square: root of the mean squared distance.
        sample_root_square: the same of single generated hands; None where there are none.
        shanten_loss: mean log loss of the shanten's class.
        by_turn: ``[18, 7]`` mean predicted shares of the shanten, by turn.
        distribution: total variation distance between predicted and true shares, the mean over hands by turn.
        ready: mean predicted share of ready hands.
        waits: by "all", "riichi" and "other", before and after Platt scaling.
        curve: ``[20, 3]`` by bin: cases, mean prediction, actual share, of all waits.
        scaled_curve: the same after Platt scaling.
        four: share of hands with four of a kind.
        filled: share of tiles drawn at random.
        unready: share of hands in riichi that were not ready when first drawn.
        corrected: share of samples with tiles exchanged for riichi.
        replaced: share of samples that needed a random ready hand.
        raised: share of hands made ready because the direct model expects more.
        hands_per_s: hands per second of one core's time; for the direct heads, hands described.
    """

    model: str
    samples: int
    l2: Estimate
    l2_deviation: float
    root_square: Estimate
    sample_root_square: Estimate | None
    shanten_loss: Estimate
    by_turn: list[list[float]]
    distribution: Estimate
    ready: Estimate
    waits: dict[str, tuple[WaitFigures, WaitFigures]]
    curve: list[list[float]]
    scaled_curve: list[list[float]]
    four: float | None
    filled: float | None
    unready: float | None
    corrected: float | None
    replaced: float | None
    raised: float | None
    hands_per_s: float


class DangerFigures(msgspec.Struct, frozen=True):
    """Predicted deal-ins of real discards, against each opponent.

    Attributes:
        against: the opponents.
        cases: discards times opponents.
        deal_ins: deal-ins among them.
        foreseen: foreseen deal-ins, by rule and by the direct heads.
        log_loss: by rule, by the heads.
        gain: by how much the second is below the first.
        auc: chance that a discard that deals in is rated more dangerous than one that does not.
        auc_gain: by how much the second is above the first.
    """

    against: str
    cases: int
    deal_ins: int
    foreseen: tuple[float, float]
    log_loss: tuple[Estimate, Estimate]
    gain: Estimate
    auc: tuple[Estimate, Estimate]
    auc_gain: Estimate


class _ByGame(NamedTuple):
    """Sums by game, as resampling needs them."""

    games: NDArray[np.int64]
    number: int

    def sums(self, values: NDArray[np.float64]) -> Floats:
        """``[G, K]`` from ``[N, K]``."""
        out = np.zeros((self.number, values.shape[1]))
        np.add.at(out, self.games, values)
        return out

    def mean(self, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Estimate:
        """Mean of ``[N, M]`` over everything, or where the weights are 1."""
        weights = np.ones_like(values) if weights is None else weights
        sums = self.sums(np.stack([(values * weights).sum(1), weights.sum(1)], 1))
        return estimated(sums, ratio(0, 1))


def estimated(sums: Floats, statistic: Statistic) -> Estimate:
    """A statistic with its interval over games."""
    return estimate(sums, resample(sums, _RESAMPLES), statistic)


def model_figures(model: str, found: Foresight, decisions: HandDecisions) -> ModelFigures:
    """All figures of a model."""
    by_game = _ByGame(decisions.games, int(decisions.games.max()) + 1)
    truth = np.minimum(decisions.hands.shanten, SHANTEN_CLASSES - 1).astype(np.int64)
    missed = np.abs(found.shanten @ np.arange(SHANTEN_CLASSES) - truth)
    square = by_game.mean(missed**2)
    single = by_game.mean(found.square) if len(found.square) else None
    chances = np.take_along_axis(_moved(found.shanten, found.samples), truth[..., None], 2)[..., 0]
    scaled = platt_scaled(found, decisions)
    counts, hands = found.counts, max(1, found.counts.hands if found.counts else 0)
    return ModelFigures(
        model=model,
        samples=found.samples,
        l2=by_game.mean(missed),
        l2_deviation=float(missed.std()),
        root_square=_root(square),
        sample_root_square=None if single is None else _root(single),
        shanten_loss=by_game.mean(-np.log(np.maximum(_LEAST, chances))),
        by_turn=shares_by_turn(found.shanten, decisions).tolist(),
        distribution=_distribution(found.shanten, truth, decisions, by_game),
        ready=by_game.mean(found.shanten[..., 0]),
        waits={
            name: (
                _wait_figures(found.waits, found.samples, decisions, by_game, rows),
                _wait_figures(scaled, 0, decisions, by_game, rows),
            )
            for name, rows in _riichi_groups(decisions).items()
        },
        curve=_curve(found.waits, decisions),
        scaled_curve=_curve(scaled, decisions),
        four=None if np.isnan(found.four) else found.four,
        filled=counts.filled / max(1, counts.tiles) if counts else None,
        unready=counts.unready / max(1, counts.riichi) if counts else None,
        corrected=3 * counts.corrected / hands if counts else None,
        replaced=3 * counts.replaced / hands if counts else None,
        raised=counts.raised / hands if counts else None,
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
    shares = _moved_share(found.waits, found.samples)
    scores = np.log(shares) - np.log1p(-shares)
    scaled = np.empty_like(shares)
    for half in (0, 1):
        here = decisions.games % 2 == half
        slope, offset = _logistic(scores[~here].ravel(), decisions.hands.waits[~here].ravel())
        scaled[here] = 1.0 / (1.0 + np.exp(-(slope * scores[here] + offset)))
    return scaled


def danger_figures(
    rule: NDArray[np.float64], heads: NDArray[np.float64], decisions: HandDecisions
) -> tuple[DangerFigures, ...]:
    """Foreseen deal-ins by rule and by the direct heads.

    Args:
        rule: ``[N, 3]`` probability that the discard deals in to each opponent, by rule.
        heads: the same by the direct heads.
        decisions: the discards.
    """
    rows = np.arange(len(decisions.players))[:, None]
    truth = decisions.hands.deal_ins[rows, np.arange(3), decisions.discards[:, None]]
    riichi = decisions.hands.riichi
    groups = {"all opponents": np.ones_like(riichi), "in riichi": riichi, "not in riichi": ~riichi}
    by_game = _ByGame(decisions.games, int(decisions.games.max()) + 1)
    return tuple(_danger(name, (rule, heads), truth, here, by_game) for name, here in groups.items())


def _danger(
    name: str,
    both: tuple[NDArray[np.float64], NDArray[np.float64]],
    truth: NDArray[np.bool_],
    here: NDArray[np.bool_],
    by_game: _ByGame,
) -> DangerFigures:
    weights = here.astype(np.float64)
    losses = [-np.log(np.where(truth, each, 1.0 - each)) for each in (_within(one) for one in both)]
    tables = [_rating_table(each, truth, here, by_game) for each in both]
    one, other = (_area_at(0), _area_at(2 * _DANGER_BINS))
    together = np.concatenate(tables, 1)
    return DangerFigures(
        against=name,
        cases=int(here.sum()),
        deal_ins=int((truth & here).sum()),
        foreseen=(float(both[0][here].sum()), float(both[1][here].sum())),
        log_loss=(by_game.mean(losses[0], weights), by_game.mean(losses[1], weights)),
        gain=by_game.mean(losses[0] - losses[1], weights),
        auc=(estimated(together, one), estimated(together, other)),
        auc_gain=estimated(together, lambda sums: other(sums) - one(sums)),
    )


def _rating_table(
    chances: NDArray[np.float64], truth: NDArray[np.bool_], here: NDArray[np.bool_], by_game: _ByGame
) -> Floats:
    """``[G, 2 · bins]``: discards by rated danger, those that do not deal in and those that do."""
    places = np.log(_within(chances)) / np.log(_LEAST)
    bins = np.minimum((_DANGER_BINS * (1.0 - places)).astype(np.int64), _DANGER_BINS - 1)
    bins = np.maximum(bins, 0) + _DANGER_BINS * truth
    table = np.zeros((by_game.number, 2 * _DANGER_BINS))
    games = np.broadcast_to(by_game.games[:, None], here.shape)
    np.add.at(table, (games[here], bins[here]), 1.0)
    return table


def _area_at(first: int) -> Statistic:
    """Area under the curve of two rows of bins; pairs within a bin count half."""

    def area(sums: Floats) -> Floats:
        harmless = sums[..., first : first + _DANGER_BINS]
        dealt_in = sums[..., first + _DANGER_BINS : first + 2 * _DANGER_BINS]
        below = np.cumsum(harmless, -1) - harmless / 2.0
        pairs = dealt_in.sum(-1) * harmless.sum(-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = (dealt_in * below).sum(-1) / pairs
        return found

    return area


def _wait_figures(
    chances: NDArray[np.float64],
    samples: int,
    decisions: HandDecisions,
    by_game: _ByGame,
    rows: NDArray[np.bool_],
) -> WaitFigures:
    """Figures of the waits of the opponents in ``rows``, ``[N, 3]``."""
    truth = decisions.hands.waits
    weights = np.broadcast_to(rows[..., None], truth.shape).astype(np.float64)
    moved = _moved_share(chances, samples)
    losses = -np.log(np.where(truth, moved, 1.0 - moved))
    bins = np.minimum((BINS * chances).astype(np.int64), BINS - 1)
    table = np.zeros((by_game.number, 2 * BINS))
    games = np.broadcast_to(by_game.games[:, None, None], truth.shape)
    np.add.at(table, (games[rows], bins[rows]), chances[rows])
    np.add.at(table, (games[rows], BINS + bins[rows]), truth[rows].astype(np.float64))
    cases = np.zeros((by_game.number, 1))
    np.add.at(cases[:, 0], by_game.games, weights.sum((1, 2)))
    count = max(1, int(cases.sum()))
    flat = (len(truth), -1)
    return WaitFigures(
        cases=int(cases.sum()),
        rate=float((truth * weights).sum() / count),
        ece=estimated(np.concatenate([table, cases], 1), _calibration),
        log_loss=by_game.mean(losses.reshape(flat), weights.reshape(flat)),
    )


def _calibration(sums: Floats) -> Floats:
    """Expected calibration error of sums of probabilities and of truths by bin, and the number of cases."""
    error: Floats = np.abs(sums[..., :BINS] - sums[..., BINS : 2 * BINS]).sum(-1) / sums[..., -1]
    return error


def _curve(chances: NDArray[np.float64], decisions: HandDecisions) -> list[list[float]]:
    truth = decisions.hands.waits.ravel()
    bins = np.minimum((BINS * chances).astype(np.int64), BINS - 1).ravel()
    cases = np.bincount(bins, minlength=BINS)
    sums = [np.bincount(bins, values, BINS) / np.maximum(1, cases) for values in (chances.ravel(), truth)]
    curve: list[list[float]] = np.stack([cases, *sums], 1).tolist()
    return curve


def _distribution(
    shanten: NDArray[np.float64], truth: NDArray[np.int64], decisions: HandDecisions, by_game: _ByGame
) -> Estimate:
    """Total variation distance between mean predicted and true shares by turn, weighted by the hands."""
    turns = np.minimum(decisions.turns, TURNS - 1)
    size = TURNS * SHANTEN_CLASSES
    table = np.zeros((by_game.number, 2 * size))
    for seat in range(truth.shape[1]):
        first = turns * SHANTEN_CLASSES
        np.add.at(table, (by_game.games, size + first + truth[:, seat]), 1.0)
        for each in range(SHANTEN_CLASSES):
            np.add.at(table, (by_game.games, first + each), shanten[:, seat, each])

    def distance(sums: Floats) -> Floats:
        found: Floats = np.abs(sums[..., :size] - sums[..., size:]).sum(-1) / 2.0 / sums[..., size:].sum(-1)
        return found

    return estimated(table, distance)


def _riichi_groups(decisions: HandDecisions) -> dict[str, NDArray[np.bool_]]:
    riichi = decisions.hands.riichi
    return {"all": np.ones_like(riichi), "riichi": riichi, "other": ~riichi}


def _root(square: Estimate) -> Estimate:
    return Estimate(
        *(
            None if value is None else float(np.sqrt(value))
            for value in (square.value, square.low, square.high)
        )
    )


def _moved(shares: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
    """Shares of samples in classes, moved from 0 by half a hand in all; probabilities stay as they are."""
    classes = shares.shape[-1]
    return (shares * samples + 0.5 / classes) / (samples + 0.5) if samples else shares


def _moved_share(shares: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
    """Shares of samples moved from 0 and 1 by half a hand; probabilities stay within the bounds."""
    return (shares * samples + 0.5) / (samples + 1.0) if samples else _within(shares)


def _within(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(chances, _LEAST, 1.0 - _LEAST)


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
