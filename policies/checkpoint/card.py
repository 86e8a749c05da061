"""The card of a checkpoint: its fields, how it is read, and whether it fits the model asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from kit.errors import CheckpointCorrupt, CheckpointMismatch
from policies.features.table import CRITIC, HOSEI, SETS
from policies.nets.architectures import (
    HOSEI_TOWERS,
    Architecture,
    DenoiserArchitecture,
    HoseiArchitecture,
    HoseiBaseArchitecture,
    PooledArchitecture,
    SuitsArchitecture,
    TowerName,
    outputs_of,
    suit_planes,
    tower_of,
)
from policies.reward.predictor import FinishArchitecture

AnyArchitecture: TypeAlias = (
    Architecture
    | PooledArchitecture
    | SuitsArchitecture
    | HoseiArchitecture
    | HoseiBaseArchitecture
    | FinishArchitecture
    | DenoiserArchitecture
)
"""The networks that a checkpoint can contain."""

FORMAT: Final = "suzaku-checkpoint/1"
"""Name of the format of card and weights; other fields or files need another name."""

PlayModel: TypeAlias = Literal["discard", "riichi", "chi", "pon", "kan", "reward"]
HandModel: TypeAlias = Literal["direct", "diffusion", "autoregressive"]
Model: TypeAlias = Literal[PlayModel, HandModel, "critic"]
MODELS: Final[tuple[PlayModel, ...]] = get_args(PlayModel)
"""The five slots and the reward predictor: the models of a folder that can play."""
HAND_MODELS: Final[tuple[HandModel, ...]] = get_args(HandModel)
"""The models of the opponents' hands."""
ALL_MODELS: Final[tuple[Model, ...]] = (*MODELS, *HAND_MODELS, "critic")

LARGEST_CARD: Final = 1 << 16
"""Largest size of a card in bytes."""
LARGEST_SIZE: Final = 1024
"""Upper limit of any width, depth or number of planes."""

_MAY_BE_ZERO: Final = ("squeeze", "normalised", "steps")
_SEAL: Final = "card_sha256"
_SHORT: Final = 8
_EXCERPT: Final = 80

_Count: TypeAlias = Annotated[int, Meta(ge=0)]
_Amount: TypeAlias = Annotated[float, Meta(ge=0)]


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The training data of a model.

    Attributes:
        corpus: content hash of the corpus; empty if there was none.
        split: the rule that divides it, and the part used.
        players: the players whose decisions were used, in words.
        games: number of games they are from.
        samples: number of decisions in them.
    """

    corpus: str = ""
    split: str = ""
    players: str = ""
    games: _Count = 0
    samples: _Count = 0


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model was trained.

    Attributes:
        samples: seen, repetitions included.
        steps: number of optimiser steps.
        epochs: passes over the data.
        batch_size: samples per step.
        learning_rate: its maximum.
        seconds: wall-clock time, without evaluation.
        seed: seed of everything random.
        commit: commit of the program; empty if unknown.
        precision: precision of the arithmetic.
        device: it ran on.
        torch: version of the library.
        settings: everything else that affects the result, by name.
    """

    samples: _Count = 0
    steps: _Count = 0
    epochs: _Amount = 0.0
    batch_size: _Count = 0
    learning_rate: _Amount = 0.0
    seconds: _Amount = 0.0
    seed: int = 0
    commit: str = ""
    precision: str = ""
    device: str = ""
    torch: str = ""
    settings: dict[str, bool | int | float | str] = {}


class WeightsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file of weights that belongs to a card.

    Attributes:
        file: its name, in the folder of the card.
        bytes: its size.
        sha256: its hash.
    """

    file: str = ""
    bytes: _Count = 0
    sha256: str = ""


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The description of a checkpoint.

    Attributes:
        format: version of the format of card and weights together.
        model: one of the six that play, one of the three of the opponents' hands, or the critic.
        architecture: what the network is built from.
        features: name and version of its feature set; empty for the reward predictor.
        without: groups of that set left blank in training, and so in play.
        data: what it was trained on.
        training: how it was trained.
        metrics: on the validation part: ``accuracy`` is the share of answers that match the player's,
            ``error`` the mean square error of a predictor.
        parents: hashes of the weights it was continued or averaged from.
        tensors: the file of weights; filled in by saving.
        card_sha256: hash of the rest of this card; filled in by saving.
    """

    format: Literal["suzaku-checkpoint/1"] = FORMAT
    model: Model
    architecture: AnyArchitecture
    features: str = ""
    without: tuple[str, ...] = ()
    data: Data = Data()
    training: Training = Training()
    metrics: dict[str, float] = {}
    parents: tuple[str, ...] = ()
    tensors: WeightsFile = WeightsFile()
    card_sha256: str = ""


