"""Options that several commands share, and loading the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from cyclopts import Parameter
from msgspec import Meta

from bot.cli.command import Setting
from bot.cli.paths import existing_checkpoints, existing_folder, existing_path, output_file, output_folder
from kit.options import Count, Seed, flag

if TYPE_CHECKING:
    from game.scoring.settlement import GameLength

ExistingFolder: TypeAlias = Annotated[Path, existing_folder]
Checkpoints: TypeAlias = Annotated[Path, existing_checkpoints]
ExistingPath: TypeAlias = Annotated[Path, existing_path]
OutputFolder: TypeAlias = Annotated[Path, output_folder]
OutputFile: TypeAlias = Annotated[Path, output_file]
ResumedFolder: TypeAlias = Annotated[
    OutputFolder, Parameter(help="Folder for the results; a stopped run in it resumes.")
]


def _ray_address(text: str) -> str:
    """The address of a Ray cluster; that Ray is missing is said at once, not after minutes of preparation."""
    from kit.distribution import require

    require("ray", "--ray")
    return text


def _source(text: str) -> str:
    """A source of records, - for stdin; cyclopts takes no word with a hyphen for an argument by default."""
    if text.startswith("-") and text != "-":
        raise ValueError(f"no such option: {text}")
    return text


Source: TypeAlias = Annotated[str, _source, Parameter(allow_leading_hyphen=True)]
AsJson: TypeAlias = Annotated[bool, flag("--json"), Parameter(help="Print the result as one JSON object.")]
Workers: TypeAlias = Annotated[Count | None, Parameter(help="Number of processes; default: one per core.")]
Ray: TypeAlias = Annotated[
    str | None,
    _ray_address,
    Parameter(
        help="Play on a Ray cluster: local, auto (this machine's cluster), or HOST:PORT of the head node."
    ),
]
Records: TypeAlias = Annotated[
    list[ExistingPath],
    Parameter(
        name="PATH...",
        help="Records in any format that `suzaku convert` reads, also gzipped, folders of records, or shards "
        "(.jsonl.zst).",
    ),
]
CorpusFolder: TypeAlias = Annotated[
    ExistingFolder, Parameter(help="Folder of a corpus made by `suzaku corpus build`.")
]
OfficialAi: TypeAlias = Annotated[
    bool | None, Parameter(help="Only official AI accounts, or only people.", negative="--people")
]
Device: TypeAlias = Annotated[str, Parameter(help="Device for the networks: auto, cpu or cuda.")]
PlayPrecision: TypeAlias = Annotated[
    str,
    Parameter(
        help="Numeric precision of the networks: auto, int8, bf16 or fp32; auto is the fastest on this "
        "machine, or what a run in --out began with."
    ),
]
TrainingPrecision: TypeAlias = Annotated[
    Literal["auto", "bf16", "fp32"],
    Parameter(help="Numeric precision of learning; auto is bf16 where it is fast."),
]
ComparedPolicy: TypeAlias = Annotated[
    str,
    Parameter(
        help="Policy to ask: network, phoenix, large, players@NAME to imitate a player or rank (LuckyJ, "
        "Suphx, 10-dan to 4-dan), heuristic, random, a folder of checkpoints, python:FILE.py "
        "(docs/policy.md), or for reviews engine:COMMAND (docs/engine.md). Append :6 or :12 to a network to "
        "average over as many tile permutations."
    ),
]
WallSeed: TypeAlias = Annotated[Seed, Parameter(help="Seed of all walls.")]
Tonpuu: TypeAlias = Annotated[bool, Parameter(help="Play tonpuusen instead of hanchan.")]
ANSWER_S: Final = 10.0
AnswerTimeout: TypeAlias = Annotated[
    float,
    Meta(ge=0.01),
    Parameter(
        help="Time limit in seconds for each answer of an external engine; the first answer gets one minute "
        "more."
    ),
]
OpenBrowser: TypeAlias = Annotated[
    bool | None, Parameter(help="Open the page in a browser; default: if started on a terminal.")
]
DryRun: TypeAlias = Annotated[bool, Parameter(help="Check the settings, print what would be done, and exit.")]

LOGS: Final = {"log_level": "logs.level", "log_format": "logs.format"}
RECORDS: Final = {"out": Setting("records.folder", OutputFolder)}
SAVED_GAMES: Final = {
    "folder": Setting(
        "records.folder",
        ExistingFolder,
        "Folder of the records; default: records.folder from the configuration.",
    )
}


def length_of(*, tonpuu: bool) -> GameLength:
    """The length of the games that ``--tonpuu`` asks for."""
    return "tonpuu" if tonpuu else "hanchan"
