"""Saving and loading the checkpoints of a folder."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from kit.errors import CheckpointCorrupt, CheckpointError, CheckpointMismatch, CheckpointMissing
from kit.files import TEMPORARY, remove_leftovers, replace_file
from policies.checkpoint.card import (
    ALL_MODELS,
    HAND_MODELS,
    LARGEST_CARD,
    Card,
    Model,
    WeightsFile,
    check_card,
    decode_card,
    encode_card,
    excerpt,
    sealed,
    tensors_file,
)
from policies.checkpoint.files import Reader, read_file
from policies.checkpoint.tensors import largest_size, pack, unpack
from policies.flow.slots import Slot
from policies.nets.architectures import (
    Architecture,
    Arrays,
    Floats,
    HoseiArchitecture,
    SuitsArchitecture,
    Weights,
    fold_identity,
    identities_of,
)
from policies.nets.identities import split_identity
from policies.nets.shapes import Shapes, shapes_of
from policies.reward.predictor import FinishArchitecture, Predictor, predictor_shapes

LARGEST_FILE: Final = 1 << 27
"""Limit in bytes for a file of weights: Suphx's networks have 86 million."""
LARGEST_HOSEI_FILE: Final = 1 << 30
"""The same for Hosei's network, whose dense layer has 670 million."""


class Checkpoint(msgspec.Struct, frozen=True):
    """A model from disk: its card, and its weights by name."""

    card: Card
    arrays: dict[str, Floats]

    @property
    def weights(self) -> Weights:
        """The network of a model on planes."""
        assert isinstance(self.card.architecture, Architecture)
        return Weights(self.card.architecture, self.arrays)


def save(folder: Path, card: Card, arrays: Arrays) -> Card:
    """Replace the model's last checkpoint, whose card is kept as ``<model>.previous.json``.

    Args:
        folder: created if missing.
        card: complete except for its hashes.
        arrays: the network's weights.

    Returns:
        The card as written.

    Raises:
        CheckpointError: the checkpoint could not be loaded again: the weights do not fit the card or are not
            finite, or the card contains something that cannot be written. Nothing has been written.
        OSError: the disk is full or the folder read-only. The last checkpoint is unchanged.
    """
    card, data = _packed(folder, card, arrays)
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / card.tensors.file, data)
    _keep_previous(folder, card)
    replace_file(_card_path(folder, card.model), encode_card(card))
    _tidy(folder, card)
    return card


def _packed(folder: Path, card: Card, arrays: Arrays) -> tuple[Card, bytes]:
    """The complete card and the file of weights of a checkpoint, checked."""
    path = _card_path(folder, card.model)
    data = pack(arrays)
    digest = hashlib.sha256(data).hexdigest()
    stored = WeightsFile(tensors_file(card.model, digest), len(data), digest)
    card = sealed(replace(card, tensors=stored), path)
    size = len(encode_card(card))
    if size > LARGEST_CARD:
        raise CheckpointCorrupt(path, "card", f"{size} bytes, but the limit is {LARGEST_CARD}")
    unpack(data, _shapes(card, card.model, path), folder / stored.file)
    return card, data


def load(folder: Path, model: Model | Slot, read: Reader = read_file) -> Checkpoint:
    """Read and check a checkpoint.

    Args:
        folder: folder of the checkpoint. ``FOLDER@NAME`` is a model of the decision flow conditioned
            on that player.
        model: which one.
        read: reads a file of the folder.

    Raises:
        CheckpointMissing: the folder has no checkpoint of the model.
        CheckpointCorrupt: it is incomplete, or does not match its own description.
        CheckpointMismatch: it is for another model, architecture, feature set or version, or does not know
            the player.
    """
    name = _known(model)
    folder, identity = split_identity(folder)
    try:
        found = _load(folder, name, _card_path(folder, name), read)
    except CheckpointError as exc:
        advice = _advice(folder, name, read)
        raise type(exc)(exc.file, exc.field, exc.problem, advice) from None
    return with_identity(found, identity) if identity and name in list(Slot) else found


def with_identity(checkpoint: Checkpoint, identity: str) -> Checkpoint:
    """The checkpoint of the same model, conditioned on a player.

    Raises:
        CheckpointMismatch: it does not know the player.
    """
    card, shape = checkpoint.card, checkpoint.card.architecture
    names = identities_of(shape)
    if identity not in names:
        problem = f"{excerpt(identity)} is not a player it knows: {', '.join(names) or 'it knows none'}"
        raise CheckpointMismatch(Path(card.tensors.file), "identities", problem)
    assert isinstance(shape, SuitsArchitecture)
    described = f"{card.data.players}, asked as {identity}"
    plain = replace(
        card,
        architecture=replace(shape, identities=()),
        data=replace(card.data, players=described),
    )
    return Checkpoint(plain, fold_identity(checkpoint.arrays, names.index(identity)))


