"""CFR and best responses on games whose answers are known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from learning.cfr.known_report import KNOWN_GAMES
from learning.cfr.response import best_response, exploitability, value_of
from learning.cfr.solver import TreeSolver
from learning.cfr.tree import UPDATES, DecisionNode, GameTree, OutcomeNode, Step, lay_out
from tests.scale import scaled


def kuhn() -> GameTree:
    return lay_out(KNOWN_GAMES["kuhn"].rules)[0]


def test_the_value_and_an_equilibrium_of_kuhn_poker() -> None:
    tree, information = lay_out(KNOWN_GAMES["kuhn"].rules)
    solver = TreeSolver(tree, UPDATES["cfr"])
    solver.run(scaled(10_000, 20_000))
    strategy = solver.average()
    assert abs(value_of(tree, strategy) + 1 / 18) < 1e-3
    assert exploitability(tree, strategy).value < 3e-3
    bets = {known: strategy[number, 1] for number, known in enumerate(information)}
    # Kuhn's equilibria: the first player bluffs with the lowest card as it likes, up to 1/3, and bets the
    # highest three times as often; everything else is fixed
    bluff = bets[0, ()]
    assert 0.0 <= bluff <= 1 / 3 + 0.02
    assert bets[2, ()] == pytest.approx(3 * bluff, abs=0.03)
    assert bets[1, ()] == pytest.approx(0.0, abs=0.02)
    assert bets[1, (0, 1)] == pytest.approx(bluff + 1 / 3, abs=0.03)
    assert bets[1, (1,)] == pytest.approx(1 / 3, abs=0.03)
    assert bets[0, (0,)] == pytest.approx(1 / 3, abs=0.03)
    assert bets[0, (1,)] == pytest.approx(0.0, abs=0.02)
    assert bets[2, (1,)] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("update", list(UPDATES))
@pytest.mark.parametrize("external", [False, True])
def test_every_variant_solves_kuhn_poker(update: str, external: bool) -> None:
    tree = kuhn()
    solver = TreeSolver(tree, UPDATES[update], external=external, seed=1)
    solver.run(scaled(12_000, 30_000) if external else 1_000)
    assert abs(value_of(tree, solver.average()) + 1 / 18) < 0.01
    assert exploitability(tree, solver.average()).value < 0.01


def test_the_published_value_of_leduc_holdem() -> None:
    game = KNOWN_GAMES["leduc"]
    tree, information = lay_out(game.rules)
    assert len(information) == 288
    solver = TreeSolver(tree, UPDATES["plus"])
    solver.run(1_000)
    assert value_of(tree, solver.average()) == pytest.approx(game.value, abs=1e-4)
    assert exploitability(tree, solver.average()).value < 1e-3


def test_plus_converges_faster_than_plain() -> None:
    tree = kuhn()
    found = {}
    for name in ("cfr", "plus"):
        solver = TreeSolver(tree, UPDATES[name])
        solver.run(500)
        found[name] = exploitability(tree, solver.average()).value
    assert found["plus"] < 0.1 * found["cfr"]


def test_a_best_response_is_the_best_of_all_pure_strategies() -> None:
    """Every pure strategy of each player in Kuhn poker, against a strategy of no particular kind."""
    tree = kuhn()
    rng = np.random.default_rng(0)
    strategy = rng.dirichlet(np.ones(2), len(tree.actions))
    for player, sign in ((0, 1.0), (1, -1.0)):
        own = np.unique(tree.infoset[tree.player == player])
        values = []
        for choices in product((0, 1), repeat=len(own)):
            pure = strategy.copy()
            pure[own] = 0.0
            pure[own, choices] = 1.0
            values.append(sign * value_of(tree, pure))
        response = best_response(tree, strategy, player)
        assert response.value == pytest.approx(max(values), abs=1e-12)
        assert sign * value_of(tree, response.strategy) == pytest.approx(response.value, abs=1e-12)


def test_a_best_response_chooses_for_a_whole_information_set() -> None:
    """A player who does not see a coin guesses it: knowing it would be worth 1, not knowing it 0.2."""

    def guess(history: tuple[int, ...]) -> Step:
        if not history:
            return DecisionNode(0, "coin", 2)
        if len(history) == 1:
            return DecisionNode(1, "guess", 2)
        return OutcomeNode(-1.0 if history[0] == history[1] else 1.0)

    tree, _ = lay_out(guess)
    strategy = np.array([[0.6, 0.4], [0.5, 0.5]])
    response = best_response(tree, strategy, 1)
    assert response.value == pytest.approx(0.2)
    assert response.strategy[1].tolist() == [1.0, 0.0]


def test_external_samples_give_the_exact_regrets_on_average() -> None:
    tree = kuhn()
    exact = TreeSolver(tree, UPDATES["cfr"])
    exact.run(1)
    sums = np.zeros_like(exact.regrets)
    samples = scaled(10_000, 20_000)
    for seed in range(samples):
        sampled = TreeSolver(tree, UPDATES["cfr"], external=True, seed=seed)
        sampled.run(1)
        sums += sampled.regrets
    assert np.abs(sums / samples - exact.regrets).max() < 0.02


def test_a_restricted_response_follows_where_it_comes_rarely() -> None:
    """The higher the reach it takes to depart from the strategy, the less the responder gets."""
    tree = kuhn()
    strategy = np.random.default_rng(1).dirichlet(np.ones(2), len(tree.actions))
    for player, sign in ((0, 1.0), (1, -1.0)):
        responses = [
            best_response(tree, strategy, player, least_reach=least) for least in (0.0, 0.1, 0.25, 2.0)
        ]
        for response in responses:
            assert sign * value_of(tree, response.strategy) == pytest.approx(response.value, abs=1e-12)
        values = [response.value for response in responses]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[3] == pytest.approx(sign * value_of(tree, strategy))
        assert np.array_equal(responses[3].strategy, strategy)
        assert len({round(value, 9) for value in values}) == (2 if player == 0 else 4)
