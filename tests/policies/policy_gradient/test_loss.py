"""The policy gradient against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from policies.policy_gradient.loss import (
    EntropyControl,
    PolicyBatch,
    PolicyFigures,
    PolicyObjective,
    log_policy,
    policy_loss,
)

PLAIN = PolicyObjective(clip=0.0)


def batch_of(
    scores: Tensor,
    kinds: list[int],
    advantages: list[float],
    *,
    legal: Tensor | None = None,
    behaviour: Tensor | None = None,
    weights: list[float] | None = None,
    start: Tensor | None = None,
) -> PolicyBatch:
    rows = len(kinds)
    mask = torch.ones(rows, 34, dtype=torch.bool) if legal is None else legal
    chosen = torch.tensor(kinds)
    if behaviour is None:
        behaviour = log_policy(scores.detach(), mask)[torch.arange(rows), chosen]
    return PolicyBatch(
        planes=torch.zeros(rows, 1, 34, dtype=torch.uint8),
        legal=mask,
        chosen=chosen,
        behaviour=behaviour,
        advantages=torch.tensor(advantages),
        weights=torch.ones(rows) if weights is None else torch.tensor(weights),
        start=start,
    )


def some_scores(rows: int, seed: int = 0) -> Tensor:
    return torch.randn(rows, 34, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def gradient(scores: Tensor, batch: PolicyBatch, objective: PolicyObjective, alpha: float = 0.0) -> Tensor:
    loss, _ = policy_loss(scores, batch, objective, alpha)
    (found,) = torch.autograd.grad(loss, scores)
    return found


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_on_policy_the_gradient_is_that_of_the_softmax(temperature: float) -> None:
    """The gradient of A log p(a) over logits is A (1[a] - p) / T."""
    scores, objective = some_scores(3), PolicyObjective(clip=0.0, temperature=temperature)
    kinds = torch.tensor([0, 5, 33])
    every = log_policy(scores.detach(), torch.ones(3, 34, dtype=torch.bool), temperature)
    behaviour = every[torch.arange(3), kinds]
    batch = batch_of(scores, kinds.tolist(), [2.0, -1.0, 0.5], behaviour=behaviour, weights=[1.0, 1.0, 3.0])
    _, measures = policy_loss(scores, batch, objective, 0.0)
    assert measures.ratios.tolist() == pytest.approx([1.0] * 3, rel=1e-5)
    one = torch.nn.functional.one_hot(kinds, 34)
    expected = -(batch.weights * batch.advantages)[:, None] * (one - every.exp()) / (3 * temperature)
    torch.testing.assert_close(gradient(scores, batch, objective), expected, atol=1e-6, rtol=1e-5)


def test_the_expected_gradient_is_that_of_the_expected_reward() -> None:
    """On a bandit the mean over all actions, weighted by π', is the gradient of Σ π(a) r(a)."""
    scores = torch.randn(1, 34, dtype=torch.float64).requires_grad_()
    acted = torch.softmax(torch.randn(1, 34, dtype=torch.float64), 1)[0]
    rewards = torch.randn(34, dtype=torch.float64)
    policy = torch.softmax(scores, 1)
    (exact,) = torch.autograd.grad((policy[0] * rewards).sum(), scores)
    every = torch.zeros_like(scores)
    for kind in range(34):
        batch = batch_of(
            scores, [kind], [float(rewards[kind])], behaviour=acted[kind].log()[None], weights=[1.0]
        )
        loss, _ = policy_loss(scores, batch, PolicyObjective(clip=0.0, reject=1e9), 0.0)
        (found,) = torch.autograd.grad(loss, scores)
        every = every - acted[kind] * found
    torch.testing.assert_close(every, exact, atol=1e-6, rtol=1e-4)


def test_illegal_kinds_have_no_gradient_and_no_probability() -> None:
    scores, legal = some_scores(1), torch.zeros(1, 34, dtype=torch.bool)
    legal[0, [3, 7]] = True
    found = gradient(scores, batch_of(scores, [3], [1.0], legal=legal), PLAIN, alpha=0.5)
    assert (found[0, [kind for kind in range(34) if kind not in (3, 7)]] == 0.0).all()
    assert found[0, 3] == pytest.approx(-float(found[0, 7]))


def test_entropy_is_that_of_the_legal_kinds() -> None:
    scores, legal = torch.zeros(1, 34), torch.zeros(1, 34, dtype=torch.bool)
    legal[0, :8] = True
    _, measures = policy_loss(scores, batch_of(scores, [0], [0.0], legal=legal), PLAIN, 0.0)
    assert float(measures.entropies) == pytest.approx(np.log(8))


