"""The program: its commands, and what their errors and results become."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError

from bot.cli.ask import ask
from bot.cli.check import check
from bot.cli.dashboard import dashboard
from bot.cli.engine import engine
from bot.cli.lobby import lobby
from bot.cli.options import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, shortened
from bot.cli.play import play
from bot.cli.table import table
from bot.cli.train import train
from game.errors import BotError, ConfigError

app: Final = App(
    name="suzaku", help_format="plaintext", help_formatter="plain", suppress_keyboard_interrupt=False
)
for _command in (play, table, lobby, dashboard, engine, check, ask):
    app.command(App(name=_command.__name__, default_command=_command))  # which reads no options yet
app.command(train)


def run(words: Sequence[str]) -> int:
    """Run a command line; return its exit code."""
    try:
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
