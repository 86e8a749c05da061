"""Files and folders given to commands: an unusable one is reported before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from cyclopts import Argument

from bot.cli.shared import existing_checkpoints
from policies.play.included import PHOENIX, PLAYERS
from tests.cli import commands
from tests.cli import run_cli as run

pytestmark = pytest.mark.usefixtures("restore_logs")

WRITTEN = {"--out", "--capture", "--csv", "--plot", "--plots", "--log"}
"""Options for paths that are written to and need not exist."""


@pytest.fixture(autouse=True)
def _inputs(_elsewhere: None) -> None:
    Path("file").write_text("no record")
    Path("folder").mkdir()


def takes_path(argument: Argument) -> bool:
    return "Path" in str(argument.hint)


def words(options: Sequence[Argument], chosen: Argument, value: str) -> list[str]:
    """The words of a command line with this value, and values for all other required arguments."""
    said = []
    for option in options:
        if option is chosen or option.required:
            given = value if option is chosen else "folder" if option.name == "--corpus" else "file"
            given = given if option is chosen or takes_path(option) else "1"
            said += [given] if option.field_info.is_positional_only else [option.name, given]
    return said


CASES = [
    pytest.param(path, options, option, id=" ".join((*path, option.name)))
    for path, command in commands()
    for options in [command.assemble_argument_collection()]
    for option in options
    if takes_path(option)
]


@pytest.mark.parametrize(("path", "options", "option"), CASES)
def test_missing_and_impossible_paths_are_refused(
    path: tuple[str, ...], options: Sequence[Argument], option: Argument
) -> None:
    for value in ("file/below", "") if option.name in WRITTEN else ("missing", ""):
        code, out, err = run(*path, *words(options, option, value))
        assert (code, out) == (2, ""), (value, err)
        assert err.strip()
        assert "Traceback" not in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["file", "folder"]


def test_the_cases_are_all_there() -> None:
    assert len(CASES) > 40


def test_a_set_of_included_checkpoints_is_named_wherever_a_folder_is_asked_for() -> None:
    assert existing_checkpoints("phoenix") == PHOENIX
    assert existing_checkpoints("players@7-dan") == PLAYERS.with_name("small-players@7-dan")


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
        (["corpus", "build", "file", "--out", "file"], "`file`: `file` is a file, so no folder"),
        (["arena", "--plot", "missing/plot.svg"], "no folder `missing`; create it first, or name another"),
        (["arena", "--plot", "folder"], "`folder`: a folder, expected the name of a file to write"),
        (["play", "--out", "a\x1b[31m/\0"], "a path cannot contain a NUL character"),
    ],
)
def test_why_a_path_cannot_be_used(args: list[str], said: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "\x1b" not in err
    assert len(err) < 600
