from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kit.errors import CheckpointMismatch, ConfigError
from learning.data.corpus import Corpus
from learning.data.loader import Loader
from learning.data.positions import count
from learning.runs.commit import current_commit
from learning.runs.learner import Learner
from learning.runs.state import STATE_FILE
from learning.train.first_weights import Parent, first_network, parent_of
from learning.train.plan import TrainingPlan, make_plan
from learning.train.samples_run import choice_of, train
from learning.train.supervised import SupervisedRun, imitation_loss
from policies.checkpoint.card import Card
from policies.checkpoint.store import Checkpoint, load, save
from policies.features.table import HOSEI, LITE, SETS
from policies.flow.slots import Slot
from policies.nets.architectures import Floats, TowerName, plane_weights
from policies.nets.networks import Network, arrays_of, network_of
from tests.cli import run_cli
from tests.learning.stopping import stop_at
from tests.learning.train.tiny import TINY
from tests.made_once import made_once
from tests.policies.models import a_network

pytestmark = pytest.mark.usefixtures("restore_logs")


def plan(model: str = "discard", **settings: Any) -> TrainingPlan:
    own = {"depth": 2, "batch_size": 64, "samples": 640, "validate_every": 320, "validation_rows": 200}
    return make_plan(model, **{"preset": "tiny", **TINY, **own, **settings})


