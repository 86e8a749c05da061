"""Sources of configuration values: the YAML file, the environment, the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from bot.config.problems import Problem, kind
from bot.logs.redaction import clean_text
from kit.errors import ConfigError

ENV_PREFIX: Final = "SUZAKU_"
_MAX_BYTES: Final = 1 << 16
_MAX_SCALAR: Final = 4096


class SourceValues(msgspec.Struct, frozen=True):
    """Values of one source by key path; a section that is not a mapping is listed under its own name."""

    name: str
    values: dict[str, Any]
    names: dict[str, str] = {}
    """The source's name for a key path, where it differs from the path."""


def read_yaml(path: Path) -> SourceValues:
    """The values of a configuration file.

    Raises:
        ConfigError: the file cannot be read, or is not a YAML mapping.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ConfigError(f"{path}: larger than {_MAX_BYTES:,} bytes; this is not a configuration file")
        content = _parsed(data.decode("utf-8-sig"))
    except OSError as exc:
        raise ConfigError(f"{path}: {exc.strerror}; name a readable configuration file") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path}: not UTF-8 text (byte {exc.start}); save it as UTF-8") from exc
    except ValueError as exc:  # `open` raises it too, for a name that contains NUL
        raise ConfigError(f"{path}: {exc}") from exc
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: found {kind(content)}, expected sections such as `play:`")
    return SourceValues(str(path), _flat(content))


def read_environment(
    environment: Mapping[str, str], others: frozenset[str], is_text: Callable[[str], bool]
) -> tuple[SourceValues, list[Problem]]:
    """Values of variables such as ``SUZAKU_PLAY__GAMES``.

    Args:
        environment: all variables.
        others: those that have our prefix but another purpose.
        is_text: whether the value at a key path is text, even one that looks like a number.
    """
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    problems = []
    for name in sorted(environment):
        if not name.startswith(ENV_PREFIX) or name in others:
            continue
        section, _, key = name.removeprefix(ENV_PREFIX).lower().partition("__")
        if not key:
            problems.append(
                Problem((name,), "not a configuration key; write SUZAKU_<SECTION>__<KEY>", "environment")
            )
            continue
        path = f"{section}.{key}"
        value = _scalar(environment[name])
        values[path] = environment[name] if is_text(path) and not isinstance(value, str) else value
        names[path] = name
    return SourceValues("environment", values, names), problems


def merge(layers: Sequence[SourceValues]) -> tuple[dict[str, Any], dict[str, str]]:
    """Merge the layers; later ones override earlier ones.

    Returns:
        The sections, and for every key path the source of its value.
    """
    flat: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for path, value in layer.values.items():
            flat[path] = value
            origins[path] = layer.names.get(path, layer.name)
    section = "tenhou" if flat.get("play.server") == "tenhou" else "local"
    for path in [path for path in flat if path.startswith("server.")]:
        target = f"{section}.{path.removeprefix('server.')}"
        flat[target], origins[target] = flat.pop(path), origins.pop(path)
    return _nested(flat), origins


def _flat(content: Mapping[Any, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for section, body in content.items():
        if isinstance(body, dict) and body:
            flat |= {f"{section}.{key}": value for key, value in body.items()}
        else:
            flat[str(section)] = body
    return flat


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        section, dot, key = path.partition(".")
        if not dot:
            nested.setdefault(section, value)
        elif isinstance(nested.get(section, {}), dict):
            nested.setdefault(section, {})[key] = value
    return nested


def _scalar(text: str) -> object:
    """An environment value parsed as YAML, or unchanged if that fails."""
    if not text.strip() or len(text) > _MAX_SCALAR:
        return text
    try:
        return _parsed(text)
    except ValueError:
        return text


class _Loader(yaml.SafeLoader):
    """Refuses what PyYAML takes silently: a key given twice, tags, and references that can fill gigabytes.

    Only `_PLAIN` values are not text: PyYAML reads 010 as 8, 1:30 as 90 and off as false.
    """

    yaml_implicit_resolvers = {}  # noqa: RUF012 - as in the base class

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"{place}`*{event.anchor}` is a reference, not supported here")  # noqa: TRY004
        if getattr(event, "tag", None):
            raise ValueError(f"{place}this is a tag, not supported here")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise ValueError(f"{_place(key.start_mark)}the key `{key.value}` is given twice; remove one")
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else None)
        return super().construct_mapping(node, deep)


_PLAIN: Final = {
    "null": "|~|null",
    "bool": "true|false",
    "int": "[-+]?(0|[1-9][0-9]{0,18})",
    "float": r"[-+]?[0-9]*\.[0-9]+",
}
for _tag, _form in _PLAIN.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?i:{_form})$"), None)


def _parsed(text: str) -> object:
    """The value of a YAML text.

    Raises:
        ValueError: it is not YAML; the message says where.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as exc:
        words = "this is not YAML; check indentation (spaces, no tabs), colons and quotes here and above"
        raise ValueError(f"{_place(exc.problem_mark)}{words}") from exc
    except yaml.YAMLError as exc:
        raise ValueError(f"{clean_text(str(exc).splitlines()[0])}; remove it") from exc
    except RecursionError as exc:
        raise ValueError("sections and lists nested too deep for a configuration file") from exc


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""


_NAME: Final = "config.yaml"


def manual_text() -> str:
    """The manual, from beside this module in an installation, else from the root of the checkout."""
    here = Path(__file__).with_name(_NAME)
    return (here if here.exists() else Path(__file__).parents[2] / _NAME).read_text(encoding="utf-8")
