"""Commands that train networks on real games and measure how good they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import (
    AnswerTimeout,
    AsJson,
    CorpusFolder,
    NetworkDevice,
    PlayPrecision,
    Ray,
    Records,
    Tonpuu,
    WallSeed,
    Workers,
    check_ray,
    folder_for,
    reported,
    seed_of,
)
from bot.cli.paths import existing_folder, existing_path, output_file, output_folder
from bot.cli.selection import Data, GameSample, LeastRank, OfficialAi, PlayerName, Rooms, Split
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

corpus = typer.Typer(help="Build and check the training corpus.", no_args_is_help=True)
training = typer.Typer(help="Train the networks on real games.", no_args_is_help=True)
evaluation = typer.Typer(help="Measure how good the networks are.", no_args_is_help=True)


@corpus.command("verify")
@reported
def verify_corpus(
    paths: Records,
    as_json: AsJson = False,
    workers: Workers = None,
) -> int:
    """Check real games against the bot's rules.

    Checks every event, every action taken or declined, every win and payment, the order of the rounds, the
    end of the game, and the walls. Lists each difference by game, round and turn.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.verify import print_report, verify

    set_up_logs()
    return print_report(verify(paths, workers), as_json=as_json)


@corpus.command("build")
@reported
def build_corpus(
    paths: Records,
    out: Annotated[Path, folder_for("for the corpus")],
    as_json: AsJson = False,
    workers: Workers = None,
) -> int:
    """Build a training corpus from real games.

    A stopped build resumes where it stopped; a finished one is left unchanged.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.build import build, print_build

    set_up_logs()
    return print_build(build(paths, out, workers), as_json=as_json)


@corpus.command("extract")
@reported
def extract_records(
    paths: Records,
    out: Annotated[Path, folder_for("to write to")],
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="Only games of this split: train, validation or test; may be repeated.", metavar="PART"
        ),
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="Maximum number of games.", metavar="NUMBER", min=1)
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Extract single records from shards, for `suzaku review` and others.

    The id of a game alone decides whether it belongs to train, validation or test; this never changes.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.extract import extract, print_extracted

    set_up_logs()
    return print_extracted(extract(paths, out, parts=part or None, games=games), as_json=as_json)


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


@training.command("reward")
@reported
def train_reward(
    folder: CorpusFolder,
    out: CheckpointFolder,
    rewards: Annotated[
        tuple[float, float, float, float],
        typer.Option(help="Rewards for first to fourth place.", metavar="FIRST SECOND THIRD FOURTH"),
    ] = HANCHAN_REWARDS,
    room: Annotated[
        list[str] | None,
        typer.Option(
            help="Only games in this room (houou, tokujou, …); may be repeated; default: houou.",
            metavar="ROOM",
        ),
    ] = None,
    hidden: Annotated[
        int, typer.Option(help="Width of each GRU layer.", metavar="NUMBER", min=1, max=4096)
    ] = 64,
    dense: Annotated[
        int, typer.Option(help="Width between the two dense layers.", metavar="NUMBER", min=1, max=4096)
    ] = 64,
    epochs: Annotated[
        int, typer.Option(help="Passes over all games.", metavar="NUMBER", min=1, max=1_000_000)
    ] = 20,
    batch_games: Annotated[
        int, typer.Option(help="Games per step.", metavar="NUMBER", min=1, max=1_000_000)
    ] = 256,
    learning_rate: Annotated[float, peak_learning_rate()] = 2e-3,
    joined: Annotated[
        float,
        typer.Option(
            help="Share of the games shown only from a later round on, 0 to 1.",
            metavar="NUMBER",
            min=0.0,
            max=1.0,
        ),
    ] = 0.25,
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
    from learning.corpus.reader import Corpus
    from learning.reward.report import print_report
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
    return print_report(report, as_json=as_json)


@training.command("study")
@reported
def train_study(
    study: Annotated[str, typer.Argument(help="Study to run: parts or data.", metavar="NAME")],
    folder: CorpusFolder,
    out: Annotated[Path, folder_for("for the runs")],
    seed: TrainingSeed = 0,
    as_json: AsJson = False,
) -> int:
    """Study what makes the discard model better.

    Makes many training runs in sequence, which takes an hour or more. `parts` is an ablation study: it
    removes some parts and adds others. `data` trains on a growing share of the games and draws a plot.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.reader import Corpus
    from learning.supervised.studies import print_study, run_study

    set_up_logs()
    results = run_study(study, Corpus(folder), out, seed=seed, quiet=as_json)
    return print_study(results, as_json=as_json)


