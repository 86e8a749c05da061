"""Policies by name, as commands take them: a built-in one, or a folder of checkpoints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from game.errors import ConfigError
from policies.heuristic import HeuristicPolicy
from policies.random_play import RandomPolicy
from policies.slots import Policy

if TYPE_CHECKING:
    from policies.inference import Averaging

NETWORK: Final = "network"
"""The checkpoints that come with the program."""

_AVERAGING: Final[tuple[Averaging, ...]] = (6, 12)
_RULES: Final[dict[str, Callable[[], Policy]]] = {"heuristic": HeuristicPolicy, "random": RandomPolicy}


class Named(msgspec.Struct, frozen=True):
    """A policy, loaded.

    Attributes:
        name: what reports call it.
        identity: changes when who plays under that name changes.
        policy: ready to answer.
    """

    name: str
    identity: str
    policy: Policy


def load_named(text: str, usual: Averaging = 1) -> Named:
    """The policy that a text means.

    Args:
        text: a built-in policy, or a folder of checkpoints; networks with ``:6`` or ``:12`` behind it average
            over so many renamings of the suits.
        usual: renamings where the text says nothing.

    Raises:
        ConfigError: it is neither a built-in policy nor a folder.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    if text in _RULES:
        return Named(text, text, _RULES[text]())
    name, said = _parts(text)
    averaging = said or usual
    folder = None if name == NETWORK else Path(name)
    if folder is not None and not folder.is_dir():
        known = ", ".join((NETWORK, *_RULES))
        raise ConfigError(f"{text!r} is no player: neither one of {known} nor a folder of checkpoints")
    from policies.inference import SHIPPED, load_policy  # noqa: PLC0415 - torch is for those who need it

    policy = load_policy(folder or SHIPPED, averaging=averaging)
    digest = hashlib.sha256(b"%d" % averaging)
    for slot, card in sorted(policy.cards.items()):
        digest.update(slot.encode() + b"\0" + msgspec.json.encode(card))
    return Named(name_of(text), digest.hexdigest(), policy)


def name_of(text: str) -> str:
    """What reports call the policy that a text means."""
    folder, averaging = _parts(text)
    name = folder if folder in (*_RULES, NETWORK) else Path(folder).resolve().name
    return f"{name}:{averaging}" if averaging else name


def _parts(text: str) -> tuple[str, Averaging | None]:
    """Who is named, and the renamings to average over if that is said."""
    for averaging in _AVERAGING:
        if text.endswith(f":{averaging}"):
            return text.removesuffix(f":{averaging}"), averaging
    return text, None
