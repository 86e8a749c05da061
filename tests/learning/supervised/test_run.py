from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from kit.errors import CheckpointMismatch, ConfigError, TrainingError
from kit.files import replace_hashed
from learning.corpus.reader import Corpus
from learning.runs.learner import Learner
from learning.runs.state import STATE_FILE
from learning.samples.loader import Loader
from learning.samples.positions import count
from learning.supervised.first_weights import Parent, first_network, parent_of
from learning.supervised.plan import TrainingPlan, make_plan
from learning.supervised.run import SupervisedRun, imitation_loss
from learning.supervised.samples_run import choice_of, train
from policies.checkpoint import load, network_of
from policies.features.table import HOSEI, LITE, SETS
from policies.flow.slots import Slot
from policies.nets.networks import Network, TowerName, plane_weights
from tests.cli import run_cli
from tests.learning.stopping import stop_at

pytestmark = pytest.mark.usefixtures("restore_logs")


def plan(model: str = "discard", **settings: Any) -> TrainingPlan:
    defaults: dict[str, Any] = {
        "preset": "tiny",
        "width": 8,
        "precision": "fp32",
        "batch_size": 64,
        "samples": 640,
        "warm_up": 2,
        "validate_every": 320,
        "validation_rows": 200,
    }
    return make_plan(model, **{**defaults, **settings})


def same(one: Path, other: Path, model: Slot = Slot.DISCARD) -> bool:
    ours, theirs = load(one, model).tensors, load(other, model).tensors
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("model", list(Slot))
def test_every_model_learns_and_its_card_names_its_data(corpus: Corpus, tmp_path: Path, model: Slot) -> None:
    card = train(SupervisedRun, plan(model), corpus, tmp_path, commit="abc", quiet=True)
    assert card == load(tmp_path, model).card
    assert (card.model, card.training.commit, card.training.seed) == (model, "abc", 0)
    assert card.data.corpus == corpus.card["content_sha256"]
    assert card.data.games == len(choice_of(plan(model), corpus, "train").games)
    assert 0 < card.training.samples <= 640 + 64
    assert 0 < card.metrics["accuracy"] <= 1


def test_it_gets_better_than_the_first_weights(corpus: Corpus, tmp_path: Path) -> None:
    short = train(SupervisedRun, plan(samples=64), corpus, tmp_path / "short", quiet=True)
    long = train(SupervisedRun, plan(samples=4_000), corpus, tmp_path / "long", quiet=True)
    assert long.metrics["accuracy"] > short.metrics["accuracy"] + 0.1
    assert long.metrics["loss"] < short.metrics["loss"] - 0.3


def test_a_run_stopped_by_a_signal_ends_with_the_same_numbers(corpus: Corpus, tmp_path: Path) -> None:
    wanted = plan(samples=1280)
    train(SupervisedRun, wanted, corpus, tmp_path / "whole", quiet=True)
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 7)
        with pytest.raises(
            KeyboardInterrupt,
            match=r"^stopped: 448 of 1,280 samples are learned and saved in .*discard; give the same command",
        ):
            train(SupervisedRun, wanted, corpus, tmp_path / "parts", quiet=True)
    assert (tmp_path / "parts" / "runs" / "discard" / STATE_FILE).exists()
    train(SupervisedRun, wanted, corpus, tmp_path / "parts", quiet=True)
    assert same(tmp_path / "whole", tmp_path / "parts")


def test_ctrl_c_reports_the_saved_state_and_the_same_command_resumes(folder: Path, tmp_path: Path) -> None:
    args = ["train", "pon", "--corpus", str(folder), "--out", str(tmp_path), "--preset", "tiny", "--json"]
    args += ["--samples", "256", "--batch-size", "64"]
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 2)
        result = run_cli(*args)
    assert result.exit_code == 130
    state = tmp_path / "runs" / "pon"
    assert f"suzaku: stopped: 128 of 256 samples are learned and saved in {state}; give" in result.stderr
    assert (state / STATE_FILE).exists()
    assert run_cli(*args).exit_code == 0


CHILD = """
import sys
from pathlib import Path
import msgspec, torch
torch.set_num_threads(1)
from learning.runs import loop
from learning.supervised.run import SupervisedRun, imitation_loss
from learning.supervised.samples_run import train
from learning.corpus.reader import Corpus
from learning.supervised.first_weights import first_network
from learning.runs.learner import Learner
from learning.supervised.plan import TrainingPlan
loop.SAVE_EVERY_S = 0.0
print("begun", flush=True)
plan = msgspec.json.decode(sys.argv[1], type=TrainingPlan)
train(SupervisedRun, plan, Corpus(Path(sys.argv[2])), Path(sys.argv[3]), quiet=True)
print("done", flush=True)
"""


