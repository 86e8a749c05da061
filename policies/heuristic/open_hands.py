"""Reads open hands: a player's melds and river reveal something of the rest.

Each factor adjusts the deal-in rate of a class of tiles from suji and passed tiles alone
(`policies.heuristic.danger`); others adjust the chance of tenpai and the points.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.melds import MeldKind
from kit.jit import kernel
from policies.features.melds import dora_in_melds
from policies.features.worth import value_han

READINGS: Final = (
    "closed",
    "triplets",
    "triplets with value",
    "outside",
    "value",
    "simples",
    "one outside meld",
    "mixed",
    "flush, 1 meld",
    "flush, 2 melds",
    "flush, 3 melds",
    "flush, 3 melds, suit discarded",
)
"""The readings of an open hand. Value: an open triplet of yakuhai. Mixed: neither that nor any other reading,
so its yaku is probably a yakuhai still to come."""
(
    CLOSED,
    TRIPLETS,
    VALUE_TRIPLETS,
    OUTSIDE,
    VALUE,
    SIMPLES,
    ONE_OUTSIDE,
    MIXED,
    FLUSH_1,
    FLUSH_2,
    FLUSH_3,
    FLUSH_DISCARDED,
) = range(len(READINGS))

TILE_CLASSES: Final = (
    "other winds",
    "yakuhai",
    "1 9",
    "2 8",
    "3 7",
    "4 5 6",
    "1 9 off suit",
    "2 8 off suit",
    "3 7 off suit",
    "4 5 6 off suit",
)
"""Classes of tiles; "off suit" means outside the suit of a flush."""

_CHI: Final = int(MeldKind.CHI)
_ANKAN: Final = int(MeldKind.ANKAN)

# Counted over 12,228 Phoenix-room games, 5.5 million discards, by `suzaku eval danger` of bdca3e4a. In 658
# others the log loss of a tile against an open hand falls from 0.0861 to 0.0842 (± 0.0003);
# the area under the curve rises from 0.804 to 0.824.
_RATE: Final = np.array(
    [
        [1.0] * len(TILE_CLASSES),
        [2.94, 4.61, 0.80, 0.60, 0.61, 0.52, 1.00, 1.00, 1.00, 1.00],  # triplets
        [1.39, 1.74, 1.23, 1.02, 0.98, 0.98, 1.00, 1.00, 1.00, 1.00],  # triplets with value
        [2.22, 3.55, 1.31, 0.64, 0.69, 0.32, 1.00, 1.00, 1.00, 1.00],  # outside
        [1.10, 1.51, 1.18, 1.02, 1.03, 1.02, 1.00, 1.00, 1.00, 1.00],  # value
        [0.31, 2.28, 0.19, 0.99, 1.04, 1.04, 1.00, 1.00, 1.00, 1.00],  # simples
        [0.95, 4.13, 0.81, 0.65, 0.66, 0.44, 1.00, 1.00, 1.00, 1.00],  # one outside meld
        [2.09, 5.55, 0.67, 0.54, 0.52, 0.45, 1.00, 1.00, 1.00, 1.00],  # mixed
        [1.22, 2.37, 0.73, 1.08, 1.10, 0.98, 0.32, 0.80, 0.88, 0.84],  # flush, 1 meld
        [1.35, 1.95, 1.41, 1.23, 1.34, 1.16, 0.63, 0.66, 0.66, 0.67],  # flush, 2 melds
        [1.16, 2.39, 1.48, 1.43, 1.48, 1.29, 0.47, 0.49, 0.34, 0.41],  # flush, 3 melds
        [2.42, 2.96, 1.67, 1.23, 1.40, 1.13, 0.74, 0.67, 0.57, 0.65],  # flush, 3 melds, suit discarded
    ]
)
_SUJI: Final = np.array([1.0, 1.27, 0.89, 1.37, 0.81, 0.80, 1.16, 0.83, 0.75, 0.75, 0.96, 0.90])
"""Factor, on top of that of their class, for tiles no open suji reaches: triplets do not depend on suji."""
_TENPAI: Final = np.array(
    [
        [1.0] * 3,
        [1.00, 0.89, 0.89],  # triplets
        [1.00, 1.04, 1.03],  # triplets with value
        [1.00, 0.98, 0.98],  # outside
        [1.06, 1.12, 1.05],  # value
        [1.03, 1.06, 1.02],  # simples
        [0.89, 1.00, 1.00],  # one outside meld
        [1.48, 1.04, 0.96],  # mixed
        [0.68, 1.00, 1.00],  # flush, 1 meld
        [1.00, 0.66, 1.00],  # flush, 2 melds
        [1.00, 1.00, 0.66],  # flush, 3 melds
        [1.00, 1.00, 0.97],  # flush, 3 melds, suit discarded
    ]
)
"""By 1, 2 and 3 open melds; 1 if no such hands exist."""
_POINTS_FACTOR: Final = np.array([1.0, 1.16, 0.90, 1.19, 0.99, 1.06, 1.22, 1.28, 0.93, 0.91, 0.81, 0.80])
"""Factor on the points of a win with that han."""
_POINTS: Final = (1500.0, 2970.0, 4200.0, 5800.0, 8400.0, 9900.0, 12000.0)
"""Points of a win by han: visible yakuhai and dora, plus the result of `_hidden_han`."""


@kernel
def read_melds(rec: Any, player: int) -> tuple[int, int]:
    """The reading of a player's hand: an index in `READINGS`, and the suit of a flush, else -1."""
    melds = 0
    suits = 0
    simples = True
    outside = True
    triplets = True
    value = False
    for m in range(rec.meld_count[player]):
        called = rec.meld_kind[player, m]
        low = int(rec.meld_tiles[player, m, 0]) >> 2
        melds += called != _ANKAN
        if low >= 27:
            simples = False
            value = value or value_han(rec, player, low) > 0
            continue
        suits |= 1 << low // 9
        at_the_end = low % 9 == 0 or low % 9 == (6 if called == _CHI else 8)
        triplets = triplets and called != _CHI
        simples = simples and not at_the_end
        outside = outside and at_the_end
    if melds == 0:
        return CLOSED, -1
    flush, suit = _flush(rec, player, melds, suits)
    if flush != CLOSED:
        return flush, suit
    if simples:
        return SIMPLES, -1
    if triplets and melds >= 2:
        return VALUE_TRIPLETS if value else TRIPLETS, -1
    if value:
        return VALUE, -1
    if outside:
        return OUTSIDE if melds >= 2 else ONE_OUTSIDE, -1
    return MIXED, -1


