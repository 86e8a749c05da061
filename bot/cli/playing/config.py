"""`suzaku config`: the configuration manual."""

from __future__ import annotations

import sys

from bot.cli.command import command


@command()
def config() -> int:
    """Print a configuration file with every setting, its default and its meaning.

    `suzaku config > config.yaml` starts a configuration of your own in the current folder.
    """
    from bot.config.sources import manual_text

    sys.stdout.write(manual_text())
    return 0
