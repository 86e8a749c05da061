from __future__ import annotations

import pytest

from game.ranking import TENHOUI, rank_name


@pytest.mark.parametrize(
    ("rank", "name"),
    [(0, "newcomer"), (1, "9-kyu"), (9, "1-kyu"), (10, "1-dan"), (16, "7-dan"), (TENHOUI, "Tenhoui")],
)
def test_ranks_have_names(rank: int, name: str) -> None:
    assert rank_name(rank) == name
