"""Averaged weights of a learner, and scores in parts."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from learning.runs.learner import Learner
from learning.train.plan import make_plan
from policies.nets.networks import Network


class Planes(NamedTuple):
    """Samples with nothing but planes."""

    planes: Tensor


def square(scores: Tensor, samples: Planes) -> Tensor:
    return scores.square().mean()


def learner(averaging: float) -> Learner[Planes]:
    plan = make_plan("discard", width=4, depth=1, precision="fp32", averaging=averaging)
    torch.manual_seed(0)
    return Learner(Network(plan.architecture), plan, loss=square)


def some_planes(rows: int) -> Planes:
    return Planes(torch.randint(0, 256, (rows, 239, 34), dtype=torch.uint8))


@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_weights_that_are_not_averaged_are_those_of_the_last_step(averaging: float) -> None:
    made = learner(averaging)
    for number in range(3):
        made.step(some_planes(8), number, 0.01)
    ours, theirs = made.weights(), made.network.state_dict()
    same = [np.array_equal(ours[name], theirs[name].cpu().numpy()) for name in theirs]
    assert all(same) if not averaging else not any(same)
    again = learner(averaging)
    again.restore(copy.deepcopy(made.state()))
    more = some_planes(8)
    assert made.step(more, 3, 0.01) == again.step(more, 3, 0.01)
    assert all(np.array_equal(array, again.weights()[name]) for name, array in made.weights().items())
    made.close()
    again.close()


def test_many_rows_are_scored_as_few_are() -> None:
    made, samples = learner(0.9), some_planes(300)
    scores = made.scores(samples)
    assert scores.shape == (300, 34)
    assert torch.allclose(scores[290:], made.scores(Planes(samples.planes[290:])), atol=1e-5)
    made.close()
