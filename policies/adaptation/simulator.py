"""Play-outs of the round in progress, as search and adaptation share them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from game.events import GameEvent
from policies.adaptation.settings import ThinkingSettings
from policies.checkpoint.files import Reader, read_file
from policies.checkpoint.store import load_predictor
from policies.deals.deal import DealSampler
from policies.deals.named import load_sampler
from policies.nets.compute import Compute
from policies.play.inference import NetworkPolicy, load_policy
from policies.play.named import predictor_folder
from policies.play.playouts import EndValue, RewardValue, points_value
from policies.reward.encoding import round_starts
from policies.reward.predictor import Predictor


class Simulator:
    """The policy that plays rounds out, the sampler of their deals, and the value of their ends.

    Args:
        policy: the initial policy; plays for everybody and is never changed.
        predictor: predicts final rewards; not needed for points.
        settings: of search and adaptation.

    Raises:
        ConfigError: there is no such sampler.
    """

    def __init__(
        self, policy: NetworkPolicy, predictor: Predictor | None, settings: ThinkingSettings
    ) -> None:
        self.policy, self.settings, self._predictor = policy, settings, predictor
        self.sampler: DealSampler = load_sampler(settings.sampler)

    def value(self, events: Sequence[GameEvent]) -> EndValue:
        """The function that values the end of the present round.

        Args:
            events: of the game so far.
        """
        if self.settings.reward == "points" or self._predictor is None:
            return points_value
        return RewardValue(self._predictor, round_starts(events))


def load_simulator(
    folder: Path, settings: ThinkingSettings, compute: Compute, read: Reader = read_file
) -> Simulator:
    """The simulator of a folder of checkpoints, with its or the included reward predictor if it needs one.

    Args:
        folder: folder of the checkpoints.
        settings: of search and adaptation.
        compute: how the policy's networks compute.
        read: reads a file of the folder.

    Raises:
        CheckpointError: a checkpoint cannot be used.
        ConfigError: there is no such sampler.
    """
    policy = load_policy(folder, compute=compute, read=read)
    predictor = None
    if settings.reward == "global":
        predictor = load_predictor(predictor_folder(folder) if read is read_file else folder, read)
        predictor = predictor.with_uma(settings.uma)
    return Simulator(policy, predictor, settings)
