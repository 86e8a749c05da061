"""The command line: `suzaku play | table | lobby | dashboard | engine | check | games | review | train | …`.

Results go to stdout, logs to stderr. Exit codes: 0 done, 1 failed while running, 2 usage or configuration,
130 interrupted. Each command imports the heavy modules that it needs, so that ``--help`` is quick.
"""

from __future__ import annotations

import typer

from bot.cli.main import COMMANDS, GROUPS, run
from bot.cli.options import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, reported
from bot.cli.output import checked_output
from bot.cli.version import Version

__all__ = ["EXIT_FAILED", "EXIT_INTERRUPTED", "EXIT_USAGE", "app", "main", "reported"]

app = typer.Typer(
    name="suzaku",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # they print local variables, and one of those is a secret
    rich_markup_mode=None,
)


def _bridge(parent: typer.Typer, *path: str, summary: str) -> None:
    """List a command, or a group of commands, that `bot.cli.main` runs."""

    @parent.command(
        path[-1],
        help=summary,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    )
    def passed_on(context: typer.Context) -> None:
        raise typer.Exit(run([*path, *context.args]))


for _each in COMMANDS:
    _bridge(app, _each.name, summary=(_each.__doc__ or "").partition("\n")[0])
for _name, _help, _ in GROUPS:
    _bridge(app, _name, summary=_help)


@app.callback()
def program(version: Version = False) -> None:
    """A riichi mahjong bot for Tenhou. `suzaku play` plays one game against the built-in lobby."""


def main() -> None:
    """Entry point of the `suzaku` program."""
    with checked_output():
        app(prog_name="suzaku")
