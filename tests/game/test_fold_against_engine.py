"""Whole games at the table: after every step our fold and the engine agree.

`SUZAKU_FOLD_GAMES` sets the number of games of the full run (2,000): ``pytest -m slow -k agrees``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from game.actions import Action, ActionKind
from game.layout import PHASE_CLAIM, PHASE_ROB
from game.melds import MeldKind
from game.rules import legal_actions
from game.state import hand_tiles, is_furiten, melds_of, river_of
from game.table.table import Table
from game.tiles import TILES
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from tests.scale import scaled

K = ActionKind
PARTS = scaled(1, 8)

Seat = Callable[[random.Random, Table, int, list[Action]], Action]
_BOLD = (K.TSUMO, K.RON, K.ANKAN, K.KAKAN, K.DAIMINKAN, K.RIICHI)
_HEURISTIC = HeuristicPolicy()


def heuristic(rng: random.Random, table: Table, player: int, legal: list[Action]) -> Action:
    """Plays as the bot does."""
    return decide(table.observe(player), _HEURISTIC).action


def anyhow(rng: random.Random, table: Table, player: int, legal: list[Action]) -> Action:
    """Takes any legal action."""
    return rng.choice(legal)


def boldly(rng: random.Random, table: Table, player: int, legal: list[Action]) -> Action:
    """Usually wins, makes kans and declares riichi when possible; discards the kind it has fewest of."""
    bold = [action for action in legal if action.kind in _BOLD]
    if bold and rng.random() < 0.7:
        return rng.choice(bold)
    if legal[0].kind is not K.DISCARD or rng.random() < 0.1:
        return rng.choice(legal)
    hand34 = table.state["hand34"][player]
    return min(legal, key=lambda action: (hand34[action.tile >> 2], rng.random()))


SEATS: tuple[Seat, ...] = (heuristic, anyhow, boldly)


def clumped_wall(rng: random.Random) -> list[int]:
    """A wall with equal tiles near each other, so that sets, kans and tenpai hands are frequent."""
    kinds = list(range(34))
    rng.shuffle(kinds)
    spread = rng.choice((5, 10, 20, 60))
    return sorted(range(TILES), key=lambda tile: 4 * kinds[tile >> 2] + rng.gauss(0, spread))


def play(seed: int) -> None:
    """Play one game, comparing the start, every step and the end of each round."""
    rng = random.Random(seed)
    seats = [rng.choice(SEATS) for _ in range(4)]
    length = rng.choice(("hanchan", "tonpuu"))
    wall = clumped_wall(rng) if rng.random() < 0.5 else None
    table = Table(seed, wall=wall, length=length)
    while not table.done:
        compare(table)
        answers = {p: seats[p](rng, table, p, table.legal(p)) for p in table.waiting()}
        ended, engine = len(table.results), table.engine
        table.step(answers)
        if len(table.results) > ended:
            assert sum(table.scores) + 1000 * table.riichi_sticks == 100_000
            if not table.done:
                assert tuple(engine.env.scores()) == table.scores


def compare(table: Table) -> None:
    """Compare the record with the engine's own table, and our legal actions with the engine's."""
    record = table.state
    env = table.engine.env
    for player in range(4):
        assert table.legal(player) == legal_actions(record, player)
        assert hand_tiles(record, player) == sorted(env.hands[player])
        assert river_of(record, player) == env.discards[player]
        assert [_plain(meld) for meld in melds_of(record, player)] == [
            _engines(meld, player) for meld in env.melds[player]
        ]
    assert table.waiting() == sorted(env.active_players)
    assert record["scores"].tolist() == list(env.scores())
    assert record["riichi_sticks"] == env.riichi_sticks
    assert record["wall_left"] == len(env.wall) - 14
    assert record["indicators"][: record["indicator_count"]].tolist() == env.dora_indicators
    assert ((record["riichi"] == 2) | _just_declared(record)).tolist() == env.riichi_declared
    compare_furiten(record, env)


def _just_declared(record: Any) -> Any:
    # the engine counts a riichi from its discard on, we from its acceptance
    return (record["riichi"] == 1) & (record["phase"] == PHASE_CLAIM)


def compare_furiten(record: Any, env: Any) -> None:
    """Compare who is furiten; the engine does not show the furiten after a win missed in riichi."""
    asked = record["phase"] in (PHASE_CLAIM, PHASE_ROB)
    for player in range(4):
        waits = int(record["waits"][player])
        if record["hand_size"][player] % 3 == 2 or record["missed_riichi"][player]:
            continue
        if waits == 0:
            continue  # an added kan can break a hand that missed a win: it has no waits left
        if asked and waits >> (int(record["last_tile"]) >> 2) & 1:
            continue  # a win without a yaku: the engine marks it immediately, we when the tile has passed
        in_river = any(waits >> (tile >> 2) & 1 for tile in env.discards[player])
        missed = env.missed_agari_doujun[player]
        assert is_furiten(record, player) == (in_river or missed), player


def _plain(meld: Any) -> tuple[int, list[int], int, int]:
    return int(meld.kind), list(meld.tiles), meld.from_seat, meld.called


def _engines(meld: Any, player: int) -> tuple[int, list[int], int, int]:
    kind = MeldKind[str(meld.meld_type).rsplit(".", 1)[-1].upper()]
    if kind is MeldKind.ANKAN:
        return int(kind), sorted(meld.tiles), 0, -1
    return int(kind), sorted(meld.tiles), (meld.from_who - player) % 4, meld.called_tile


@pytest.mark.parametrize("part", range(PARTS))
def test_the_fold_agrees_with_the_engine(part: int) -> None:
    for seed in range(part, scaled(3, 2_000), PARTS):
        play(seed)
