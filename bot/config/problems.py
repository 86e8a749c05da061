"""Problems of a configuration, as messages that state what to do next."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from bot.logs.redaction import clean_text, redact

MOST_TOLD: Final = 20

_FOUND_MAX: Final = 80


class ExpectedValues(msgspec.Struct, frozen=True):
    """Describes the values a field accepts, where its type does not."""

    text: str


class Problem(msgspec.Struct, frozen=True):
    """One problem: the keys it concerns (the message names the first), what to do, and the value's source."""

    paths: tuple[str, ...]
    message: str
    origin: str = ""

    @property
    def path(self) -> str:
        """The key that the report names."""
        return self.paths[0]

    def __str__(self) -> str:
        return f"{self.path}{f' ({self.origin})' if self.origin else ''}: {self.message}"


def report(problems: Sequence[Problem]) -> str:
    """All problems, one per line."""
    count = f"{len(problems):,} problem{'s' if len(problems) > 1 else ''}"
    first = f"; showing the first {MOST_TOLD}" if len(problems) > MOST_TOLD else ""
    told = [f"  {problem}" for problem in problems[:MOST_TOLD]]
    return "\n".join([f"the configuration has {count}{first}:", *told])


def describe_errors(
    errors: Iterable[ErrorDetails], model: type[BaseModel], origins: Mapping[str, str]
) -> list[Problem]:
    """Reword pydantic's errors; those beyond the length of a report get no message."""
    problems = []
    for number, error in enumerate(errors):
        path = ".".join(str(part) for part in error["loc"])
        origin = _origin(path, origins)
        problems.append(
            Problem(
                (clean_text(path)[:_FOUND_MAX],), _message(error, model) if number < MOST_TOLD else "", origin
            )
        )
    return problems


def _find(field: FieldInfo) -> dict[str, FieldInfo]:
    """The fields of a section; empty if the field is not a section."""
    annotation = field.annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_fields
    return {}


def _message(error: ErrorDetails, model: type[BaseModel]) -> str:
    loc = [str(part) for part in error["loc"]]
    if error["type"] == "extra_forbidden":
        return "unknown key" + _nearest(loc, model)
    field = field_at(loc, model)
    expected = _expectation(field) if field else "a section of keys"
    detail = str(error["ctx"]["error"]) if error["type"] == "value_error" else ""
    why = f": {_clipped(redact(clean_text(detail)), 2 * _FOUND_MAX)}" if detail else ""
    return f"found {shown(error['input'])}, expected {expected}{why}"


def field_at(loc: Sequence[str], model: type[BaseModel]) -> FieldInfo | None:
    """The field of a key, given as section and name; None if it is unknown."""
    section = model.model_fields.get(loc[0])
    return _find(section).get(loc[1]) if section and len(loc) > 1 else None


def _nearest(loc: Sequence[str], model: type[BaseModel]) -> str:
    sections = model.model_fields
    known = [f"{section}.{key}" for section, field in sections.items() for key in _find(field)]
    candidates = known if len(loc) > 1 else list(sections)
    path = ".".join(loc)
    near = difflib.get_close_matches(path, candidates, n=1, cutoff=0.5)
    same_key = [key for key in known if key.partition(".")[2] == loc[-1]]
    best = (same_key or near)[:1] if len(loc) == 1 else (near or same_key)[:1]
    return f"; did you mean {best[0]}?" if best else f"; known keys: {', '.join(candidates)}"


def _origin(path: str, origins: Mapping[str, str]) -> str:
    if path in origins:
        return origins[path]
    return next(
        (name for key, name in origins.items() if key.startswith(f"{path}.") or path.startswith(f"{key}.")),
        "",
    )


def kind(value: object) -> str:
    """The kind of a value, in the words that fields use for what they expect."""
    names: dict[type, str] = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
    }
    return names.get(type(value), "a section of keys")


def shown(value: object) -> str:
    """A value as messages show it: as in the file, shortened, without secrets."""
    if value is None:
        return "nothing (null)"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except TypeError:
        text = str(value)
    return _clipped(redact(clean_text(text)), _FOUND_MAX)


def _clipped(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _expectation(field: FieldInfo) -> str:
    told = [item.text for item in field.metadata if isinstance(item, ExpectedValues)]
    return told[0] if told else _type_text(field.annotation) + _bounds_text(field.metadata)


def _type_text(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(annotation))
    if origin in (Union, UnionType):
        return " or ".join(_type_text(part) for part in get_args(annotation))
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        Path: "a path",
        NoneType: "null",
    }
    return names.get(annotation, "a section of keys")


def _bounds_text(metadata: Iterable[Any]) -> str:
    bounds = {
        name: getattr(item, name) for item in metadata for name in ("ge", "lt", "le") if hasattr(item, name)
    }
    words = {"ge": "at least", "le": "at most", "lt": "below"}
    return "".join(f", {words[name]} {value:,}" for name, value in bounds.items())
