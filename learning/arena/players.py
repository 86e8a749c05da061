"""Who can play in the arena: what a name on the command line means, and who sits down for it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

import msgspec

from game.errors import ConfigError
from learning.arena.engines import ANSWER_S, MAX_NAME, EngineChooser, check_engine, engine_of
from policies.named import Files, files_of_named, load_named, name_of
from policies.rollout import TABLES, Chooser, PolicyChooser

ENGINE_TABLES: Final = 4
"""Tables side by side where an external engine plays: it is a process for each of its seats."""


class Contender(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the players compared.

    Attributes:
        text: what `policies.named.load_named` takes, or an external engine, as
            `learning.arena.engines.engine_of` reads it.
        identity: changes when who plays under that name changes.
        answer_s: seconds for each answer of an external engine, None for others.
        given_name: the name that it was given, "" for none.
    """

    text: str
    identity: str
    answer_s: float | None = None
    given_name: str = ""

    @property
    def name(self) -> str:
        """What reports and records call it."""
        engine = engine_of(self.text)
        return self.given_name or (engine.name if engine else name_of(self.text))

    @property
    def flag(self) -> str:
        """As it is given on the command line."""
        return f"{self.given_name}={self.text}" if self.given_name else self.text

    def plays_as(self, other: Contender) -> bool:
        """Whether both are the same player, whatever they are called."""
        return (self.identity, self.answer_s) == (other.identity, other.answer_s)


def contender(text: str, answer_s: float = ANSWER_S) -> Contender:
    """Who is meant by a text; whatever is needed to play has been loaded once, and found good.

    Args:
        text: as `Contender` has it; ``NAME=`` before it gives it a name.
        answer_s: seconds for each answer, if it is an external engine.

    Raises:
        ConfigError: it names no policy, or there is no such engine.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    name, text = _named(text)
    if engine := engine_of(text):
        check_engine(engine)
        return Contender(text, hashlib.sha256(text.encode()).hexdigest(), answer_s, name)
    return Contender(text, load_named(text).identity, given_name=name)


def _named(text: str) -> tuple[str, str]:
    """The name before a player, "" for none, and the player.

    >>> _named("mine=runs/lr=0.1"), _named("runs/lr=0.1"), _named("engine:env A=1 node e.js")
    (('mine', 'runs/lr=0.1'), ('', 'runs/lr=0.1'), ('', 'engine:env A=1 node e.js'))

    Raises:
        ConfigError: it is no name.
    """
    name, equals, player = text.partition("=")
    if not equals or re.search("[:/]", name) or Path(text).exists():
        return "", text
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
        raise ConfigError(
            f"{text!r}: a name before a player has 1 to {MAX_NAME} letters, as in mine={player}"
        )
    return name.strip(), player


def tables_for(*players: Contender) -> int:
    """How many tables these should play at side by side in a process."""
    return ENGINE_TABLES if any(engine_of(player.text) for player in players) else TABLES


def packed(*contenders: Contender) -> dict[str, Files]:
    """What contenders need to be seated where their folders are not, by their texts.

    Raises:
        ConfigError: somebody's Python file cannot be read.
        CheckpointError: somebody's checkpoints cannot be used.
    """
    wanted = [who.text for who in contenders if not engine_of(who.text)]
    return {text: files for text in wanted if (files := files_of_named(text)) is not None}


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
        return EngineChooser(engine, ANSWER_S if who.answer_s is None else who.answer_s, who.name)
    found = load_named(who.text, files=files)
    if found.identity != who.identity:
        raise ConfigError(f"{who.text}: its files have changed since the games began")
    return PolicyChooser(found.policy)