@pytest.mark.slow
def test_fault_18_a_run_killed_at_its_saves_ends_with_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    wanted = plan(samples=1280)
    torch_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        train(SupervisedRun, wanted, Corpus(folder), tmp_path / "whole", quiet=True)
    finally:
        torch.set_num_threads(torch_threads)
    command = [
        sys.executable,
        "-c",
        CHILD,
        msgspec.json.encode(wanted).decode(),
        str(folder),
        str(tmp_path / "parts"),
    ]
    state = tmp_path / "parts" / "runs" / "discard" / STATE_FILE
    for _ in range(2):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        before = state.stat().st_mtime_ns if state.exists() else 0
        until = time.monotonic() + 60
        while (not state.exists() or state.stat().st_mtime_ns == before) and child.poll() is None:
            assert time.monotonic() < until, "the child has saved nothing"
            time.sleep(0.002)
        child.kill()
        child.communicate()
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == [
        "begun",
        "done",
    ]
    assert same(tmp_path / "whole", tmp_path / "parts")


def test_a_finished_run_is_left_as_it_is(corpus: Corpus, tmp_path: Path) -> None:
    first = train(SupervisedRun, plan(), corpus, tmp_path, quiet=True)
    assert train(SupervisedRun, plan(), corpus, tmp_path, quiet=True) == first


def test_another_plan_in_the_same_folder_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    train(SupervisedRun, plan(samples=64), corpus, tmp_path, quiet=True)
    with pytest.raises(ConfigError, match=r"differs in plan\.seed.*another --out"):
        train(SupervisedRun, plan(samples=64, seed=1), corpus, tmp_path, quiet=True)


def test_a_broken_state_is_named(corpus: Corpus, tmp_path: Path) -> None:
    train(SupervisedRun, plan(samples=64), corpus, tmp_path, quiet=True)
    state = tmp_path / "runs" / "discard" / STATE_FILE
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(TrainingError, match=r"state\.pt: cannot be read.*remove it"):
        train(SupervisedRun, plan(samples=64), corpus, tmp_path, quiet=True)


