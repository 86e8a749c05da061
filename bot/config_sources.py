"""Where configuration values come from: the YAML file, the environment, the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bot.config_problems import Problem, kind
from bot.config_yaml import parse_yaml
from game.errors import ConfigError

ENV_PREFIX: Final = "SUZAKU_"
_MAX_BYTES: Final = 1 << 16
_MAX_SCALAR: Final = 4096


class Layer(msgspec.Struct, frozen=True):
    """Values of one source by key path; a section that is no mapping stands under its own name."""

    name: str
    values: dict[str, Any]
    names: dict[str, str] = {}
    """What the source calls a key path, where that is not its own name."""


def read_yaml(path: Path) -> Layer:
    """The values of a configuration file.

    Raises:
        ConfigError: it cannot be read, or is no YAML mapping.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ConfigError(f"{path}: larger than {_MAX_BYTES:,} bytes; this is no configuration")
        content = parse_yaml(data.decode("utf-8-sig"))
    except OSError as exc:
        raise ConfigError(f"{path}: {exc.strerror}; name a configuration file you can read") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path}: not UTF-8 text (byte {exc.start}); save it as UTF-8") from exc
    except ValueError as exc:  # also what `open` raises for a name with NUL in it
        raise ConfigError(f"{path}: {exc}") from exc
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: found {kind(content)}, expected sections such as `play:`")
    return Layer(str(path), _flat(content))


def read_environment(environment: Mapping[str, str], others: frozenset[str]) -> tuple[Layer, list[Problem]]:
    """Values of variables like ``SUZAKU_PLAY__GAMES``; ``others`` have our prefix for other ends."""
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    problems = []
    for name in sorted(environment):
        if not name.startswith(ENV_PREFIX) or name in others:
            continue
        section, _, key = name.removeprefix(ENV_PREFIX).lower().partition("__")
        if not key:
            problems.append(
                Problem((name,), "no key of the configuration; write SUZAKU_<SECTION>__<KEY>", "environment")
            )
            continue
        path = f"{section}.{key}"
        values[path] = _scalar(environment[name])
        names[path] = name
    return Layer("environment", values, names), problems


def merge(layers: Sequence[Layer], servers: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Lay the layers over each other, later over earlier.

    Returns:
        The sections, and for every key path the source that has the last word.
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
    """An environment value as YAML would read it, or as it stands."""
    if not text.strip() or len(text) > _MAX_SCALAR:
        return text
    try:
        return parse_yaml(text)
    except ValueError:
        return text
