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

NETWORK: Final = "network"
"""The checkpoints that come with the program."""

_RULES: Final[dict[str, Callable[[], Policy]]] = {"heuristic": HeuristicPolicy, "random": RandomPolicy}


class Contender(msgspec.Struct, frozen=True):
    """One of the players compared.

    Attributes:
        text: as given: a built-in player, or a folder of checkpoints.
        identity: changes when who plays under that name changes.
    """

    text: str
    identity: str

    @property
    def name(self) -> str:
        """What reports and records call him."""
        return self.text if self.text in (*_RULES, NETWORK) else Path(self.text).resolve().name


def contender(text: str) -> Contender:
    """Who is meant by a text; whatever he needs has been loaded once, and found good.

    Raises:
        ConfigError: it is neither a built-in player nor a folder.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    return _seated(text)[0]


def seat_down(who: Contender) -> Chooser:
    """Load a contender, ready to play.

    Raises:
        ConfigError: somebody else plays under that name by now.
        CheckpointError: his checkpoints cannot be used.
    """
    found, policy = _seated(who.text)
    if found != who:
        raise ConfigError(f"{who.text}: its checkpoints have changed since the games began")
    return PolicyChooser(policy)


def _seated(text: str) -> tuple[Contender, Policy]:
    if text in _RULES:
        return Contender(text, text), _RULES[text]()
    folder = None if text == NETWORK else Path(text)
    if folder is not None and not folder.is_dir():
        known = ", ".join((NETWORK, *_RULES))
        raise ConfigError(f"{text!r} is no player: neither one of {known} nor a folder of checkpoints")
    from policies.inference import load_policy  # noqa: PLC0415 - torch is for those who need it

    policy = load_policy() if folder is None else load_policy(folder)
    digest = hashlib.sha256()
    for slot, card in sorted(policy.cards.items()):
        digest.update(slot.encode() + b"\0" + msgspec.json.encode(card))
    return Contender(text, digest.hexdigest()), policy
