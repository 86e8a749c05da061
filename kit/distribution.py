"""The installed distribution: its version, and the optional packages that some commands need.

The distribution is called ``suzaku-mahjong`` because ``suzaku`` on PyPI is another project; the program and
its folders are called ``suzaku``.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from kit.errors import ConfigError

DISTRIBUTION: Final = "suzaku-mahjong"
OPTIONAL: Final = {"tensorboard": "learn", "matplotlib": "learn", "ray": "ray"}
"""Packages that only some commands import, each with the extra of the distribution that installs it."""

_ROOT: Final = Path(__file__).parents[1]
_EXTRA: Final = re.compile(r"""(?P<requirement>[^;]+);\s*extra\s*==\s*["'](?P<extra>[^"']+)["']""")


def version() -> str:
    """The version from the installed metadata, or from `pyproject.toml` in a source tree."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return str(_project().get("version", "unknown"))


def program_name() -> str:
    """Name and version of the program."""
    return f"suzaku {version()}"


def require(package: str, purpose: str) -> None:
    """Check that an optional package is installed, without importing it.

    Args:
        package: one of `OPTIONAL`.
        purpose: what needs it, as the user asked for it: ``"`suzaku train`"``.

    Raises:
        ConfigError: it is not installed; the message gives the command that installs it.
    """
    if importlib.util.find_spec(package) is not None:
        return
    wanted = " ".join(shlex.quote(requirement) for requirement in _requirements(OPTIONAL[package]))
    raise ConfigError(
        f"{purpose} needs {package}, which is not installed; run "
        f"`{shlex.quote(sys.executable)} -m pip install {wanted or package}`"
    )


def _requirements(extra: str) -> list[str]:
    """The packages that an extra installs.

    The message names these packages, not our distribution with the extra: ours may be on no index, and a
    package of that name there may be someone else's.
    """
    try:
        listed = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return [str(item) for item in _project().get("optional-dependencies", {}).get(extra, [])]
    found = [match for match in map(_EXTRA.fullmatch, listed) if match]
    return [match["requirement"].strip() for match in found if match["extra"] == extra]


def _project() -> dict[str, Any]:
    """The ``[project]`` table of the source tree we run from; empty elsewhere."""
    try:
        text = (_ROOT / "pyproject.toml").read_text(encoding="utf-8")
        project: dict[str, Any] = tomllib.loads(text)["project"]
    except (OSError, ValueError, KeyError):
        return {}
    return project if project.get("name") == DISTRIBUTION else {}
