"""Every deal fits what a player has seen, the real deal is among the possible ones, and tables take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice

import numpy as np
import pytest

from game.rules import legal_actions
from game.state import apply, new_round
from game.table.restore import seen_by
from game.table.table import masked
from kit.errors import ConfigError, StateMismatchError
from policies.deals.deal import DealSampler
from policies.deals.named import DealsOfHands, load_sampler
from policies.deals.uniform import UniformDeals
from policies.hands.views import SampledHands
from policies.heuristic.player import HeuristicPolicy
from tests.policies.deals.positions import (
    Position,
    UniformHands,
    assert_fits,
    real,
    sampled_hands,
    self_play,
    simulated,
    truth_is_possible,
)
from tests.scale import scaled
from tests.scene import same


def samplers() -> list[DealSampler]:
    return [UniformDeals(), DealsOfHands(UniformHands())]


def learned() -> list[DealSampler]:
    """The samplers with the included models of hands."""
    return [load_sampler(name) for name in ("diffusion", "autoregressive")]


def check(positions: Iterable[Position], some: Sequence[DealSampler]) -> int:
    """Check samplers in turn at many positions; the number with a riichi."""
    in_riichi = 0
    for number, position in enumerate(positions):
        assert truth_is_possible(position)
        deals = some[number % len(some)].deals(position.view, 3, number)
        assert_fits(deals)
        table = deals.table(0)
        player = position.view.player
        assert table.legal(player) == legal_actions(position.view.record, player)
        in_riichi += bool(deals.unseen.needs.any())
    return in_riichi


@pytest.fixture(scope="module")
def played() -> list[Position]:
    return self_play(scaled(1, 2), 0.1, HeuristicPolicy())


def test_no_deal_contradicts_what_a_player_has_seen(played: list[Position]) -> None:
    assert check(chain(played, simulated(range(scaled(4, 8)), 0.04)), samplers()) > scaled(4, 8)


def test_no_deal_of_the_included_models_contradicts_what_a_player_has_seen(played: list[Position]) -> None:
    assert check(played[:: scaled(8, 3)], learned()) > 1


def test_no_deal_contradicts_what_a_player_has_seen_in_real_games() -> None:
    positions = chain(real("houou-02", scaled(1, 400), 0.1), real("other-00", scaled(1, 200), 0.1))
    count = scaled(100, 10_000)
    assert check(islice(positions, count), [*samplers(), *learned()][: scaled(2, 4)]) > count // 12


def test_a_view_of_open_hands_is_what_the_player_would_have_folded() -> None:
    for position in simulated(range(3), 0.3):
        folded = new_round()
        for event in position.events:
            apply(folded, masked(event, position.view.player))
        assert same(folded, position.view.record)
        assert same(seen_by(folded, position.view.player), folded)


@pytest.mark.parametrize("some", [samplers, learned])
@pytest.mark.parametrize("number", range(2))
def test_the_seed_determines_the_deals(some: Callable[[], list[DealSampler]], number: int) -> None:
    position = list(simulated(range(4, 5), 0.3))[-1]
    sampler = some()[number]
    first, again, other = (sampler.deals(position.view, 5, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.tiles, again.tiles)
    assert not np.array_equal(first.tiles, other.tiles)
    assert not np.array_equal(first.tiles[0], first.tiles[1])


def test_a_uniform_deal_does_not_depend_on_how_many_are_asked_for() -> None:
    position = next(simulated(range(5, 6), 0.3))
    few, many = (UniformDeals().deals(position.view, count, 7).tiles for count in (3, 9))
    assert np.array_equal(few, many[:3])


class Stubborn:
    """A sampler of hands that ignores what was seen."""

    def sample(self, records: np.ndarray, players: np.ndarray, count: int, seed: int) -> SampledHands:
        counts = np.zeros((1, count, 3, 34), np.int8)
        counts[..., :13] = 1
        return SampledHands(counts, np.zeros((1, count, 3, 3), np.bool_))


def test_hands_that_do_not_fit_are_refused() -> None:
    position = next(simulated(range(6, 7), 0.3))
    with pytest.raises(StateMismatchError, match="do not fit what the player has seen"):
        DealsOfHands(Stubborn()).deals(position.view, 2, 0)


def test_sampled_hands_survive_the_way_through_deals() -> None:
    for position in simulated(range(7, 9), 0.1):
        deals = UniformDeals().deals(position.view, 4, 3)
        hands = sampled_hands(deals)

        class Same:
            def sample(self, *_: object, hands: SampledHands = hands) -> SampledHands:
                return hands

        again = sampled_hands(DealsOfHands(Same()).deals(position.view, 4, 5))
        assert np.array_equal(again.counts, hands.counts)
        assert np.array_equal(again.reds, hands.reds)


@pytest.mark.parametrize(
    "text", ["diffuse", "weighted", "diffusion:steps=-1", "autoregressive:steps=3", "uniform:drawn=3"]
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="give uniform, autoregressive"):
        load_sampler(text)
