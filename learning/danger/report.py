"""`suzaku eval danger`: compares the predictions of `policies.heuristic.danger` with real games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from learning.accuracy.data import GamesPlan, opened, players_of
from learning.corpus.reader import Corpus
from learning.danger.counts import BINS, Counts, count, no_counts
from learning.runs.progress import Progress
from learning.samples.choice import SelectedDecisions
from learning.samples.positions import positions_of
from policies.heuristic.open_hands import READINGS, TILE_CLASSES

_NORMAL: Final = 1.959964
_GAMES_AT_ONCE: Final = 20
_TILES: Final = ("held", "thrown")
"""As the report's JSON names them; people read "discarded"."""
_AGAINST: Final = ("all opponents", "open hands", "open hands that are tenpai")
_EVENT: Final = "danger.progress"
_LEAST_TILES: Final = 100
"""A class with fewer tiles is not printed."""
_TENPAI_TILES: Final = 10.0
"""Pseudo-count of exactly predicted tiles: a few winning tiles alone do not make a factor."""


class DealInAccuracy(msgspec.Struct, frozen=True):
    """Accuracy of predicted deal-ins; ``plain`` from suji and passed tiles, ``melds`` from open hands too.

    Attributes:
        tiles: held, each tile that could have been discarded, or thrown, each that was.
        against: the opponents.
        count: tiles times opponents.
        deal_ins: deal-ins among these.
        foretold: predicted deal-ins, in both ways.
        log_loss: mean, in both ways.
        gain: by how much the second loss is below the first, and half its 95 % interval over games.
        auc: chance that a tile that deals in is rated more dangerous than one that does not, in both ways.
    """

    tiles: str
    against: str
    count: int
    deal_ins: int
    foretold: tuple[float, float]
    log_loss: tuple[float, float]
    gain: tuple[float, float]
    auc: tuple[float, float]


class ClassFigures(msgspec.Struct, frozen=True):
    """One class of tiles against one reading: actual and predicted deal-ins, in both ways.

    Attributes:
        tile_class: one of `policies.heuristic.open_hands.TILE_CLASSES`.
        held: tiles that could have been discarded.
        held_rate: share of them that deals in.
        held_foretold: the predicted share, in both ways.
        discarded: tiles discarded.
        discarded_rate: share of them that dealt in.
        factor: winning tiles of tenpai hands relative to those predicted from suji and passed tiles.
    """

    tile_class: str
    held: int
    held_rate: float
    held_foretold: tuple[float, float]
    discarded: int = msgspec.field(name="thrown")
    discarded_rate: float = msgspec.field(name="thrown_rate")
    factor: float


class ReadingFigures(msgspec.Struct, frozen=True):
    """Hands of one reading.

    Attributes:
        reading: one of `policies.heuristic.open_hands.READINGS`.
        hands: opponents at the moment of a discard.
        tenpai: share that was tenpai.
        tenpai_foretold: the predicted share, in both ways.
        tenpai_factors: tenpai hands of 1, 2 and 3 melds relative to those predicted without a reading.
        points: mean of a possible ron, without ura dora.
        points_foretold: the predicted mean, in both ways.
        suji_factor: for tiles with no open suji, on top of the factors of their classes.
        classes: by class of tile.
    """

    reading: str
    hands: int
    tenpai: float
    tenpai_foretold: tuple[float, float]
    tenpai_factors: tuple[float | None, float | None, float | None]
    points: float
    points_foretold: tuple[float, float]
    suji_factor: float
    classes: tuple[ClassFigures, ...]


class DangerReport(msgspec.Struct, frozen=True):
    """Result of the comparison.

    Attributes:
        split: part of the corpus.
        corpus: its content hash.
        games: number of games.
        discards: free discards examined.
        foretold: deal-ins.
        readings: readings of open hands.
    """

    split: str
    corpus: str
    games: int
    discards: int
    foretold: tuple[DealInAccuracy, ...]
    readings: tuple[ReadingFigures, ...]


def measure_danger(data: Sequence[Path], plan: GamesPlan, *, quiet: bool = False) -> DangerReport:
    """Compare predicted danger with the hands of real games.

    Args:
        data: a corpus, or records.
        plan: the games.
        quiet: show no progress.

    Raises:
        ConfigError: no game matches.
        ReplayError: there is no corpus, or it cannot be read.
    """
    with opened(data) as source:
        players = players_of(source, plan)
        counts, discards, gains = _counted(source.corpus, (players,), quiet=quiet)
        return DangerReport(
            split=plan.split or source.split,
            corpus=source.corpus.card["content_sha256"],
            games=len(players.games),
            discards=discards,
            foretold=tuple(
                _foretold(counts, gains, tiles, against)
                for tiles in range(len(_TILES))
                for against in range(len(_AGAINST))
            ),
            readings=tuple(_reading(counts, reading) for reading in range(1, len(READINGS))),
        )


