"""Commands that train networks on real games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli.options import (
    AsJson,
    CorpusFolder,
    folder_for,
    reported,
    seed_of,
)
from bot.cli.selection import LeastRank, OfficialAi, PlayerName, Rooms
from bot.cli.training_options import (
    Augment,
    Averaging,
    BatchSize,
    Blanked,
    CheckpointFolder,
    ContinueFrom,
    Depth,
    FeatureSet,
    GamesShare,
    MaximumSamples,
    Passes,
    Precision,
    Preset,
    Squeeze,
    Tower,
    TowerFrom,
    TrainingSeed,
    ValidateEvery,
    ValidationRows,
    Width,
    patience_in,
    peak_learning_rate,
)
from game.ranking import HANCHAN_REWARDS

training = typer.Typer(help="Train the networks on real games.", no_args_is_help=True)


def add_training_command(model: str) -> None:
    """Add `suzaku train MODEL`; the five commands take the same options."""

    @training.command(model)
    @reported
    def train_model(
        folder: CorpusFolder,
        out: CheckpointFolder,
        preset: Preset = "small",
        tower: Tower = "suits",
        width: Width = None,
        depth: Depth = None,
        squeeze: Squeeze = 0,
        features: FeatureSet = "",
        without: Blanked = None,
        room: Rooms = None,
        least_rank: LeastRank = -1,
        player: PlayerName = "",
        ai: OfficialAi = None,
        share: GamesShare = 1.0,
        passes: Passes = 1.0,
        samples: MaximumSamples = 0,
        batch_size: BatchSize = 512,
        learning_rate: Annotated[
            float | None,
            peak_learning_rate("; default: the preset's"),
        ] = None,
        averaging: Averaging = 0.999,
        augment: Augment = True,
        precision: Precision = "auto",
        validate_every: ValidateEvery = 500_000,
        validation_rows: ValidationRows = 50_000,
        patience: Annotated[
            int,
            patience_in("validations"),
        ] = 0,
        continue_from: ContinueFrom = None,
        tower_from: TowerFrom = None,
        seed: TrainingSeed = 0,
        as_json: AsJson = False,
    ) -> int:
        """Train this model on the decisions of real games.

        To resume a stopped run, give the same command again.
        """
        from bot.logs.setup import set_up_logs
        from learning.corpus.reader import Corpus
        from learning.runs.commit import current_commit
        from learning.supervised.plan import make_plan
        from learning.supervised.run import parent_of, train
        from policies.checkpoint import describe
        from policies.checkpoint.card import encode_card

        set_up_logs()
        plan = make_plan(
            model,
            preset=preset,
            tower=tower,
            precision=precision,
            selection={
                "rooms": tuple(room or ()),
                "least_rank": least_rank,
                "player": player,
                "ai": ai,
                "share": share,
            },
            width=width,
            depth=depth,
            squeeze=squeeze,
            learning_rate=learning_rate,
            features=features or None,
            without=tuple(without or ()),
            passes=passes,
            samples=samples,
            batch_size=batch_size,
            averaging=averaging,
            augment=augment,
            validate_every=validate_every,
            validation_rows=validation_rows,
            patience=patience,
            seed=seed,
        )
        parent = parent_of(plan, continue_from, tower_from)
        card = train(plan, Corpus(folder), out, parent=parent, commit=current_commit(), quiet=as_json)
        typer.echo(encode_card(card).decode() if as_json else f"{out}: {describe(card)}")
        return 0


for _model in ("discard", "riichi", "chi", "pon", "kan"):
    add_training_command(_model)


HandModel: TypeAlias = Annotated[
    str, typer.Argument(help="Model of hands: direct, diffusion or autoregressive.", metavar="MODEL")
]


@training.command("hands")
@reported
def train_hands(
    model: HandModel,
    folder: CorpusFolder,
    out: CheckpointFolder,
    preset: Preset = "small",
    width: Width = None,
    depth: Depth = None,
    features: FeatureSet = "",
    without: Blanked = None,
    room: Rooms = None,
    least_rank: LeastRank = -1,
    player: PlayerName = "",
    ai: OfficialAi = None,
    share: GamesShare = 1.0,
    passes: Passes = 1.0,
    samples: MaximumSamples = 0,
    batch_size: BatchSize = 512,
    learning_rate: Annotated[float | None, peak_learning_rate("; default: the model's")] = None,
    averaging: Averaging = 0.999,
    augment: Augment = True,
    precision: Precision = "auto",
    validate_every: ValidateEvery = 500_000,
    validation_rows: ValidationRows = 50_000,
    patience: Annotated[int, patience_in("validations")] = 0,
    continue_from: ContinueFrom = None,
    tower_from: TowerFrom = None,
    distil: Annotated[
        int,
        typer.Option(
            help="Diffusion: learn to do in so many steps what the model in --continue-from does in twice as "
            "many; 0: learn from the hands alone.",
            metavar="NUMBER",
            min=0,
        ),
    ] = 0,
    seed: TrainingSeed = 0,
    as_json: AsJson = False,
) -> int:
    """Train a model of the opponents' hands on real games (docs/hands.md).

    `direct` predicts shanten, waits, deal-ins and copies; `diffusion` and `autoregressive` generate hands,
    from what the direct model in --tower-from sees. To resume a stopped run, give the same command again.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.reader import Corpus
    from learning.hands.plan import make_hands_plan
    from learning.hands.training import parent_of, train_hands
    from learning.runs.commit import current_commit
    from policies.checkpoint import describe
    from policies.checkpoint.card import encode_card

    set_up_logs()
    plan = make_hands_plan(
        model,
        preset=preset,
        precision=precision,
        selection={
            "rooms": tuple(room or ()),
            "least_rank": least_rank,
            "player": player,
            "ai": ai,
            "share": share,
        },
        width=width,
        depth=depth,
        learning_rate=learning_rate,
        features=features or None,
        without=tuple(without or ()),
        passes=passes,
        samples=samples,
        batch_size=batch_size,
        averaging=averaging,
        augment=augment,
        validate_every=validate_every,
        validation_rows=validation_rows,
        patience=patience,
        distil=distil,
        seed=seed,
    )
    parent = parent_of(plan, continue_from, tower_from)
    card = train_hands(plan, Corpus(folder), out, parent=parent, commit=current_commit(), quiet=as_json)
    typer.echo(encode_card(card).decode() if as_json else f"{out}: {describe(card)}")
    return 0


