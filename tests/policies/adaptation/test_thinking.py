"""Search and adaptation as a player uses them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.events import Discard, GameEvent
from game.layout import PHASE_TURN
from game.table.table import Table
from kit.errors import ModelError
from policies.adaptation.adapt import Adapter, adapted_choice
from policies.adaptation.search import Searcher
from policies.adaptation.settings import ThinkingSettings
from policies.adaptation.simulator import Simulator
from policies.adaptation.thinking import ThinkingChooser
from policies.flow.decisions import Improvement
from policies.heuristic.danger import danger_of
from policies.play.inference import NetworkPolicy
from policies.play.playouts import EndValue
from policies.play.rollout import PolicyChooser, Rollout, Seating
from policies.play.sampling import chances_of
from tests.policies.deals.positions import Position, self_play
from tests.policies.fakes import Broken, Scripted, Undecided
from tests.policies.models import EAGER, a_policy
from tests.policies.play.test_critic import Constant

SETTINGS = ThinkingSettings(worlds=32, sampler="uniform", reward="points")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def policy() -> NetworkPolicy:
    return a_policy(tower="suits")


@pytest.fixture(scope="module")
def position() -> Position:
    """A discard late in a round, so that little is left to play out."""
    return next(
        each
        for each in self_play(1, 1.0, Undecided())
        if each.record["phase"] == PHASE_TURN and each.record["discard_count"] >= 52
    )


class Liking(Simulator):
    """To it a round is worth 10,000 points if its player first discards a kind."""

    kind = -1
    cut = 0

    def value(self, events: Sequence[GameEvent]) -> EndValue:
        def value(tables: Sequence[Table], player: int) -> NDArray[np.float64]:
            self.cut += sum(not (table.results or table.done) for table in tables)
            return np.array([10_000.0 * (first_discard(table, player) == self.kind) for table in tables])

        return value


class Counting(Searcher):
    """Counts its searches."""

    searches = 0
    most = 0

    def finish_searches(self, *args: Any, **settings: Any) -> list[Improvement | None]:
        found = super().finish_searches(*args, **settings)
        self.searches += sum(each is not None for each in found)
        self.most = max(self.most, len(found))
        return found


def first_discard(table: Table, player: int) -> int | None:
    """The kind a player discards first; None if the round ends before."""
    mine = (each.tile >> 2 for each in table.events if isinstance(each, Discard) and each.player == player)
    return next(mine, None)


@pytest.mark.parametrize("horizon", [0, 4])
def test_a_search_finds_what_is_worth_most(position: Position, horizon: int) -> None:
    observation = position.observation
    settings = msgspec.structs.replace(SETTINGS, horizon=horizon)
    critic = Constant() if horizon else None
    liking = Liking(Undecided(), None, settings)  # type: ignore[arg-type]
    searcher = Searcher(liking, critic)  # type: ignore[arg-type]
    discards = [action for action in observation.legal if action.kind is ActionKind.DISCARD]
    base, wanted = (action for action, _ in chances_of(observation, Undecided())[:2])
    liking.kind = wanted.tile >> 2
    found = searcher.search(observation, position.events, base, 1)
    assert found.values[0].action == wanted
    assert found.values[0].action in discards
    assert found.values[0].ahead == 10_000.0
    assert (liking.cut > 0) == (horizon > 0)
    assert found.base == base
    assert found.worth == "points"
    assert base in [each.action for each in found.values]
    assert found.playouts == sum(each.deals for each in found.values)
    again = searcher.search(observation, position.events, base, 1)
    assert again == found
    assert searcher.search(observation, position.events, base, 1, go_on=lambda: False) is None


class Fearing:
    """A model of hands by which every opponent wins on one kind, or on none."""

    def __init__(self, kind: int | None) -> None:
        self._kind = kind

    def read(self, states: NDArray[np.void], players: Sequence[int]) -> Any:
        """The chances of deal-ins, as of `policies.hands.direct.Readings`."""
        deal_ins = np.zeros((len(states), 3, 34))
        if self._kind is not None:
            deal_ins[:, :, self._kind] = 1.0
        return SimpleNamespace(deal_ins=deal_ins)


def test_a_search_counts_a_deal_in_by_its_chance(position: Position) -> None:
    observation, player = position.observation, position.view.player
    base, other = (action for action, _ in chances_of(observation, Undecided())[:2])
    settings = msgspec.structs.replace(SETTINGS, worlds=16)
    ahead = []
    for kind in (None, other.tile >> 2):
        simulator = Simulator(Undecided(), None, settings)  # type: ignore[arg-type]
        searcher = Searcher(simulator, hands=Fearing(kind))  # type: ignore[arg-type]
        found = searcher.search(observation, position.events, base, 1)
        ahead.append({each.action: each.ahead for each in found.values})
    lost = danger_of(position.record, player, reads_melds=False).points.sum()
    assert lost > 0
    safe, fearing = ahead
    assert safe.keys() == fearing.keys() > {base, other}
    for action in safe:
        assert safe[action] - fearing[action] == pytest.approx(lost if action == other else 0.0)


def test_there_is_no_search_where_the_policy_is_sure(position: Position) -> None:
    observation = position.observation
    base = next(action for action in observation.legal if action.kind is ActionKind.DISCARD)
    searcher = Searcher(Simulator(Scripted({base: 1.0}), None, SETTINGS))  # type: ignore[arg-type]
    assert searcher.search(observation, position.events, base, 1) is None


def test_an_adapted_policy_decides_only_if_it_is_near(position: Position) -> None:
    observation = position.observation
    discards = [action for action in observation.legal if action.kind is ActionKind.DISCARD]
    even = [(action, 1.0 / len(discards)) for action in discards]
    found = adapted_choice(observation, even, Undecided())
    assert 0.0 < found.divergence < 0.5
    chances = [option.probability for option in found.options]
    assert chances == sorted(chances, reverse=True)
    assert {option.action for option in found.options} == set(discards)
    with pytest.raises(ModelError, match="nats from the initial policy"):
        adapted_choice(observation, even, Scripted({discards[-1]: 1.0}))
    with pytest.raises(ModelError, match="RuntimeError: out of order"):
        adapted_choice(observation, even, Broken(_out_of_order))


def _out_of_order(_: int) -> list[list[float]]:
    raise RuntimeError("out of order")


@pytest.mark.parametrize(
    "settings", [{"playouts": 16}, pytest.param({"worlds": 8, "playouts": 16}, marks=pytest.mark.slow)]
)
def test_a_thinking_player_plays_the_same_beside_others(
    policy: NetworkPolicy, settings: dict[str, int]
) -> None:
    """Its choices depend on the game alone, and are legal."""
    few = msgspec.structs.replace(EAGER, divergence=0.2)
    asked_for = msgspec.structs.replace(
        ThinkingSettings(sampler="uniform", reward="points", adaptation=few), **settings
    )
    simulator = Liking(policy, None, asked_for)
    searcher = Counting(simulator)
    adapter, others = Adapter(simulator), PolicyChooser(Undecided())
    chooser = ThinkingChooser(policy, adapter, searcher if asked_for.worlds else None)

    def ends(seeds: Sequence[int]) -> dict[int, list[object]]:
        tables = [(Seating(seed, seed, (0, 1, 1, 1)), late(seed)) for seed in seeds]
        rollout = Rollout([chooser, others], tables=2)
        return {seating.number: list(table.events) for seating, table in rollout.finish_rounds(tables)}

    alone = ends([3])
    assert bool(searcher.searches) == bool(asked_for.worlds)
    for seeds in ([2, 3], [3, 4]):
        assert ends(seeds)[3] == alone[3]
    assert (searcher.most > 1) == bool(asked_for.worlds), "no two searches went side by side"


def test_a_thinking_player_does_not_search_early_in_a_round(policy: NetworkPolicy) -> None:
    asked_for = ThinkingSettings(sampler="uniform", reward="points", worlds=8)
    found = {}
    for first in (0, 18):
        searcher = Counting(Liking(policy, None, msgspec.structs.replace(asked_for, from_go_around=first)))
        rollout = Rollout([ThinkingChooser(policy, None, searcher), PolicyChooser(Undecided())], tables=1)
        list(rollout.finish_rounds([(Seating(3, 3, (0, 1, 1, 1)), late(3))]))
        found[first] = searcher.searches
    assert found[0] > 0 == found[18]


def late(seed: int) -> Table:
    """A round of undecided players that is nearly over."""
    table = Table(seed)
    while table.state["wall_left"] > 10:
        table.step({player: _quick(table.legal(player)) for player in table.waiting()})
        if table.results:
            return late(seed + 100)
    return table


def _quick(legal: Sequence[Action]) -> Action:
    return legal[-1]
