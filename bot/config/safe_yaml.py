"""The subset of YAML used for configurations: sections, lists, text, numbers, true and false, null.

Everything else in YAML is rejected or read as text: references (``&a``, ``*a``), with which a few lines can
expand to gigabytes; tags (``!!set``); and the numbers and dates of YAML 1.1, where ``1:30`` is 90 and ``010``
is 8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any, Final

import yaml

from bot.logs.redaction import clean_text

MAX_DEPTH: Final = 8

_QUOTE_IT: Final = "put it in quotes if it is text"
_INDENT: Final = "this does not fit the lines above; check its indentation, and quotes before it"


class NotPlainYamlError(ValueError):
    """The text cannot be parsed; the message states where and why, in plain words."""


def parse_yaml(text: str) -> object:
    """The value of a text.

    Raises:
        NotPlainYamlError: it is not YAML, or uses unsupported parts of YAML.
    """
    try:
        # safe: a SafeLoader with fewer features
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506
    except yaml.reader.ReaderError as exc:
        before = text[: exc.position].split("\n")
        raise NotPlainYamlError(
            _at(len(before) - 1, len(before[-1])) + "a control character, not allowed in text; remove it"
        ) from exc
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        raise NotPlainYamlError((_at(mark.line, mark.column) if mark else "") + _in_words(exc)) from exc


class _Refused(yaml.MarkedYAMLError):
    """Valid YAML that is not supported; its problem is already in plain words."""

    def __init__(self, problem: str, mark: yaml.Mark | None) -> None:
        super().__init__(None, None, problem, mark)


class _PlainLoader(yaml.SafeLoader):
    """Composes only plain values, at most `MAX_DEPTH` deep, without duplicate keys in a section."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - filled below, not with YAML 1.1's

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise _Refused(
                f"`{sign}{event.anchor}` is a reference, which is not supported; {_QUOTE_IT}",
                event.start_mark,
            )
        if event.tag is not None:
            raise _Refused(
                f"tags (words that begin with `!`) are not supported; {_QUOTE_IT}", event.start_mark
            )
        if self._depth == MAX_DEPTH:
            raise _Refused(f"sections and lists nested more than {MAX_DEPTH} levels deep", event.start_mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _Refused("a key is one word, not a list or a section", key.start_mark)
            if key.value in mapping:
                raise _Refused(f"the key `{key.value}` is given twice; remove one", key.start_mark)
            mapping[key.value] = self.construct_object(value, deep=deep)
        return mapping


for _tag, _form, _first in (
    ("bool", r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF", "yYnNtTfFoO"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]{0,17})", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _PlainLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_form})$"), list(_first))


def _at(line: int, column: int) -> str:
    return f"line {line + 1}, column {column + 1}: "


def _in_words(error: yaml.MarkedYAMLError) -> str:
    """The error in words that require no knowledge of YAML's grammar."""
    if isinstance(error, _Refused):
        return clean_text(error.problem or "")
    said = f"{error.context or ''}: {error.problem or ''}"
    begun = f"line {error.context_mark.line + 1}" if error.context_mark else "a line above"
    for pattern, words in _WORDS:
        if found := re.search(pattern, said, re.DOTALL):
            return clean_text(words(found, begun))
    return "this is not YAML"


_WORDS: Final[tuple[tuple[str, Callable[[re.Match[str], str], str]], ...]] = (
    (r"found character '\\t'", lambda _, __: "a tab; indent with spaces"),
    (
        r"found character ['\"](.+)['\"] that cannot start",
        lambda found, _: f"a value cannot begin with `{found[1]}`; {_QUOTE_IT}",
    ),
    (r"scanning an (?:alias|anchor)", lambda _, __: f"a value cannot begin with `*` or `&`; {_QUOTE_IT}"),
    (r"(?:scanning|parsing) a tag|tag handle", lambda _, __: f"a value cannot begin with `!`; {_QUOTE_IT}"),
    (r"directive|incompatible YAML", lambda _, __: "a line cannot begin with `%`; remove it"),
    (
        r"mapping values are not allowed",
        lambda _, __: "unexpected `:`; quote text that contains `: `, or add a missing `:` to the line above",
    ),
    (r"could not find expected ':'", lambda _, begun: f"the key of {begun} has no `:` after it"),
    (
        r"flow sequence.*expected ','",
        lambda _, begun: f"expected `,` or the `]` that closes the list of {begun}",
    ),
    (
        r"flow mapping.*expected ','",
        lambda _, begun: f"expected `,` or the `}}` that closes the section of {begun}",
    ),
    (r"quoted scalar: found unexpected", lambda _, begun: f"the quote that opens in {begun} is never closed"),
    (
        r"escape",
        lambda _, __: "an unknown `\\` in double quotes; write `\\\\` for a backslash, or use single quotes",
    ),
    (r"block scalar", lambda _, __: f"unexpected text after `|` or `>`; {_QUOTE_IT}"),
    (r"single document", lambda _, __: "a second document begins with this `---`; remove it"),
    (r"expected the node content", lambda _, __: f"expected a value; {_QUOTE_IT}"),
    (r"block (?:mapping|collection)|document start|are not allowed here", lambda _, __: _INDENT),
)
