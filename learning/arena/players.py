"""Who can play in the arena: what a name on the command line means, and who sits down for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from game.errors import ConfigError
from learning.arena.engines import ANSWER_S, EngineChooser, check_engine, engine_of
from policies.heuristic import HeuristicPolicy
from policies.random_play import RandomPolicy
from policies.rollout import TABLES, Chooser, PolicyChooser
from policies.slots import Policy, Slot

if TYPE_CHECKING:
    from policies.inference import Averaging

NETWORK: Final = "network"
"""The checkpoints that come with the program."""

Files: TypeAlias = dict[str, bytes]
"""The checkpoints of a folder, by file name."""

ENGINE_TABLES: Final = 4
"""Tables side by side where an external engine plays: it is a process for each of its seats."""

_AVERAGING: Final[tuple[Averaging, ...]] = (6, 12)
_RULES: Final[dict[str, Callable[[], Policy]]] = {"heuristic": HeuristicPolicy, "random": RandomPolicy}


class Contender(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the players compared.

    Attributes:
        text: as given: a built-in player, or a folder of checkpoints; networks with ``:6`` or ``:12`` behind
            it average over so many renamings of the suits. Or an external engine, as
            `learning.arena.engines.engine_of` reads it.
        identity: changes when who plays under that name changes.
        answer_s: seconds for each answer of an external engine, None for others.
    """

    text: str
    identity: str
    answer_s: float | None = None

    @property
    def name(self) -> str:
        """What reports and records call him."""
        if engine := engine_of(self.text):
            return engine.name
        folder, averaging = _parts(self.text)
        name = folder if folder in (*_RULES, NETWORK) else Path(folder).resolve().name
        return name if averaging == 1 else f"{name}:{averaging}"


def contender(text: str, answer_s: float = ANSWER_S) -> Contender:
    """Who is meant by a text; whatever he needs has been loaded once, and found good.

    Args:
        text: as `Contender` has it.
        answer_s: seconds for each answer, if he is an external engine.

    Raises:
        ConfigError: it is neither a built-in player nor a folder, or there is no such engine.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    if engine := engine_of(text):
        check_engine(engine)
        return Contender(text, hashlib.sha256(text.encode()).hexdigest(), answer_s)
    return _loaded(text)[0]


def tables_for(*players: Contender) -> int:
    """How many tables these should play at side by side in a process."""
    return ENGINE_TABLES if any(engine_of(player.text) for player in players) else TABLES


def packed(*contenders: Contender) -> dict[str, Files]:
    """What contenders need to be seated where their folders are not, by their texts.

    Raises:
        CheckpointError: somebody's checkpoints cannot be used.
    """
    files: dict[str, Files] = {}
    for who in contenders:
        if who.text in _RULES:
            continue
        folder = _folder(_parts(who.text)[0])
        if folder.is_dir():
            from policies.checkpoint import files_of  # noqa: PLC0415 - torch is for those who need it

            files[who.text] = files_of(folder, Slot)
    return files


def seat_down(who: Contender, files: Files | None = None) -> Chooser:
    """Load a contender, ready to play.

    Args:
        who: he.
        files: of his folder, if it may not be here.

    Raises:
        ConfigError: somebody else plays under that name by now, or the engine is not on this machine.
        CheckpointError: his checkpoints cannot be used.
    """
    if engine := engine_of(who.text):
        check_engine(engine)
        return EngineChooser(engine, ANSWER_S if who.answer_s is None else who.answer_s)
    found, policy = _loaded(who.text, files)
    if found != who:
        raise ConfigError(f"{who.text}: its checkpoints have changed since the games began")
    return PolicyChooser(policy)


def _loaded(text: str, files: Files | None = None) -> tuple[Contender, Policy]:
    if text in _RULES:
        return Contender(text, text), _RULES[text]()
    name, averaging = _parts(text)
    folder = _folder(name)
    if files is None and not folder.is_dir():
        known = ", ".join((NETWORK, *_RULES))
        raise ConfigError(
            f"{text!r} is no player: neither one of {known}, nor a folder of checkpoints, nor engine:COMMAND"
        )
    from policies.checkpoint.files import read_file, reader_of  # noqa: PLC0415 - torch is for those who need it
    from policies.inference import load_policy  # noqa: PLC0415

    read = read_file if files is None else reader_of(files)
    policy = load_policy(folder, averaging=averaging, read=read)
    digest = hashlib.sha256(b"%d" % averaging)
    for slot, card in sorted(policy.cards.items()):
        digest.update(slot.encode() + b"\0" + msgspec.json.encode(card))
    return Contender(text, digest.hexdigest()), policy


def _folder(name: str) -> Path:
    if name != NETWORK:
        return Path(name)
    from policies.inference import SHIPPED  # noqa: PLC0415 - torch is for those who need it

    return SHIPPED


def _parts(text: str) -> tuple[str, Averaging]:
    """Who is named, and the renamings to average over."""
    for averaging in _AVERAGING:
        if text.endswith(f":{averaging}"):
            return text.removesuffix(f":{averaging}"), averaging
    return text, 1
