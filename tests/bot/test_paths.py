"""Files and folders given to commands: an unusable one is reported before any work is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from bot import cli

pytestmark = pytest.mark.usefixtures("restore_logs")

PATHS = ("FILE", "FOLDER", "DIR", "PATH", "FILES...", "PATH...")
"""Metavars of options and arguments that take a path; those that also take links are not included."""
WRITTEN = {"--out", "--capture", "--html", "--plots", "--log"}
"""Those that are written to and need not exist."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("no record")
    Path("folder").mkdir()


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli.app, args)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))
    if not getattr(command, "commands", None):
        yield path, command


def parameters() -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Every option and argument of every command that takes a path."""
    for path, command in commands(typer.main.get_command(cli.app)):
        for parameter in command.params:
            if parameter.metavar in PATHS:
                yield path, command, parameter


def arguments(command: Any, chosen: Any, value: str) -> list[str]:
    """A command line with this value, and values for all other required parameters."""
    options, positional = [], []
    for parameter in command.params:
        if parameter is chosen:
            given = value
        elif parameter.required:
            given = {"NUMBER": "1", "FOLDER": "folder"}.get(parameter.metavar, "file")
        else:
            continue
        if parameter.opts[0].startswith("-"):
            options += [parameter.opts[0], given]
        else:
            positional.append(given)
    return [*options, *positional]


CASES = [
    pytest.param(path, command, parameter, id=" ".join((*path, parameter.opts[0])))
    for path, command, parameter in parameters()
]


@pytest.mark.parametrize(("path", "command", "parameter"), CASES)
def test_missing_and_impossible_paths_are_refused(
    path: tuple[str, ...], command: Any, parameter: Any
) -> None:
    for value in ("file/below", "") if parameter.opts[0] in WRITTEN else ("missing", ""):
        code, out, err = run(*path, *arguments(command, parameter, value))
        assert (code, out) == (2, ""), (value, err)
        assert err.strip()
        assert "Traceback" not in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["file", "folder"]


def test_the_cases_are_all_there() -> None:
    assert len(CASES) > 40


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["games", "--folder", "missing"], "`missing`: no such file or folder"),
        (["games", "--folder", "file"], "`file`: a file, expected a folder"),
        (
            ["games", "--folder", "~nosuchuser"],
            "no home folder is known for `~nosuchuser`; write the path out",
        ),
        (["games", "--folder", "x" * 5000], "File name too long"),
        (["traffic", "verify", "folder"], "`folder`: a folder, expected a file"),
        (["traffic", "verify", "file", "missing"], "`missing`: no such file or folder"),
        (["corpus", "build", "file", "--out", "file"], "`file`: `file` is a file, so no folder"),
        (["arena", "--html", "missing/page.html"], "no folder `missing`; create it first, or name another"),
        (["arena", "--html", "folder"], "`folder`: a folder, expected the name of a file to write"),
        (["play", "--out", "a\x1b[31m/\0"], "a path cannot contain a NUL character"),
    ],
)
def test_why_a_path_cannot_be_used(args: list[str], said: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "\x1b" not in err
    assert len(err) < 600