def tensors_file(model: Model, sha256: str) -> str:
    """The name of a file of weights.

    >>> tensors_file("kan", "0123456789abcdef")
    'kan-01234567.safetensors'
    """
    return f"{model}-{sha256[:_SHORT]}.safetensors"


def sealed(card: Card, path: Path) -> Card:
    """The card with its own hash, ready to be written.

    Args:
        card: without a hash, or with an old one.
        path: where it will be written, for messages.

    Raises:
        CheckpointCorrupt: it contains something that could not be read back, such as a metric that is NaN.
    """
    try:
        plain = msgspec.json.decode(msgspec.json.encode(card), type=Card)
    except (msgspec.MsgspecError, ValueError, OverflowError) as exc:
        raise CheckpointCorrupt(path, "card", f"cannot be written: {exc}") from None
    return replace(plain, card_sha256=_hash(msgspec.json.decode(msgspec.json.encode(plain))))


def encode_card(card: Card) -> bytes:
    """A card in the form it has on disk."""
    return msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n"


def decode_card(data: bytes, path: Path) -> Card:
    """Read a card.

    Raises:
        CheckpointCorrupt: the data is not a card, or does not match its hash.
        CheckpointMismatch: the card has another format, or a field unknown to this version.
    """
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise CheckpointCorrupt(path, "card", f"cannot be read: {str(exc)[:_EXCERPT]}") from None
    found = fields.get("format")
    if found != FORMAT:
        raise CheckpointMismatch(path, "format", f"{excerpt(str(found))}, expected {FORMAT!r}")
    if fields.get(_SEAL) != _hash(fields):
        raise CheckpointCorrupt(path, _SEAL, "the card does not match its hash")
    try:
        return msgspec.convert(fields, Card)
    except msgspec.ValidationError as exc:
        problem, _, place = str(exc).partition(" - at `$")
        raise CheckpointMismatch(path, place.strip("`.") or "card", problem[:_EXCERPT]) from None


def check_card(card: Card, model: Model, path: Path) -> None:
    """Check that a card belongs to a model and is consistent.

    Raises:
        CheckpointMismatch: it does not, or is not.
    """
    if card.model != model:
        raise CheckpointMismatch(path, "model", f"{card.model!r}, expected {model!r}")
    for name, size in asdict(card.architecture).items():
        least = 0 if name in _MAY_BE_ZERO else 1
        if isinstance(size, int) and not least <= size <= LARGEST_SIZE:
            raise CheckpointMismatch(path, f"architecture.{name}", f"{size} is not {least} to {LARGEST_SIZE}")
    if isinstance(card.architecture, Architecture):
        _check_planes(card, card.architecture, path)
    elif isinstance(card.architecture, DenoiserArchitecture):
        _check_denoiser(card, card.architecture, path)
    elif model != "reward":
        raise CheckpointMismatch(path, "architecture", f"that of a reward predictor, not of {model!r}")


def describe(card: Card) -> str:
    """One line about a model: architecture, features, training samples, accuracy, commit and hash."""
    said = [f"{card.model} {_size(card.architecture)}"]
    if card.features:
        said[0] += f" on {card.features}" + "".join(f" -{group}" for group in card.without)
    said.append(f"{card.training.samples:,} samples")
    if "accuracy" in card.metrics:
        said.append(f"accuracy {card.metrics['accuracy']:.2%}")
    elif card.model in HAND_MODELS and "loss" in card.metrics:
        said.append(f"loss {card.metrics['loss']:.4g}")
    elif "error" in card.metrics:
        said.append(f"error {card.metrics['error']:.6g}")
    said.append(f"commit {card.training.commit[:12] or 'unknown'}")
    said.append(f"sha256 {card.tensors.sha256[:_SHORT] or 'unsaved'}")
    return "".join(letter for letter in ", ".join(said) if letter.isprintable())


