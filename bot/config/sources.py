"""Sources of configuration values: the YAML file, the environment, the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bot.config.problems import Problem, kind
from bot.config.safe_yaml import parse_yaml
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
        content = parse_yaml(data.decode("utf-8-sig"))
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
    environment: Mapping[str, str], others: frozenset[str]
) -> tuple[SourceValues, list[Problem]]:
    """Values of variables such as ``SUZAKU_PLAY__GAMES``; ``others`` have our prefix but another purpose."""
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
        values[path] = _scalar(environment[name])
        names[path] = name
    return SourceValues("environment", values, names), problems


def merge(
    layers: Sequence[SourceValues], servers: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
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
    section = servers.get(str(flat.get("play.server", "local")), "local")
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
        return parse_yaml(text)
    except ValueError:
        return text


_NAME: Final = "config.yaml"


def manual_text() -> str:
    """The manual, from beside this module in an installation, else from the root of the checkout."""
    here = Path(__file__).with_name(_NAME)
    return (here if here.exists() else Path(__file__).parents[2] / _NAME).read_text(encoding="utf-8")
