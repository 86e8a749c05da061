"""What a run of self-play learning begins from: the discard network and the reward predictor of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from policies.checkpoint import Checkpoint, load, network_of
from policies.networks import Network
from policies.reward import PredictorNetwork
from policies.slots import Slot


class Beginning(NamedTuple):
    """The models that learning needs itself; actors load the others.

    Attributes:
        discard: checkpoint of the discard model.
        network: its network, ready to play.
        predictor: expects final rewards.
    """

    discard: Checkpoint
    network: Network
    predictor: PredictorNetwork


def load_beginning(start: Path) -> Beginning:
    """The models of a folder of checkpoints.

    Raises:
        CheckpointError: one cannot be used.
    """
    discard, predictor = load(start, Slot.DISCARD), network_of(load(start, "reward"))
    network = network_of(discard)
    assert isinstance(network, Network)
    assert isinstance(predictor, PredictorNetwork)
    return Beginning(discard, network, predictor)