def _counted(
    corpus: Corpus, choices: Sequence[SelectedDecisions], *, quiet: bool
) -> tuple[Counts, int, NDArray[np.float64]]:
    """The counts, the number of discards, and the log loss by batch of games: ``[B, 2, 3, 2]``."""
    counts, discards, losses = no_counts(), 0, [np.zeros((2, 3, 2))]
    total = sum(len(choice.games) for choice in choices)
    with Progress(_EVENT, "danger", "games", total=total, quiet=quiet) as progress:
        for choice in choices:
            for first in range(0, len(choice.games), _GAMES_AT_ONCE):
                part = slice(first, first + _GAMES_AT_ONCE)
                positions = positions_of(corpus, SelectedDecisions(choice.games[part], choice.players[part]))
                count(positions, counts)
                discards += len(positions.states)
                losses.append(counts.losses.copy())
                progress.advance(len(choice.games[part]))
    return counts, discards, np.diff(np.array(losses), axis=0)


def _foretold(counts: Counts, losses: NDArray[np.float64], tiles: int, against: int) -> DealInAccuracy:
    answers = counts.answers[tiles, against]
    number = float(answers[0].sum())
    by_batch = losses[:, tiles, against, 0] - losses[:, tiles, against, 1]
    spread = float(np.std(by_batch)) * math.sqrt(len(by_batch))
    return DealInAccuracy(
        tiles=_TILES[tiles],
        against=_AGAINST[against],
        count=int(number),
        deal_ins=int(answers[0, 1].sum()),
        foretold=_both(counts.foretold[tiles, against]),
        log_loss=_both(counts.losses[tiles, against] / max(1.0, number)),
        gain=(float(by_batch.sum()) / max(1.0, number), _NORMAL * spread / max(1.0, number)),
        auc=_both([_area(each) for each in answers]),
    )


def _area(answers: NDArray[np.float64]) -> float:
    """Area under the curve of ``[2, BINS]`` counts; pairs within one bin count half."""
    assert answers.shape == (2, BINS)
    harmless, dealt_in = answers
    below = np.cumsum(harmless) - harmless / 2.0
    return float((dealt_in * below).sum() / max(1.0, float(dealt_in.sum() * harmless.sum())))


def _reading(counts: Counts, reading: int) -> ReadingFigures:
    hands = counts.hands[reading]
    number, plain, melds, tenpai = hands.sum(axis=0).tolist()
    won, points, *points_foretold = counts.points[reading].tolist()
    factors = _factors(counts, reading)
    suji = counts.tenpai_tiles[reading, :, 1]
    expected = float((suji[:, 0] * factors).sum())
    first, second, third = (
        float(row[3] / before) if row[0] >= _LEAST_TILES else None
        for row, before in zip(hands, counts.plain[reading], strict=True)
    )
    return ReadingFigures(
        reading=READINGS[reading],
        hands=int(number),
        tenpai=tenpai / max(1.0, number),
        tenpai_foretold=(plain / max(1.0, number), melds / max(1.0, number)),
        tenpai_factors=(first, second, third),
        points=points / max(1.0, won),
        points_foretold=_both([each / max(1.0, won) for each in points_foretold]),
        suji_factor=(float(suji[:, 1].sum()) + _TENPAI_TILES) / (expected + _TENPAI_TILES),
        classes=tuple(
            _class(counts, reading, place, float(factors[place]))
            for place in range(len(TILE_CLASSES))
            if counts.tiles[0, reading, place, 0] > 0
        ),
    )


def _factors(counts: Counts, reading: int) -> NDArray[np.float64]:
    """``[C]``: winning tiles with open suji relative to those predicted without the reading."""
    foretold, won = counts.tenpai_tiles[reading, :, 0].T
    factors: NDArray[np.float64] = (won + _TENPAI_TILES) / (foretold + _TENPAI_TILES)
    return factors


def _class(counts: Counts, reading: int, place: int, factor: float) -> ClassFigures:
    held, discarded = counts.tiles[:, reading, place]
    return ClassFigures(
        tile_class=TILE_CLASSES[place],
        held=int(held[0]),
        held_rate=float(held[3] / held[0]),
        held_foretold=_both(held[1:3] / held[0]),
        discarded=int(discarded[0]),
        discarded_rate=float(discarded[3] / max(1.0, discarded[0])),
        factor=factor,
    )


def _both(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    plain, melds = (float(value) for value in values)
    return plain, melds