@evaluation.command("accuracy")
@reported
def evaluate_accuracy(
    data: Data,
    checkpoints: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of checkpoints; default: the included ones; may be repeated, and the others are "
            "then compared with the first.",
            metavar="FOLDER",
            parser=existing_folder,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this model: discard, riichi, chi, pon or kan; may be repeated.", metavar="NAME"
        ),
    ] = None,
    split: Split = "",
    room: Rooms = None,
    least_rank: LeastRank = -1,
    player: PlayerName = "",
    ai: OfficialAi = None,
    permutations: Annotated[
        int,
        typer.Option(help="Tile permutations to average over: 1, 6 or 12.", metavar="NUMBER", min=1, max=12),
    ] = 1,
    games: GameSample = 0,
    heuristic: Annotated[bool, typer.Option(help="Also evaluate the rule-based player.")] = True,
    heuristic_decisions: Annotated[
        int,
        typer.Option(
            help="Decisions per model to sample for the rule-based player.", metavar="NUMBER", min=1
        ),
    ] = 20_000,
    seed: Annotated[int, seed_of("the samples and the intervals")] = 0,
    as_json: AsJson = False,
) -> int:
    """Compare the networks' choices with those of players in real games.

    Reports how often they agree and how confident the networks are, by turn, riichi and rank, together with
    the rule-based player.
    """
    from bot.logs.setup import set_up_logs
    from learning.accuracy import evaluate, make_settings, print_report

    set_up_logs()
    settings = make_settings(
        checkpoints=checkpoints or (),
        models=model or (),
        split=split,
        selection={"rooms": tuple(room or ()), "least_rank": least_rank, "player": player, "ai": ai},
        games=games,
        averaging=permutations,
        heuristic=heuristic_decisions if heuristic else 0,
        seed=seed,
    )
    return print_report(evaluate(data, settings, quiet=as_json), as_json=as_json)


@evaluation.command("danger")
@reported
def evaluate_danger(
    data: Data,
    split: Split = "",
    room: Rooms = None,
    games: GameSample = 0,
    seed: Annotated[int, seed_of("the samples")] = 0,
    as_json: AsJson = False,
) -> int:
    """Compare the danger that reviews show with real games.

    Reports how often each class of tile deals in to open hands of each kind, how often those hands are
    tenpai, and for how many points: the actual figures, the estimate from suji and passed tiles alone, and
    the estimate that also reads open hands.
    """
    from bot.logs.setup import set_up_logs
    from learning.danger.report import measure_danger, print_report

    set_up_logs()
    report = measure_danger(data, split=split, rooms=tuple(room or ()), games=games, seed=seed, quiet=as_json)
    return print_report(report, as_json=as_json)


@evaluation.command("loss")
@reported
def evaluate_loss(
    data: Annotated[
        list[Path],
        typer.Option(
            "--data",
            help="Records as for `suzaku corpus build`; may be repeated.",
            metavar="PATH",
            parser=existing_path,
        ),
    ],
    split: Annotated[
        str, typer.Option(help="Split to use: train, validation, test or all.", metavar="NAME")
    ] = "all",
    games: Annotated[
        int,
        typer.Option(
            help="Maximum number of games; the first matching ones are used.", metavar="NUMBER", min=1
        ),
    ] = 50,
    worlds: Annotated[
        int, typer.Option(help="Walls sampled for each decision that is played out.", metavar="NUMBER", min=2)
    ] = 12,
    policy: Annotated[
        str,
        typer.Option(
            help="Networks that judge and play: network, phoenix or a folder of checkpoints.",
            metavar="POLICY",
        ),
    ] = "network",
    seed: Annotated[int, seed_of("all samples")] = 0,
    as_json: AsJson = False,
) -> int:
    """Measure how accurate the losses in reviews are.

    Plays out decisions of real games to the end of the round: each option over the same walls, with all hands
    as they were. Compares the results with the estimated values, and the deal-in probabilities with the
    actual hands.
    """
    from bot.logs.setup import set_up_logs
    from bot.startup.models import use_threads
    from learning.losses.study import LossPlan, study
    from learning.losses.text import print_report

    set_up_logs()
    use_threads()
    plan = LossPlan(games, split, worlds, policy, seed)
    return print_report(study(data, plan, quiet=as_json), as_json=as_json)