def test_a_full_disk_stops_a_run_and_keeps_what_was_saved(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.runs.loop.SAVE_EVERY_S", 0.0)
    left = [3]

    def replace_three(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        replace_hashed(path, data)

    with monkeypatch.context() as patch:
        patch.setattr("learning.runs.state.replace_hashed", replace_three)
        with pytest.raises(TrainingError, match=r"cannot be written.*No space left.*free some space"):
            train(SupervisedRun, plan(), corpus, tmp_path / "parts", quiet=True)
    train(SupervisedRun, plan(), corpus, tmp_path / "parts", quiet=True)
    train(SupervisedRun, plan(), corpus, tmp_path / "whole", quiet=True)
    assert same(tmp_path / "whole", tmp_path / "parts")


def test_a_disk_that_is_full_while_a_checkpoint_is_kept_costs_no_step(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("policies.checkpoint.store.replace_file", full)
        with pytest.raises(TrainingError, match=r"^stopped: .*No space left.* is intact: free some space"):
            train(SupervisedRun, plan(), corpus, tmp_path / "parts", quiet=True)
    train(SupervisedRun, plan(), corpus, tmp_path / "parts", quiet=True)
    train(SupervisedRun, plan(), corpus, tmp_path / "whole", quiet=True)
    assert same(tmp_path / "whole", tmp_path / "parts")


def test_a_run_stops_early_when_nothing_gets_better(corpus: Corpus, tmp_path: Path) -> None:
    still = plan(samples=64 * 100, learning_rate=1e-9, validate_every=64, patience=3)
    assert train(SupervisedRun, still, corpus, tmp_path, quiet=True).training.steps < 20


@pytest.mark.parametrize("tower", ["residual", "suits"])
def test_groups_left_out_do_not_count_in_play(corpus: Corpus, tmp_path: Path, tower: TowerName) -> None:
    train(SupervisedRun, plan(tower=tower, samples=128, without=("LA3a", "G")), corpus, tmp_path, quiet=True)
    checkpoint = load(tmp_path, "discard")
    assert checkpoint.card.without == ("LA3a", "G")
    stems = [checkpoint.tensors[name] for name in plane_weights(checkpoint.tensors)]
    assert len(stems) == (2 if tower == "suits" else 1)
    chosen = SETS[LITE]
    for group, stem in itertools.product(chosen.groups, stems):
        part = stem[:, chosen.at(group.id) : chosen.at(group.id) + group.planes]
        assert bool((part == 0).all()) == (group.id in {"LA3a", "G"})


def test_a_run_goes_on_from_another_ones_weights(corpus: Corpus, tmp_path: Path) -> None:
    first = train(SupervisedRun, plan(samples=64), corpus, tmp_path / "first", quiet=True)
    second = train(
        SupervisedRun,
        plan(samples=64, learning_rate=1e-9),
        corpus,
        tmp_path / "second",
        parent=Parent(tmp_path / "first", Slot.DISCARD),
        quiet=True,
    )
    assert second.parents == (first.tensors.sha256,)
    ours, theirs = load(tmp_path / "first", "discard").tensors, load(tmp_path / "second", "discard").tensors
    for name in plane_weights(ours):
        assert torch.allclose(ours[name], theirs[name], atol=1e-5)
    with pytest.raises(CheckpointMismatch, match="architecture"):
        train(
            SupervisedRun,
            plan(width=4),
            corpus,
            tmp_path / "third",
            parent=Parent(tmp_path / "first", Slot.DISCARD),
            quiet=True,
        )


@pytest.mark.parametrize("tower", ["residual", "pooled", "suits"])
def test_a_deeper_network_begins_with_the_answers_of_the_shallower_one(
    corpus: Corpus, tmp_path: Path, tower: TowerName
) -> None:
    train(SupervisedRun, plan(tower=tower, samples=640), corpus, tmp_path / "shallow", quiet=True)
    shallow = load(tmp_path / "shallow", "discard")
    wanted = plan(tower=tower, depth=4)
    torch.manual_seed(1)
    planes = torch.rand(16, SETS[LITE].planes, 34)
    begun, theirs = first_network(wanted, shallow).eval(), network_of(shallow).eval()
    assert len(begun.tower) == 4
    with torch.no_grad():
        assert torch.allclose(begun(planes), theirs(planes), atol=1e-6)
    parent = Parent(tmp_path / "shallow", Slot.DISCARD)
    train(SupervisedRun, wanted, corpus, tmp_path / "deep", parent=parent, quiet=True)
    learned = load(tmp_path / "deep", "discard").tensors
    added = [
        name for name in learned if name.startswith(("tower.2.", "tower.3.")) and name.endswith("weight")
    ]
    before = begun.state_dict()
    assert added
    assert all(not torch.equal(learned[name], before[name]) for name in added)
    with pytest.raises(CheckpointMismatch, match="architecture"):
        first_network(plan(tower=tower, depth=1), shallow)
    riichi, weights = first_network(plan("riichi", tower=tower, depth=4), shallow), theirs.state_dict()
    for name, tensor in riichi.tower.state_dict().items():
        if name.startswith(("0.", "1.")):
            assert torch.equal(tensor, weights[f"tower.{name}"])
        elif "second_norm" in name and name.endswith(("weight", "bias")):
            assert not tensor.any()


def test_a_wider_network_begins_with_the_answers_of_the_narrower_one(corpus: Corpus, tmp_path: Path) -> None:
    train(SupervisedRun, plan(samples=640), corpus, tmp_path, quiet=True)
    narrow = load(tmp_path, "discard")
    wanted = plan(width=12, depth=3)
    torch.manual_seed(1)
    planes = torch.rand(16, SETS[LITE].planes, 34)
    begun, theirs = first_network(wanted, narrow).eval(), network_of(narrow).eval()
    with torch.no_grad():
        assert torch.allclose(begun(planes), theirs(planes), atol=1e-5)
    learned = load_trained(wanted, corpus, tmp_path, "wide").state_dict()
    before = begun.state_dict()
    for name in ("tower.0.first.suits.weight", "tower.1.second.honours.weight", "head.suits.weight"):
        # what listens to the new channels, and was silent, has learned to
        assert not before[name][:8, 8:].any() or name.endswith("head.suits.weight")
        assert learned[name][:8, 8:].any()
    with pytest.raises(CheckpointMismatch, match="architecture"):
        first_network(plan("riichi", width=12), load(tmp_path, "discard"))


@pytest.mark.parametrize("features", [LITE, "suphx-838/1"])
def test_a_discard_model_begins_with_a_tower_that_saw_other_planes(
    corpus: Corpus, tmp_path: Path, features: str
) -> None:
    train(SupervisedRun, plan(samples=640), corpus, tmp_path, quiet=True)
    parent = parent_of(plan().model, None, tmp_path)
    assert parent == Parent(tmp_path, Slot.DISCARD, tower_only=True)
    # 32 channels hold all that 8 filters over three columns, and 8 over one, can tell of their planes
    wanted = plan(features=features, squeeze=32, learning_rate=1e-9, samples=64)
    begun = load_trained(wanted, corpus, tmp_path, "squeezed", parent)
    theirs = network_of(load(tmp_path, "discard"))
    assert isinstance(theirs, Network)
    for name, tensor in begun.tower.state_dict().items():
        if name.endswith("weight"):
            assert torch.allclose(tensor, theirs.tower.state_dict()[name], atol=1e-5)
    planes = torch.rand(4, SETS[LITE].planes, 34)
    shared = [group for group in SETS[LITE].groups if group in SETS[features].groups]
    ours = torch.zeros(4, SETS[features].planes, 34)
    seen = torch.zeros_like(planes)
    for group in shared:
        here, there = SETS[features].at(group.id), SETS[LITE].at(group.id)
        ours[:, here : here + group.planes] = planes[:, there : there + group.planes]
        seen[:, there : there + group.planes] = planes[:, there : there + group.planes]
    with torch.no_grad():
        first, same = begun.stem(ours), theirs.stem(seen)
    assert same.suits.abs().max() > 0.1
    assert torch.allclose(first.suits, same.suits, atol=1e-4)
    assert torch.allclose(first.honours, same.honours, atol=1e-4)


def load_trained(
    wanted: TrainingPlan, corpus: Corpus, begin: Path, name: str, parent: Parent | None = None
) -> Network:
    train(
        SupervisedRun, wanted, corpus, begin / name, parent=parent or Parent(begin, Slot.DISCARD), quiet=True
    )
    network = network_of(load(begin / name, "discard"))
    assert isinstance(network, Network)
    return network


@pytest.mark.parametrize("tower", ["residual", "suits"])
@pytest.mark.parametrize("model", [Slot.RIICHI, Slot.CHI])
def test_a_model_begins_with_the_tower_of_the_discards(
    corpus: Corpus, tmp_path: Path, model: Slot, tower: TowerName
) -> None:
    card = train(SupervisedRun, plan(tower=tower, samples=64), corpus, tmp_path / "discard", quiet=True)
    wanted = plan(model, tower=tower, samples=64, learning_rate=1e-9)
    parent = parent_of(wanted.model, None, tmp_path / "discard")
    assert train(SupervisedRun, wanted, corpus, tmp_path / "other", parent=parent, quiet=True).parents == (
        card.tensors.sha256,
    )
    theirs, ours = load(tmp_path / "discard", "discard").tensors, load(tmp_path / "other", model).tensors
    blocks = [name for name in theirs if name.startswith("tower.1.second.") and name.endswith("weight")]
    for name in blocks:
        assert torch.allclose(ours[name], theirs[name], atol=1e-5)
    here, there = SETS[wanted.features].at("E"), SETS[LITE].at("E")
    for name in plane_weights(theirs):
        assert torch.allclose(ours[name][:, here : here + 36], theirs[name][:, there : there + 36], atol=1e-5)
    assert blocks
    assert all(tensor.abs().max() > 0 for name, tensor in ours.items() if name.startswith("head.narrow"))


def test_a_model_of_the_base_network_begins_with_the_first_layer_of_the_discards(
    corpus: Corpus, tmp_path: Path
) -> None:
    """Its first layer sees features, not planes."""
    base = plan(tower="hosei-base", features=HOSEI, width=3, samples=64)
    train(SupervisedRun, base, corpus, tmp_path, quiet=True)
    begun = first_network(
        plan("riichi", tower="hosei-base", features=HOSEI, width=3), load(tmp_path, "discard")
    )
    theirs = load(tmp_path, "discard").tensors
    assert torch.equal(begun.state_dict()["stem.convolution.weight"], theirs["stem.convolution.weight"])


def test_a_tower_of_another_kind_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    train(SupervisedRun, plan(tower="pooled", samples=64), corpus, tmp_path / "discard", quiet=True)
    wanted = plan("riichi", tower="suits", samples=64)
    parent = parent_of(wanted.model, None, tmp_path / "discard")
    with pytest.raises(CheckpointMismatch, match=r"pooled 8×2, but the plan wants suits 8×2.*--tower"):
        train(SupervisedRun, wanted, corpus, tmp_path / "other", parent=parent, quiet=True)


def test_two_checkpoints_to_begin_from_are_refused(tmp_path: Path) -> None:
    assert parent_of(plan().model, None, None) is None
    assert parent_of(plan("kan").model, tmp_path, None) == Parent(tmp_path, Slot.KAN)
    with pytest.raises(ConfigError, match="give only one of them"):
        parent_of(plan("kan").model, tmp_path, tmp_path)


def test_players_are_chosen(corpus: Corpus) -> None:
    everybody = choice_of(plan(), corpus, "train")
    few = choice_of(plan(selection={"least_rank": 18}), corpus, "train")
    assert (
        0
        < sum(map(int.bit_count, few.players.tolist()))
        < sum(map(int.bit_count, everybody.players.tolist()))
    )
    with pytest.raises(ConfigError, match=r"no game of the train split matches.*Nobody"):
        choice_of(plan(selection={"player": "Nobody"}), corpus, "train")


@pytest.mark.parametrize("model", [Slot.DISCARD, Slot.CHI])
def test_hosei_s_models_learn_and_resume(corpus: Corpus, tmp_path: Path, model: Slot) -> None:
    """The dropout of a run that was stopped goes on where it was."""
    wanted = plan(model, tower="hosei", width=6, samples=256, validate_every=128, without=("H4",))
    card = train(SupervisedRun, wanted, corpus, tmp_path / "whole", quiet=True)
    assert card.architecture.outputs == {"discard": 34, "chi": 4}.get(model, 2)  # type: ignore[union-attr]
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            train(SupervisedRun, wanted, corpus, tmp_path / "parts", quiet=True)
    train(SupervisedRun, wanted, corpus, tmp_path / "parts", quiet=True)
    assert same(tmp_path / "whole", tmp_path / "parts", model)


def test_groups_left_out_of_channels_of_several_planes(corpus: Corpus, tmp_path: Path) -> None:
    train(
        SupervisedRun,
        plan(tower="hosei-base", width=3, samples=64, without=("D0",)),
        corpus,
        tmp_path,
        quiet=True,
    )
    stem = load(tmp_path, "discard").tensors["stem.convolution.weight"]
    assert [bool((stem[:, feature] == 0).all()) for feature in range(6)] == [False, *[True] * 4, False]


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
    ],
)
def test_an_invalid_plan_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plan(**settings)


def test_the_command(folder: Path, tmp_path: Path) -> None:
    args = ["--corpus", str(folder), "--out", str(tmp_path), "--preset", "tiny", "--samples", "128", "--json"]
    result = run_cli("train", "pon", *args, "--squeeze", "8")
    assert result.exit_code == 0, result.output
    card = json.loads(result.stdout)
    assert (card["model"], card["architecture"]["squeeze"]) == ("pon", 8)
    wrong = run_cli("train", "pon", *args, "--features", LITE)
    assert wrong.exit_code == 2
    assert "features: lite-239/1" in wrong.output


def test_the_bench_measures_all_three(folder: Path) -> None:
    args = ["--corpus", str(folder), "--preset", "tiny", "--seconds", "0.1", "--json"]
    result = run_cli("bench", "training", *args)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["share"] == pytest.approx(found["together"]["median"] / found["network_alone"]["median"])
    assert all(0 < found[name]["minimum"] <= found[name]["maximum"] for name in ("loader", "together"))


def test_threads_learn_what_one_does(corpus: Corpus) -> None:
    wanted = plan()
    loader = Loader(corpus, choice_of(wanted, corpus, "train"), batch_size=64)
    batch = next(iter(loader.epoch(0)))
    losses = []
    for threads in (1, 3):
        torch.manual_seed(0)
        learner = Learner(first_network(wanted).eval(), wanted, threads, loss=imitation_loss)
        for twin in learner._copies:
            twin.eval()  # with its statistics fixed, normalisation is the same for a part as for the whole
        losses.append([learner.step(batch, step, 1e-3) for step in range(3)])
        learner.close()
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][2] < losses[0][0]
