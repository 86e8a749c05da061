from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from kit.errors import CheckpointCorrupt, CheckpointError, CheckpointMismatch, CheckpointMissing
from policies.checkpoint import (
    HAND_MODELS,
    MODELS,
    Card,
    Model,
    describe,
    files_of,
    load,
    models_in,
    save,
)
from policies.checkpoint.files import reader_of
from policies.features.table import HOSEI, LITE, LITE_CALL, SETS, FeatureSet, Group
from policies.nets.architectures import (
    Architecture,
    HoseiArchitecture,
    HoseiBaseArchitecture,
    PooledArchitecture,
    SuitsArchitecture,
    architecture_of,
)
from policies.nets.networks import Network, arrays_of, network_of
from policies.reward import FinishArchitecture
from tests.policies.checkpoint.saved import forge, forge_card, saved, small_card, weights


def _with(card: Card, **sizes: Any) -> Card:
    return replace(card, architecture=replace(card.architecture, **sizes))


def _built(model: Model, architecture: Architecture, features: str = HOSEI) -> Card:
    return small_card(model, architecture=architecture, features=features, without=())


def _like(model: Model, other: Model) -> Card:
    """A card of a model with the architecture of another."""
    return replace(small_card(model), architecture=small_card(other).architecture)


_SMALL = HoseiArchitecture(SETS[HOSEI].planes, 34, width=8, depth=2)
_BASE = HoseiBaseArchitecture(SETS[HOSEI].planes, 34, width=3, depth=2)
_HOSEI_CARDS = [
    _built(model, replace(small, outputs=outputs))
    for model, outputs in (("discard", 34), ("chi", 4), ("pon", 2), ("riichi", 2))
    for small in (_SMALL, _BASE)
]


@pytest.mark.parametrize("model", (*MODELS, *HAND_MODELS))
def test_a_saved_checkpoint_is_loaded(tmp_path: Path, model: Model) -> None:
    card = small_card(model)
    state = weights(card)
    written = save(tmp_path, card, state)
    found = load(tmp_path, model)
    assert found.card == written
    assert replace(written, tensors=card.tensors, card_sha256="") == card
    assert found.arrays.keys() == state.keys()
    assert all(np.array_equal(found.arrays[name], state[name]) for name in state)
    assert models_in(tmp_path) == (model,)


@pytest.mark.parametrize(("model", "like"), [("discard", LITE), ("pon", LITE_CALL)])
def test_a_set_with_a_plane_more_needs_no_other_place_than_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Model, like: str
) -> None:
    groups = (*SETS[like].groups, Group(id="mine", planes=1, content="a plane of my own"))
    monkeypatch.setitem(SETS, "mine/1", FeatureSet("mine/1", "my networks", groups))
    other = small_card(model)
    shape = architecture_of("suits", "mine/1", other.architecture.outputs, 2, 1)
    card = replace(other, features="mine/1", architecture=shape, without=())
    saved_card = save(tmp_path, card, weights(card))
    assert load(tmp_path, model).card == saved_card


def test_files_of_a_checkpoint_are_loaded_from_memory_as_from_their_folder(tmp_path: Path) -> None:
    saved(tmp_path)
    found = load(tmp_path, "discard")
    files = files_of(tmp_path, ["discard"])
    assert sorted(files) == sorted(["discard.json", found.card.tensors.file])
    again = load(tmp_path / "nowhere", "discard", read=reader_of(files))
    assert again.card == found.card
    assert all(np.array_equal(again.arrays[name], found.arrays[name]) for name in found.arrays)
    with pytest.raises(CheckpointMissing, match="not among the files sent with it"):
        load(tmp_path, "pon", read=reader_of(files))
    with pytest.raises(CheckpointCorrupt, match="size"):
        load(tmp_path, "discard", read=reader_of(files | {found.card.tensors.file: b""}))
    (tmp_path / found.card.tensors.file).write_bytes(b"")
    with pytest.raises(CheckpointCorrupt, match="size"):
        files_of(tmp_path, ["discard"])


@pytest.mark.parametrize("card", [small_card(), *_HOSEI_CARDS], ids=describe)
def test_the_network_answers_as_the_one_that_was_saved(tmp_path: Path, card: Card) -> None:
    network = Network(card.architecture)
    planes = torch.rand(5, card.architecture.planes, 34)
    network(planes)  # so that the averages differ from those of a new network
    save(tmp_path, card, arrays_of(network.state_dict()))
    rebuilt = network_of(load(tmp_path, card.model).weights)
    assert not rebuilt.training
    assert torch.equal(rebuilt(planes), network.eval()(planes))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_files_are_read_as_float32(tmp_path: Path, dtype: torch.dtype) -> None:
    from safetensors.torch import save as write

    card = small_card()
    half = {name: torch.from_numpy(array).to(dtype) for name, array in weights(card).items()}
    forge(tmp_path, card, write(half))
    found = load(tmp_path, "discard").arrays
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    assert all(np.array_equal(found[name], half[name].float().numpy()) for name in half)


