"""The Hosei set against the tables that a player really saw, kept while real and random games are played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from game.events import Chi, Discard, Draw, GameEvent, Pon, StartRound
from game.layout import PHASE_CALLED, PHASE_TURN, RIVER_TSUMOGIRI
from game.melds import MeldKind
from game.rules import legal_rows
from game.state import apply, hand_tiles, melds_of, new_round, river_of
from game.table.table import masked
from policies.features.encode import encode
from policies.features.table import GO_AROUNDS, HOSEI, SETS, FeatureSet
from replays.mjlog.reader import read
from tests.policies.features.positions import random_game
from tests.scale import scaled
from tests.shared import shard_texts

SET: FeatureSet = SETS[HOSEI]
EAST = 27


class Seen(NamedTuple):
    """What a player sees at a decision, and saw when choosing each of the player's discards in the round."""

    now: np.void
    player: int
    before: list[np.void]


def decisions(events: Iterable[GameEvent]) -> Iterator[Seen]:
    """Every decision of a game, with the tables that came before it."""
    seen = [new_round() for _ in range(4)]
    choosing = [new_round() for _ in range(4)]
    before: list[list[np.void]] = [[], [], [], []]
    rows = np.empty((48, 6), np.int16)
    for event in events:
        if isinstance(event, StartRound):
            before = [[], [], [], []]
        if isinstance(event, Discard):
            before[event.player].append(choosing[event.player])
        for player in range(4):
            apply(seen[player], masked(event, player))
        if isinstance(event, Draw | Chi | Pon):
            choosing[event.player] = seen[event.player].copy()
        for player in range(4):
            count = legal_rows(seen[player], player, rows)
            if count and (seen[player]["phase"] in (PHASE_TURN, PHASE_CALLED) or count > 1):
                yield Seen(seen[player].copy(), player, list(before[player]))


@pytest.fixture(scope="module", params=["real", "random"])
def positions(request: pytest.FixtureRequest) -> list[Seen]:
    if request.param == "real":
        games: list[Iterable[GameEvent]] = [read(text) for _, text in shard_texts("houou-00", scaled(1, 8))]
    else:
        games = [random_game(seed) for seed in range(40, scaled(41, 44))]
    return [each for game in games for each in decisions(game)]


@pytest.fixture(scope="module")
def planes(positions: list[Seen]) -> NDArray[np.uint8]:
    states = np.array([each.now for each in positions])
    return encode(states, [each.player for each in positions], HOSEI)


def counts_of(tiles136: Iterable[int]) -> NDArray[np.int64]:
    return np.bincount([tile >> 2 for tile in tiles136], minlength=34)


