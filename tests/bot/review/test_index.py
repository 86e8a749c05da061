"""The index of many reviews."""

from __future__ import annotations

import msgspec
import pytest

from bot.review.many import index_of, made_entry
from game.scoring.settlement import placements
from replays.tally import tally
from tests.replays.review.made import of_whole, reviewer, whole


def test_an_index_adds_up() -> None:
    reviews = [of_whole(seat) for seat in (0, 1)]
    tallies = [tally(whole().events)[0][seat] for seat in (0, 1)]
    entries = [made_entry(made, f"game-{made.player}") for made in reviews]
    index = index_of(entries, tallies, [], reviewer(), 2)
    total = index.total
    assert total.games == 2
    assert total.decisions == sum(made.summary.decisions for made in reviews)
    assert total.agreement == 1.0
    assert total.rates.rounds == 2 * whole().rounds
    ending = whole().ending
    assert ending is not None
    places = placements(ending.scores)
    assert total.average_place == pytest.approx((places[0] + places[1]) / 2)
    assert [entry.page for entry in index.games] == ["game-0.html", "game-1.html"]


def test_an_index_separates_ranks() -> None:
    entries = [made_entry(of_whole(seat), f"game-{seat}") for seat in (0, 1, 2)]
    ranked = [
        msgspec.structs.replace(entry, game=msgspec.structs.replace(entry.game, ranks=ranks))
        for entry, ranks in zip(entries, [(16, 0, 0, 0), (0, 16, 0, 0), (0, 0, 18, 0)], strict=True)
    ]
    tallies = [tally(whole().events)[0][seat] for seat in (0, 1, 2)]
    seventh, ninth = index_of(ranked, tallies, [], reviewer(), 2).ranks
    assert (seventh.rank, seventh.games, ninth.rank, ninth.games) == (16, 2, 18, 1)
    assert seventh.decisions == entries[0].decisions + entries[1].decisions
    assert ninth.decisions == entries[2].decisions