def excerpt(text: str) -> str:
    """The beginning of an untrusted text, quoted, safe to put in a message."""
    return repr(text[:_EXCERPT])


def _check_denoiser(card: Card, architecture: DenoiserArchitecture, path: Path) -> None:
    """Check what a network that generates hands sees and answers."""
    if card.model != architecture.generates:
        problem = f"that of the model {architecture.generates!r}, not of {card.model!r}"
        raise CheckpointMismatch(path, "architecture", problem)
    _check_features(card, _sets_of("discard", "suits"), architecture.planes, architecture.by_suit, path)


def _check_planes(card: Card, architecture: Architecture, path: Path) -> None:
    """Check the input and output sizes of a network on planes."""
    if card.model in ("reward", "diffusion", "autoregressive"):
        problem = f"that of a model of the decision flow, not of {card.model!r}"
        raise CheckpointMismatch(path, "architecture", problem)
    tower = tower_of(architecture)
    outputs = outputs_of(card.model, tower)
    if architecture.outputs != outputs:
        problem = f"{architecture.outputs}, but {card.model!r} has {outputs} with the tower {tower!r}"
        raise CheckpointMismatch(path, "architecture.outputs", problem)
    by_suit = architecture.by_suit if isinstance(architecture, SuitsArchitecture) else None
    _check_features(card, _sets_of(card.model, tower), architecture.planes, by_suit, path, tower)


def _check_features(
    card: Card,
    known: tuple[str, ...],
    has_planes: int,
    by_suit: tuple[int, ...] | None,
    path: Path,
    tower: TowerName = "suits",
) -> None:
    """Check that a network has the planes of its feature set."""
    if card.features not in known:
        problem = (
            f"{excerpt(card.features)}, but {card.model!r} uses {' or '.join(known)} with the tower {tower!r}"
        )
        raise CheckpointMismatch(path, "features", problem)
    planes = SETS[card.features].planes
    if has_planes != planes:
        problem = f"{has_planes}, but {card.features} has {planes}"
        raise CheckpointMismatch(path, "architecture.planes", problem)
    if by_suit is not None and by_suit != suit_planes(card.features):
        problem = f"{excerpt(str(by_suit))}, but {card.features} has {suit_planes(card.features)}"
        raise CheckpointMismatch(path, "architecture.by_suit", problem)
    for group in card.without:
        if not SETS[card.features].has(group):
            problem = f"{excerpt(group)} is not a group of {card.features}"
            raise CheckpointMismatch(path, "without", problem)


def _sets_of(model: Model, tower: TowerName) -> tuple[str, ...]:
    """The feature sets a model can have."""
    if tower in HOSEI_TOWERS:
        return (HOSEI,)
    if model == "critic":
        return (CRITIC,)
    calls = model in ("chi", "pon", "kan")
    return tuple(name for name, each in SETS.items() if name != HOSEI and each.fits(calls=calls))


def _size(architecture: AnyArchitecture) -> str:
    if isinstance(architecture, Architecture):
        tower = tower_of(architecture)
        size = f"{architecture.width}×{architecture.depth}"
        if isinstance(architecture, SuitsArchitecture):
            size += f" squeezed to {architecture.squeeze}" if architecture.squeeze else ""
            size += "" if architecture.normalised else " not normalised"
        return size if tower == "residual" else f"{tower} {size}"
    if isinstance(architecture, DenoiserArchitecture):
        trunk = f"{architecture.trunk_width}×{architecture.trunk_depth}"
        distilled = f" distilled for {architecture.steps} steps" if architecture.steps else ""
        return f"{architecture.width}×{architecture.depth} beside {trunk}{distilled}"
    return "×".join(str(size) for size in asdict(architecture).values() if isinstance(size, int))


def _hash(fields: Mapping[str, Any]) -> str:
    """Hash of a card's fields without the hash itself."""
    rest = {name: value for name, value in fields.items() if name != _SEAL}
    return hashlib.sha256(msgspec.json.encode(rest)).hexdigest()
