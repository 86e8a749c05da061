"""What a checkpoint's card says, how it is read, and whether it fits what is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from game.errors import CheckpointCorrupt, CheckpointMismatch
from policies.checkpoint.architectures import AnyArchitecture
from policies.features.table import LITE, LITE_CALL, SETS, SUPHX, SUPHX_CALL
from policies.networks import DISCARDS, YES_NO, Architecture

FORMAT: Final = "suzaku-checkpoint/1"
"""Name of all this together; other fields or files get another name."""

Model: TypeAlias = Literal["discard", "riichi", "chi", "pon", "kan", "reward"]
MODELS: Final[tuple[Model, ...]] = get_args(Model)
"""The five slots and the reward predictor."""

LARGEST_CARD: Final = 1 << 16
"""Bytes of a card."""
LARGEST_SIZE: Final = 1024
"""No width, depth or number of planes is beyond this."""

_OWN_TURN: Final = (LITE, SUPHX)
_CALLS: Final = (LITE_CALL, SUPHX_CALL)
_SEAL: Final = "card_sha256"
_SHORT: Final = 8
_EXCERPT: Final = 80

_Count: TypeAlias = Annotated[int, Meta(ge=0)]
_Amount: TypeAlias = Annotated[float, Meta(ge=0)]


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model learned from.

    Attributes:
        corpus: content hash of the corpus; empty if there was none.
        split: the rule that divides it, and the part that was learned from.
        players: whose decisions, in words.
        games: that they were taken from.
        samples: decisions in them.
    """

    corpus: str = ""
    split: str = ""
    players: str = ""
    games: _Count = 0
    samples: _Count = 0


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it learned.

    Attributes:
        samples: seen, each as often as it was.
        steps: of the optimiser.
        epochs: passes over the data.
        batch_size: samples for each step.
        learning_rate: at its highest.
        seconds: on the clock, without evaluation.
        seed: of everything random.
        commit: of the program; empty if unknown.
        precision: of the arithmetic.
        device: it ran on.
        torch: version of the library.
        settings: whatever else decides the result, by name.
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


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    """What there is to know about a checkpoint.

    Attributes:
        format: of card and weights together.
        model: which of the six.
        architecture: what the network is built from.
        features: the feature set it sees, with its version; empty for the reward predictor.
        without: groups of that set that were left blank in training and are to be left blank in play.
        data: what it learned from.
        training: how.
        metrics: how well, on the validation part: ``accuracy`` is the share of answers that were the
            player's, ``error`` the mean square error of a predictor.
        parents: hashes of the weights it was continued from or averaged of.
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
    tensors: Stored = Stored()
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
        card: without it, or with an old one.
        path: where it is to lie, for messages.

    Raises:
        CheckpointCorrupt: it holds what could not be read again, such as a metric that is no number.
    """
    try:
        plain = msgspec.json.decode(msgspec.json.encode(card), type=Card)
    except (msgspec.MsgspecError, ValueError, OverflowError) as exc:
        raise CheckpointCorrupt(path, "card", f"cannot be written: {exc}") from None
    return replace(plain, card_sha256=_hash(msgspec.json.decode(msgspec.json.encode(plain))))


def encode_card(card: Card) -> bytes:
    """A card as it lies on disk."""
    return msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n"


def decode_card(data: bytes, path: Path) -> Card:
    """Read a card.

    Raises:
        CheckpointCorrupt: it is no card, or is not as it was written.
        CheckpointMismatch: it is one of another format, or says what is not known here.
    """
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise CheckpointCorrupt(path, "card", f"cannot be read: {str(exc)[:_EXCERPT]}") from None
    found = fields.get("format")
    if found != FORMAT:
        raise CheckpointMismatch(path, "format", f"{excerpt(str(found))}, but {FORMAT!r} is read here")
    if fields.get(_SEAL) != _hash(fields):
        raise CheckpointCorrupt(path, _SEAL, "the card is not as it was written")
    try:
        return msgspec.convert(fields, Card)
    except msgspec.ValidationError as exc:
        problem, _, place = str(exc).partition(" - at `$")
        raise CheckpointMismatch(path, place.strip("`.") or "card", problem[:_EXCERPT]) from None


def check_card(card: Card, model: Model, path: Path) -> None:
    """Make sure that a card is of a model, and that what it says goes together.

    Raises:
        CheckpointMismatch: it is not or does not.
    """
    if card.model != model:
        raise CheckpointMismatch(path, "model", f"{card.model!r}, but {model!r} is wanted")
    for name, size in asdict(card.architecture).items():
        if isinstance(size, int) and not 1 <= size <= LARGEST_SIZE:
            raise CheckpointMismatch(path, f"architecture.{name}", f"{size} is not 1 to {LARGEST_SIZE}")
    if isinstance(card.architecture, Architecture):
        _check_planes(card, card.architecture, path)
    elif model != "reward":
        raise CheckpointMismatch(path, "architecture", f"that of a reward predictor, not of {model!r}")


def describe(card: Card) -> str:
    """One line for people: what it is, what it sees, how much it has seen, how good it is, which it is."""
    said = [f"{card.model} {_size(card.architecture)}"]
    if card.features:
        said[0] += f" on {card.features}" + "".join(f" -{group}" for group in card.without)
    said.append(f"{card.training.samples:,} samples")
    if "accuracy" in card.metrics:
        said.append(f"accuracy {card.metrics['accuracy']:.2%}")
    elif "error" in card.metrics:
        said.append(f"error {card.metrics['error']:.6g}")
    said.append(f"commit {card.training.commit[:12] or 'unknown'}")
    said.append(f"sha256 {card.tensors.sha256[:_SHORT] or 'unsaved'}")
    return "".join(letter for letter in ", ".join(said) if letter.isprintable())


def excerpt(text: str) -> str:
    """The beginning of a text from outside, quoted, fit for a message."""
    return repr(text[:_EXCERPT])


def _check_planes(card: Card, architecture: Architecture, path: Path) -> None:
    """The same for what a network of planes sees and answers."""
    if card.model == "reward":
        raise CheckpointMismatch(
            path, "architecture", "that of a model of the decision flow, not of 'reward'"
        )
    outputs = DISCARDS if card.model == "discard" else YES_NO
    if architecture.outputs != outputs:
        problem = f"{architecture.outputs}, but {card.model!r} has {outputs}"
        raise CheckpointMismatch(path, "architecture.outputs", problem)
    known = _OWN_TURN if card.model in ("discard", "riichi") else _CALLS
    if card.features not in known:
        problem = f"{excerpt(card.features)}, but {card.model!r} can see {' or '.join(known)}"
        raise CheckpointMismatch(path, "features", problem)
    planes = SETS[card.features].planes
    if architecture.planes != planes:
        problem = f"{architecture.planes}, but {card.features} has {planes}"
        raise CheckpointMismatch(path, "architecture.planes", problem)
    for group in card.without:
        if not SETS[card.features].has(group):
            problem = f"{excerpt(group)} is no group of {card.features}"
            raise CheckpointMismatch(path, "without", problem)


def _size(architecture: AnyArchitecture) -> str:
    if isinstance(architecture, Architecture):
        return f"{architecture.width}×{architecture.depth}"
    return "×".join(str(size) for size in asdict(architecture).values() if isinstance(size, int))


def _hash(fields: Mapping[str, Any]) -> str:
    """Hash of a card's fields but for the hash."""
    rest = {name: value for name, value in fields.items() if name != _SEAL}
    return hashlib.sha256(msgspec.json.encode(rest)).hexdigest()
