"""The program: its commands, and what their errors and results become."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from cyclopts import App, CycloptsError

from bot.cli.ask import ask
from bot.cli.check import check
from bot.cli.command import Command
from bot.cli.dashboard import dashboard
from bot.cli.engine import engine
from bot.cli.lobby import lobby
from bot.cli.options import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, shortened
from bot.cli.play import play
from bot.cli.table import table
from bot.cli.train import TRAIN
from game.errors import BotError, ConfigError

app: Final = App(
    name="suzaku", help_format="plaintext", help_formatter="plain", suppress_keyboard_interrupt=False
)
COMMANDS: Final = (play, table, lobby, dashboard, engine, check, ask)
GROUPS: Final[Sequence[tuple[str, str, Sequence[Command]]]] = (
    ("train", "Train the networks on real games.", TRAIN),
)


def _register(parent: App, commands: Iterable[Command]) -> None:
    for each in commands:
        parent.command(App(name=each.name, default_command=each))  # which reads no options yet


_register(app, COMMANDS)
for _name, _help, _commands in GROUPS:
    _group = App(name=_name, help=_help)
    _register(_group, _commands)
    app.command(_group)


def run(words: Sequence[str]) -> int:
    """Run a command line; return its exit code."""
    try:
        _, apps, rest = app.parse_commands(words)
        if not rest and apps[-1].default_command is None:
            app.help_print(words, console=app.error_console)
            return EXIT_USAGE
        code = app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except (CycloptsError, ConfigError) as error:
        return _complain(str(error), EXIT_USAGE)
    except BotError as error:
        return _complain(str(error), EXIT_FAILED)
    except KeyboardInterrupt as error:
        return _complain(str(error), EXIT_INTERRUPTED)
    return code or 0


def _complain(message: str, code: int) -> int:
    from bot.logs.redaction import clean_text, redact

    if message:
        sys.stderr.write(f"suzaku: {shortened(redact(clean_text(message, keep_lines=True)))}\n")
    return code
