"""Players of the arena that search, or adapt to each hand: ``network+search=35+adapt=500``."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

import msgspec

from game.scoring.settlement import RewardKind
from kit.errors import ConfigError
from policies.deals.named import models_of, settings_of
from policies.nets.compute import Compute
from policies.play.named import Files, folder_of_named, load_named
from policies.play.rollout import Chooser

_THINKS: Final = re.compile(r"\+(?:search|adapt)=")
_FORM: Final = (
    "give NETWORKS+search=DEALS, NETWORKS+adapt=PLAYOUTS or both, and if need be +from_go_around=NUMBER, "
    "+horizon=DISCARDS, +reward=points or +sampler=SAMPLER, as in network+search=35+horizon=8"
)


class ThinkingPlayer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player that uses the time of a round.

    Attributes:
        policy: the initial policy, as `policies.play.named.folder_of_named` takes it.
        search: deals over which a search compares options; 0 for no search.
        horizon: discards after which a search cuts its play-outs; 0 to play them to the end of the round.
        from_go_around: discards that the player must have made before a search.
        adapt: rounds played out for an adaptation; 0 for none.
        reward: value of the end of a round.
        sampler: of the deals; "" for the usual one.
    """

    policy: str
    search: int = 0
    horizon: int = 0
    from_go_around: int = 0
    adapt: int = 0
    reward: RewardKind = "global"
    sampler: str = ""

    @property
    def identity(self) -> str:
        """Changes when the player behind the text changes.

        Raises:
            CheckpointError: its checkpoints cannot be used.
        """
        from policies.adaptation.settings import USUAL_SAMPLER  # noqa: PLC0415 - torch is for those who need it
        from policies.checkpoint import load  # noqa: PLC0415
        from policies.hands.direct import HAND_MODELS_FOLDER  # noqa: PLC0415
        from policies.play.critic import CRITIC_FOLDER  # noqa: PLC0415

        policy = load_named(self.policy).identity + models_of([settings_of(self.sampler or USUAL_SAMPLER)])
        if self.search:
            policy += load(HAND_MODELS_FOLDER, "direct").card.tensors.sha256
        if self.search and self.horizon:
            policy += load(CRITIC_FOLDER, "critic").card.tensors.sha256
        return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(self, policy=policy))).hexdigest()

    def files(self) -> Files:
        """Its checkpoints, by file name.

        Raises:
            CheckpointError: one cannot be used.
        """
        from policies.checkpoint import files_of  # noqa: PLC0415 - torch is for those who need it
        from policies.checkpoint.card import MODELS  # noqa: PLC0415

        return files_of(folder_of_named(self.policy), MODELS)

    def chooser(self, files: Files | None, compute: Compute) -> Chooser:
        """Load it, ready to play.

        Args:
            files: its checkpoints, if the folder may not be here.
            compute: how its networks compute.

        Raises:
            CheckpointError: a checkpoint cannot be used.
        """
        from policies.adaptation.settings import USUAL_SAMPLER, ThinkingSettings  # noqa: PLC0415
        from policies.adaptation.thinking import load_chooser  # noqa: PLC0415
        from policies.checkpoint.files import read_file, reader_of  # noqa: PLC0415 - torch is for those who need it

        settings = ThinkingSettings(
            worlds=self.search,
            horizon=self.horizon,
            from_go_around=self.from_go_around,
            playouts=self.adapt,
            sampler=self.sampler or USUAL_SAMPLER,
            reward=self.reward,
        )
        read = read_file if files is None else reader_of(files)
        folder = Path() if files is not None else folder_of_named(self.policy)
        return load_chooser(folder, settings, compute, read)


def thinking_player(text: str) -> ThinkingPlayer | None:
    """The player that a text names; None if it names one of another kind.

    Raises:
        ConfigError: its settings are not possible.

    >>> thinking_player("network+search=35").search, thinking_player("network")
    (35, None)
    """
    if not _THINKS.search(text):
        return None
    policy, *parts = text.split("+")
    try:
        pairs = dict(part.split("=", 1) for part in parts)
        found = msgspec.convert({**pairs, "policy": policy}, ThinkingPlayer, strict=False)
    except (ValueError, msgspec.ValidationError) as exc:
        raise ConfigError(f"{text!r}: {exc}; {_FORM}") from None
    if (
        min(found.search, found.horizon, found.from_go_around, found.adapt) < 0
        or found.search + found.adapt < 2
    ):
        raise ConfigError(f"{text!r}: too few deals to think about; {_FORM}")
    if found.sampler:
        settings_of(found.sampler)
    folder_of_named(policy)
    return found