def packed(counts34: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Four planes: copies from the left."""
    return np.array([255 * (counts34 > copy) for copy in range(4)], np.uint8)


def group(planes: NDArray[np.uint8], name: str) -> NDArray[np.uint8]:
    at = SET.at(name)
    return planes[at : SET.planes_of([name])[-1] + 1]


def tables(state: np.void, me: int) -> dict[str, NDArray[np.uint8]]:
    """The features of one table, from the tiles that lie on it."""
    seats = [(me + seat) % 4 for seat in range(4)]
    indicators = [int(tile) for tile in state["indicators"][: state["indicator_count"]]]
    return {
        "H": packed(counts_of(hand_tiles(state, me))),
        "D": np.concatenate([packed(counts_of(river_of(state, player))) for player in seats]),
        "M": np.concatenate(
            [
                packed(counts_of(tile for meld in melds_of(state, player) for tile in meld.tiles))
                for player in seats
            ]
        ),
        "C": packed(counts_of(indicators)),
        "R": np.concatenate(
            [np.full((4, 34), 255 * (state["riichi"][player] > 0), np.uint8) for player in seats[1:]]
        ),
    }


def undated_kan(state: np.void) -> bool:
    """Whether someone has added a tile to a pon, at a moment that no record holds."""
    return bool((state["meld_kind"] == MeldKind.KAKAN).any())


def test_the_present_is_the_table(positions: list[Seen], planes: NDArray[np.uint8]) -> None:
    for row, each in zip(planes, positions, strict=True):
        for name, wanted in tables(each.now, each.player).items():
            assert np.array_equal(group(row, f"{name}0"), wanted), name


def test_the_winds(positions: list[Seen], planes: NDArray[np.uint8]) -> None:
    for row, each in zip(planes, positions, strict=True):
        wind = EAST + each.now["round_index"] // 4
        own = EAST + (each.player - each.now["dealer"]) % 4
        for name, kind in (("W", wind), ("S", own)):
            assert np.argwhere(group(row, name)).tolist() == [[copy, kind] for copy in range(4)]


def test_the_past_is_the_table_as_it_was(positions: list[Seen], planes: NDArray[np.uint8]) -> None:
    checked = 0
    for row, each in zip(planes, positions, strict=True):
        if undated_kan(each.now):
            continue
        for age in range(1, GO_AROUNDS + 1):
            if len(each.before) < age:
                continue
            checked += 1
            past = tables(each.before[-age], each.player)
            for name in ("D", "M", "C", "R") if age == 1 else ("D", "M"):
                assert np.array_equal(group(row, f"{name}{age}"), past[name]), (name, age)
    assert checked > scaled(150, 1_000)


def test_a_kan_by_an_added_tile_counts_from_its_pon_on(
    positions: list[Seen], planes: NDArray[np.uint8]
) -> None:
    """Such a meld has at most a tile too many, and nothing else on the table is wrong."""
    for row, each in zip(planes, positions, strict=True):
        if not undated_kan(each.now) or not each.before:
            continue
        past = tables(each.before[-1], each.player)
        assert np.array_equal(group(row, "D1"), past["D"])
        more = group(row, "M1").astype(int) - past["M"]
        assert more.min() == 0
        assert (more > 0).sum() <= (each.now["meld_kind"] == MeldKind.KAKAN).sum()


def test_a_round_too_young_has_no_past(positions: list[Seen], planes: NDArray[np.uint8]) -> None:
    for row, each in zip(planes, positions, strict=True):
        for age in range(len(each.before) + 1, GO_AROUNDS + 1):
            assert not row[SET.at(f"H{age}") : SET.at(f"M{age}") + 16].any()


def test_past_hands_are_exact_but_for_tiles_drawn_and_kept(
    positions: list[Seen], planes: NDArray[np.uint8]
) -> None:
    exact, inexact = 0, 0
    for row, each in zip(planes, positions, strict=True):
        melds = melds_of(each.now, each.player)
        if any(meld.kind > MeldKind.PON for meld in melds):
            continue
        marks = each.now["river_marks"][each.player]
        size = int(each.now["river_size"][each.player])
        for age in range(1, min(len(each.before), GO_AROUNDS) + 1):
            kept = sum(not marks[turn] & RIVER_TSUMOGIRI for turn in range(size - age + 1, size))
            ours = group(row, f"H{age}").astype(int) // 255
            wanted = tables(each.before[-age], each.player)["H"].astype(int) // 255
            assert (ours >= wanted).all()
            assert (ours - wanted).sum() <= kept
            if kept == 0:
                exact += 1
            inexact += int((ours != wanted).any())
    assert exact > scaled(80, 1_000)
    assert inexact > 0  # that is what the table of features warns of


def test_own_kans_leave_one_undated_draw_each(positions: list[Seen], planes: NDArray[np.uint8]) -> None:
    found = 0
    for row, each in zip(planes, positions, strict=True):
        kans = sum(meld.kind > MeldKind.PON for meld in melds_of(each.now, each.player))
        if not kans or not each.before or undated_kan(each.now):
            continue
        found += 1
        more = group(row, "H1").astype(int) - tables(each.before[-1], each.player)["H"]
        assert more.min() == 0
        assert (more > 0).sum() <= kans
    assert found > 0
