"""A small policy to start from, and plans of runs that take seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

from learning.selfplay.rl.plan import ReinforcementPlan
from learning.selfplay.rl.run import learn_from_play
from policies.checkpoint.card import Card
from policies.checkpoint.store import save
from policies.reward.predictor import FinishArchitecture, predictor_shapes
from tests.policies.models import save_models


def save_start(folder: Path, seed: int = 0) -> Path:
    """All six checkpoints, with random weights, in a folder."""
    save_models(folder, tower="suits", seed=seed)
    dice, shape = np.random.default_rng(seed), FinishArchitecture(hidden=4, dense=4)
    arrays = {name: dice.normal(0.0, 0.5, size) for name, size in predictor_shapes(shape).items()}
    save(folder, Card(model="reward", architecture=shape), arrays)
    return folder


def short_plan(**settings: Any) -> ReinforcementPlan:
    usual: dict[str, Any] = {
        "games": 2,
        "block_games": 1,
        "length": "tonpuu",
        "steps": 2,
        "critic_width": 4,
        "critic_depth": 1,
        "evaluate_every": 2,
        "evaluation_games": 4,
        "learning_rate": 1e-3,
    }
    return ReinforcementPlan(**{**usual, **settings})


def read_curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The steps and values of each curve of a run."""
    events = EventAccumulator(str(folder), size_guidance={SCALARS: 0}).Reload()
    return {
        name: [(each.step, each.value) for each in events.Scalars(name)] for name in events.Tags()[SCALARS]
    }


def learn(plan: ReinforcementPlan, start: Path, out: Path, **how: Any) -> None:
    torch.set_num_threads(1)
    learn_from_play(plan, start, out, **{"workers": 1, "quiet": True, **how})
