"""Policies by name, as commands take them: a built-in one, or a folder of checkpoints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from game.errors import ConfigError
from policies.heuristic import HeuristicPolicy
from policies.random_play import RandomPolicy
from policies.slots import Policy, Slot

if TYPE_CHECKING:
    from policies.inference import Averaging

NETWORK: Final = "network"
"""The checkpoints that come with the program."""

Files: TypeAlias = dict[str, bytes]
"""The checkpoints of a folder, by file name."""

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


def load_named(text: str, usual: Averaging = 1, files: Files | None = None) -> Named:
    """The policy that a text means.

    Args:
        text: a built-in policy, or a folder of checkpoints; networks with ``:6`` or ``:12`` behind it average
            over so many renamings of the suits.
        usual: renamings where the text says nothing.
        files: of its folder, if that may not be here.

    Raises:
        ConfigError: it is neither a built-in policy nor a folder.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    if text in _RULES:
        return Named(text, text, _RULES[text]())
    name, said = _parts(text)
    averaging = said or usual
    folder = _folder(name)
    if files is None and not folder.is_dir():
        known = ", ".join((NETWORK, *_RULES))
        raise ConfigError(f"{text!r} is no player: neither one of {known} nor a folder of checkpoints")
    from policies.checkpoint.files import read_file, reader_of  # noqa: PLC0415 - torch is for those who need it
    from policies.inference import load_policy  # noqa: PLC0415

    read = read_file if files is None else reader_of(files)
    policy = load_policy(folder, averaging=averaging, read=read)
    digest = hashlib.sha256(b"%d" % averaging)
    for slot, card in sorted(policy.cards.items()):
        digest.update(slot.encode() + b"\0" + msgspec.json.encode(card))
    return Named(name_of(text), digest.hexdigest(), policy)


def files_of_named(text: str) -> Files | None:
    """What a policy needs to be loaded where its folder is not; None where it needs nothing.

    Raises:
        CheckpointError: the folder's checkpoints cannot be used.
    """
    folder = _folder(_parts(text)[0])
    if text in _RULES or not folder.is_dir():
        return None
    from policies.checkpoint import files_of  # noqa: PLC0415 - torch is for those who need it

    return files_of(folder, Slot)


def name_of(text: str) -> str:
    """What reports call the policy that a text means."""
    folder, averaging = _parts(text)
    name = folder if folder in (*_RULES, NETWORK) else Path(folder).resolve().name
    return f"{name}:{averaging}" if averaging else name


def _folder(name: str) -> Path:
    if name != NETWORK:
        return Path(name)
    from policies.inference import SHIPPED  # noqa: PLC0415 - torch is for those who need it

    return SHIPPED


def _parts(text: str) -> tuple[str, Averaging | None]:
    """Who is named, and the renamings to average over if that is said."""
    for averaging in _AVERAGING:
        if text.endswith(f":{averaging}"):
            return text.removesuffix(f":{averaging}"), averaging
    return text, None
