"""Policies in Python files of the user's own, by the name ``python:FILE.py`` or ``python:FILE.py:NAME``.

Such a file is a program: it is run with all the rights of the user. Only a name that the user gives, in the
configuration or on the command line, ever leads here; checkpoints and records cannot.
"""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, get_args

import msgspec
from msgspec.structs import replace

from game.table.restore import seen_by
from kit.errors import ConfigError, ModelError
from kit.files import expand_home
from policies.flow.decisions import Source
from policies.flow.known_hand import try_policy
from policies.flow.slots import Policy, Question, Slot, nothing_hidden

PREFIX: Final = "python:"

_FORM: Final = re.compile(r"(?P<file>.+\.py)(:(?P<name>[^:]*))?", re.DOTALL)
_SOURCES: Final = tuple(source for source in get_args(Source) if source != "fallback")
_MODULE: Final = "_suzaku_policy"
"""Start of the module's name, which no other module has."""


class PythonFile(msgspec.Struct, frozen=True):
    """The file and class that a name refers to.

    Attributes:
        path: path of the file.
        attribute: the class or function in it that makes the policy; "" for the only class that answers.
    """

    path: Path
    attribute: str = ""

    @property
    def name(self) -> str:
        """Short, for tables and records: without the folders."""
        return f"{self.path.name}:{self.attribute}" if self.attribute else self.path.name


def python_file_of(text: str) -> PythonFile | None:
    """The file meant by ``python:FILE.py`` or ``python:FILE.py:NAME``; None for any other text.

    >>> python_file_of("python:policies/mine.py:Fast").name
    'mine.py:Fast'

    Raises:
        ConfigError: it begins with ``python:`` but has another form.
    """
    if not text.startswith(PREFIX):
        return None
    found = _FORM.fullmatch(text.removeprefix(PREFIX))
    if not found or not (found["name"] is None or found["name"].isidentifier()):
        raise ConfigError(
            f"{text!r}: write python:FILE.py, or python:FILE.py:NAME for one of several classes"
        )
    try:
        return PythonFile(expand_home(found["file"]), found["name"] or "")
    except ValueError as exc:
        raise ConfigError(f"{text!r}: {exc}") from exc


def read_python_file(file: PythonFile) -> bytes:
    """The file's text.

    Raises:
        ConfigError: there is no such file, or it cannot be read.
    """
    try:
        if not file.path.is_file():
            raise ConfigError(f"{file.path}: there is no such file; `python:` names a policy of your own")
        return file.path.read_bytes()
    except (OSError, ValueError) as exc:
        raise ConfigError(f"{file.path}: cannot be read: {getattr(exc, 'strerror', exc)}") from exc


def load_python_policy(file: PythonFile, code: bytes) -> Policy:
    """Run a file and make its policy, which is tried on the known hand.

    Args:
        file: which one; its folder, if it is here, is searched for what the file imports.
        code: its text.

    Raises:
        ConfigError: it cannot be run, does not hold the policy, or the policy gives no usable answer.
    """
    module = _run(file, code)
    make = _maker(file, module)
    try:
        made = make()
    except (Exception, SystemExit) as exc:
        raise ConfigError(f"{file.name}: {make.__name__}() failed: {_reason(exc, file)}") from exc
    if not callable(getattr(made, "answer", None)):
        raise ConfigError(f"{file.name}: {make.__name__}() made no policy: it has no method `answer`")
    if getattr(made, "source", None) not in _SOURCES:
        raise ConfigError(f'{file.name}: {make.__name__} needs `source = "rule"`, or "model" for a network')
    policy = PythonPolicy(file, made)
    try:
        try_policy(policy)
    except ModelError as exc:
        raise ConfigError(f"{file.name}: tried on a known hand: {exc}") from exc
    return policy


class PythonPolicy:
    """A user's policy, shown only what the player sees. What it raises becomes a `ModelError` with the line.

    Args:
        file: its file.
        made: the policy that answers.
    """

    def __init__(self, file: PythonFile, made: Policy) -> None:
        self.source: Source = made.source
        self._file = file
        self._made = made

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        """As the policy inside; see `policies.flow.slots.Policy`.

        Raises:
            ModelError: it raised, or did not answer each question.
        """
        shown = [
            replace(question, record=seen_by(question.record, question.player), hidden=nothing_hidden)
            for question in questions
        ]
        try:
            rows = self._made.answer(slot, shown)
            count = len(rows)
        except (Exception, SystemExit) as exc:
            raise ModelError(f"{slot} slot: {_reason(exc, self._file)}") from exc
        if count != len(questions):
            raise ModelError(f"{slot} slot: {count} answers to {len(questions)} questions")
        return rows


def identity_of(file: PythonFile, code: bytes) -> str:
    """Changes when the file's text or the class named in it changes; not with what it imports."""
    return hashlib.sha256(file.attribute.encode() + b"\0" + code).hexdigest()


def _run(file: PythonFile, code: bytes) -> ModuleType:
    """Run the file as a module of its own; it is registered, because dataclasses look it up by its name."""
    module = ModuleType(f"{_MODULE}_{identity_of(file, code)[:16]}")
    module.__file__ = str(file.path)
    folder = str(file.path.parent.resolve())
    if file.path.exists() and folder not in sys.path:
        sys.path.append(folder)  # at the end: what lies there replaces no module of ours
    sys.modules[module.__name__] = module
    try:
        exec(compile(code, str(file.path), "exec"), module.__dict__)  # noqa: S102 - the user asked for it by name
    except (Exception, SystemExit) as exc:
        del sys.modules[module.__name__]
        raise ConfigError(f"{file.name}: cannot be imported: {_reason(exc, file)}") from exc
    return module


def _maker(file: PythonFile, module: ModuleType) -> Any:
    """The class or function that makes the policy."""
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "answer")
    }
    known = ", ".join(own) or "no class with a method `answer`"
    if not file.attribute:
        if len(own) == 1:
            return next(iter(own.values()))
        hint = f"; name one, as in {PREFIX}{file.path}:{next(iter(own))}" if own else ""
        raise ConfigError(f"{file.name}: expected one class with a method `answer`, found {known}{hint}")
    if not hasattr(module, file.attribute):
        raise ConfigError(f"{file.path.name}: there is no {file.attribute!r} in it; found {known}")
    make = getattr(module, file.attribute)
    if not (isinstance(make, type) or hasattr(make, "__code__")):
        raise ConfigError(
            f"{file.path.name}: {file.attribute} is neither a class nor a function that makes one"
        )
    return make


def _reason(error: BaseException, file: PythonFile) -> str:
    """One line: where in the file, and what."""
    path = str(file.path)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines = [error.lineno]
    where = f"line {lines[-1]}: " if lines else ""
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())[:200]
    return f"{where}{type(error).__name__}{f': {text}' if text else ''}"
