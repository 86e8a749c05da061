"""What a run of self-play learning begins from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from game.errors import ConfigError
from policies.checkpoint import Card, load, network_of
from policies.checkpoint.files import Reader, read_file
from policies.networks import Network, with_tie_break
from policies.slots import Slot


class StartingModel(NamedTuple):
    """A model that is to learn.

    Attributes:
        card: of its checkpoint.
        network: ready to play.
    """

    card: Card
    network: Network


def load_starting(start: Path, slot: Slot, tie_break: float = 0.0, read: Reader = read_file) -> StartingModel:
    """The model of a slot.

    Args:
        start: folder of its checkpoint.
        slot: which model.
        tie_break: share of the tie-break that a discard model is given, if it has none; 0 for none.
        read: reads a file of the folder.

    Raises:
        CheckpointError: it cannot be used.
        ConfigError: it cannot have the tie-break, or has another one.
    """
    checkpoint = load(start, slot, read=read)
    card, network = checkpoint.card, network_of(checkpoint)
    assert isinstance(network, Network)
    if not tie_break or slot is not Slot.DISCARD:
        return StartingModel(card, network)
    if network.tie_break is None:
        network = with_tie_break(network, tie_break)
    elif network.tie_break.share != tie_break:
        share = network.tie_break.share
        raise ConfigError(f"tie_break: the start already has one of {share:g}; leave it out to keep that")
    return StartingModel(replace(card, architecture=network.architecture), network)
