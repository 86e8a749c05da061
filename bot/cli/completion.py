"""`suzaku completion`: Tab completion in a shell."""

from __future__ import annotations

from typing import Literal

from bot.cli.command import command


@command()
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the script for Tab completion in a shell.

    For example `suzaku completion bash >> ~/.bash_completion`; `suzaku --install-completion` does it for the
    shell you are in. Print it again after an update: the script contains the commands and their options.

    Args:
        shell: the shell.
    """
    from bot.cli.program import app

    print(app.generate_completion(shell=shell))
    return 0
