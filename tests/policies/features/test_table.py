"""The table of planes: its sums, and the page generated from it."""

from __future__ import annotations

import pytest

from policies.features.document import PAGE, page
from policies.features.table import HOSEI, LITE, LITE_CALL, ORACLE, SETS, SUPHX, SUPHX_CALL, offsets


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


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m policies.features.document"