def test_models_share_a_folder_and_keep_their_files(tmp_path: Path) -> None:
    every = (*MODELS, *HAND_MODELS)
    cards = {model: saved(tmp_path, model) for model in every}
    for _ in range(2):
        saved(tmp_path, "riichi", seed=1)
    assert models_in(tmp_path) == every
    assert all(load(tmp_path, model).card == cards[model] for model in every if model != "riichi")


def test_the_last_and_the_one_before_are_kept_and_no_more(tmp_path: Path) -> None:
    cards = [saved(tmp_path, seed=seed) for seed in range(4)]
    wanted = {"discard.json", "discard.previous.json", cards[3].tensors.file, cards[2].tensors.file}
    assert {path.name for path in tmp_path.iterdir()} == wanted


def test_saving_the_same_weights_again_keeps_the_one_before(tmp_path: Path) -> None:
    first = saved(tmp_path, seed=0)
    saved(tmp_path, seed=1)
    card = small_card(metrics={"accuracy": 0.75})
    save(tmp_path, card, weights(card, seed=1))
    (tmp_path / "discard.previous.json").replace(tmp_path / "discard.json")
    assert load(tmp_path, "discard").card == first


def test_a_broken_checkpoint_does_not_take_the_place_of_the_one_before(tmp_path: Path) -> None:
    first = saved(tmp_path, seed=0)
    broken = saved(tmp_path, seed=1)
    (tmp_path / broken.tensors.file).write_bytes(b"broken")
    saved(tmp_path, seed=2)
    assert (tmp_path / first.tensors.file).exists()
    assert not (tmp_path / broken.tensors.file).exists()
    (tmp_path / "discard.previous.json").replace(tmp_path / "discard.json")
    assert load(tmp_path, "discard").card == first


def test_saving_mends_a_broken_file_of_the_same_weights(tmp_path: Path) -> None:
    card = saved(tmp_path)
    (tmp_path / card.tensors.file).write_bytes(b"broken")
    saved(tmp_path)
    assert load(tmp_path, "discard").card == card


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    card = saved(tmp_path)
    with monkeypatch.context() as disk:
        disk.setattr("policies.checkpoint.files.os.fsync", refuse)
        with pytest.raises(OSError, match="No space"):
            saved(tmp_path, seed=1)
    assert {path.name for path in tmp_path.iterdir()} == {"discard.json", card.tensors.file}
    assert load(tmp_path, "discard").card == card


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none_are_not_saved(tmp_path: Path, bad: float) -> None:
    card = small_card()
    state = weights(card)
    state["head.score.weight"][0, 0, 0] = bad
    with pytest.raises(CheckpointCorrupt, match=r"head\.score\.weight"):
        save(tmp_path, card, state)
    with pytest.raises(CheckpointCorrupt, match="metrics"):
        save(tmp_path, small_card(metrics={"accuracy": bad}), weights(card))
    assert not list(tmp_path.iterdir())


def test_an_unloadable_checkpoint_is_not_saved(tmp_path: Path) -> None:
    card = small_card()
    wrong = replace(card, architecture=replace(card.architecture, width=4))
    long = replace(card, parents=("ab" * 32,) * 1000)
    for refused in (wrong, replace(card, features="lite-239/2"), long):
        with pytest.raises(CheckpointError):
            save(tmp_path, refused, weights(card))
    assert not list(tmp_path.iterdir())


def test_only_the_known_models_have_checkpoints(tmp_path: Path) -> None:
    for name in ("", "../discard", "discard.previous", "oracle"):
        with pytest.raises(ValueError, match="no model"):
            load(tmp_path, name)  # type: ignore[arg-type]


def test_a_missing_model_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    for model in MODELS:
        with pytest.raises(CheckpointMissing, match=f"{model}.json: file: not found.*suzaku train {model}"):
            load(tmp_path, model)
    for model in HAND_MODELS:
        with pytest.raises(CheckpointMissing, match=f"not found.*suzaku train hands {model}"):
            load(tmp_path, model)


