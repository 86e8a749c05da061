"""Who can play in the arena: what a name on the command line means, and who sits down for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from game.errors import ConfigError
from policies.heuristic import HeuristicPolicy
from policies.random_play import RandomPolicy
from policies.rollout import Chooser, PolicyChooser
from policies.slots import Policy

_BUILT_IN: Final[dict[str, Callable[[], Policy]]] = {"heuristic": HeuristicPolicy, "random": RandomPolicy}


class Contender(msgspec.Struct, frozen=True):
    """One of the two players compared.

    Attributes:
        text: as given: a built-in player, or a folder of checkpoints.
        identity: changes when who plays under that name changes.
    """

    text: str
    identity: str

    @property
    def name(self) -> str:
        """What reports and records call him."""
        return self.text if self.text in _BUILT_IN else Path(self.text).name


def contender(text: str) -> Contender:
    """Who is meant by a text.

    Raises:
        ConfigError: it is neither a built-in player nor a folder of checkpoints.
    """
    if text in _BUILT_IN:
        return Contender(text, text)
    folder = Path(text)
    cards = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not cards:
        known = ", ".join(_BUILT_IN)
        raise ConfigError(f"{text!r} is no player: neither one of {known} nor a folder with checkpoints")
    digest = hashlib.sha256()
    for card in cards:
        digest.update(card.name.encode() + b"\0" + card.read_bytes())
    return Contender(text, digest.hexdigest())


def seat_down(who: Contender) -> Chooser:
    """Load a contender, ready to play.

    Raises:
        CheckpointError: his checkpoints cannot be used.
    """
    make = _BUILT_IN.get(who.text)
    if make is not None:
        return PolicyChooser(make())
    from policies.inference import load_policy  # noqa: PLC0415 - torch is for those who need it

    return PolicyChooser(load_policy(Path(who.text)))
