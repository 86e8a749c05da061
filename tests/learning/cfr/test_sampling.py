"""Sampled CFR over the abstract policies, against the textbook's CFR on the same deals laid out as a tree."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from game.two_player.layout import shuffle
from learning.cfr.deal_tree import ALL, DRAWN, LIKELY, TERMINAL, DealTree, deal_series, expand, new_deal_tree
from learning.cfr.exploitability import measure, summed_up
from learning.cfr.node_table import visited
from learning.cfr.sampling import BOTH, UPDATES, NodeSums, learn_deal, learn_deals, new_sums
from policies.two_player.abstraction import KEYS, POLICIES
from tests.learning.cfr.textbook import OVER, Cfr, Node
from tests.scale import scaled

UNIFORM = np.zeros((KEYS, POLICIES))


def learned(iterations: int, update: str = "cfr", *, external: bool = False, seed: int = 1) -> NodeSums:
    sums = new_sums()
    learn_deals(sums, new_deal_tree(), UPDATES[update], external, seed, 1, iterations)
    return sums


def equal(one: NodeSums, other: NodeSums) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def abstract_game(tree: DealTree) -> Node:
    """An expanded deal; what is known is the key alone, as in learning."""
    found: list[Node] = []
    for at in range(int(tree.size[0])):
        over = tree.player[at] == TERMINAL
        node = (
            Node(OVER, (), (), tree.value[at]) if over else Node(int(tree.player[at]), int(tree.key[at]), [])
        )
        found.append(node)
        if at:
            children = found[tree.parent[at]].children
            assert len(children) == tree.choice[at]
            children.append(node)
    return found[0]


@pytest.mark.parametrize("update", list(UPDATES))
def test_learning_from_one_deal_is_cfr_on_its_tree(update: str) -> None:
    """The same deal again and again: the sums are those of CFR on the whole tree, iteration by iteration."""
    sums, tree, wall = new_sums(), new_deal_tree(), np.zeros(64, np.int8)
    shuffle(3, 0, wall)
    expand(tree, wall, UNIFORM, (ALL, ALL), 3, 0)
    solver = Cfr(abstract_game(tree), UPDATES[update])
    solver.run(25)
    for number in range(1, 26):
        for learner in (0, 1) if UPDATES[update].alternate else (BOTH,):
            learn_deal(sums, tree, UPDATES[update], False, learner, 3, number, wall)
    keys = visited(sums).tolist()
    assert sorted(solver.regrets) == keys
    for key in keys:
        policies = len(solver.regrets[key])
        assert np.allclose(sums.regrets[key][:policies], solver.regrets[key], atol=1e-9)
        assert np.allclose(sums.strategies[key][:policies], solver.strategies[key], atol=1e-9)


@pytest.mark.slow
def test_external_samples_of_a_deal_give_its_exact_regrets_on_average() -> None:
    wall, tree = np.zeros(64, np.int8), new_deal_tree()
    shuffle(3, 0, wall)
    exact, total = new_sums(), np.zeros((KEYS, POLICIES))
    learn_deal(exact, tree, UPDATES["cfr"], False, BOTH, 0, 1, wall)
    keys = visited(exact)
    found = new_sums()
    samples = 4_000
    for sample in range(samples):
        for learner in (0, 1):
            learn_deal(found, tree, UPDATES["cfr"], True, learner, sample, 1, wall)
            total[keys] += found.regrets[keys]
            found.regrets[keys] = 0.0
    assert len(keys) > 20
    assert np.abs(total[keys] / samples - exact.regrets[keys]).max() < 0.06


def test_learning_is_reproducible_and_can_be_interrupted() -> None:
    for update, external in product(UPDATES, (False, True)):
        whole = learned(9, update, external=external)
        sums, tree = new_sums(), new_deal_tree()
        for first, count in ((1, 3), (4, 5), (9, 1)):
            learn_deals(sums, tree, UPDATES[update], external, 1, first, count)
        assert equal(whole, sums)
        assert not equal(whole, learned(9, update, external=external, seed=2))
        if update == "plus":
            assert whole.regrets.min() == 0.0


def test_a_deal_s_tree_has_what_is_tried() -> None:
    tree, wall = new_deal_tree(), np.zeros(64, np.int8)
    shuffle(0, 0, wall)
    sums = learned(400)
    sizes = {}
    for name, tried in {
        "all": (ALL, ALL),
        "likely": (LIKELY, LIKELY),
        "drawn": (DRAWN, DRAWN),
        "given": (0, 0),
    }.items():
        expand(tree, wall, UNIFORM if name == "all" else sums.strategies, tried, 0, 0)
        size = int(tree.size[0])
        sizes[name] = size
        assert (tree.parent[1:size] < np.arange(1, size)).all()
        below = tree.parent[1:size]
        assert (tree.player[below] != TERMINAL).all()
        if name == "all":
            assert np.abs(np.bincount(below, tree.share[1:size])[np.unique(below)] - 1.0).max() < 1e-12
            assert tree.value[0] == pytest.approx(
                (tree.value[:size] * tree.reach[:size].prod(axis=1))[tree.player[:size] == TERMINAL].sum()
            )
    assert sizes["given"] == 1 < sizes["drawn"] < sizes["likely"] <= sizes["all"]


def test_the_benchmark_is_the_mean_of_many_games() -> None:
    """Expectations over the strategy's draws agree with games that draw, within their error."""
    scores = measure(learned(300).strategies, scaled(250, 1_500), 4)
    difference = scores.expected - scores.sampled
    error = difference.std() / np.sqrt(difference.size)
    assert abs(difference.mean()) < 4 * error
    result = summed_up(scores)
    assert result.fixed <= result.exploitability < result.sampled
    assert np.mean(result.seats) == pytest.approx(result.exploitability)


def test_learning_lowers_exploitability() -> None:
    plain, trained = (
        summed_up(measure(weights, scaled(100, 300), 6))
        for weights in (UNIFORM, learned(scaled(500, 3_000)).strategies)
    )
    assert trained.exploitability < plain.exploitability
    assert trained.fixed < plain.fixed


def test_deals_for_learning_are_not_those_for_measuring() -> None:
    seeds = [deal_series(seed, training=training) for seed in range(50) for training in (False, True)]
    assert len(set(seeds)) == 100
