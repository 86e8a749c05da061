"""The critic, and play-outs that are cut at a horizon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from game.layout import ROUND_STATE
from game.scoring.settlement import GameLength
from game.table.table import Table
from policies.deals.deal import RoundView
from policies.deals.uniform import UniformDeals
from policies.features.table import CRITIC
from policies.nets.architectures import architecture_of
from policies.nets.compute import Compute
from policies.nets.networks import Network
from policies.play.critic import Critic, RestOfRound, is_at_a_draw
from policies.play.inference import Model
from policies.play.playouts import Branching, CutValue, Playouts, points_value
from policies.play.rollout import PolicyChooser, Request
from tests.policies.fakes import Undecided
from tests.policies.models import weights_of


def critic(seed: int = 0) -> Critic:
    torch.manual_seed(seed)
    network = Network(architecture_of("suits", CRITIC, 8, 8, 1)).eval()
    return Critic(Model(weights_of(network), CRITIC, compute=Compute(rows=4)))


@pytest.fixture(scope="module")
def states() -> list[np.void]:
    """Tables after draws, all hands known."""
    found, table = [], Table(seed=11)
    while len(found) < 40 and not table.done:
        if is_at_a_draw(table.state):
            found.append(table.state.copy())
        table.step({player: table.legal(player)[-1] for player in table.waiting()})
    return found


def turned(state: np.void) -> np.void:
    """The same table with every player one seat further on."""
    moved = state.copy()
    for name in ROUND_STATE.names or ():
        if state[name].shape[:1] == (4,):
            moved[name] = np.roll(state[name], 1, axis=0)
    for name in ("dealer", "turn", "last_player"):
        moved[name] = (state[name] + 1) % 4 if state[name] >= 0 else state[name]
    where = state["where"]
    moved["where"] = where
    for base in (1, 5, 9):
        for player in range(4):
            moved["where"][where == base + player] = base + (player + 1) % 4
    moved["meld_from"] = np.roll((state["meld_from"] + 1) % 4, 1, axis=0)
    return moved


def test_players_are_told_apart_by_their_seats_only(states: list[np.void]) -> None:
    for state in states:
        state["scores"] = (31_000, 27_000, 22_000, 20_000)  # ties would go to whoever dealt first
    one, again = critic().rest(states, "hanchan"), critic().rest(list(map(turned, states)), "hanchan")
    for found, moved in zip(one, again, strict=True):
        assert np.allclose(np.roll(found, 1, axis=1), moved, rtol=1e-4, atol=0.05)
        assert not np.allclose(found, moved, rtol=1e-4, atol=0.05)


class Constant(Critic):
    """Expects the same of every table, 100 for player 0 and so on."""

    def __init__(self) -> None:
        self.asked: list[np.void] = []

    def rest(self, states: Sequence[np.void], length: GameLength) -> RestOfRound:
        self.asked += states
        expected = np.tile([100.0, 200.0, 300.0, 400.0], (len(states), 1))
        return RestOfRound(expected, expected)


def test_cut_play_outs_are_the_beginning_of_whole_ones() -> None:
    table = Table(seed=4)
    player = table.waiting()[0]
    legal = table.legal(player)
    view = RoundView.of(Request(table.state, player, tuple(legal), "hanchan", number=0, table=table))
    deals = UniformDeals().deals(view, 3, 5)
    branching = Branching(deals, legal[:2], range(3))
    whole, cut = (
        Playouts(PolicyChooser(Undecided()), "hanchan", horizon=horizon).ends([branching])[0]
        for horizon in (0, 6)
    )
    for long, short in zip(whole, cut, strict=True):
        assert long.results
        if short.results:
            assert short.events == long.events
            continue
        assert short.state["discard_count"] >= 6
        assert is_at_a_draw(short.state)
        assert list(long.events[: len(short.events)]) == list(short.events)
    assert any(not table.results for table in cut)
    constant = Constant()
    values = branching.values(cut, CutValue(points_value, "points", constant)).ravel()
    for value, table in zip(values, cut, strict=True):
        rest = 0.0 if table.results else 100.0 * (player + 1)
        assert value == table.scores[player] + rest
    assert len(constant.asked) == sum(not table.results for table in cut)
