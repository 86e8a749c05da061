"""Options that several commands share; files and folders are checked before use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NoReturn, TypeAlias

from cyclopts import Parameter
from msgspec import Meta

from bot.cli.command import Setting
from kit.files import expand_home
from kit.options import Count, Seed, flag
from policies.nets.identities import split_identity
from policies.play.included import included

if TYPE_CHECKING:
    from game.scoring.settlement import GameLength

_PYTHON: Final = re.compile(r"(?:^|[=,] *)python:([^,]+?\.py)(?=[:,]|$)")
"""The file of a policy of the user's own."""
_SHOWN: Final = 100
"""Characters of a path that a message repeats."""


# --- paths -------------------------------------------------------------------------------------------
# Each function takes the user's text, with ~ for a home folder, and returns the path, or raises a
# `ValueError` that says why it cannot be used.


def existing_folder(text: str) -> Path:
    """An existing folder."""
    path = existing_path(text)
    return path if path.is_dir() else _refuse(text, "a file, expected a folder")


def existing_checkpoints(text: str) -> Path:
    """A set of included checkpoints or an existing folder, also as asked to play like a player, ``@NAME``."""
    path = included(text) or _path(text)
    if split_identity(path)[1]:
        existing_folder(str(split_identity(path)[0]))
        return path
    return existing_folder(str(path))


def existing_path(text: str) -> Path:
    """An existing file or folder."""
    path = _path(text)
    return path if path.exists() else _refuse(text, "no such file or folder")


def output_folder(text: str) -> Path:
    """A folder to write to; it is created with the first file written."""
    path = _path(text)
    nearest = next((place for place in (path, *path.parents) if place.exists()), path)
    if nearest.exists() and not nearest.is_dir():
        _refuse(text, f"`{nearest}` is a file, so no folder can be created there")
    return path


def output_file(text: str) -> Path:
    """A file to write, in an existing folder."""
    path = _path(text)
    if path.is_dir():
        _refuse(text, "a folder, expected the name of a file to write")
    if not path.parent.is_dir():
        _refuse(text, f"no folder `{path.parent}`; create it first, or name another")
    return path


def _path(text: str) -> Path:
    """The path of a text, if the system allows such a name."""
    if not text.strip():
        _refuse(text, "expected the name of a file or folder")
    try:
        path = expand_home(text)
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path
    except OSError as exc:
        _refuse(text, exc.strerror or type(exc).__name__)
    except ValueError as exc:
        _refuse(text, str(exc))
    return path


def _refuse(text: str, why: str) -> NoReturn:
    from bot.logs.redaction import clean_text

    shown = clean_text(text)
    raise ValueError(f"`{shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}`: {why}")


# --- options -----------------------------------------------------------------------------------------

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


def _players(text: str) -> str:
    """One or several players; that a Python file is missing is said before anything is loaded."""
    for file in _PYTHON.findall(text):
        existing_path(file)
    return text


Player: TypeAlias = Annotated[str, _players]
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
Precision: TypeAlias = Annotated[
    str,
    Parameter(help="Numeric precision of the networks: auto, int8, bf16 or fp32; auto is the fastest here."),
]
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
    Player,
    Parameter(
        help="Policy to ask: network, phoenix, players@NAME to imitate a player or rank (LuckyJ, "
        "Suphx, 10-dan to 4-dan), heuristic, beginner, random, a folder of checkpoints, python:FILE.py "
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

NO_LOGIN: Final = {
    "play.server": "local",
    "local.url": "",
    "local.user_id_env": "",
    "adaptation.mode": "off",
}
"""For commands that join no server: whatever is configured, they need no id, and no models to adapt."""
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
