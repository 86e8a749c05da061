from __future__ import annotations

import io
import json
import os
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.errors import CheckpointCorrupt, CheckpointError, CheckpointMismatch
from policies.checkpoint.card import LARGEST_CARD, Card, WeightsFile, decode_card, tensors_file
from policies.checkpoint.store import LARGEST_FILE, load, models_in
from policies.checkpoint.tensors import LARGEST_HEADER, pack, unpack
from policies.nets.shapes import shapes_of
from tests.policies.checkpoint.saved import edit_card, file_of, forge, forge_card, saved, small_card, weights
from tests.scale import scaled

CARD = small_card()
SHAPES = shapes_of(CARD.architecture)
DATA = pack(weights(CARD))
HEADER_END = 8 + int.from_bytes(DATA[:8], "little")
HEADER: dict[str, dict[str, Any]] = json.loads(DATA[8:HEADER_END])
BODY = DATA[HEADER_END:]
NOWHERE = Path("discard-00000000.safetensors")
MEGABYTE = 1 << 20
PLACES = (*range(0, 20), *range(20, len(DATA), 101), len(DATA) - 1)
"""End of the length, of the header and of the numbers, in bytes."""


def refused(folder: Path) -> CheckpointError:
    """The error with which the discard model's checkpoint is refused."""
    with pytest.raises(CheckpointError) as caught:
        load(folder, "discard")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    return caught.value


def refused_unread(folder: Path) -> CheckpointError:
    """The same, with little memory."""
    tracemalloc.start()
    error = refused(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEGABYTE
    return error


def edited(**changes: dict[str, Any] | None) -> bytes:
    """The valid file with its header changed: fields of a tensor replaced, or the tensor left out."""
    header = {
        name: HEADER[name] | (changes.get(name) or {}) for name in HEADER if changes.get(name, {}) is not None
    }
    return file_of(header | {name: new for name, new in changes.items() if new and name not in HEADER}, BODY)


# --- 16: damage -------------------------------------------------------------------------------------------


def test_weights_cut_at_any_length_or_with_something_behind_them_are_refused(tmp_path: Path) -> None:
    path = tmp_path / saved(tmp_path).tensors.file
    assert path.read_bytes() == DATA
    for data in (*(DATA[:length] for length in PLACES), DATA + b"\0", DATA + DATA):
        path.write_bytes(data)
        error = refused(tmp_path)
        assert (type(error), error.file, error.field) == (CheckpointCorrupt, path, "size")


def test_a_flipped_bit_of_the_weights_is_found(tmp_path: Path) -> None:
    path = tmp_path / saved(tmp_path).tensors.file
    for place in PLACES:
        broken = bytearray(DATA)
        broken[place] ^= 1 << place % 8
        path.write_bytes(broken)
        error = refused(tmp_path)
        assert (type(error), error.file, error.field) == (CheckpointCorrupt, path, "content")


def test_every_bit_of_the_header_counts_even_with_a_card_that_vouches_for_it() -> None:
    for bit in range(8 * HEADER_END):
        broken = bytearray(DATA)
        broken[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CheckpointError):
            unpack(bytes(broken), SHAPES, NOWHERE)


def test_a_cut_or_flipped_card_is_refused(tmp_path: Path) -> None:
    card = saved(tmp_path)
    path = tmp_path / "discard.json"
    text = path.read_bytes()
    for length in range(0, len(text) - 1, scaled(5, 1)):  # except for the last line end
        path.write_bytes(text[:length])
        assert refused(tmp_path).file == path
    for bit in range(0, 8 * len(text), scaled(7, 1)):
        broken = bytearray(text)
        broken[bit // 8] ^= 1 << bit % 8
        try:
            assert decode_card(bytes(broken), path) == card
        except CheckpointError as error:
            assert error.file == path


def test_a_card_changed_by_hand_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    path = tmp_path / "discard.json"
    path.write_text(path.read_text().replace('"LA3e"', '"LA3f"'))
    error = refused(tmp_path)
    assert (type(error), error.field) == (CheckpointCorrupt, "card_sha256")


def test_missing_weights_are_named(tmp_path: Path) -> None:
    path = tmp_path / saved(tmp_path).tensors.file
    path.unlink()
    error = refused(tmp_path)
    assert (type(error), error.file) == (CheckpointCorrupt, path)
    assert "not found, but discard.json names it" in str(error)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (edited(**{"stem.weight": None}), "stem.weight"),
        (edited(stray={"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}), "'stray'"),
        (edited(**{"stem.weight": {"shape": [2, 3, 239]}}), "stem.weight"),
        (edited(**{"stem.weight": {"shape": [1 << 40, 1 << 40]}}), "stem.weight"),
        (edited(**{"stem.weight": {"dtype": "I32"}}), "stem.weight"),
    ],
)
def test_other_tensors_are_refused_by_name(tmp_path: Path, data: bytes, field: str) -> None:
    path = forge(tmp_path, CARD, data)
    error = refused(tmp_path)
    assert (type(error), error.file, error.field) == (CheckpointMismatch, path, field)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"format": "suzaku-checkpoint/2"}, "format"),
        ({"colour": "red"}, "card"),
        ({"architecture": {"type": "transformer", "heads": 8}}, "architecture.type"),
        (
            {"architecture": {"type": "residual", "planes": 239, "outputs": 33, "width": 2, "depth": 1}},
            "architecture.outputs",
        ),
        ({"data": {"games": -1}}, "data.games"),
        ({"tensors": {"bytes": "12"}}, "tensors.bytes"),
        ({"model": "oracle"}, "model"),
    ],
)
def test_a_card_that_says_what_is_not_known_is_refused_by_its_field(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    saved(tmp_path)
    path = tmp_path / "discard.json"
    edit_card(path, **changes)
    error = refused(tmp_path)
    assert (type(error), error.file, error.field) == (CheckpointMismatch, path, field)


def test_the_one_before_is_offered_and_not_used(tmp_path: Path) -> None:
    first = saved(tmp_path, seed=1)
    path = tmp_path / saved(tmp_path, seed=2).tensors.file
    path.write_bytes(path.read_bytes()[:-1])
    assert "rename discard.previous.json to discard.json" in str(refused(tmp_path))
    refused(tmp_path)
    (tmp_path / "discard.previous.json").replace(tmp_path / "discard.json")
    assert load(tmp_path, "discard").card == first


def test_a_broken_one_before_is_not_offered(tmp_path: Path) -> None:
    for seed in (1, 2):
        path = tmp_path / saved(tmp_path, seed=seed).tensors.file
        path.write_bytes(b"") if seed == 2 else None
    for path in tmp_path.glob("*.safetensors"):
        path.write_bytes(b"")
    error = refused(tmp_path)
    assert "rename" not in str(error)
    assert "run `suzaku train discard`" in str(error)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, bad: float) -> None:
    state = weights(CARD)
    state["stem_norm.running_var"][1] = bad
    path = forge(tmp_path, CARD, pack(state))
    error = refused(tmp_path)
    assert (type(error), error.file, error.field) == (CheckpointCorrupt, path, "stem_norm.running_var")


