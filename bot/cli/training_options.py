"""Options of a training run in its benchmark."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from bot.cli.options import seed_of

TrainingSeed: TypeAlias = Annotated[int, seed_of("weights, sample order and tile permutations")]
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
