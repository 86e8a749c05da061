"""Options of a training run, shared by the training commands and their benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from bot.cli.options import folder_for, seed_of
from bot.cli.paths import existing_folder

CheckpointFolder: TypeAlias = Annotated[Path, folder_for("for the checkpoint; a stopped run resumes")]
TrainingSeed: TypeAlias = Annotated[int, seed_of("weights, sample order and tile permutations")]

# --- the network --------------------------------------------------------------------------------------------

Preset: TypeAlias = Annotated[
    str, typer.Option(help="Network size: tiny, small, medium or paper.", metavar="NAME")
]
Tower: TypeAlias = Annotated[
    str,
    typer.Option(help="Body of the network: residual, pooled, suits, hosei or hosei-base.", metavar="NAME"),
]
FeatureSet: TypeAlias = Annotated[
    str, typer.Option(help="Feature set; default: the model's lite set.", metavar="NAME")
]
Precision: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Numeric precision: auto, bf16 or fp32; auto is bf16 where it is fast.", metavar="NAME"
    ),
]
Width: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Number of channels; default: the preset's.", metavar="NUMBER", min=1, max=4096),
]
Depth: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Number of blocks; default: the preset's.", metavar="NUMBER", min=1, max=1000),
]
Squeeze: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Channels that the tower suits reduces the planes to first; 0: it does not. 32 is faster, and "
        "better in short runs (docs/history/results.md).",
        metavar="NUMBER",
        min=0,
        max=4096,
    ),
]
Blanked: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Group of feature planes to zero; may be repeated.", metavar="GROUP")
]
ContinueFrom: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder of a checkpoint of this model whose weights to start from; what a larger --depth or, of "
        "discards, --width adds changes nothing at first.",
        metavar="FOLDER",
        parser=existing_folder,
    ),
]
TowerFrom: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder of a discard model whose tower to start from, whatever planes it sees; that model has "
        "seen the most hands.",
        metavar="FOLDER",
        parser=existing_folder,
    ),
]

# --- the samples and the steps ------------------------------------------------------------------------------

GamesShare: TypeAlias = Annotated[
    float, typer.Option(help="Share of the games to use, 0 to 1.", metavar="NUMBER", min=0.0, max=1.0)
]
Passes: TypeAlias = Annotated[
    float, typer.Option(help="Passes over all decisions.", metavar="NUMBER", min=0.0)
]
MaximumSamples: TypeAlias = Annotated[
    int, typer.Option(help="Maximum number of samples; 0 for no limit.", metavar="NUMBER", min=0)
]
BatchSize: TypeAlias = Annotated[
    int, typer.Option(help="Samples per step.", metavar="NUMBER", min=1, max=1_000_000)
]
Averaging: TypeAlias = Annotated[
    float,
    typer.Option(
        help="Decay of the moving average of the weights; 0 keeps the last weights.",
        metavar="NUMBER",
        min=0.0,
        max=1.0,
    ),
]
Augment: TypeAlias = Annotated[
    bool, typer.Option(help="Permute the suits and mirror the ranks (1 to 9) at random.")
]


def peak_learning_rate(default: str = "") -> Any:
    """The learning rate.

    Args:
        default: added to its help.
    """
    help_text = f"Peak learning rate{default}."
    return typer.Option(help=help_text, metavar="NUMBER", min=0.0, max=100.0)


# --- the validations ----------------------------------------------------------------------------------------

ValidateEvery: TypeAlias = Annotated[
    int, typer.Option(help="Samples between two validations.", metavar="NUMBER", min=1)
]
ValidationRows: TypeAlias = Annotated[
    int, typer.Option(help="Samples per validation.", metavar="NUMBER", min=1)
]


def patience_in(unit: str) -> Any:
    """When a run stops early, counted in validations or passes."""
    help_text = f"Stop after this many {unit} without improvement; 0: never."
    return typer.Option(help=help_text, metavar="NUMBER", min=0)
