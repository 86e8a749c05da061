"""Runs that an earlier version began."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from kit.errors import ConfigError
from learning.corpus.reader import Corpus
from learning.reward.training import RewardPlan, train_reward
from learning.runs.learner import Descent
from learning.runs.state import STATE_FILE
from learning.supervised.plan import make_plan
from learning.supervised.run import SupervisedRun
from learning.supervised.samples_run import train

EARLIER = Path(__file__).parent / "data"
"""Two stopped runs of an earlier version: discards after 3 of 6 steps, rewards after 2 of 4 passes.

They learned from the first 54 games of ``houou-01``, with one thread, in an earlier format of the corpus.
"""
STEPS_LEFT = 3


def train_discard(corpus: Corpus, out: Path) -> dict[str, Any]:
    """Train, or resume; return the state at the end."""
    sizes: dict[str, Any] = {
        **{"tower": "residual", "width": 2, "depth": 1, "batch_size": 64, "samples": 384, "warm_up": 2},
        **{"precision": "fp32", "preset": "tiny", "validate_every": 128, "validation_rows": 200},
    }
    train(SupervisedRun, make_plan("discard", **sizes), corpus, out, quiet=True)
    state: dict[str, Any] = torch.load(out / "runs" / "discard" / STATE_FILE, weights_only=True)
    return state


def on_the_corpus(corpus: Corpus, state: Path) -> None:
    """Let the state of a run continue on a corpus of the same games in today's format."""
    saved = torch.load(state, weights_only=True)
    identity = msgspec.json.decode(saved["identity"])
    identity["corpus"] = corpus.card["content_sha256"]
    torch.save({**saved, "identity": msgspec.json.encode(identity).decode()}, state)


def test_a_run_of_an_earlier_version_resumes_and_ends_with_the_same_numbers(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = train_discard(corpus, tmp_path / "whole")
    shutil.copytree(EARLIER, tmp_path / "earlier")
    on_the_corpus(corpus, tmp_path / "earlier" / "runs" / "discard" / STATE_FILE)
    taken, real = [0], Descent.step

    def counted(*args: Any) -> float:
        taken[0] += 1
        return real(*args)

    monkeypatch.setattr(Descent, "step", counted)
    theirs = train_discard(corpus, tmp_path / "earlier")
    assert taken[0] == STEPS_LEFT
    assert ours["network"].keys() == theirs["network"].keys()
    for name, weights in ours["network"].items():
        # a bias common to all scores changes nothing: its gradient is rounding, which processors differ in
        if name != "head.score.bias":
            assert torch.allclose(weights, theirs["network"][name], rtol=1e-4, atol=1e-6), name
    status, earlier = ours["standing"], theirs["standing"]
    best = pytest.approx(earlier["best"], rel=1e-4)
    assert status == {**earlier, "best": best, "seconds": status["seconds"]}


def test_a_run_of_the_earlier_reward_predictor_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    """Its network differs, so its numbers cannot be continued; its checkpoint can still be used."""
    shutil.copytree(EARLIER, tmp_path / "earlier")
    on_the_corpus(corpus, tmp_path / "earlier" / "runs" / "reward" / STATE_FILE)
    plan = RewardPlan(hidden=6, dense=5, batch_games=8, patience=0, epochs=4)
    with pytest.raises(ConfigError, match="holds another run, which differs in encoding;"):
        train_reward(plan, corpus, tmp_path / "earlier", quiet=True)
