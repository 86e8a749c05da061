"""Policies by the name used in commands: a built-in one, a folder of checkpoints, or a Python file."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np

from game.layout import ROUND_STATE
from kit.errors import ConfigError
from kit.files import expand_home
from policies.checkpoint.files import read_file, reader_of
from policies.checkpoint.store import files_of, models_in
from policies.flow.decisions import Source
from policies.flow.slots import Policy, Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.nets.compute import IN_PLAY, Compute
from policies.nets.identities import split_identity
from policies.play.included import INCLUDED, SHIPPED, included
from policies.play.inference import Averaging, load_policy
from policies.play.python_file import identity_of, load_python_policy, python_file_of, read_python_file

_SPAN: Final = 1 << 32
_WITHOUT_PADDING: Final = np.dtype([(name, ROUND_STATE[name]) for name in ROUND_STATE.names or ()])
"""A copied record's padding holds anything."""
_CARELESS: Final = 3
"""The temperature of a discard, as a multiple of that of the rules."""
_LEAST: Final = 1e-300


class RandomPolicy:
    """Discards any legal tile, and accepts every second call, riichi and kan on average.

    Its random numbers are derived from the position, so it answers alike alone and in a batch.

    Args:
        seed: another seed gives other games.
    """

    source: Source = "rule"

    def __init__(self, seed: int = 0) -> None:
        self._key = seed.to_bytes(8, "little", signed=True)

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        """Give each option of each question its probability; see `policies.flow.slots.Policy`."""
        return [self._answer(slot, question) for question in questions]

    def _answer(self, slot: Slot, question: Question) -> list[float]:
        draws = self._draws(question)
        if slot is not Slot.DISCARD:
            return [draw / _SPAN for draw in draws]
        chosen = draws[0] * len(question.options) // _SPAN
        return [float(place == chosen) for place in range(len(question.options))]

    def _draws(self, question: Question) -> list[int]:
        """Numbers below 2³², one per option, derived from the whole record."""
        salt = f"{question.slot}{question.player}".encode()
        record = np.asarray(question.record).astype(_WITHOUT_PADDING).tobytes()
        position = hashlib.blake2b(record, key=self._key, person=salt[:16]).digest()
        numbers: list[int] = np.frombuffer(position, dtype="<u4").tolist()
        return [numbers[place % len(numbers)] for place in range(len(question.options))]


class BeginnerPolicy(RandomPolicy):
    """Plays by the rules, but never defends, and often discards another tile than the best."""

    _rules = HeuristicPolicy(defends=False)

    def _answer(self, slot: Slot, question: Question) -> list[float]:
        chances = self._rules.answer(slot, [question])[0]
        if slot is not Slot.DISCARD:
            return chances
        # an exponential race: each tile is the first to come with its probability, made more even
        times = [
            -math.log((draw + 0.5) / _SPAN) / max(chance, _LEAST) ** (1 / _CARELESS)
            for draw, chance in zip(self._draws(question), chances, strict=True)
        ]
        return [float(time == min(times)) for time in times]


Files: TypeAlias = dict[str, bytes]
"""The checkpoints of a folder, or a Python file, by file name."""

_AVERAGING: Final[tuple[Averaging, ...]] = (6, 12)
_RULES: Final[dict[str, Callable[[], Policy]]] = {
    "heuristic": HeuristicPolicy,
    "beginner": BeginnerPolicy,
    "random": RandomPolicy,
}


class Named(msgspec.Struct, frozen=True):
    """A loaded policy.

    Attributes:
        name: its name in reports.
        identity: changes when the policy behind the name changes.
        policy: ready to answer.
    """

    name: str
    identity: str
    policy: Policy