# --- 17: malice -------------------------------------------------------------------------------------------


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def _zipped(trap: Trap) -> bytes:
    file = io.BytesIO()
    torch.save(trap, file)
    return file.getvalue()


@pytest.mark.parametrize("pack_trap", [pickle.dumps, _zipped])
def test_a_pickle_under_another_name_is_refused_and_never_run(tmp_path: Path, pack_trap: Any) -> None:
    sprung = tmp_path / "sprung"
    trap: bytes = pack_trap(Trap(sprung))
    path = forge(tmp_path, CARD, trap)
    assert refused(tmp_path).file == path
    path = forge(tmp_path, CARD, len(trap).to_bytes(8, "little") + trap)
    assert refused(tmp_path).file == path
    (tmp_path / "discard.json").write_bytes(trap)
    assert refused(tmp_path).file == tmp_path / "discard.json"
    assert not sprung.exists()


@pytest.mark.parametrize(
    "length",
    [0, HEADER_END - 9, HEADER_END - 7, len(DATA) - 7, LARGEST_HEADER + 1, 1 << 31, 1 << 63, (1 << 64) - 1],
)
def test_an_impossible_length_of_the_header_costs_no_memory(tmp_path: Path, length: int) -> None:
    path = forge(tmp_path, CARD, length.to_bytes(8, "little") + DATA[8:])
    refused(tmp_path)  # one-time initialisation happens now
    error = refused_unread(tmp_path)
    assert (type(error), error.file) == (CheckpointCorrupt, path)


NAME = "stem_norm.weight"
FIRST, LAST = HEADER[NAME]["data_offsets"]


@pytest.mark.parametrize(
    "data",
    [
        edited(**{NAME: {"data_offsets": [FIRST - 4, LAST - 4]}}),  # overlapping the previous one
        edited(**{NAME: {"data_offsets": HEADER["stem_norm.bias"]["data_offsets"]}}),
        edited(**{NAME: {"data_offsets": [FIRST, LAST + 4]}}),
        edited(**{NAME: {"data_offsets": [LAST, FIRST]}}),
        edited(**{NAME: {"data_offsets": [-8, 0]}}),
        edited(**{NAME: {"data_offsets": [len(BODY), len(BODY) + 8]}}),
        edited(**{NAME: {"data_offsets": [1 << 62, (1 << 62) + 8]}}),
        edited(**{NAME: {"data_offsets": [FIRST, 1 << 80]}}),
        edited(**{NAME: {"data_offsets": [float(FIRST), float(LAST) + 0.5]}}),
        edited(**{NAME: {"data_offsets": [FIRST, LAST, LAST]}}),
        edited(**{NAME: {"dtype": "F16"}}),
        edited(**{NAME: {"shape": [-2]}}),
        edited(**{NAME: {"more": 1}}),
        edited(__metadata__={"format": "pt"}),
        DATA + b"\0",
        b"",
        b"{}",
        file_of({}, b""),
        file_of([], BODY),
        file_of(b"", BODY),
        file_of(b'{"a":' * 50_000, BODY),
        file_of(b"[" * (LARGEST_HEADER - 1), BODY),
        file_of(b"\xff\xfe" + DATA[8:HEADER_END], BODY),
        file_of({str(number): HEADER[NAME] for number in range(10_000)}, BODY),
    ],
)
def test_a_hostile_header_is_refused(tmp_path: Path, data: bytes) -> None:
    path = forge(tmp_path, CARD, data)
    assert refused(tmp_path).file == path


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_refused_as_a_card(data: bytes) -> None:
    with pytest.raises(CheckpointError):
        decode_card(data, Path("discard.json"))


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize("honest", [True, False])
def test_an_oversized_file_is_refused_unread(tmp_path: Path, honest: bool) -> None:
    size = 1 << 36
    digest = "0" * 64
    path = tmp_path / tensors_file("discard", digest)
    _sparse(path, size)
    forge_card(tmp_path, replace(CARD, tensors=WeightsFile(path.name, size if honest else len(DATA), digest)))
    assert refused_unread(tmp_path).field == ("tensors.bytes" if honest else "size")


