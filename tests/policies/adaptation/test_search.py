"""Search: play-outs over the same deals, and the choice made from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.events import Discard, DoraRevealed, Draw, Win
from game.ranking import Uma
from game.table.table import Table
from policies.adaptation.search import SearchResult, SearchSettings, close_options, searching
from policies.adaptation.settings import ThinkingSettings
from policies.adaptation.simulator import load_simulator
from policies.checkpoint.store import load_predictor
from policies.deals.deal import Deals
from policies.deals.uniform import UniformDeals
from policies.nets.compute import Compute
from policies.play.critic import REWARD_OF_STICK
from policies.play.deal_ins import luck_of_deal_ins
from policies.play.included import PHOENIX
from policies.play.playouts import Branching, Playouts, RewardValue, points_value
from policies.play.rollout import PolicyChooser, Rollout, Seating
from policies.reward.encoding import round_starts
from tests.policies.deals.positions import self_play
from tests.policies.fakes import Undecided

FIRST, SECOND, THIRD = (Action(ActionKind.DISCARD, tile) for tile in (0, 4, 8))


class Drawn:
    """Play-outs whose values are drawn: common luck, an advantage for each option, and noise."""

    def __init__(self, advantages: dict[Action, float], noise: float, seed: int = 0) -> None:
        self._advantages, self._noise = advantages, noise
        self._rng = np.random.default_rng(seed)
        self.asked: list[tuple[Action, ...]] = []

    def values(self, options: Sequence[Action], numbers: Sequence[int]) -> NDArray[np.float64]:
        self.asked.append(tuple(options))
        luck = self._rng.normal(0.0, 4_000.0, (len(numbers), 1))
        own = self._rng.normal(0.0, self._noise / math.sqrt(2.0), (len(numbers), len(options)))
        return luck + own + [self._advantages[option] for option in options]


@pytest.fixture(scope="module")
def deals() -> Deals:
    """Deals for a decision in the middle of a round."""
    position = next(each for each in self_play(1, 0.05, Undecided()) if each.record["discard_count"] > 8)
    return UniformDeals().deals(position.view, 256, 0)


def compare(
    deals: Deals, advantages: Sequence[float], noise: float, **settings: float
) -> tuple[Drawn, SearchSettings]:
    options = (FIRST, SECOND, THIRD)[: len(advantages)]
    return Drawn(dict(zip(options, advantages, strict=True)), noise), msgspec.structs.replace(
        SearchSettings(), **settings
    )


def search(
    values: Callable[[Sequence[Action], Sequence[int]], NDArray[np.float64]],
    deals: Deals,
    candidates: Sequence[tuple[Action, float]],
    settings: SearchSettings,
    most: int = 1000,
) -> SearchResult:
    """A search that may play out so many batches."""
    steps = searching(deals, candidates, settings)
    asked, played = next(steps), 0
    try:
        while True:
            asked = steps.send(values(*asked) if played < most else None)
            played += 1
    except StopIteration as over:
        return over.value


def test_the_better_option_is_found_and_the_search_ends_early(deals: Deals) -> None:
    drawn, settings = compare(deals, (0.0, 500.0, -1_500.0), noise=2_000.0)
    found = search(drawn.values, deals, [(FIRST, 0.5), (SECOND, 0.3), (THIRD, 0.2)], settings)
    assert found.action == SECOND
    assert found.playouts < 3 * len(deals)
    assert drawn.asked[0] == (FIRST, SECOND, THIRD)
    assert THIRD not in drawn.asked[-1]


def test_differences_are_shrunk_towards_the_prior(deals: Deals) -> None:
    """With normal noise and a normal prior the expectation is the textbook's."""
    drawn, settings = compare(deals, (0.0, 0.0), noise=4_000.0, doubt=1e9)
    found = search(drawn.values, deals, [(FIRST, 0.6), (SECOND, 0.4)], settings)
    value = next(each for each in found.options if each.action == SECOND)
    prior = settings.order * math.log(0.4 / 0.6)
    trust, own = 1.0 / value.error**2, 1.0 / settings.deviation**2
    assert value.deals == len(deals)
    assert value.error == pytest.approx(4_000.0 / math.sqrt(len(deals)), rel=0.15)
    assert value.expected == pytest.approx((trust * value.ahead + own * prior) / (trust + own))
    assert value.doubt == pytest.approx((trust + own) ** -0.5)


