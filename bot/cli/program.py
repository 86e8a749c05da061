"""The program: its commands, and what their errors and results become."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from cyclopts import App, Argument, CoercionError, CycloptsError, Token, UnusedCliTokensError

from bot.cli.command import Command, command
from bot.cli.learning import bench, corpus
from bot.cli.learning import eval as evaluation
from bot.cli.learning.matches import arena, duel, selfplay
from bot.cli.learning.train import TRAIN
from bot.cli.output import EXIT_FAILED
from bot.cli.playing import check, config, dashboard, engine, lobby, play, table
from bot.cli.records import ask, convert, games, review
from kit.errors import BotError, ConfigError

_ADVICE: Final = {
    errno.EACCES: "change its permissions, or choose another path",
    errno.EPERM: "change its permissions, or choose another path",
    errno.EROFS: "it is read-only; choose another path",
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
}
"""What to do about errors of the system."""
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
LONGEST_WORD: Final = 200
"""Characters; file names are shorter."""
LONGEST_LINE: Final = 500
"""Characters at each end of a line."""


@command()
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the script for Tab completion in a shell.

    For example `suzaku completion bash >> ~/.bash_completion`; `suzaku --install-completion` does it for the
    shell you are in. Print it again after an update: the script contains the commands and their options.

    Args:
        shell: the shell.
    """
    print(app.generate_completion(shell=shell))
    return 0


COMMANDS: Final = (
    play,
    table,
    lobby,
    dashboard,
    engine,
    check,
    games,
    convert,
    review,
    ask,
    arena,
    selfplay,
    duel,
    config,
    completion,
)
GROUPS: Final[Sequence[tuple[str, str, Sequence[Command]]]] = (
    ("corpus", "Build the training corpus.", (corpus.build, corpus.extract)),
    ("train", "Train networks on real games, or by self-play.", TRAIN),
    ("eval", "Measure the networks and their estimates.", evaluation.EVAL),
    ("bench", "Run benchmarks.", (bench.features, bench.decision, bench.selfplay, bench.training)),
)


def _version() -> str:
    from kit.distribution import program_name
    from learning.runs.commit import current_commit

    commit = current_commit()
    edited = "+" if commit.endswith("+") else ""
    return f"{program_name()} (commit {commit[:12]}{edited})" if commit else program_name()


def _register(parent: App, commands: Iterable[Command]) -> None:
    for number, each in enumerate(commands):
        # cyclopts reads the options of a default command no sooner than it needs them
        parent.command(App(name=each.name, default_command=each, sort_key=number))


app: Final = App(
    name="suzaku",
    help="A riichi mahjong bot for Tenhou. `suzaku play` plays one game against the built-in lobby.",
    help_format="plaintext",
    version=_version,
    suppress_keyboard_interrupt=False,
)
app.register_install_completion_command(help="Install Tab completion for the shell you are in.")
_register(app, COMMANDS)
for _number, (_name, _help, _commands) in enumerate(GROUPS, len(COMMANDS)):
    _group = App(name=_name, help=_help, sort_key=_number)
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
    except CycloptsError as error:
        return _complain(_usage(error), EXIT_USAGE)
    except ConfigError as error:
        return _complain(str(error), EXIT_USAGE)
    except BotError as error:
        return _complain(str(error), EXIT_FAILED)
    except OSError as error:
        said = _refused(error, words)
        if not said:
            raise
        return _complain(said, EXIT_FAILED)
    except KeyboardInterrupt as error:
        return _complain(str(error) or "interrupted", EXIT_INTERRUPTED)
    return code or 0


def _usage(error: CycloptsError) -> str:
    """The error in a command line, and the command that prints its help."""
    match error:
        case UnusedCliTokensError(unused_tokens=[first, *_]):
            said = f"Unexpected argument: {first}."
        case CoercionError(msg=str(reason), token=Token(keyword=None), argument=Argument(name=name)):
            said = f"Invalid value for {name}: {reason}"
        case _:
            said = str(error)
    return f"{said}\nTry `{' '.join(('suzaku', *(error.command_chain or ()), '--help'))}`."


def _refused(error: OSError, words: Sequence[str]) -> str:
    """The file or folder that the system refuses, and what to do; empty for any other error."""
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        return "the working folder has been deleted; change to another one"
    if error.filename is None or not error.strerror:
        return ""
    path = error.filename if isinstance(error.filename, str) else os.fsdecode(error.filename)
    advice = _ADVICE.get(error.errno or 0, "check this path")
    if "--install-completion" in words:
        advice = "print the script instead with `suzaku completion bash` (or zsh, fish)"
    return f"{path}: {error.strerror}; {advice}"


def _has_working_folder() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109 - a path object is not needed
    except FileNotFoundError:
        return False


def _complain(message: str, code: int) -> int:
    from bot.logs.redaction import clean_text, redact

    if message:
        sys.stderr.write(f"suzaku: {shortened(redact(clean_text(message, keep_lines=True)))}\n")
    return code


def shortened(text: str) -> str:
    """A message with its overlong words and lines cut short; a line keeps its end, which is the advice.

    >>> shortened("no folder " + "x" * 5000)[-10:]
    'xxxxxxxxx…'
    >>> shortened("no name " + "x " * 5000 + "; give another")[-20:]
    'x x x ; give another'
    """
    words = re.sub(rf"(\S{{{LONGEST_WORD}}})\S+", r"\1…", text)
    return re.sub(rf"(.{{{LONGEST_LINE}}}).+(.{{{LONGEST_LINE}}})", r"\1 … \2", words)