@pytest.fixture(scope="session")
def trained(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A discard model, hardly trained."""
    return made_once(
        tmp_path_factory, "discard", lambda out: train(SupervisedRun, plan(), corpus, out, quiet=True)
    )


def untrained(folder: Path, wanted: TrainingPlan) -> Checkpoint:
    """A checkpoint of random weights whose answers differ."""
    network = a_network(wanted.model, width=wanted.width, depth=wanted.depth, tower=wanted.tower)
    card = Card(model=wanted.model.value, architecture=network.architecture, features=wanted.features)
    save(folder, card, arrays_of(network.state_dict()))
    return load(folder, wanted.model)


def begun(wanted: TrainingPlan, corpus: Corpus, parent: Parent, out: Path) -> Network:
    """The network of a run before its first step."""
    run = SupervisedRun(wanted, corpus, out, parent)
    run.learner.close()
    return run.learner.network.eval()


def taught(network: Network, wanted: TrainingPlan, corpus: Corpus) -> dict[str, Floats]:
    """Weights after a few steps."""
    batches = Loader(corpus, choice_of(wanted, corpus, "train"), batch_size=64).epoch(0)
    learner = Learner(copy.deepcopy(network), wanted, loss=imitation_loss)
    for step, batch in enumerate(itertools.islice(batches, 4)):
        learner.step(batch, step, 1e-2)
    batches.close()
    learner.close()
    return learner.weights(averaged=False)


def same(one: Path, other: Path, model: Slot = Slot.DISCARD) -> bool:
    ours, theirs = load(one, model).arrays, load(other, model).arrays
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("model", list(Slot))
def test_every_model_learns_and_its_card_names_its_data(corpus: Corpus, tmp_path: Path, model: Slot) -> None:
    short = plan(model, samples=128, validation_rows=64)
    card = train(SupervisedRun, short, corpus, tmp_path, quiet=True)
    assert card == load(tmp_path, model).card
    assert (card.model, card.training.commit, card.training.seed) == (model, current_commit(), 0)
    assert card.data.corpus == corpus.card["content_sha256"]
    assert card.data.games == len(choice_of(short, corpus, "train").games)
    assert 0 < card.training.samples <= 128 + 64
    assert 0 < card.metrics["accuracy"] <= 1


def test_it_gets_better_than_the_first_weights(corpus: Corpus, trained: Path, tmp_path: Path) -> None:
    short, long = (
        train(SupervisedRun, plan(samples=64), corpus, tmp_path, quiet=True),
        load(trained, "discard"),
    )
    assert long.card.metrics["accuracy"] > short.metrics["accuracy"] + 0.1
    assert long.card.metrics["loss"] < short.metrics["loss"] - 0.3


def test_a_run_stopped_by_a_signal_ends_with_the_same_numbers(
    corpus: Corpus, trained: Path, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 7)
        with pytest.raises(
            KeyboardInterrupt,
            match=r"^stopped: 448 of 640 samples are learned and saved in .*discard; give the same command",
        ):
            train(SupervisedRun, plan(), corpus, tmp_path, quiet=True)
    train(SupervisedRun, plan(), corpus, tmp_path, quiet=True)
    assert same(trained, tmp_path)


def test_a_run_knows_whether_its_best_model_is_there(corpus: Corpus, trained: Path, tmp_path: Path) -> None:
    for out, kept in ((trained, True), (tmp_path, False)):
        run = SupervisedRun(plan(), corpus, out, None)
        run.learner.close()
        assert run.kept == kept


def test_ctrl_c_on_the_command_saves_and_the_same_command_resumes(folder: Path, tmp_path: Path) -> None:
    args = ["train", "pon", "--corpus", str(folder), "--out", str(tmp_path), "--preset", "tiny", "--json"]
    args += ["--samples", "256", "--batch-size", "64", "--squeeze", "8"]
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 2)
        result = run_cli(*args)
    assert result.exit_code == 130
    state = tmp_path / "runs" / "pon"
    assert f"suzaku: stopped: 128 of 256 samples are learned and saved in {state}; give" in result.stderr
    assert (state / STATE_FILE).exists()
    result = run_cli(*args)
    assert result.exit_code == 0, result.output
    card = json.loads(result.stdout)
    assert (card["model"], card["architecture"]["squeeze"]) == ("pon", 8)
    wrong = run_cli(*args, "--features", LITE)
    assert wrong.exit_code == 2
    assert "features: lite-239/1" in wrong.output


@pytest.mark.parametrize(
    ("tower", "left_out"), [("residual", ("LA3a", "G")), ("suits", ("LA3a", "G")), ("hosei-base", ("D0",))]
)
def test_groups_left_out_do_not_count_in_play(tower: TowerName, left_out: tuple[str, ...]) -> None:
    wanted = plan(tower=tower, without=left_out)
    learner = Learner(first_network(wanted), wanted, loss=imitation_loss)
    learner.close()
    weights = learner.weights()
    stems = [weights[name] for name in plane_weights(weights)]
    assert len(stems) == (2 if tower == "suits" else 1)
    if tower == "hosei-base":  # its channels are groups
        assert [bool((stems[0][:, group] == 0).all()) for group in range(6)] == [False, *[True] * 4, False]
        return
    chosen = SETS[LITE]
    for group, stem in itertools.product(chosen.groups, stems):
        part = stem[:, chosen.at(group.id) : chosen.at(group.id) + group.planes]
        assert bool((part == 0).all()) == (group.id in left_out)


def test_a_run_goes_on_from_another_ones_weights(corpus: Corpus, trained: Path, tmp_path: Path) -> None:
    parent = Parent(trained, Slot.DISCARD)
    wanted = plan(samples=64, learning_rate=1e-9)
    card = train(SupervisedRun, wanted, corpus, tmp_path, parent=parent, quiet=True)
    theirs = load(trained, "discard")
    assert card.parents == (theirs.card.tensors.sha256,)
    ours = load(tmp_path, "discard").arrays
    for name in plane_weights(ours):
        assert np.allclose(ours[name], theirs.arrays[name], atol=1e-5)
    with pytest.raises(CheckpointMismatch, match="architecture"):
        SupervisedRun(plan(width=4), corpus, tmp_path / "other", parent)


def test_a_run_does_not_replace_its_parent(corpus: Corpus, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "there").symlink_to(trained)
    with pytest.raises(ConfigError, match=r"--out .*there: the checkpoint to begin from is there; choose"):
        SupervisedRun(plan(), corpus, tmp_path / "there", Parent(trained, Slot.DISCARD))


@pytest.mark.parametrize("tower", ["residual", "pooled", "suits"])
def test_a_deeper_network_begins_with_the_answers_of_the_shallower_one(
    corpus: Corpus, tmp_path: Path, tower: TowerName
) -> None:
    shallow = untrained(tmp_path, plan(tower=tower))
    wanted = plan(tower=tower, depth=4)
    planes = torch.rand(16, SETS[LITE].planes, 34)
    deep, theirs = first_network(wanted, shallow).eval(), network_of(shallow.weights)
    assert len(deep.tower) == 4
    with torch.no_grad():
        assert torch.allclose(deep(planes), theirs(planes), atol=1e-6)
    before, learned = deep.state_dict(), taught(deep, wanted, corpus)
    added = [
        name for name in learned if name.startswith(("tower.2.", "tower.3.")) and name.endswith("weight")
    ]
    assert added
    assert all(not np.array_equal(learned[name], before[name]) for name in added)
    with pytest.raises(CheckpointMismatch, match="architecture"):
        first_network(plan(tower=tower, depth=1), shallow)
    riichi, weights = first_network(plan("riichi", tower=tower, depth=4), shallow), theirs.state_dict()
    for name, tensor in riichi.tower.state_dict().items():
        if name.startswith(("0.", "1.")):
            assert torch.equal(tensor, weights[f"tower.{name}"])
        elif "second_norm" in name and name.endswith(("weight", "bias")):
            assert not tensor.any()


def test_a_wider_network_begins_with_the_answers_of_the_narrower_one(corpus: Corpus, tmp_path: Path) -> None:
    narrow = untrained(tmp_path, plan())
    wanted = plan(width=12, depth=3)
    planes = torch.rand(16, SETS[LITE].planes, 34)
    wide, theirs = first_network(wanted, narrow).eval(), network_of(narrow.weights)
    with torch.no_grad():
        assert torch.allclose(wide(planes), theirs(planes), atol=1e-5)
    before, learned = wide.state_dict(), taught(wide, wanted, corpus)
    for name in ("tower.0.first.suits.weight", "tower.1.second.honours.weight", "head.suits.weight"):
        # what listens to the new channels, and was silent, has learned to
        assert not before[name][:8, 8:].any() or name.endswith("head.suits.weight")
        assert learned[name][:8, 8:].any()
    with pytest.raises(CheckpointMismatch, match="architecture"):
        first_network(plan("riichi", width=12), narrow)


@pytest.mark.parametrize("features", [LITE, "suphx-838/1"])
def test_a_discard_model_begins_with_a_tower_that_saw_other_planes(
    corpus: Corpus, tmp_path: Path, features: str
) -> None:
    theirs = network_of(untrained(tmp_path, plan()).weights)
    parent = parent_of(plan(), None, tmp_path)
    assert parent == Parent(tmp_path, Slot.DISCARD, tower_only=True)
    # 32 channels hold all that 8 filters over three columns, and 8 over one, can tell of their planes
    wanted = plan(features=features, squeeze=32)
    ours = begun(wanted, corpus, parent, tmp_path / "squeezed")
    for name, tensor in ours.tower.state_dict().items():
        if name.endswith("weight"):
            assert torch.allclose(tensor, theirs.tower.state_dict()[name], atol=1e-5)
    planes = torch.rand(4, SETS[LITE].planes, 34)
    shared = [group for group in SETS[LITE].groups if group in SETS[features].groups]
    shown = torch.zeros(4, SETS[features].planes, 34)
    seen = torch.zeros_like(planes)
    for group in shared:
        here, there = SETS[features].at(group.id), SETS[LITE].at(group.id)
        shown[:, here : here + group.planes] = planes[:, there : there + group.planes]
        seen[:, there : there + group.planes] = planes[:, there : there + group.planes]
    with torch.no_grad():
        first, same = ours.stem(shown), theirs.stem(seen)
    assert same.suits.abs().max() > 0.1
    assert torch.allclose(first.suits, same.suits, atol=1e-4)
    assert torch.allclose(first.honours, same.honours, atol=1e-4)


@pytest.mark.parametrize("tower", ["residual", "suits"])
@pytest.mark.parametrize("model", [Slot.RIICHI, Slot.CHI])
def test_a_model_begins_with_the_tower_of_the_discards(
    corpus: Corpus, tmp_path: Path, model: Slot, tower: TowerName
) -> None:
    theirs = untrained(tmp_path, plan(tower=tower)).arrays
    wanted = plan(model, tower=tower)
    parent = parent_of(wanted, None, tmp_path)
    assert parent is not None
    ours = begun(wanted, corpus, parent, tmp_path / "other").state_dict()
    blocks = [name for name in theirs if name.startswith("tower.1.second.") and name.endswith("weight")]
    for name in blocks:
        assert np.allclose(ours[name], theirs[name], atol=1e-5)
    here, there = SETS[wanted.features].at("E"), SETS[LITE].at("E")
    for name in plane_weights(theirs):
        assert np.allclose(ours[name][:, here : here + 36], theirs[name][:, there : there + 36], atol=1e-5)
    assert blocks
    assert all(tensor.abs().max() > 0 for name, tensor in ours.items() if name.startswith("head.narrow"))


def test_a_model_of_the_base_network_begins_with_the_first_layer_of_the_discards(tmp_path: Path) -> None:
    """Its first layer sees features, not planes."""
    base = {"tower": "hosei-base", "features": HOSEI, "width": 3}
    theirs = untrained(tmp_path, plan(**base))
    ours = first_network(plan("riichi", **base), theirs).state_dict()
    assert np.array_equal(ours["stem.convolution.weight"], theirs.arrays["stem.convolution.weight"])


def test_a_tower_of_another_kind_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    untrained(tmp_path, plan(tower="pooled"))
    wanted = plan("riichi", tower="suits")
    parent = parent_of(wanted, None, tmp_path)
    with pytest.raises(CheckpointMismatch, match=r"pooled 8×2, but the plan wants suits 8×2.*--tower"):
        SupervisedRun(wanted, corpus, tmp_path / "other", parent)


def test_two_checkpoints_to_begin_from_are_refused(tmp_path: Path) -> None:
    assert parent_of(plan(), None, None) is None
    assert parent_of(plan("kan"), tmp_path, None) == Parent(tmp_path, Slot.KAN)
    with pytest.raises(ConfigError, match="give only one of them"):
        parent_of(plan("kan"), tmp_path, tmp_path)


def test_players_are_chosen(corpus: Corpus) -> None:
    everybody = choice_of(plan(), corpus, "train")
    few = choice_of(plan(selection={"least_rank": 18}), corpus, "train")
    assert (
        0
        < sum(map(int.bit_count, few.players.tolist()))
        < sum(map(int.bit_count, everybody.players.tolist()))
    )
    with pytest.raises(ConfigError, match="no game matches; split train, the player Nobody"):
        choice_of(plan(selection={"player": "Nobody"}), corpus, "train")


def test_a_run_that_could_not_be_validated_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    wanted = plan("kan", selection={"player": "eik1"})
    with pytest.raises(ConfigError, match=r"no chosen game of the validation split .* for the kan model"):
        SupervisedRun(wanted, corpus, tmp_path, None)


def test_hosei_s_models_learn_and_resume(corpus: Corpus, tmp_path: Path) -> None:
    """The dropout of a run that was stopped goes on where it was."""
    wanted = plan("chi", tower="hosei", width=6, samples=256, validate_every=128, without=("H4",))
    card = train(SupervisedRun, wanted, corpus, tmp_path / "whole", quiet=True)
    assert card.without == ("H4",)
    outputs = [plan(model, tower="hosei", width=6).architecture.outputs for model in Slot]
    assert outputs == [{"discard": 34, "chi": 4}.get(model, 2) for model in Slot]
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            train(SupervisedRun, wanted, corpus, tmp_path / "parts", quiet=True)
    train(SupervisedRun, wanted, corpus, tmp_path / "parts", quiet=True)
    assert same(tmp_path / "whole", tmp_path / "parts", Slot.CHI)


def test_as_many_games_as_hold_some_decisions(corpus: Corpus) -> None:
    everybody = choice_of(plan(), corpus, "train")
    few = choice_of(plan(selection={"decisions": 1000}), corpus, "train")
    found = count(corpus, few, Slot.DISCARD).decisions
    assert 1000 <= found < 2000
    assert set(few.games.tolist()) < set(everybody.games.tolist())
    more = choice_of(plan(selection={"decisions": 3000}), corpus, "train")
    assert set(few.games.tolist()) < set(more.games.tolist())
    every = choice_of(plan(selection={"decisions": 10**9}), corpus, "train")
    assert every.games.tolist() == everybody.games.tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tower": "hosei", "features": LITE}, "tower: hosei does not go with lite-239/1"),
        ({"features": "suit-55/1"}, "hosei and hosei-base go with suit-55/1"),
        ({"tower": "hosei", "depth": 5}, "width, depth: 5 layers leave nothing of an image of 8×9"),
        ({"features": "lite-9/1"}, "features: no set 'lite-9/1'"),
        ({"features": "lite-287/1"}, "features: lite-287/1 is for .* not for discard"),
        ({"features": "oracle/1"}, "features: oracle/1"),
        ({"without": ("ZZ",)}, "without: lite-239/1 has no group 'ZZ'"),
        ({"passes": 0.0, "learning_rate": 0.0}, r"passes: 0.0 must be above 0\nlearning_rate: 0.0"),
        ({"selection": {"share": 0.0}}, "share: 0.0"),
        ({"squeeze": 8, "tower": "pooled"}, "squeeze: only the tower suits"),
        ({"identities": ("7-dan", "8-dan", "7-dan")}, r"^identity: 7-dan is given twice$"),
        ({"identities": ("7-dan",), "tower": "pooled"}, "identity: only the tower suits can know"),
    ],
)
def test_an_invalid_plan_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plan(**settings)


def test_threads_learn_what_one_does(corpus: Corpus) -> None:
    wanted = plan()
    loader = Loader(corpus, choice_of(wanted, corpus, "train"), batch_size=64)
    batch = next(iter(loader.epoch(0)))
    losses = []
    for threads in (1, 3):
        torch.manual_seed(0)
        # with its statistics fixed, normalisation is the same for a part as for the whole
        learner = Learner(first_network(wanted), wanted, threads, loss=imitation_loss, frozen=True)
        losses.append([learner.step(batch, step, 1e-3) for step in range(3)])
        learner.close()
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][2] < losses[0][0]


@pytest.mark.parametrize(
    ("samples", "stated", "rows"),
    [(0, {}, 50_000), (20_000, {}, 2_000), (10**7, {}, 50_000), (9, {"validation_rows": 4}, 4)],
)
def test_a_short_run_has_short_validations(samples: int, stated: dict[str, int], rows: int) -> None:
    assert make_plan("discard", samples=samples, **stated).validation_rows == rows