def test_a_network_too_large_for_its_limit_is_refused_unread(tmp_path: Path) -> None:
    huge = replace(CARD, architecture=replace(CARD.architecture, width=1024, depth=20))
    stored = WeightsFile(tensors_file("discard", "0" * 64), LARGEST_FILE + 1, "0" * 64)
    path = forge_card(tmp_path, replace(huge, tensors=stored))
    error = refused(tmp_path)
    assert (error.file, error.field) == (path, "tensors.bytes")


def test_an_oversized_or_nested_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "discard.json"
    _sparse(path, 1 << 36)
    assert refused(tmp_path).field == "size"
    for text in (
        b"[" * LARGEST_CARD,
        b'{"format":' * 6000,
        b'{"format":"suzaku-checkpoint/1","a":' + b"[" * 60000,
    ):
        path.write_bytes(text)
        assert refused(tmp_path).file == path


@pytest.mark.parametrize(
    "name",
    [
        "../discard-00000000.safetensors",
        "/etc/passwd",
        "inner/discard-00000000.safetensors",
        "..\\discard-00000000.safetensors",
        "discard-00000000.safetensors\0",
        "riichi-00000000.safetensors",
        "discard.json",
        "",
    ],
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "in"
    inner.mkdir()
    path = forge_card(inner, replace(CARD, tensors=WeightsFile(name, 0, "0" * 64)))
    error = refused(inner)
    assert (type(error), error.file, error.field) == (CheckpointCorrupt, path, "tensors.file")


@pytest.mark.parametrize("sha256", ["", "0" * 63, "0" * 65, "A" * 64, "../../" + "0" * 58, "0" * 64 + "\n"])
def test_what_is_no_hash_is_refused(tmp_path: Path, sha256: str) -> None:
    forge_card(tmp_path, replace(CARD, tensors=WeightsFile(f"discard-{sha256[:8]}.safetensors", 0, sha256)))
    assert refused(tmp_path).field == "tensors.sha256"


def _links(card: Card, folder: Path, target: Path) -> None:
    path = folder / card.tensors.file
    path.rename(target)
    path.symlink_to(target)


def test_links_are_refused_wherever_they_lead(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    card = saved(folder)
    _links(card, folder, tmp_path / "elsewhere")
    assert "is a link" in str(refused(folder))
    path = folder / card.tensors.file
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "is a link" in str(refused(folder))
    card_path = folder / "discard.json"
    card_path.rename(tmp_path / "card")
    card_path.symlink_to(tmp_path / "card")
    assert "is a link" in str(refused(folder))
    assert models_in(folder) == ("discard",)


def test_a_folder_that_is_a_link_is_the_users_own_choice(tmp_path: Path) -> None:
    card = saved(tmp_path / "real")
    (tmp_path / "latest").symlink_to(tmp_path / "real")
    assert load(tmp_path / "latest", "discard").card == card


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path, make: Any) -> None:
    card = saved(tmp_path)
    for name in (card.tensors.file, "discard.json"):
        (tmp_path / name).unlink()
        make(tmp_path / name)
        error = refused(tmp_path)
        assert (type(error), error.file, error.field) == (CheckpointCorrupt, tmp_path / name, "file")


def test_a_link_in_the_place_of_a_file_being_written_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "in"
    folder.mkdir()
    with monkeypatch.context() as guessed:
        guessed.setattr("kit.files.os.urandom", bytes)
        (folder / f"discard.json.{'0' * 12}.tmp").symlink_to(victim)
        with pytest.raises(OSError):
            saved(folder)
    saved(folder)
    assert victim.read_text() == "mine"


def test_texts_of_a_card_are_shown_without_control_characters(tmp_path: Path) -> None:
    forge_card(tmp_path, replace(CARD, features="\x1b[31m\u202e" * 1000))
    assert str(refused(tmp_path)).isprintable()