def load_named(
    text: str, usual: Averaging = 1, files: Files | None = None, compute: Compute = IN_PLAY
) -> Named:
    """The policy that a text names.

    Args:
        text: a built-in policy, or a folder of checkpoints, with a suffix ``@NAME`` conditioned on a
            player that it knows; a suffix ``:6`` or ``:12`` makes networks average over as many suit
            permutations. Or a Python file, in the form that
            `policies.play.python_file.python_file_of` parses.
        usual: number of permutations without a suffix.
        files: what `files_of_named` returned, if the files may not be on this machine.
        compute: how networks compute.

    Raises:
        ConfigError: the text is neither a built-in policy nor a folder, or the Python file defines no policy.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    if text in _RULES:
        return Named(text, text, _RULES[text]())
    if python_file := python_file_of(text):
        code = read_python_file(python_file) if files is None else files[python_file.path.name]
        policy = load_python_policy(python_file, code)
        return Named(python_file.name, identity_of(python_file, code), policy)
    return _load_networks(text, usual, files, compute)


def _load_networks(text: str, usual: Averaging, files: Files | None, compute: Compute) -> Named:
    name, given = _parts(text)
    averaging = given or usual
    if files is None and not _is_folder(name):
        known = ", ".join((*INCLUDED, *_RULES))
        raise ConfigError(
            f"{text!r} is not a player: give one of {known}, a folder of checkpoints or python:FILE.py"
        )
    read = read_file if files is None else reader_of(files)
    folder = _folder(name) if files is None else Path()
    policy = load_policy(folder, averaging=averaging, compute=compute, read=read)
    digest = hashlib.sha256(b"%d" % averaging)
    for slot, card in sorted(policy.cards.items()):
        digest.update(slot.encode() + b"\0" + msgspec.json.encode(card))
    return Named(name_of(text), digest.hexdigest(), policy)


def files_of_named(text: str) -> Files | None:
    """The files needed to load a policy on a machine without its folder; None if none are needed.

    Raises:
        ConfigError: the Python file cannot be read.
        CheckpointError: the folder's checkpoints cannot be used.
    """
    if python_file := python_file_of(text):
        return {python_file.path.name: read_python_file(python_file)}
    name = _parts(text)[0]
    if text in _RULES or not _is_folder(name):
        return None
    return files_of(_folder(name), Slot)


def predictor_files(*texts: str) -> Files:
    """The reward predictor of the first of some policies that has one, else the included one.

    Raises:
        CheckpointError: it cannot be used.
    """
    names = [_parts(text.partition("+")[0])[0] for text in texts]
    return files_of(predictor_folder(*map(_folder, filter(_is_folder, names))), ("reward",))


def predictor_folder(*folders: Path) -> Path:
    """The first of some folders with a reward predictor, else that of the included one."""
    return next((each for each in folders if "reward" in models_in(each)), SHIPPED)


def folder_of_named(text: str) -> Path:
    """The folder of checkpoints that a text names.

    Raises:
        ConfigError: there is no such folder.
    """
    if not _is_folder(text):
        raise ConfigError(
            f"{text!r} is not a policy of networks: give one of {', '.join(INCLUDED)}, or a folder"
        )
    return _folder(text)


def name_of(text: str) -> str:
    """The name in reports of the policy that a text names."""
    if python_file := python_file_of(text):
        return python_file.name
    folder, averaging = _parts(text)
    name = folder if folder in _RULES or included(folder) else Path(folder).resolve().name
    return f"{name}:{averaging}" if averaging else name


def _is_folder(name: str) -> bool:
    """Whether the folder exists; the system may reject some texts as a path."""
    try:
        return bool(name) and split_identity(_folder(name))[0].is_dir()
    except (OSError, ValueError):
        return False


def _folder(name: str) -> Path:
    return included(name) or expand_home(name)


def _parts(text: str) -> tuple[str, Averaging | None]:
    """The name, and the number of permutations if the text has one."""
    for averaging in _AVERAGING:
        if text.endswith(f":{averaging}"):
            return text.removesuffix(f":{averaging}"), averaging
    return text, None
