"""Who can play in the arena: what a name on the command line means, and who sits down for it."""

from __future__ import annotations

import msgspec

from game.errors import ConfigError
from policies.named import NETWORK, load_named, name_of
from policies.rollout import Chooser, PolicyChooser

__all__ = ["NETWORK", "Contender", "contender", "seat_down"]


class Contender(msgspec.Struct, frozen=True):
    """One of the players compared.

    Attributes:
        text: as given: a built-in player, or a folder of checkpoints; networks with ``:6`` or ``:12`` behind
            it average over so many renamings of the suits.
        identity: changes when who plays under that name changes.
    """

    text: str
    identity: str

    @property
    def name(self) -> str:
        """What reports and records call him."""
        return name_of(self.text)


def contender(text: str) -> Contender:
    """Who is meant by a text; whatever he needs has been loaded once, and found good.

    Raises:
        ConfigError: it is neither a built-in player nor a folder.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    return Contender(text, load_named(text).identity)


def seat_down(who: Contender) -> Chooser:
    """Load a contender, ready to play.

    Raises:
        ConfigError: somebody else plays under that name by now.
        CheckpointError: his checkpoints cannot be used.
    """
    found = load_named(who.text)
    if found.identity != who.identity:
        raise ConfigError(f"{who.text}: its checkpoints have changed since the games began")
    return PolicyChooser(found.policy)
