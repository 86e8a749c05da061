"""Shared by the commands: common flags, exit codes, and loading the settings."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec

import typer

from bot.cli.paths import existing_folder, existing_path, output_folder
from game.errors import BotError, ConfigError

if TYPE_CHECKING:
    pass

P = ParamSpec("P")

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130

LARGEST: Final = 2**63 - 1
LARGEST_SEED: Final = 2**31 - 1
LONGEST_WORD: Final = 200
"""Characters; file names are shorter."""


def seed_of(what: str) -> Any:
    """The option of a seed.

    Args:
        what: what it determines.
    """
    return typer.Option("--seed", help=f"Seed of {what}.", metavar="NUMBER", min=0, max=LARGEST_SEED)


def folder_for(what: str) -> Any:
    """The option of a folder that a command writes.

    Args:
        what: what is in it.
    """
    return typer.Option("--out", help=f"Folder {what}.", metavar="FOLDER", parser=output_folder)


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Configuration file; default: ./config.yaml, if it exists.", metavar="FILE"
    ),
]
Device = Annotated[
    str | None, typer.Option("--device", help="Device for the models: auto, cpu or cuda.", metavar="DEVICE")
]
NetworkPolicyName = Annotated[
    str,
    typer.Option(help="Policy: network, phoenix, large or a folder of checkpoints.", metavar="POLICY"),
]
NetworkDevice = Annotated[
    str,
    typer.Option("--device", help="Device for the networks: auto, cpu or cuda.", metavar="DEVICE"),
]
RewardName = Annotated[
    str,
    typer.Option(
        help="Worth of a round: its points, or global for the change of the expected final reward.",
        metavar="points|global",
    ),
]
DrawTemperature = Annotated[
    float,
    typer.Option(
        "--temperature",
        help="Temperature of the draws: the lower, the nearer they are to the likeliest actions.",
        metavar="NUMBER",
        min=0.05,
        max=100.0,
    ),
]
BaselineName = Annotated[
    str,
    typer.Option(
        help="Subtracted from rewards: nothing, or what a critic expects; oracle: one that sees all tiles.",
        metavar="none|critic|oracle",
    ),
]
LearnerPrecision = Annotated[
    str,
    typer.Option(
        help="Numeric precision of learning: auto, bf16 or fp32; auto is the fastest on this machine.",
        metavar="NAME",
    ),
]
MeasuredPrecision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="Numeric precision of the networks: auto, int8, bf16 or fp32; auto is the fastest here.",
        metavar="NAME",
    ),
]
PlayPrecision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="Numeric precision of the networks: auto, int8, bf16 or fp32; auto is the fastest on this "
        "machine, or what a run in --out began with.",
        metavar="NAME",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Seed; the built-in lobby deals the same walls for the same seed.",
        metavar="NUMBER",
        min=0,
        max=LARGEST_SEED,
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        help="Policy that plays: network, heuristic, or python:FILE.py for your own (docs/policy.md).",
        metavar="POLICY",
    ),
]
RecordsFolder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        help="Folder of the records; default: records.folder from the configuration.",
        metavar="FOLDER",
        parser=existing_folder,
    ),
]
Permutations = Annotated[
    int | None,
    typer.Option(
        help="Tile permutations to average over: 1, 6 or 12; default: the configured number.",
        metavar="NUMBER",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check the settings, print what would be done, and exit.")
]


Records = Annotated[
    list[Path],
    typer.Argument(
        help="Records (mjlog or mjai, also gzipped), folders of records, or shards (.jsonl.zst).",
        metavar="PATH...",
        parser=existing_path,
    ),
]
CorpusFolder = Annotated[
    Path,
    typer.Option(
        "--corpus",
        help="Folder of a corpus made by `suzaku corpus build`.",
        metavar="FOLDER",
        parser=existing_folder,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Number of processes; default: one per core.", metavar="NUMBER", min=1),
]

AnswerTimeout = Annotated[
    float,
    typer.Option(
        help="Time limit for each answer of an external engine; the first answer gets one minute more.",
        metavar="SECONDS",
        min=0.01,
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Play on a Ray cluster: local, auto (this machine's cluster), or HOST:PORT of the head node.",
        metavar="ADDRESS",
    ),
]


WallSeed = Annotated[int, seed_of("all walls")]
Tonpuu = Annotated[bool, typer.Option("--tonpuu", help="Play tonpuusen instead of hanchan.")]


def reported(command: Callable[P, int]) -> Callable[P, None]:
    """Turn a command's result into its exit code, and its errors into a message and an exit code."""

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
    """Reject numbers that are valid for no option: NaN, infinity, and integers beyond 64 bits.

    Raises:
        ConfigError: a number is rejected; the message names the option.
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
    """Reject ``--ray`` at once if Ray is missing, not after minutes of preparation.

    Raises:
        ConfigError: Ray is not installed.
    """
    if address is not None:
        from game.distribution import require

        require("ray", "--ray")


def shortened(text: str) -> str:
    """A message with its overlong words cut short.

    >>> shortened("no folder " + "x" * 5000)[-10:]
    'xxxxxxxxx…'
    """
    return re.sub(rf"(\S{{{LONGEST_WORD}}})\S+", r"\1…", text)


def _complain(error: BotError | KeyboardInterrupt, code: int) -> int:
    from bot.logs.redaction import clean_text, redact

    typer.echo(f"suzaku: {shortened(redact(clean_text(str(error), keep_lines=True)))}", err=True)
    return code
