"""How open melds are read, and how that changes the danger."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from game.melds import MeldKind
from game.scoring.dora import dora_of
from game.tiles import parse_hand
from policies.heuristic.danger import danger_of, expected_points, rates_against, tenpai_chance
from policies.heuristic.open_hands import READINGS, read_melds
from tests.scene import Scene

OTHER = 2
NO_DORA = np.zeros(34, dtype=np.int8)


def opened(melds: str, river: str = "123z") -> np.void:
    """A round in East 1 where player 2, West, has these melds and this river."""
    record = Scene("14789m2458p1567z").draw("6m").record.copy()
    for slot, text in enumerate(melds.split()):
        tiles = parse_hand(text)
        kind = MeldKind.PON if tiles[0] >> 2 == tiles[1] >> 2 else MeldKind.CHI
        record["meld_kind"][OTHER, slot] = MeldKind.DAIMINKAN if len(tiles) == 4 else kind
        record["meld_tiles"][OTHER, slot] = -1
        record["meld_tiles"][OTHER, slot, : len(tiles)] = sorted(tiles)
    record["meld_count"][OTHER] = len(melds.split())
    record["is_open"][OTHER] = bool(melds)
    discarded = parse_hand(river)
    record["river"][OTHER, : len(discarded)] = discarded
    record["river_size"][OTHER] = len(discarded)
    for tile in discarded:
        record["river34"][OTHER] |= np.uint64(1 << (tile >> 2))
    return record


def rates(record: np.void, *, reads_melds: bool) -> npt.NDArray[np.float64]:
    out = np.empty(34)
    visible = record["seen34"] + record["hand34"][0]
    rates_against(record, OTHER, visible, NO_DORA, reads_melds, out)
    return out


@pytest.mark.parametrize(
    ("melds", "river", "reading", "suit"),
    [
        ("", "123z", "closed", -1),
        ("222p 555s", "19m4z", "simples", -1),
        ("345p", "19m4z", "simples", -1),
        ("222p 111s", "19m4z", "triplets", -1),
        ("222p 555z", "19m4z", "triplets with value", -1),
        ("234p 555z", "19m4z", "value", -1),
        ("111z", "19m4z", "value", -1),
        ("222z", "19m4z", "one outside meld", -1),
        ("789p 123s", "456m", "outside", -1),
        ("789p", "456m", "one outside meld", -1),
        ("789p 345s", "456m", "mixed", -1),
        ("345s", "19m4z12m56p", "simples", -1),
        ("345s", "19m4z12m567p", "flush, 1 meld", 2),
        ("345s 666z", "19m4z2m8p", "flush, 2 melds", 2),
        ("345m 666z 999m", "19p4z2s8p", "flush, 3 melds", 0),
        ("345m 666z 999m", "19p4z2m8p9s", "flush, 3 melds, suit discarded", 0),
        ("345m 666z 999m", "19p4z2m8m9s", "value", -1),
    ],
)
def test_melds_are_read(melds: str, river: str, reading: str, suit: int) -> None:
    found, flush = read_melds(opened(melds, river), OTHER)
    assert (READINGS[found], flush) == (reading, suit)


def test_a_closed_hand_is_as_dangerous_as_before() -> None:
    record = opened("")
    assert (rates(record, reads_melds=True) == rates(record, reads_melds=False)).all()
    assert tenpai_chance(record, OTHER, True) == tenpai_chance(record, OTHER, False)
    assert expected_points(record, OTHER, NO_DORA, True) == expected_points(record, OTHER, NO_DORA, False)


def factors(melds: str, river: str) -> npt.NDArray[np.float64]:
    """Ratio of the adapted danger to that of a hand that reveals nothing, 0 for safe tiles."""
    record = opened(melds, river)
    adapted = rates(record, reads_melds=True)
    record["is_open"][OTHER] = record["meld_count"][OTHER] = 0
    plain = rates(record, reads_melds=True)
    return np.divide(adapted, plain, out=np.zeros(34), where=plain > 0)


def test_a_flush_waits_in_its_suit() -> None:
    found = factors("345s 999s 222s", "19p4z2m8p")
    assert found[18:27].max() > 1.2
    assert 0.0 < found[2:9].max() < 0.6


def test_a_pon_of_dora_costs_more() -> None:
    record = opened("333p", "19m4z")
    dora34 = NO_DORA.copy()
    plain = expected_points(record, OTHER, dora34, True)
    dora34[11] = 1
    assert expected_points(record, OTHER, dora34, True) > 2.5 * plain


@pytest.mark.parametrize("reads", [True, False])
def test_danger_reads_melds_only_if_asked(reads: bool) -> None:
    record = opened("345s 999s 222s", "19p4z2m8p")
    found = danger_of(record, 0, reads_melds=reads).rates[OTHER - 1]
    expected, other = (rates(record, reads_melds=each) for each in (reads, not reads))
    dora = dora_of(int(record["indicators"][0]) >> 2)
    plain = [kind for kind in range(34) if abs(kind - dora) > 2]
    assert np.array_equal(found[plain], expected[plain])
    assert not np.allclose(found[plain], other[plain])
