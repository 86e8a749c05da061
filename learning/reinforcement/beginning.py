"""What a run of self-play learning begins from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from policies.checkpoint import Card, load, network_of
from policies.networks import Network
from policies.slots import Slot


class StartingModel(NamedTuple):
    """A model that is to learn.

    Attributes:
        card: of its checkpoint.
        network: ready to play.
    """

    card: Card
    network: Network


def load_starting(start: Path, slot: Slot) -> StartingModel:
    """The model of a slot.

    Raises:
        CheckpointError: it cannot be used.
    """
    checkpoint = load(start, slot)
    network = network_of(checkpoint)
    assert isinstance(network, Network)
    return StartingModel(checkpoint.card, network)
