"""Commands that help where Suzaku is installed without a checkout."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from bot.cli.options import reported

_COMPLETE_VARIABLE: Final = "_SUZAKU_COMPLETE"
"""Set by the printed scripts when they ask the program for completions."""


@reported
def config() -> int:
    """Print a configuration file with every setting, its default and its meaning.

    `suzaku config > config.yaml` starts a configuration of your own in the current folder.
    """
    from bot.config.manual import manual_text

    typer.echo(manual_text(), nl=False)
    return 0


@reported
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")],
) -> int:
    """Print the script for Tab completion in a shell.

    For example `suzaku completion bash >> ~/.bash_completion`; `suzaku --install-completion` does it for the
    shell you are in.
    """
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name="suzaku", complete_var=_COMPLETE_VARIABLE, shell=shell))
    return 0