@reported
def arena(
    challenger: Annotated[
        str,
        typer.Option(
            help="Player to measure: network, phoenix (the same network before it learned from strong "
            "programs), heuristic, random, or a folder of checkpoints. Append :6 or :12 to average over that "
            "many tile permutations. python:FILE.py is a policy of your own (docs/policy.md). "
            "External mjai programs: engine:COMMAND answers arrays of messages, "
            "engine-lines:COMMAND answers every message, engine-asked:COMMAND answers only when it has a "
            "choice. Prefix NAME= to set the name in reports and records.",
            metavar="PLAYER",
        ),
    ] = "network",
    champions: Annotated[
        str, typer.Option("--champion", help="Player in the other seats.", metavar="PLAYER")
    ] = "heuristic",
    games: Annotated[
        int,
        typer.Option(help="Number of games, rounded up to whole sets.", metavar="NUMBER", min=1),
    ] = 400,
    seed: WallSeed = 0,
    two: Annotated[
        bool, typer.Option("--two", help="Play two against two instead of one against three.")
    ] = False,
    tonpuu: Tonpuu = False,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Stop as soon as one side is clearly better.")
    ] = False,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent", help="Deal new walls for every game; use it for a player against itself."
        ),
    ] = False,
    coverage: Annotated[
        int,
        typer.Option(
            help="Draw this many runs of 400 games from the games played, and report how many of their "
            "intervals contain 2.5: about 95 % if the sides are equal.",
            metavar="NUMBER",
            min=0,
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results. A stopped run resumes there; a finished run continues if --games "
            "is larger.",
            metavar="FOLDER",
            parser=output_folder,
        ),
    ] = None,
    records: Annotated[
        bool, typer.Option("--records", help="Also save the record of every game in --out.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write the comparison as one self-contained web page.",
            metavar="FILE",
            parser=output_file,
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Play no games; report on the games in --out, also of an unfinished run."
        ),
    ] = False,
    workers: Workers = None,
    ray: Ray = None,
    tables: Annotated[
        int | None,
        typer.Option(
            help="Concurrent tables per process; default: 64, or 4 with an external engine, which needs one "
            "process per seat.",
            metavar="NUMBER",
            min=1,
        ),
    ] = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    answer_timeout: AnswerTimeout = 10.0,
    as_json: AsJson = False,
) -> int:
    """Compare two players.

    The players rotate through the seats over the same walls. Reports their placements with 95 % intervals.
    """
    check_ray(ray)
    from bot.logs.setup import set_up_logs
    from bot.startup.warm import warm_up_visibly
    from learning.arena.command import compare, compare_played

    set_up_logs()
    if report:
        return compare_played(out, sequential=sequential, coverage_runs=coverage, html=html, as_json=as_json)
    return compare(
        challenger,
        champions,
        games=games,
        seed=seed,
        mode="2v2" if two else "1v3",
        length="tonpuu" if tonpuu else "hanchan",
        folder=out,
        records=records,
        sequential=sequential,
        independent=independent,
        coverage_runs=coverage,
        html=html,
        workers=workers,
        ray=ray,
        tables=tables,
        device=device,
        precision=precision,
        answer_timeout_s=answer_timeout,
        as_json=as_json,
        prepare=warm_up_visibly,
    )
