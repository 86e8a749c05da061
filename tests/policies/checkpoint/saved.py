"""Small checkpoints, valid and forged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from policies.checkpoint.card import (
    Card,
    Data,
    Model,
    Training,
    WeightsFile,
    encode_card,
    sealed,
    tensors_file,
)
from policies.checkpoint.store import save
from policies.features.table import LITE, LITE_CALL, SETS
from policies.nets.architectures import (
    DISCARDS,
    HAND_SCORES,
    YES_NO,
    Architecture,
    DenoiserArchitecture,
    Floats,
    Generates,
    SuitsArchitecture,
    suit_planes,
)
from policies.nets.shapes import shapes_of
from policies.reward.predictor import FinishArchitecture, predictor_shapes


def small_card(model: Model = "discard", **fields: Any) -> Card:
    """A card of the smallest possible network."""
    plain: dict[str, Any] = {
        "model": model,
        **_network(model),
        "data": Data(corpus="ab" * 32, split="sha256 90/5/5", players="houou", games=10, samples=5000),
        "training": Training(samples=20000, steps=40, epochs=4.0, seed=7, commit="0123456789abcdef"),
        "metrics": {"accuracy": 0.5},
    }
    return Card(**plain | fields)


def _network(model: Model) -> dict[str, Any]:
    """The architecture and features of a model."""
    if model == "reward":
        return {"architecture": FinishArchitecture(hidden=3, dense=2)}
    if model in ("diffusion", "autoregressive"):
        return {"architecture": small_denoiser(model), "features": LITE}
    if model == "direct":
        planes = SETS[LITE].planes
        return {
            "architecture": SuitsArchitecture(planes, HAND_SCORES, 2, 1, suit_planes(LITE)),
            "features": LITE,
        }
    features = LITE if model in ("discard", "riichi") else LITE_CALL
    outputs = DISCARDS if model == "discard" else YES_NO
    architecture = Architecture(SETS[features].planes, outputs, width=2, depth=1)
    return {"architecture": architecture, "features": features, "without": ("LA3e",)}


def small_denoiser(generates: Generates, **sizes: float) -> DenoiserArchitecture:
    """A small generator of hands."""
    small: Any = {"trunk_width": 2, "trunk_depth": 1, "width": 2, "depth": 1} | sizes
    planes, by_suit = SETS[LITE].planes, suit_planes(LITE)
    return DenoiserArchitecture(generates=generates, planes=planes, by_suit=by_suit, **small)


def weights(card: Card, seed: int = 0) -> dict[str, Floats]:
    """Weights that fit a card; none is negative, as variances are not."""
    dice, shape = np.random.default_rng(seed), card.architecture
    shapes = predictor_shapes(shape) if isinstance(shape, FinishArchitecture) else shapes_of(shape)
    return {name: dice.random(size, np.float32) for name, size in shapes.items()}


def saved(folder: Path, model: Model = "discard", seed: int = 0) -> Card:
    """A small checkpoint on disk."""
    card = small_card(model)
    return save(folder, card, weights(card, seed))


def forge(folder: Path, card: Card, data: bytes) -> Path:
    """Replace weights with arbitrary bytes, and the card with one that fits them; the path of the bytes."""
    digest = hashlib.sha256(data).hexdigest()
    file = tensors_file(card.model, digest)
    (folder / file).write_bytes(data)
    forge_card(folder, replace(card, tensors=WeightsFile(file, len(data), digest)))
    return folder / file


def forge_card(folder: Path, card: Card) -> Path:
    """Write any card, with a valid hash."""
    path = folder / f"{card.model}.json"
    path.write_bytes(encode_card(sealed(card, path)))
    return path


def edit_card(path: Path, **changes: Any) -> None:
    """Change fields of a card on disk, those of its parts one by one, and its hash."""
    fields = json.loads(path.read_text())
    for name, new in changes.items():
        fields[name] = fields.get(name, {}) | new if isinstance(new, dict) and "type" not in new else new
    del fields["card_sha256"]
    fields["card_sha256"] = hashlib.sha256(msgspec.json.encode(fields)).hexdigest()
    path.write_text(json.dumps(fields))


def file_of(header: Any, data: bytes = b"") -> bytes:
    """A file of weights with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data
