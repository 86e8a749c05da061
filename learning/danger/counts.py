"""Compares predictions of `policies.heuristic.danger` with real games: tenpai hands, tiles that deal in.

Every free discard is examined from its player's seat, against each opponent in turn. The records show all
hands, so it is known for every tile that could have been discarded, the actual one included, whether it deals
in.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.fold import bit
from game.layout import ROUND_STATE
from game.scoring.dora import dora_of
from kit.jit import kernel, warms_up
from learning.samples.positions import Positions
from policies.heuristic.danger import (
    expected_points,
    is_furiten,
    open_melds,
    open_suji,
    rates_against,
    tenpai_chance,
    won_han,
)
from policies.heuristic.hand_value import SIDE_SIZE
from policies.heuristic.open_hands import (
    CLOSED,
    READINGS,
    TILE_CLASSES,
    rate_factor,
    read_melds,
    tenpai_factor,
    tile_class,
)
from policies.heuristic.outlook import fill_side
from policies.heuristic.stakes import RON_POINTS

WAYS: Final = 2
"""Danger from suji and passed tiles alone, and adapted to what open hands show."""
HELD: Final = 0
DISCARDED: Final = 1
"""Every tile that could have been discarded, and the one that was."""
TENPAI: Final = 2
"""After all opponents and those with open melds: those of the latter that are tenpai, which is then given."""
BINS: Final = 4000

_LEAST: Final = 1e-6
"""Lower bound for predicted chances in the logarithm."""
_RON_POINTS: Final = np.array(RON_POINTS)
_ANSWERS: Final = (2, 3, WAYS)


class Counts(NamedTuple):
    """Counts; ``R`` readings, ``C`` classes of tiles.

    Attributes:
        hands: ``[R, 3, 4]`` by open melds: hands, predicted tenpai in both ways, actual tenpai.
        plain: ``[R, 3]`` tenpai predicted without the reading's factor.
        points: ``[R, 4]`` winning tiles of tenpai hands, their actual points, points predicted in both ways.
        tiles: ``[2, R, C, 4]`` held and discarded: tiles, deal-ins predicted in both ways, actual deal-ins.
        tenpai_tiles: ``[R, C, 2, 2]`` held, against hands that are tenpai, tiles with open suji and without:
            deal-ins predicted without the reading's factors, and actual ones.
        answers: ``[2, 3, 2, 2, BINS]`` held and discarded; against all, open and tenpai hands; by way; no
            deal-in and deal-in; by the predicted chance, on a logarithmic scale.
        foretold: ``[2, 3, 2]`` predicted deal-ins: held and discarded; all, open and tenpai; by way.
        losses: ``[2, 3, 2]`` summed log loss: held and discarded; all, open and tenpai; by way.
    """

    hands: NDArray[np.float64]
    plain: NDArray[np.float64]
    points: NDArray[np.float64]
    tiles: NDArray[np.float64]
    tenpai_tiles: NDArray[np.float64]
    answers: NDArray[np.float64]
    foretold: NDArray[np.float64]
    losses: NDArray[np.float64]


def no_counts() -> Counts:
    """Empty counts."""
    readings, classes = len(READINGS), len(TILE_CLASSES)
    return Counts(
        np.zeros((readings, 3, 4)),
        np.zeros((readings, 3)),
        np.zeros((readings, 4)),
        np.zeros((2, readings, classes, 4)),
        np.zeros((readings, classes, 2, 2)),
        np.zeros((*_ANSWERS, 2, BINS)),
        np.zeros(_ANSWERS),
        np.zeros(_ANSWERS),
    )


def count(positions: Positions, counts: Counts) -> None:
    """Add some discards to the counts."""
    _count(positions.states, positions.players, positions.legal, positions.labels, counts)


@kernel
def _count(states: Any, players: Any, legal: Any, discarded: Any, counts: Any) -> None:
    visible = np.empty(34, dtype=np.int8)
    dora34 = np.empty(34, dtype=np.int8)
    for place in range(len(states)):
        rec = states[place]
        player = int(players[place])
        for kind in range(34):
            visible[kind] = rec.seen34[kind] + rec.hand34[player, kind]
            dora34[kind] = 0
        for i in range(rec.indicator_count):
            dora34[dora_of(int(rec.indicators[i]) >> 2)] += 1
        for step in range(1, 4):
            other = (player + step) % 4
            _against(rec, other, visible, dora34, legal[place], int(discarded[place]), counts)


@kernel
def _against(
    rec: Any, other: int, visible: Any, dora34: Any, legal: Any, discarded: int, counts: Any
) -> None:
    reading, suit = read_melds(rec, other) if rec.riichi[other] == 0 else (CLOSED, -1)
    melds = max(1, min(3, open_melds(rec, other)))
    tenpai = rec.waits[other] != np.uint64(0)
    furiten = is_furiten(rec, other)
    chance = (tenpai_chance(rec, other, False), tenpai_chance(rec, other, True))
    rates = np.empty((WAYS, 34))
    rates_against(rec, other, visible, dora34, False, rates[0])
    rates_against(rec, other, visible, dora34, True, rates[1])
    safe = rec.river34[other] | rec.safe34[other] | rec.turn_safe34[other]
    side = np.empty(SIDE_SIZE, dtype=np.int64)
    if tenpai:
        fill_side(rec, other, dora34, side)
    hands = counts.hands[reading, melds - 1]
    hands[0] += 1
    hands[1] += chance[0]
    hands[2] += chance[1]
    hands[3] += tenpai
    counts.plain[reading, melds - 1] += chance[1] / tenpai_factor(reading, melds)
    for kind in range(34):
        if (legal & bit(kind)) == 0:
            continue
        han = 0
        if tenpai and not furiten and (rec.waits[other] & bit(kind)) != np.uint64(0):
            han = won_han(rec, other, kind, side, dora34)
        kind_class = tile_class(rec, other, kind, suit)
        rate = (rates[0, kind], rates[1, kind])
        _count_tile(counts, HELD, reading, kind_class, chance, rate, tenpai, han > 0)
        if kind == discarded:
            _count_tile(counts, DISCARDED, reading, kind_class, chance, rate, tenpai, han > 0)
        if tenpai:
            is_suji = kind < 27 and open_suji(kind, safe, visible) <= 0.0
            cell = counts.tenpai_tiles[reading, kind_class, int(is_suji)]
            cell[0] += rate[1] / rate_factor(reading, kind_class, is_suji)
            cell[1] += han > 0
        if han > 0:
            _count_points(counts.points[reading], rec, other, dora34, han)


@kernel
def _count_tile(
    counts: Any,
    which: int,
    reading: int,
    kind_class: int,
    chance: Any,
    rate: Any,
    tenpai: bool,
    dealt_in: bool,
) -> None:
    cell = counts.tiles[which, reading, kind_class]
    cell[0] += 1
    cell[3] += dealt_in
    for way in range(WAYS):
        cell[1 + way] += chance[way] * rate[way]
        for against in range(1 if reading == CLOSED else (3 if tenpai else 2)):
            foretold = rate[way] if against == TENPAI else chance[way] * rate[way]
            foretold = min(1.0 - _LEAST, max(_LEAST, foretold))
            place = int(BINS * math.log(foretold / _LEAST) / -math.log(_LEAST))
            counts.foretold[which, against, way] += foretold
            counts.losses[which, against, way] -= math.log(foretold if dealt_in else 1.0 - foretold)
            counts.answers[which, against, way, int(dealt_in), min(BINS - 1, place)] += 1


@kernel
def _count_points(cell: Any, rec: Any, other: int, dora34: Any, han: int) -> None:
    dealers = 1.5 if rec.dealer == other else 1.0
    cell[0] += 1
    cell[1] += _RON_POINTS[han] * dealers + 300.0 * rec.honba
    cell[2] += expected_points(rec, other, dora34, False)
    cell[3] += expected_points(rec, other, dora34, True)


@warms_up
def _warm_up() -> None:
    kinds = np.empty(0, np.int8)
    _count(np.empty(0, ROUND_STATE), kinds, np.empty(0, np.uint64), kinds, no_counts())
