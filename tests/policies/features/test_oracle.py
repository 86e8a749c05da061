"""The oracle's planes: the opponents' hands and the coming tiles."""

from __future__ import annotations

import numpy as np

from game.actions import Action, ActionKind
from game.events import Draw
from game.layout import ROUND_STATE
from game.state import hand_tiles, new_round
from game.table.table import Table
from game.table.walls import indicator_place
from policies.features.encode import encode
from policies.features.table import ORACLE, ORACLE_DRAWS
from tests.policies.features.reference import (
    bits,
    distance,
    dora_of,
    everywhere,
    kinds,
    one_hot,
    stack,
    therm,
)
from tests.policies.features.test_encode import check
from tests.scale import scaled


def quiet(table: Table, player: int) -> Action:
    """Discard the drawn tile, else pass: the wall is then drawn in order."""
    legal = table.legal(player)
    passes = [a for a in legal if a.kind is ActionKind.PASS]
    drawn = [a for a in legal if a.kind is ActionKind.DISCARD and a.tile == table.state["drawn"]]
    return (passes or drawn or [a for a in legal if a.kind is ActionKind.DISCARD])[0]


def draws_to_come(table: Table) -> list[int]:
    """The remaining draws of this round if there is no call and no win."""
    twin = table.clone()
    drawn: list[int] = []
    while not twin.done and len(twin.results) == len(table.results):
        new = twin.step({player: quiet(twin, player) for player in twin.waiting()})
        drawn += [event.tile for event in new if isinstance(event, Draw)][
            : int(table.state["wall_left"]) - len(drawn)
        ]
    return drawn


def test_the_wall_and_the_hands_are_those_of_the_table() -> None:
    kans = 0
    for seed in (0, 1, 2, 3):
        rng = np.random.default_rng(seed)
        table = Table(seed=seed, length="tonpuu")
        for step in range(400):
            if table.done:
                break
            if step % scaled(27, 9) == 0:
                check_table(table)
            actions = {}
            for player in table.waiting():
                legal = table.legal(player)
                kan = [
                    a for a in legal if a.kind in (ActionKind.ANKAN, ActionKind.DAIMINKAN, ActionKind.KAKAN)
                ]
                kans += len(kan) > 0
                actions[player] = kan[0] if kan else legal[rng.integers(len(legal))]
            table.step(actions)
    assert kans > 5


def check_table(table: Table) -> None:
    state = table.state
    coming = draws_to_come(table)
    assert len(coming) == state["wall_left"]
    for me in range(4):
        planes = encode(np.array([state]), me, ORACLE, walls=np.array([table.wall], np.int16))[0]
        parts = []
        for player in [(me + seat) % 4 for seat in (1, 2, 3)]:
            tiles = hand_tiles(state, player)
            near = distance(tuple(int(c) for c in state["hand34"][player]), int(state["meld_count"][player]))
            parts += [
                therm((t >> 2 for t in tiles), 4),
                *(everywhere(red in tiles) for red in (16, 52, 88)),
                kinds(bits(state["waits"][player])),
                one_hot(min(max(near, 0), 3), 4),
            ]
        nexts = [kinds([t >> 2]) for t in coming[:ORACLE_DRAWS]]
        nexts += [np.zeros((1, 34))] * (ORACLE_DRAWS - len(nexts))
        ura = [dora_of(table.wall[indicator_place(i) - 1] >> 2) for i in range(int(state["indicator_count"]))]
        check(planes, stack(*parts, *nexts, therm((t >> 2 for t in coming), 4), therm(ura, 4)), f"seat {me}")


def test_unknown_hands_stay_empty() -> None:
    empty = np.array([new_round()], ROUND_STATE)
    assert not encode(empty, 0, ORACLE, walls=np.full((1, 136), -1, np.int16)).any()
