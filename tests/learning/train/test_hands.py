from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from kit.errors import CheckpointMismatch, ConfigError
from learning.data.corpus import Corpus
from learning.train import samples_run
from learning.train.first_weights import Parent, parent_of
from learning.train.hands import run_of
from learning.train.hands_generators import first_denoiser, partial_hands
from learning.train.plan import HandsPlan, make_hands_plan
from policies.checkpoint.card import HAND_MODELS, Card, HandModel
from policies.checkpoint.store import Checkpoint, load, save
from policies.features.table import LITE
from policies.nets.networks import Network, arrays_of
from tests.learning.stopping import stop_at
from tests.learning.train.tiny import TINY
from tests.scale import scaled

pytestmark = pytest.mark.usefixtures("restore_logs")


def plan(model: str = "direct", **settings: Any) -> HandsPlan:
    return make_hands_plan(model, **{**TINY, **settings})


@pytest.fixture(scope="session")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained direct model, the same in every process."""
    folder, shape = tmp_path_factory.mktemp("direct"), plan().architecture
    torch.manual_seed(0)
    save(
        folder,
        Card(model="direct", architecture=shape, features=LITE),
        arrays_of(Network(shape).state_dict()),
    )
    return folder


def train(plan: HandsPlan, corpus: Corpus, out: Path, **settings: Any) -> Card:
    return samples_run.train(run_of(plan), plan, corpus, out, quiet=True, **settings)


def parent(model: str, direct: Path) -> Parent | None:
    return None if model == "direct" else Parent(direct, "direct")


def long_plan(model: str) -> HandsPlan:
    return plan(model, samples=scaled(384, 1_600), learning_rate=0.01)


@pytest.mark.parametrize("model", HAND_MODELS)
def test_every_model_gets_better_and_its_card_names_its_data(
    corpus: Corpus, direct: Path, tmp_path: Path, model: HandModel
) -> None:
    """The diffusion, whose noise is drawn at each step, is stopped on the way."""
    begin = parent(model, direct)
    short = train(plan(model, samples=32), corpus, tmp_path / "short", parent=begin)
    card = train(long_plan(model), corpus, tmp_path / "long", parent=begin)
    assert card.metrics["loss"] < short.metrics["loss"] - 0.02
    assert (card.model, card.data.corpus) == (model, corpus.card["content_sha256"])
    if model != "direct":
        assert card.parents == (load(direct, "direct").card.tensors.sha256,)
    if model != "diffusion":
        return
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 4)
        with pytest.raises(KeyboardInterrupt, match=r"^stopped: 128 of [\d,]+ samples"):
            train(long_plan(model), corpus, tmp_path / "parts", parent=begin)
    train(long_plan(model), corpus, tmp_path / "parts", parent=begin)
    ours, theirs = (load(tmp_path / each, model).arrays for each in ("long", "parts"))
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_the_trunk_of_a_generator_stays_that_of_its_parent(
    corpus: Corpus, direct: Path, tmp_path: Path
) -> None:
    train(plan("diffusion", samples=64), corpus, tmp_path, parent=Parent(direct, "direct"))
    theirs, ours = load(direct, "direct").arrays, load(tmp_path, "diffusion").arrays
    for name, tensor in theirs.items():
        if not name.startswith("head."):
            assert np.array_equal(ours[f"trunk.{name}"], tensor)
    wider = plan("diffusion", width=12)
    with pytest.raises(CheckpointMismatch, match="8×1, but the plan wants 12×1"):
        train(wider, corpus, tmp_path / "wider", parent=Parent(tmp_path, "diffusion"))


@pytest.mark.slow
def test_a_model_is_distilled_to_fewer_steps(corpus: Corpus, direct: Path, tmp_path: Path) -> None:
    train(plan("diffusion"), corpus, tmp_path / "whole", parent=Parent(direct, "direct"))
    begin = Parent(tmp_path / "whole", "diffusion")
    losses = []
    for samples in (32, scaled(960, 1_600)):
        short = plan("diffusion", distil=2, samples=samples, learning_rate=0.01)
        card = train(short, corpus, tmp_path / str(samples), parent=begin)
        losses.append(card.metrics["loss"])
        assert card.architecture.steps == 2  # type: ignore[union-attr]
        assert card.parents == (load(tmp_path / "whole", "diffusion").card.tensors.sha256,)
        assert card.training.settings["distil"] == 2
    assert losses[1] < 0.8 * losses[0]
    again = plan("diffusion", samples=32)
    further = Parent(tmp_path / "32", "diffusion")
    assert not train(again, corpus, tmp_path / "again", parent=further).architecture.steps  # type: ignore[union-attr]


def test_a_teacher_takes_twice_as_many_steps(direct: Path) -> None:
    teacher = first_denoiser(plan("diffusion"), load(direct, "direct")).architecture
    card = Card(model="diffusion", architecture=replace(teacher, steps=4), features=LITE)
    with pytest.raises(CheckpointMismatch, match=r"steps: 4 to distil to 4; give a model distilled to 8"):
        first_denoiser(plan("diffusion", distil=4), Checkpoint(card, {}))


def test_what_cannot_be_trained_is_refused() -> None:
    with pytest.raises(ConfigError, match="lite-287/1 is for"):
        plan(features="lite-287/1")
    with pytest.raises(ConfigError, match="--tower-from: give the folder of a direct model"):
        parent_of(plan("diffusion"), None, None)
    with pytest.raises(ConfigError, match="--continue-from: give the folder of the diffusion"):
        parent_of(plan("diffusion", distil=4), None, Path("a"))
    with pytest.raises(ConfigError, match="distil: only diffusion takes steps"):
        plan("autoregressive", distil=4)


def test_any_part_of_the_hands_is_shown_but_not_all() -> None:
    dice = np.random.default_rng(0)
    copies = np.zeros((400, 3, 34), np.int8)
    copies[:, 0, :13] = 1
    copies[:, 1, 20], copies[:, 1, 5] = 4, 3
    copies[:, 2, 33] = 1
    placed = partial_hands(copies, dice)
    assert ((placed >= 0) & (placed <= copies)).all()
    shown = placed.sum((1, 2))
    assert shown.min() == 0
    assert shown.max() == 20  # of 21 tiles
    counts = np.bincount(shown, minlength=21)
    assert counts.min() > 5
    # a tile of a hand of 13 is shown as often as one of four equal tiles
    assert abs(placed[:, 0].sum() / 13 - placed[:, 1, 20].sum() / 4) < 40
