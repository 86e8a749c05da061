"""What commands share: their common flags, how they end, and how they find their settings."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec

import typer

from bot.cli.paths import existing_folder, existing_path, output_folder
from game.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.config import Config

P = ParamSpec("P")

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130

LARGEST: Final = 2**63 - 1
LARGEST_SEED: Final = 2**31 - 1
LONGEST_WORD: Final = 200
"""Characters; names of files are shorter."""

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Configuration file; without it ./config.yaml, if there is one.", metavar="FILE"
    ),
]
LogLevel = Annotated[
    str | None, typer.Option("--log-level", help="debug, info, warning or error.", metavar="LEVEL")
]
LogFormat = Annotated[
    str | None,
    typer.Option(
        "--log-format", help="console or json; auto looks whether it is a terminal.", metavar="FORMAT"
    ),
]
Device = Annotated[
    str | None, typer.Option("--device", help="Where models compute: auto, cpu or cuda.", metavar="DEVICE")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Deal the same walls again (built-in lobby).",
        metavar="NUMBER",
        min=0,
        max=LARGEST_SEED,
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        help="Who decides: network, heuristic, or python:FILE.py for a policy of your own (docs/policy.md).",
        metavar="POLICY",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for the records of finished games.", metavar="FOLDER", parser=output_folder
    ),
]
RecordsFolder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        help="Folder of the records, if not the configured one.",
        metavar="FOLDER",
        parser=existing_folder,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything, say what would be done, and stop.")
]

DashboardHost = Annotated[
    str | None,
    typer.Option(
        help="Where the dashboard listens; other than on this machine alone it demands a token.",
        metavar="HOST",
    ),
]
DashboardPort = Annotated[
    int | None, typer.Option(help="Its port; 0 takes a free one.", metavar="PORT", min=0, max=65535)
]
DashboardTokenEnv = Annotated[
    str | None,
    typer.Option(help="Environment variable that holds a token of your own for it.", metavar="NAME"),
]

Records = Annotated[
    list[Path],
    typer.Argument(
        help="Records (mjlog, also gzipped, or mjai), folders of them, shards (.jsonl.zst).",
        metavar="PATH...",
        parser=existing_path,
    ),
]
CorpusFolder = Annotated[
    Path,
    typer.Option(
        "--corpus",
        help="Folder of the corpus, as `corpus build` made it.",
        metavar="FOLDER",
        parser=existing_folder,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Processes; one for each core if not given.", metavar="NUMBER", min=1),
]

AnswerTimeout = Annotated[
    float,
    typer.Option(
        help="For each answer of an external engine; the first of a process has a minute more.",
        metavar="SECONDS",
        min=0.01,
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Play on a Ray cluster: local, auto (the one this machine is part of) or HOST:PORT of its head.",
        metavar="ADDRESS",
    ),
]


def reported(command: Callable[P, int]) -> Callable[P, None]:
    """Make a command's result its exit code, and its errors a message and a code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            check_numbers(kwargs)
            code = command(*args, **kwargs)
        except ConfigError as exc:
            code = _complain(exc, EXIT_USAGE)
        except BotError as exc:
            code = _complain(exc, EXIT_FAILED)
        except KeyboardInterrupt as exc:
            code = _complain(exc, EXIT_INTERRUPTED) if str(exc) else EXIT_INTERRUPTED
        raise typer.Exit(code)

    return run


def check_numbers(options: Mapping[str, object]) -> None:
    """Refuse numbers that no option can mean: NaN, infinity, and those no machine counts to.

    Raises:
        ConfigError: with the name of the option.
    """
    for name, value in options.items():
        for number in value if isinstance(value, tuple) else (value,):
            if (isinstance(number, float) and not math.isfinite(number)) or (
                isinstance(number, int) and abs(number) > LARGEST
            ):
                kind = "a number" if isinstance(number, float) else f"a whole number up to {LARGEST:,}"
                raise ConfigError(
                    f"--{name.replace('_', '-')}: found {shortened(str(number))}, expected {kind}"
                )


def check_ray(address: str | None) -> None:
    """Refuse ``--ray`` without Ray now, not after minutes of preparing.

    Raises:
        ConfigError: it is not installed.
    """
    if address is not None:
        from game.distribution import require

        require("ray", "--ray")


def shortened(text: str) -> str:
    """A message in which nothing without a space is longer than can be read.

    >>> shortened("no folder " + "x" * 5000)[-10:]
    'xxxxxxxxx…'
    """
    return re.sub(rf"(\S{{{LONGEST_WORD}}})\S+", r"\1…", text)


def load_settings(path: Path | None, flags: dict[str, Any]) -> Config:
    """The configuration that a command runs with; logs are set up by it.

    Args:
        path: of the file, if one was named; else the environment may name one.
        flags: settings of the command line by their names, None where not given.

    Raises:
        ConfigError: something in it is wrong.
    """
    from bot.config import load_config
    from bot.logs import set_up_logs

    set_up_logs()
    chosen = path or (Path(os.environ["SUZAKU_CONFIG"]) if os.environ.get("SUZAKU_CONFIG") else None)
    config = load_config(chosen, os.environ, flags)
    set_up_logs(config.logs.level, config.logs.format)
    return config


def _complain(error: BotError | KeyboardInterrupt, code: int) -> int:
    from bot.redaction import clean_text, redact

    typer.echo(f"suzaku: {shortened(redact(clean_text(str(error), keep_lines=True)))}", err=True)
    return code