@kernel
def _flush(rec: Any, player: int, melds: int, suits: int) -> tuple[int, int]:
    """Detect a hand whose suited melds are of one suit, and that discards little of it."""
    if suits not in (1, 2, 4):
        return CLOSED, -1
    suit = suits >> 1
    discarded = 0
    size = rec.river_size[player]
    for i in range(size):
        kind = int(rec.river[player, i]) >> 2
        discarded += kind < 27 and kind // 9 == suit
    if discarded == 0 and size >= (_SILENT_TURNS if melds > 1 else _SILENT_TURNS_ONE):
        return FLUSH_1 + min(3, melds) - 1, suit
    if melds >= 3 and discarded * 6 <= size:
        return FLUSH_DISCARDED, suit
    return CLOSED, -1


_SILENT_TURNS: Final = 5
_SILENT_TURNS_ONE: Final = 8
"""Discards without one of the suit before a hand counts as a flush, with two melds or more, and with one."""


@kernel
def tile_class(rec: Any, player: int, kind: int, suit: int) -> int:
    """The index of a kind in `TILE_CLASSES`, against a player with a flush in ``suit``, -1 for none."""
    if kind >= 27:
        return int(value_han(rec, player, kind) > 0)
    place = 2 + min(3, kind % 9, 8 - kind % 9)
    return place + 4 if suit not in (-1, kind // 9) else place


@kernel
def rate_factor(reading: int, tile_class: int, is_suji: bool) -> float:
    """Factor on the deal-in rate from suji and passed tiles alone.

    Args:
        reading: reading of the hand.
        tile_class: class of the tile.
        is_suji: whether no open suji reaches it: triplets do not depend on suji.
    """
    return float(_RATE[reading, tile_class] * (_SUJI[reading] if is_suji else 1.0))


@kernel
def tenpai_factor(reading: int, melds: int) -> float:
    """Factor on the chance of tenpai of an average hand with as many open melds."""
    return float(_TENPAI[reading, max(1, min(3, melds)) - 1])


@kernel
def points_of(rec: Any, player: int, dora34: Any, reading: int) -> float:
    """Points of an open hand that wins, without the dealer's extra half."""
    han = _hidden_han(reading) + dora_in_melds(rec, player, dora34)
    value = 0
    for m in range(rec.meld_count[player]):
        value += value_han(rec, player, int(rec.meld_tiles[player, m, 0]) >> 2)
    return float(_POINTS[min(6, han + max(1, value))] * _POINTS_FACTOR[reading])


@kernel
def _hidden_han(reading: int) -> int:
    if reading in (FLUSH_3, FLUSH_DISCARDED):
        return 2
    return int(reading in (TRIPLETS, VALUE_TRIPLETS, FLUSH_1, FLUSH_2))