def test_without_play_outs_the_policy_decides(deals: Deals) -> None:
    drawn, settings = compare(deals, (0.0, 900.0), noise=1.0)
    found = search(drawn.values, deals, [(FIRST, 0.6), (SECOND, 0.4)], settings, most=0)
    assert found.action == FIRST
    assert found.playouts == 0
    assert found.options[1].expected < 0.0


def test_only_close_options_are_compared() -> None:
    settings = SearchSettings(options=2, close=0.2)
    assert close_options((FIRST, SECOND, THIRD), (0.5, 0.05, 0.45), settings) == [(FIRST, 0.5), (THIRD, 0.45)]
    assert close_options((FIRST, SECOND), (0.95, 0.05), settings) == [(FIRST, 0.95)]


def test_options_are_played_out_over_the_same_deals(deals: Deals) -> None:
    view = deals.view
    options = deals.table(0).legal(view.player)[:2]
    playouts = Playouts(PolicyChooser(Undecided()), view.length)

    def values(*branchings: Branching) -> list[NDArray[np.float64]]:
        ends = playouts.ends(branchings)
        return [each.values(ended, points_value) for each, ended in zip(branchings, ends, strict=True)]

    (both,) = values(Branching(deals, options, range(4)))
    assert both.shape == (4, 2)
    again, last = values(Branching(deals, options[1:], range(2, 4)), Branching(deals, options, (3,)))
    assert np.array_equal(again, both[2:, 1:])
    assert np.array_equal(last, both[3:])


def test_a_round_that_goes_on_is_worth_what_was_expected_and_the_sticks_paid() -> None:
    predictor = load_predictor(PHOENIX)
    begun, paid = Table(7), Table(7, riichi_sticks=1, scores=(25_000, 24_000, 25_000, 25_000))
    value = RewardValue(predictor, round_starts(begun.events))
    values = np.array([value([begun, paid], player) for player in range(4)])
    assert values[:, 0].sum() == pytest.approx(0.0, abs=1e-3)
    assert values[:, 1] - values[:, 0] == pytest.approx([0.0, -REWARD_OF_STICK, 0.0, 0.0])


def test_the_end_of_a_round_is_worth_what_the_predictor_expects() -> None:
    predictor = load_predictor(PHOENIX)
    scores = (45_000, 30_000, 15_000, 10_000)
    ahead, last = (Table(7, round_index=index, scores=scores) for index in (3, 7))
    starts = round_starts(ahead.events)
    rollout = Rollout([PolicyChooser(Undecided())])
    ended = [
        table
        for _, table in rollout.finish_rounds(
            (Seating(n, 0, (0,) * 4), t) for n, t in enumerate((ahead, last))
        )
    ]
    value = RewardValue(predictor, starts)
    going = [table for table in ended if not table.done]
    for table in ended:
        values = [value([table], player)[0] for player in range(4)]
        assert sum(values) == pytest.approx(0.0, abs=1e-3)
        assert np.argmax(values) == np.argmax(table.scores)
    assert going
    only_first = ThinkingSettings(sampler="uniform", uma=Uma((1.0, 0.0, 0.0, 0.0)))
    own = load_simulator(PHOENIX, only_first, Compute()).value(ahead.events)
    chances = np.array([own(ended, player) for player in range(4)])
    assert chances.min() >= 0.0
    assert chances.sum(axis=0) == pytest.approx(1.0)


def test_the_luck_of_a_deal_in_is_what_it_loses_beyond_its_expected_cost() -> None:
    won = Win(1, 0, 4, (), 30, 8_000, 0, ((1, 1),), (), (), -1, (-8_000, 8_000, 0, 0), 0, 0)
    safe, dealt_in = (Discard(0, 0, False), Draw(1, 8)), (Discard(0, 4, False), won)
    ends: Any = [
        SimpleNamespace(events=events) for events in (safe, dealt_in, safe, (DoraRevealed(9), *dealt_in))
    ]
    points, costs = np.array([[26_000.0, 17_000.0], [24_000.0, 17_000.0]]), np.array([10.0, 500.0])
    luck = luck_of_deal_ins(points, ends, 25_000, costs)
    assert luck.tolist() == [[10.0, -7_500.0]] * 2  # and not what the rest of a round brings