def test_a_card_is_described_in_one_line(tmp_path: Path) -> None:
    card = saved(tmp_path)
    assert describe(card) == (
        f"discard 2×1 on lite-239/1 -LA3e, 20,000 samples, accuracy 50.00%, commit 0123456789ab, "
        f"sha256 {card.tensors.sha256[:8]}"
    )


_DISCARD, _CHI, _REWARD = small_card("discard"), small_card("chi"), small_card("reward")
_POOLED = replace(_DISCARD, architecture=PooledArchitecture(SETS[LITE].planes, 34, 2, 1))
_SUITS = replace(_DISCARD, architecture=SuitsArchitecture(SETS[LITE].planes, 34, 2, 1, (4,)))


@pytest.mark.parametrize(
    ("card", "field"),
    [
        (_with(_DISCARD, outputs=2), "architecture.outputs"),
        (_with(_CHI, outputs=34), "architecture.outputs"),
        (_with(_DISCARD, planes=SETS[LITE].planes + 1), "architecture.planes"),
        (_with(_DISCARD, depth=-1), "architecture.depth"),
        (_with(_DISCARD, width=10**12), "architecture.width"),
        (_with(_DISCARD, depth=10**12), "architecture.depth"),
        (replace(_DISCARD, features="lite-239/2"), "features"),
        (replace(_DISCARD, features="oracle/1"), "features"),
        (replace(_with(_DISCARD, planes=SETS[LITE_CALL].planes), features=LITE_CALL), "features"),
        (replace(_with(_CHI, planes=SETS[LITE].planes), features=LITE), "features"),
        (replace(_DISCARD, without=("Z9",)), "without"),
        (replace(_DISCARD, model="reward"), "architecture"),
        (replace(_DISCARD, architecture=FinishArchitecture()), "architecture"),
        (_with(_POOLED, depth=10**12), "architecture.depth"),
        (_with(_SUITS, width=10**12), "architecture.width"),
        (_with(_SUITS, outputs=2), "architecture.outputs"),
        (_with(_SUITS, by_suit=()), "architecture.by_suit"),
        (_with(_SUITS, squeeze=-1), "architecture.squeeze"),
        (_with(_SUITS, by_suit=(4, 10**9)), "architecture.by_suit"),
        (_with(_REWARD, hidden=10**9), "architecture.hidden"),
        (_like("direct", "discard"), "architecture.outputs"),
        (_like("discard", "direct"), "architecture.outputs"),
        (_like("diffusion", "direct"), "architecture"),
        (_like("diffusion", "autoregressive"), "architecture"),
        (_like("riichi", "diffusion"), "architecture"),
        (_like("autoregressive", "reward"), "architecture"),
        (_built("discard", replace(_SMALL, outputs=4)), "architecture.outputs"),
        (_built("chi", replace(_SMALL, outputs=2)), "architecture.outputs"),
        (_with(_CHI, outputs=4), "architecture.outputs"),
        (_built("discard", replace(_SMALL, planes=239), LITE), "features"),
        (_built("discard", Architecture(SETS[HOSEI].planes, 34, 8, 2)), "features"),
        (_built("discard", replace(_SMALL, planes=219)), "architecture.planes"),
        (_built("discard", replace(_SMALL, width=10**9)), "architecture.width"),
        (_built("discard", replace(_SMALL, depth=10**9)), "architecture.depth"),
        (_built("discard", replace(_SMALL, depth=5)), "architecture"),
        (_built("discard", replace(_BASE, depth=4)), "architecture"),
        (_built("reward", _SMALL, ""), "architecture"),
    ],
)
def test_a_card_that_does_not_fit_is_refused_by_its_field(tmp_path: Path, card: Card, field: str) -> None:
    path = forge_card(tmp_path, card)
    with pytest.raises(CheckpointMismatch) as caught:
        load(tmp_path, card.model)
    assert (caught.value.file, caught.value.field) == (path, field)


def test_a_checkpoint_under_the_name_of_another_model_is_refused(tmp_path: Path) -> None:
    card = saved(tmp_path)
    (tmp_path / "discard.json").rename(tmp_path / "riichi.json")
    (tmp_path / card.tensors.file).rename(tmp_path / card.tensors.file.replace("discard", "riichi"))
    with pytest.raises(CheckpointMismatch, match=r"riichi\.json: model: 'discard', expected 'riichi'"):
        load(tmp_path, "riichi")


def test_errors_survive_the_way_between_processes(tmp_path: Path) -> None:
    for kind in (CheckpointMissing, CheckpointCorrupt, CheckpointMismatch):
        error = kind(tmp_path / "x.json", "features", "wrong", "do this")
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.field) == (kind, str(error), "features")
