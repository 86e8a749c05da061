"""A trained model on disk: ``<model>.json``, the card, and ``<model>-<hash>.safetensors``, its weights.

The card says how the network is built, what it sees, what it learned from and how well; it names the file of
weights by its hash. Weights are written first and the card is replaced whole, so that a save stopped at any
moment leaves the old checkpoint or the new one. Loading trusts nothing: sizes, names and shapes are checked
before memory is taken, and nothing in the files is ever run.

`card` is what a card says; `architectures` what networks there are; `tensors` reads weights; `files` touches
the disk; `store` puts them together.
"""

from policies.checkpoint.architectures import AnyArchitecture
from policies.checkpoint.card import MODELS, Card, Data, Model, Stored, Training, describe
from policies.checkpoint.store import Checkpoint, files_of, load, models_in, network_of, save

__all__ = [
    "MODELS",
    "AnyArchitecture",
    "Card",
    "Checkpoint",
    "Data",
    "Model",
    "Stored",
    "Training",
    "describe",
    "files_of",
    "load",
    "models_in",
    "network_of",
    "save",
]
