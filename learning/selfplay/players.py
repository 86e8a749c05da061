"""The players of games: policies, policies that search or adapt, engines; their names, and loading them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec

from game.scoring.settlement import RewardKind
from kit.errors import ConfigError
from learning.selfplay.engines import ANSWER_S, MAX_NAME, EngineChooser, check_engine, engine_of
from policies.deals.named import models_of, settings_of
from policies.nets.compute import IN_PLAY, Compute
from policies.play.named import Files, files_of_named, folder_of_named, load_named, name_of, predictor_files
from policies.play.rollout import TABLES, Chooser, PolicyChooser

ENGINE_TABLES: Final = 4
"""Tables per process with an external engine, which needs a process for each of its seats."""

_ENGINE: Final = re.compile(r"([^,=:/]+=)?engine[a-z-]*:")
_THINKS: Final = re.compile(r"\+(?:search|adapt)=")
_FORM: Final = (
    "give NETWORKS+search=DEALS, NETWORKS+adapt=PLAYOUTS or both, and if need be +from_go_around=NUMBER, "
    "+horizon=DISCARDS, +reward=points or +sampler=SAMPLER, as in network+search=35+horizon=8"
)

_NotNegative: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class ThinkingPlayer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy that searches or adapts during a round.

    Attributes:
        policy: the initial policy, as `policies.play.named.folder_of_named` takes it.
        search: deals over which a search compares options; 0 for no search.
        horizon: discards after which a search cuts its play-outs; 0 to play them to the end of the round.
        from_go_around: discards that the player must have made before a search.
        adapt: rounds played out for an adaptation; 0 for none.
        reward: what the end of a round is valued by.
        sampler: of the deals; "" for the usual one.
    """

    policy: str
    search: _NotNegative = 0
    horizon: _NotNegative = 0
    from_go_around: _NotNegative = 0
    adapt: _NotNegative = 0
    reward: RewardKind = "global"
    sampler: str = ""

    @property
    def identity(self) -> str:
        """Changes when the player behind the text changes.

        Raises:
            CheckpointError: its checkpoints cannot be used.
        """
        from policies.adaptation.settings import USUAL_SAMPLER  # noqa: PLC0415 - torch is for those who need it
        from policies.checkpoint.store import load  # noqa: PLC0415
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
        from policies.checkpoint.store import files_of  # noqa: PLC0415 - torch is for those who need it
        from policies.flow.slots import Slot  # noqa: PLC0415

        return files_of(folder_of_named(self.policy), Slot) | predictor_files(self.policy)

    def chooser(self, files: Files | None, compute: Compute) -> Chooser:
        """Load it, ready to play.

        Args:
            files: its checkpoints, if the folder may not be on this machine.
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
    """The searching or adapting player that a text names; None if it names another kind.

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
    if len(pairs) < len(parts):
        raise ConfigError(f"{text!r}: a setting is given twice; {_FORM}")
    if found.search + found.adapt < 2:
        raise ConfigError(f"{text!r}: too few deals to think about; {_FORM}")
    if found.sampler:
        settings_of(found.sampler)
    folder_of_named(policy)
    return found


class Contender(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the players compared.

    Attributes:
        text: what `policies.play.named.load_named` or `thinking_player` takes, or an external engine, in the
            form that `learning.selfplay.engines.engine_of` parses.
        identity: changes when the player behind the name changes.
        answer_s: seconds for each answer of an external engine, None for others.
        given_name: the name given on the command line, "" for none.
    """

    text: str
    identity: str
    answer_s: float | None = None
    given_name: str = ""

    @property
    def name(self) -> str:
        """Its name in reports and records."""
        engine = engine_of(self.text)
        if self.given_name or engine or thinking_player(self.text):
            return self.given_name or (engine.name if engine else self.text)
        return name_of(self.text)

    @property
    def flag(self) -> str:
        """Its form on the command line."""
        return f"{self.given_name}={self.text}" if self.given_name else self.text

    def plays_as(self, other: Contender) -> bool:
        """Whether both are the same player, regardless of their names."""
        return (self.identity, self.answer_s) == (other.identity, other.answer_s)


def contender(text: str, answer_s: float = ANSWER_S) -> Contender:
    """Parse and check a player; everything needed to play is loaded once.

    Args:
        text: as in `Contender`; a prefix ``NAME=`` gives it a name.
        answer_s: seconds for each answer, if it is an external engine.

    Raises:
        ConfigError: it names no policy, or there is no such engine.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    name, text = _named(text)
    if engine := engine_of(text):
        check_engine(engine)
        return Contender(text, hashlib.sha256(text.encode()).hexdigest(), answer_s, name)
    if thinker := thinking_player(text):
        return Contender(text, thinker.identity, given_name=name)
    return Contender(text, load_named(text).identity, given_name=name)


def names_in(texts: Sequence[str]) -> list[str]:
    """The players named on the command line.

    Args:
        texts: players separated by commas; an engine, whose command may contain commas, is a text of its own.

    >>> names_in(["network, heuristic", "engine:node e.js a,b"])
    ['network', 'heuristic', 'engine:node e.js a,b']
    """
    names: list[str] = []
    for text in texts:
        names += [text] if _ENGINE.match(text) else [name.strip() for name in text.split(",")]
    return names


def _named(text: str) -> tuple[str, str]:
    """The name before a player, "" for none, and the player.

    >>> _named("mine=runs/lr=0.1"), _named("runs/lr=0.1"), _named("engine:env A=1 node e.js")
    (('mine', 'runs/lr=0.1'), ('', 'runs/lr=0.1'), ('', 'engine:env A=1 node e.js'))

    Raises:
        ConfigError: the name is not valid.
    """
    name, equals, player = text.partition("=")
    if not equals or re.search("[:/+]", name) or Path(text).exists():
        return "", text
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
        raise ConfigError(
            f"{text!r}: a player's name must have 1 to {MAX_NAME} characters, as in mine={player}"
        )
    return name.strip(), player


def tables_for(*players: Contender) -> int:
    """Number of tables these players should play at a time in a process."""
    return ENGINE_TABLES if any(engine_of(player.text) for player in players) else TABLES


def packed(*contenders: Contender) -> dict[str, Files]:
    """Files needed to load contenders on a machine without their folders, by their texts.

    Raises:
        ConfigError: the Python file of a contender cannot be read.
        CheckpointError: a contender's checkpoints cannot be used.
    """
    found = {}
    for text in [who.text for who in contenders if not engine_of(who.text)]:
        thinker = thinking_player(text)
        files = thinker.files() if thinker else files_of_named(text)
        if files is not None:
            found[text] = files
    return found


def seat_down(who: Contender, files: Files | None = None, compute: Compute = IN_PLAY) -> Chooser:
    """Load a contender, ready to play.

    Args:
        who: the contender.
        files: files of its folder, if the folder may not be on this machine.
        compute: how its networks compute.

    Raises:
        ConfigError: the name now stands for another player, or the engine is not on this machine.
        CheckpointError: its checkpoints cannot be used.
    """
    if engine := engine_of(who.text):
        check_engine(engine)
        return EngineChooser(engine, ANSWER_S if who.answer_s is None else who.answer_s, who.name)
    if thinker := thinking_player(who.text):
        if files is None and thinker.identity != who.identity:
            raise _changed(who)
        return thinker.chooser(files, compute)
    found = load_named(who.text, files=files, compute=compute)
    if found.identity != who.identity:
        raise _changed(who)
    return PolicyChooser(found.policy)


def _changed(who: Contender) -> ConfigError:
    return ConfigError(f"{who.text}: its files have changed since the games began")
