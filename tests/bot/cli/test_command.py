"""Options and their errors, for every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclopts import App

from tests.cli import commands
from tests.cli import run_cli as run

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*each, id=" ".join(each[0])) for each in commands()]
)
def test_every_command_and_option_says_what_it_is(path: tuple[str, ...], command: App) -> None:
    assert command.help
    options = command.assemble_argument_collection()
    assert [option.name for option in options if not (option.parameter.help or "").endswith(".")] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("paly", 'Unknown command "paly". Did you mean "play"?'),
        ("corpus biuld", 'Unknown command "biuld". Did you mean "build"?'),
        ("play --gmaes 1", "Unknown option: --gmaes. Did you mean --games?"),
        ("review file --seta 1", "no such option: --seta"),
        ("play extra", "Unexpected argument: extra."),
        ("play --games", "--games requires an argument"),
        ("convert file", "parameter OUT requires an argument"),
        ("corpus build file", "--out requires an argument"),
        ("play --games x", "--games: found 'x', expected a whole number"),
        (
            "bench training --corpus . --seconds soon",
            "--seconds: found 'soon', expected a number of at least 0.1",
        ),
        (
            "games --placement 5",
            "--placement: found '5', expected a whole number of at least 1 and at most 4",
        ),
        (
            "bench selfplay --tables 8 --tables 0",
            "--tables: found '0', expected a whole number of at least 1",
        ),
        ("games --since yesterday", "--since: found 'yesterday', expected a day such as 2026-01-31"),
        ("convert file - --to pdf", 'Invalid value "pdf" for --to. Choose from: "mjlog", "tenhou6", "link"'),
        ("completion tcsh", 'Invalid value "tcsh" for SHELL. Choose from: "bash", "zsh", "fish".'),
        ("dashboard --folder missing", "--folder: `missing`: no such file or folder"),
    ],
)
def test_bad_usage_names_the_option_and_what_it_takes(line: str, said: str) -> None:
    Path("file").write_text("")
    code, out, err = run(*line.split())
    assert (code, out) == (2, "")
    assert said in err
    assert err.splitlines()[-1].startswith("Try `suzaku ")


@pytest.mark.parametrize("group", [[], ["corpus"], ["train"], ["eval"], ["bench"]])
def test_a_group_without_a_command_prints_its_help_as_an_error(group: list[str]) -> None:
    code, out, err = run(*group)
    assert (code, out) == (2, "")
    assert err == run(*group, "--help").stdout