def test_the_gradient_of_the_entropy_is_the_closed_form() -> None:
    """dH/dz = -p (log p + H)."""
    scores = some_scores(1)
    found = gradient(scores, batch_of(scores, [0], [0.0]), PLAIN, alpha=2.0)
    policy = torch.softmax(scores.detach(), 1)
    entropy = -(policy * policy.log()).sum()
    torch.testing.assert_close(found, 2.0 * policy * (policy.log() + entropy), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(("advantage", "ratio", "moves"), [(1, 1.5, False), (1, 0.5, True), (-1, 0.5, False)])
def test_the_clip_stops_what_has_moved_far_enough(advantage: float, ratio: float, moves: bool) -> None:
    scores = some_scores(1)
    chosen = log_policy(scores.detach(), torch.ones(1, 34, dtype=torch.bool))[0, 4]
    batch = batch_of(scores, [4], [float(advantage)], behaviour=(chosen - np.log(ratio))[None])
    assert bool(gradient(scores, batch, PolicyObjective(clip=0.2)).any()) == moves
    assert gradient(scores, batch, PLAIN).any()


def test_ratios_above_the_limit_are_rejected() -> None:
    scores = some_scores(2)
    chosen = log_policy(scores.detach(), torch.ones(2, 34, dtype=torch.bool))[:, 4]
    behaviour = chosen - torch.tensor([1.9, 2.1]).log()
    batch = batch_of(scores, [4, 4], [-1.0, -1.0], behaviour=behaviour)
    loss, measures = policy_loss(scores, batch, PolicyObjective(clip=0.0, reject=2.0), 0.0)
    assert measures.rejected.tolist() == [False, True]
    assert measures.ratios.tolist() == pytest.approx([1.9, 2.1], rel=1e-5)
    (found,) = torch.autograd.grad(loss, scores)
    assert found[0].any()
    assert not found[1].any()


def test_the_anchor_pulls_towards_the_start() -> None:
    scores = some_scores(1)
    every = torch.ones(1, 34, dtype=torch.bool)
    start = log_policy(some_scores(1, seed=1).detach(), every)
    batch = batch_of(scores, [0], [0.0], start=start)
    held = PolicyObjective(clip=0.0, anchor=1.0)
    _, measures = policy_loss(scores, batch, held, 0.0)
    policy = torch.softmax(scores.detach(), 1)
    apart = float((policy * (policy.log() - start)).sum())
    assert float(measures.divergences) == pytest.approx(apart, rel=1e-5)
    moved = (scores.detach() - 0.1 * gradient(scores, batch, held)).requires_grad_()
    _, after = policy_loss(moved, batch, held, 0.0)
    assert float(after.divergences) < apart


@pytest.mark.parametrize("begin", [0.05, 3.0])
def test_alpha_brings_the_entropy_to_its_target_from_above_and_below(begin: float) -> None:
    """A bandit with a pull towards one arm: α settles where the entropy is what it should be."""
    rewards = torch.linspace(0.0, 1.0, 34)
    scores = (rewards * (40.0 if begin < 1 else 0.0)).clone().requires_grad_()
    every = torch.ones(1, 34, dtype=torch.bool)
    control = EntropyControl(target=1.5, step=5e-4, most=10.0, least=-10.0)
    optimiser = torch.optim.SGD([scores], lr=2.0)
    first = None
    for _ in range(2_000):
        log_all = log_policy(scores[None], every)[0]
        entropy = -(log_all.exp() * log_all).sum()
        reached = float(entropy.detach())
        first = reached if first is None else first
        control.follow(reached)
        optimiser.zero_grad()
        (-(log_all.exp() * rewards).sum() - control.alpha * entropy).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert (first < 1.5) == (begin < 1)
    assert reached == pytest.approx(1.5, abs=0.03)
    assert control.alpha > 0.0


def test_alpha_stays_within_its_limits() -> None:
    control = EntropyControl(target=1.0, step=1.0, most=0.5, least=-0.25)
    control.follow(0.0)
    assert control.alpha == 0.5
    control.follow(9.0)
    assert control.alpha == -0.25


def test_figures_do_not_depend_on_which_thread_was_first() -> None:
    parts = []
    for seed in range(6):
        scores = some_scores(40, seed)
        batch = batch_of(scores, [1] * 40, [0.0] * 40, weights=[0.1 + seed] * 40)
        parts.append(policy_loss(scores, batch, PLAIN, 0.0)[1])
    found = []
    for order in itertools.permutations(parts, 6):
        figures = PolicyFigures()
        for part in order:
            figures.add(part)
        found.append(figures.means())
    assert all(each == found[0] for each in found)


def test_figures_are_weighted_means_over_all_batches() -> None:
    figures = PolicyFigures()
    assert figures.means() == {}
    entropies = []
    for seed, weight in ((0, 1.0), (1, 3.0)):
        scores = some_scores(2, seed)
        batch = batch_of(scores, [1, 2], [0.0, 0.0], weights=[weight] * 2)
        _, measures = policy_loss(scores, batch, PLAIN, 0.0)
        figures.add(measures)
        entropies.append(float(measures.entropies.mean()))
    means = figures.means()
    assert means["ratio_0.5"] == pytest.approx(1.0, abs=1e-6)
    assert means["ratio_deviation"] == pytest.approx(0.0, abs=1e-6)
    assert means["rejected"] == 0.0
    assert means["entropy"] == pytest.approx((entropies[0] + 3 * entropies[1]) / 4, rel=1e-5)