PlaceRewards: TypeAlias = Annotated[
    tuple[float, float, float, float],
    typer.Option(help="Rewards for first to fourth place.", metavar="FIRST SECOND THIRD FOURTH"),
]
RewardRooms: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Only games in this room (houou, tokujou, …); may be repeated; default: houou.",
        metavar="ROOM",
    ),
]
HiddenWidth: TypeAlias = Annotated[
    int, typer.Option(help="Width of each GRU layer.", metavar="NUMBER", min=1, max=4096)
]
DenseWidth: TypeAlias = Annotated[
    int, typer.Option(help="Width between the two dense layers.", metavar="NUMBER", min=1, max=4096)
]
Epochs: TypeAlias = Annotated[
    int, typer.Option(help="Passes over all games.", metavar="NUMBER", min=1, max=1_000_000)
]
BatchGames: TypeAlias = Annotated[
    int, typer.Option(help="Games per step.", metavar="NUMBER", min=1, max=1_000_000)
]
JoinedShare: TypeAlias = Annotated[
    float,
    typer.Option(
        help="Share of the games shown only from a later round on, 0 to 1.",
        metavar="NUMBER",
        min=0.0,
        max=1.0,
    ),
]


@training.command("reward")
@reported
def train_reward(
    folder: CorpusFolder,
    out: CheckpointFolder,
    rewards: PlaceRewards = HANCHAN_REWARDS,
    room: RewardRooms = None,
    hidden: HiddenWidth = 64,
    dense: DenseWidth = 64,
    epochs: Epochs = 8,
    batch_games: BatchGames = 256,
    learning_rate: Annotated[float, peak_learning_rate()] = 2e-3,
    joined: JoinedShare = 0.25,
    patience: Annotated[
        int,
        patience_in("passes"),
    ] = 5,
    seed: Annotated[int, seed_of("weights and order")] = 0,
    as_json: AsJson = False,
) -> int:
    """Train the global reward predictor on the results of real games.

    To resume a stopped run, give the same command again. At the end the predictor is compared with lookup
    tables on the games of the test split.
    """
    from bot.logs.setup import set_up_logs
    from game.reports import write_report
    from learning.corpus.reader import Corpus
    from learning.reward.training import RewardPlan, train_reward
    from learning.runs.commit import current_commit
    from policies.checkpoint import describe

    set_up_logs()
    plan = RewardPlan(
        rewards=rewards,
        rooms=tuple(room or ("houou",)),
        hidden=hidden,
        dense=dense,
        epochs=epochs,
        batch_games=batch_games,
        learning_rate=learning_rate,
        joined=joined,
        patience=patience,
        seed=seed,
    )
    card, report = train_reward(plan, Corpus(folder), out, commit=current_commit(), quiet=as_json)
    typer.echo(f"{out}: {describe(card)}", err=as_json)
    return write_report(report, as_json=as_json)


@training.command("study")
@reported
def train_study(
    study: Annotated[str, typer.Argument(help="Study to run: parts, data, towers or hosei.", metavar="NAME")],
    folder: CorpusFolder,
    out: Annotated[Path, folder_for("for the runs")],
    runs: Annotated[
        int | None,
        typer.Option(help="Only this many of the first runs; default: all.", metavar="NUMBER", min=1),
    ] = None,
    seed: TrainingSeed = 0,
    as_json: AsJson = False,
) -> int:
    """Study what makes the discard model better.

    Makes many training runs in sequence, which takes an hour or more. `parts` is an ablation study: it
    removes some parts and adds others. `data` trains on a growing share of the games and draws a plot.
    `towers` compares towers and sizes, by accuracy and by the time that a position takes in play. `hosei`
    repeats the comparison of Hosei's paper, which takes days without a GPU.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.reader import Corpus
    from learning.studies.command import print_study, run_study

    set_up_logs()
    report = run_study(study, Corpus(folder), out, seed=seed, runs=runs, quiet=as_json)
    return print_study(report, as_json=as_json)
