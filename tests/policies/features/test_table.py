"""The table of planes: its sums, and the page that describes it."""

from __future__ import annotations

import pytest

from policies.features.efficiency import TYPICAL
from policies.features.table import HOSEI, LITE, LITE_CALL, ORACLE, SETS, SUPHX, SUPHX_CALL, Axis, offsets
from tests.policies.features.page import PAGE, rows, section


@pytest.mark.parametrize(
    ("name", "planes"), [(LITE, 239), (LITE_CALL, 287), (SUPHX, 838), (SUPHX_CALL, 958), (ORACLE, 64)]
)
def test_a_set_has_the_number_of_planes_in_its_name(name: str, planes: int) -> None:
    assert SETS[name].planes == planes
    assert len({group.id for group in SETS[name].groups}) == len(SETS[name].groups)


@pytest.mark.parametrize(
    ("group", "at"),
    [("B", 8), ("C1", 104), ("D", 117), ("E", 357), ("F", 393), ("G", 405), ("H", 425), ("I1", 429),
     ("J", 577), ("K", 606), ("L", 624), ("M", 644), ("N", 648), ("O", 668), ("P", 704), ("Q", 724),
     ("LA1", 730), ("LA2", 766), ("LA3a", 802), ("R1", 838), ("LA1'", 850)],
)  # fmt: skip
def test_groups_stand_where_the_reconstruction_puts_them(group: str, at: int) -> None:
    assert SETS[SUPHX_CALL].at(group) == at


def test_the_hosei_set_has_the_features_of_the_paper() -> None:
    """15 of the present, 13 of one go-around ago, 9 of each of two, three and four; four copies each."""
    features = [0] * 5
    for group in SETS[HOSEI].groups:
        age = int(group.id[1]) if len(group.id) > 1 else 0
        features[age] += group.planes // 4
    assert features == [15, 13, 9, 9, 9]
    assert SETS[HOSEI].planes == 220


def test_a_group_that_does_not_exist_is_named() -> None:
    with pytest.raises(KeyError, match="no group ZZ"):
        SETS[LITE].at("ZZ")
    assert not SETS[LITE].has("LA1")
    assert offsets(SUPHX_CALL).LA3a_after == SETS[SUPHX_CALL].at("LA3a'")


@pytest.mark.parametrize("name", SETS)
def test_the_page_describes_each_group(name: str) -> None:
    chosen = SETS[name]
    assert f"{chosen.planes} planes, for {chosen.purpose}." in section(name)
    assert [(row.group, row.planes, row.index, row.tiles) for row in rows(name)] == [
        (
            group.id,
            str(group.planes),
            "–".join(str(at) for at in sorted({first, first + group.planes - 1})),
            "kinds" if group.axis is Axis.TILES else group.axis.value,
        )
        for group in chosen.groups
        for first in [chosen.at(group.id)]
    ]
    assert all(row.content for row in rows(name))


def test_the_page_names_the_typical_numbers() -> None:
    assert f"{', '.join(f'{copies:.0f}' for copies in TYPICAL)} copies from tenpai upwards" in PAGE
