"""`suzaku --version`."""

from __future__ import annotations

from typing import Annotated

import typer


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from game.distribution import program_name
    from learning.runs.commit import current_commit

    commit = current_commit()
    edited = "+" if commit.endswith("+") else ""
    typer.echo(f"{program_name()} (commit {commit[:12]}{edited})" if commit else program_name())
    raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version),
]
