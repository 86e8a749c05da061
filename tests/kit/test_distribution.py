from __future__ import annotations

import ast
import re
import shlex
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kit import distribution
from kit.distribution import DISTRIBUTION, OPTIONAL, require, version
from kit.errors import ConfigError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = ("kit", "game", "policies", "replays", "learning", "bot", "suzaku")
MODULES = {"docstring-parser": "docstring_parser", "pyyaml": "yaml"}
"""Distributions whose module has another name."""
WITH_OTHERS = {"llvmlite", "pydantic_core", "anyio"}
"""Modules that numba, pydantic and starlette always install."""


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    return found[0]


def lock_file(which: str) -> str:
    return (ROOT / "requirements" / f"{which}.txt").read_text(encoding="utf-8")


def uninstalled(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", refuse)
    monkeypatch.setattr("importlib.metadata.requires", refuse)


def test_the_version_is_known_installed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", {DISTRIBUTION: "9.8.7"}.__getitem__)
    assert version() == "9.8.7"
    uninstalled(monkeypatch)
    assert version() == PROJECT["version"]
    monkeypatch.setattr(distribution, "_ROOT", ROOT / "docs")
    assert version() == "unknown"


def test_every_package_that_is_imported_is_required_or_checked_for() -> None:
    """Any other import fails with a traceback in an installation that only has what play needs."""
    imported = {
        name.partition(".")[0]
        for package in OURS
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    required = {name_of(requirement).lower() for requirement in PROJECT["dependencies"]}
    required = {MODULES.get(name, name) for name in required} | WITH_OTHERS
    # _typeshed exists for type checkers only
    others = imported - sys.stdlib_module_names - set(OURS) - required
    assert others - {"_typeshed"} <= set(OPTIONAL)


def test_optional_packages_belong_to_their_stated_extra() -> None:
    for package, extra in OPTIONAL.items():
        assert package in map(name_of, PROJECT["optional-dependencies"][extra])


@pytest.mark.parametrize("installed", [True, False])
def test_a_missing_package_is_one_sentence_with_the_command_that_helps(
    installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = PROJECT["optional-dependencies"]["learn"]
    if installed:
        listed = [f'{requirement} ; extra == "learn"' for requirement in learn] + [
            'x~=1; extra == "dev"',
            "y",
        ]
        monkeypatch.setattr("importlib.metadata.requires", {DISTRIBUTION: listed}.__getitem__)
    else:
        uninstalled(monkeypatch)
    monkeypatch.setattr(sys, "executable", "/a b/python")
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ConfigError) as caught:
        require("tensorboard", "`suzaku train`")
    assert str(caught.value) == (
        "`suzaku train` needs tensorboard, which is not installed; run "
        f"`'/a b/python' -m pip install {shlex.join(learn)}`"
    )


@pytest.mark.parametrize(("which", "extras"), [("play", ()), ("test", ("dev", "learn", "ray"))])
def test_the_lock_files_pin_what_the_project_requires(which: str, extras: tuple[str, ...]) -> None:
    """A change of pyproject.toml without `make lock` would otherwise install what it no longer allows."""
    entries = re.findall(r"^(\S+)==(\S+).*((?:\n +--hash=sha256:\w{64}.*)+)$", lock_file(which), re.MULTILINE)
    pinned = {canonicalize_name(name): release for name, release, _ in entries}
    listed = [
        *PROJECT["dependencies"],
        *(each for extra in extras for each in PROJECT["optional-dependencies"][extra]),
    ]
    wanted = {canonicalize_name(each.name): each.specifier for each in map(Requirement, listed)}
    wrong = [name for name, allowed in wanted.items() if pinned.get(name, "") not in allowed]
    assert set(wrong) <= {"torch", DISTRIBUTION}
    assert "ipython" not in pinned


def test_both_lock_files_pin_the_same_releases() -> None:
    play, test = (
        set(re.findall(r"^\S+==.*(?= \\)", lock_file(which), re.MULTILINE)) for which in ("play", "test")
    )
    assert play
    assert play <= test
