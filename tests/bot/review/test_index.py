"""The index of many reviews."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from bot.review.many import KINDS, index_of, made_entry
from bot.review.text import index_text
from game.scoring.settlement import placements
from replays.review import schema
from replays.tally import tally
from tests.replays.review.made import of_whole, reviewer, whole


def test_an_index_adds_up_games_and_ranks() -> None:
    entries = [
        msgspec.structs.replace(entry, game=msgspec.structs.replace(entry.game, ranks=ranks))
        for seat, ranks in enumerate([(16, 0, 0, 0), (0, 16, 0, 0), (0, 0, 18, 0)])
        for entry in [made_entry(of_whole(seat), f"game-{seat}")]
    ]
    index = index_of(entries, list(tally(whole().events)[0][:3]), [], reviewer(), 2)
    total, (seventh, ninth) = index.total, index.ranks
    assert (total.games, total.agreement) == (3, 1.0)
    assert total.decisions == sum(entry.decisions for entry in entries)
    assert total.rates.rounds == 3 * whole().rounds
    ending = whole().ending
    assert total.average_place == pytest.approx(sum(placements(ending.scores)[:3]) / 3, abs=0.001)
    assert [entry.page for entry in index.games] == ["game-0.html", "game-1.html", "game-2.html"]
    assert (seventh.rank, seventh.games, ninth.rank, ninth.games) == (16, 2, 18, 1)
    assert seventh.decisions == entries[0].decisions + entries[1].decisions
    assert ninth.decisions == entries[2].decisions


def test_the_price_of_errors_without_one_is_unknown_beside_a_game_without_errors() -> None:
    entry = made_entry(of_whole(0), "game")
    categories = msgspec.structs.replace(entry.categories, fine=entry.categories.fine - 1, mistake=1)
    erring = msgspec.structs.replace(entry, categories=categories, price=None)
    prices = [index_of(games, [], [], reviewer(), 1).total.price for games in ([entry], [entry, erring])]
    assert prices == [0.0, None]


def test_an_index_of_all_seats_has_one_entry_a_game() -> None:
    entry = made_entry(of_whole(1, all_seats=True), "game")
    assert (entry.player, [each.player for each in entry.seats]) == (1, [0, 2, 3])
    alone = [made_entry(of_whole(seat), "game") for seat in range(4)]
    tallies = list(tally(whole().events)[0])
    index = index_of([entry], tallies, [], reviewer(), 4)
    assert [entry.decisions, *(each.decisions for each in entry.seats)] == [
        alone[seat].decisions for seat in (1, 0, 2, 3)
    ]
    every = index_of(alone, tallies, [], reviewer(), 4).total
    assert (index.total.games, index.total.average_place) == (1, None)
    assert (index.total.decisions, index.total.rates) == (every.decisions, every.rates)
    lines = index_text(index, ()).splitlines()
    assert len([line for line in lines if line.startswith(("2", " " * 20))]) == 4


def test_every_reason_is_of_one_kind() -> None:
    reasons = {key.removeprefix("reason_") for key in get_args(schema.NoteKey) if key.startswith("reason_")}
    known = [key for keys in KINDS.values() for key in keys.split()]
    assert len(known) == len(set(known))
    assert reasons <= set(known)
    assert set(KINDS) == set(get_args(schema.ErrorKind))