def files_of(folder: Path, models: Iterable[Model | Slot]) -> dict[str, bytes]:
    """The files of checkpoints, by name, each checked as by `load`, so that they can be loaded elsewhere.

    Those of ``FOLDER@NAME`` are of models that play like that player only.

    Raises:
        CheckpointError: one cannot be used.
    """
    files: dict[str, bytes] = {}
    for model in models:
        read: dict[str, bytes] = {}

        def remember(path: Path, least: int, most: int, read: dict[str, bytes] = read) -> bytes:
            read[path.name] = read_file(path, least, most)
            return read[path.name]

        found = load(folder, model, read=remember)
        if split_identity(folder)[1] and model in list(Slot):
            card, data = _packed(folder, found.card, found.arrays)
            read = {_card_path(folder, card.model).name: encode_card(card), card.tensors.file: data}
        files |= read
    return files


def load_predictor(folder: Path, read: Reader = read_file) -> Predictor:
    """The model that predicts final rewards.

    Args:
        folder: folder of the checkpoints.
        read: reads a file of the folder.

    Raises:
        CheckpointError: it cannot be used.
    """
    found = load(folder, "reward", read=read)
    assert isinstance(found.card.architecture, FinishArchitecture)
    return Predictor(found.card.architecture, found.arrays)


def models_in(folder: Path) -> tuple[Model, ...]:
    """Models for which a folder has a card, valid or not."""
    folder, _ = split_identity(folder)
    return tuple(model for model in ALL_MODELS if _card_path(folder, model).exists())


# --- loading ----------------------------------------------------------------------------------------------


def _load(folder: Path, model: Model, path: Path, read: Reader) -> Checkpoint:
    card = decode_card(read(path, 1, LARGEST_CARD), path)
    shapes = _shapes(card, model, path)
    stored = card.tensors
    if not re.fullmatch("[0-9a-f]{64}", stored.sha256):
        raise CheckpointCorrupt(path, "tensors.sha256", f"{excerpt(stored.sha256)} is not a hash")
    if stored.file != tensors_file(model, stored.sha256):
        wanted = tensors_file(model, stored.sha256)
        raise CheckpointCorrupt(path, "tensors.file", f"{excerpt(stored.file)}, expected {wanted!r}")
    largest = LARGEST_HOSEI_FILE if isinstance(card.architecture, HoseiArchitecture) else LARGEST_FILE
    most = min(largest, largest_size(shapes))
    if stored.bytes > most:
        raise CheckpointCorrupt(path, "tensors.bytes", f"{stored.bytes}, but the limit is {most}")
    weights = folder / stored.file
    try:
        data = read(weights, stored.bytes, stored.bytes)
    except CheckpointMissing as exc:
        raise CheckpointCorrupt(weights, exc.field, f"{exc.problem}, but {path.name} names it") from None
    if hashlib.sha256(data).hexdigest() != stored.sha256:
        raise CheckpointCorrupt(weights, "content", f"does not match tensors.sha256 in {path.name}")
    return Checkpoint(card, unpack(data, shapes, weights))


def _shapes(card: Card, model: Model, path: Path) -> Shapes:
    """Names and shapes of the weights that a valid card describes."""
    check_card(card, model, path)
    if isinstance(card.architecture, FinishArchitecture):
        return predictor_shapes(card.architecture)
    try:
        return shapes_of(card.architecture)
    except ValueError as exc:
        raise CheckpointMismatch(path, "architecture", str(exc)) from None


def _advice(folder: Path, model: Model, read: Reader) -> str:
    previous, current = _previous_path(folder, model), _card_path(folder, model)
    try:
        _load(folder, model, previous, read)
    except CheckpointError:
        command = f"hands {model}" if model in HAND_MODELS else model
        return f"copy it here again or run `suzaku train {command}`"
    return f"the previous checkpoint is intact; to use it, rename {previous.name} to {current.name}"


def _known(model: str) -> Model:
    for name in ALL_MODELS:
        if name == model:
            return name
    raise ValueError(f"no model {model!r}; choose one of {', '.join(ALL_MODELS)}")


# --- saving -----------------------------------------------------------------------------------------------


def _card_path(folder: Path, model: Model) -> Path:
    return folder / f"{model}.json"


def _previous_path(folder: Path, model: Model) -> Path:
    return folder / f"{model}.previous.json"


def _keep_previous(folder: Path, card: Card) -> None:
    """Keep the checkpoint that is about to be replaced, if it is valid and differs."""
    try:
        old = _load(folder, card.model, _card_path(folder, card.model), read_file).card
    except CheckpointError:
        return
    if old.tensors != card.tensors:
        path = _previous_path(folder, card.model)
        replace_file(path, encode_card(sealed(old, path)))


def _tidy(folder: Path, card: Card) -> None:
    """Remove weights that no card names, and leftovers of interrupted saves."""
    kept = {card.tensors.file}
    previous = _previous_path(folder, card.model)
    with contextlib.suppress(CheckpointError):
        kept.add(decode_card(read_file(previous, 1, LARGEST_CARD), previous).tensors.file)
    ours = re.compile(rf"{card.model}-[0-9a-f]{{8}}\.safetensors({TEMPORARY})?")
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if ours.fullmatch(path.name) and path.name not in kept:
                path.unlink(missing_ok=True)
    remove_leftovers(folder)
