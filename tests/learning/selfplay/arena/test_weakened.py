"""A policy weakened on purpose loses points, and the differences say so.

Noise in all its weights makes it choose another discard in one decision of five.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from learning.selfplay.arena.differences.plan import make_differences_plan
from learning.selfplay.arena.differences.run import DIFFERENCES
from learning.selfplay.rl.run import copy_policy
from policies.checkpoint import load
from policies.features.draw import kinds_of
from policies.flow.slots import Slot
from policies.nets.architectures import Arrays, Floats
from policies.play.included import PHOENIX
from policies.play.inference import load_policy
from policies.play.rollout import Rollout, Seating
from policies.policy_gradient.trajectories import Recorder

AGREEMENT = 0.8
"""Share of decisions in which the weak policy chooses as its parent."""


def test_noise_grows_with_its_scale_and_leaves_the_statistics_alone() -> None:
    dice = np.random.default_rng(0)
    weights = {
        "layer": dice.standard_normal((64, 64), np.float32),
        "norm.running_mean": np.ones(64, np.float32),
    }
    small, large = (noisy(weights, scale, seed=1) for scale in (0.1, 0.2))
    moved = small["layer"] - weights["layer"]
    assert float(moved.std() / weights["layer"].std()) == pytest.approx(0.1, rel=0.05)
    np.testing.assert_allclose(2.0 * moved, large["layer"] - weights["layer"], atol=1e-5, rtol=1e-4)
    assert np.array_equal(small["norm.running_mean"], weights["norm.running_mean"])


@pytest.mark.slow
def test_the_differences_find_what_a_weakened_policy_loses(tmp_path: Path) -> None:
    """A minute on two cores."""
    weaken(tmp_path / "weak", seed=3)
    plan = make_differences_plan(str(tmp_path / "weak"), "phoenix", games=64, walls=2, horizon=8, seed=1)
    gain = DIFFERENCES.run(plan, None, workers=None, quiet=True).figures.gain
    assert gain.points.value is not None
    assert gain.points.value < 0.0
    assert gain.differences > 10.0


def weaken(out: Path, seed: int) -> None:
    """Write a policy that discards something else than its parent in one decision of five."""
    begin, policy = load(PHOENIX, Slot.DISCARD), load_policy(PHOENIX)
    recorder, model = Recorder(policy), policy.model(Slot.DISCARD)
    played = Rollout([recorder]).play(Seating(n, n, (0, 0, 0, 0)) for n in range(4))
    decisions = np.concatenate([recorder.take(game).decisions for game in played])

    def choices(weights: Arrays) -> np.ndarray:
        logits = model.with_arrays(weights).look(decisions["state"], decisions["player"], None, "hanchan")
        found: np.ndarray = np.where(kinds_of(decisions["legal"]), logits, -np.inf).argmax(axis=1)
        return found

    wanted, low, high = choices(begin.arrays), 0.0, 1.0
    for _ in range(10):
        middle = (low + high) / 2.0
        agreement = (choices(noisy(begin.arrays, middle, seed)) == wanted).mean()
        low, high = (middle, high) if agreement > AGREEMENT else (low, middle)
    copy_policy(PHOENIX, out, begin.card, noisy(begin.arrays, high, seed))


def noisy(weights: Arrays, scale: float, seed: int) -> dict[str, Floats]:
    """Weights with noise, in units of the standard deviation of each array; biases and statistics stay."""
    dice = np.random.default_rng(seed)
    return {
        name: array + np.float32(scale) * array.std() * dice.standard_normal(array.shape, np.float32)
        if array.ndim > 1
        else array
        for name, array in weights.items()
    }
