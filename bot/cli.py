"""The command line: `suzaku play | arena | lobby | check | games | convert | traffic | corpus | train | …`.

Results go to stdout, logs to stderr. Exit codes: 0 done, 1 failed while running, 2 usage or configuration,
130 interrupted. Whatever is heavy is imported by the command that needs it, so that ``--help`` is quick.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec

import typer

from game.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.config import Config

P = ParamSpec("P")

STARTED: Final = time.monotonic()

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130

app = typer.Typer(
    name="suzaku",
    help="A riichi mahjong bot for Tenhou. `suzaku play` plays one game against the built-in lobby.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they print local variables, and one of those is a secret
    rich_markup_mode=None,
)
traffic = typer.Typer(help="Captured frames.", no_args_is_help=True)
corpus = typer.Typer(help="Real games to learn from.", no_args_is_help=True)
training = typer.Typer(help="Make the networks from real games.", no_args_is_help=True)
evaluation = typer.Typer(help="See how good the networks are.", no_args_is_help=True)
bench = typer.Typer(help="Measurements.", no_args_is_help=True)
app.add_typer(traffic, name="traffic")
app.add_typer(corpus, name="corpus")
app.add_typer(training, name="train")
app.add_typer(evaluation, name="eval")
app.add_typer(bench, name="bench")

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
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Deal the same walls again (built-in lobby).", metavar="NUMBER")
]
Out = Annotated[
    str | None, typer.Option("--out", help="Folder for the records of finished games.", metavar="FOLDER")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything, say what would be done, and stop.")
]

Records = Annotated[
    list[Path],
    typer.Argument(
        help="Records (mjlog, also gzipped), folders of them, shards (.jsonl.zst).", metavar="PATH..."
    ),
]
CorpusFolder = Annotated[
    Path, typer.Option("--corpus", help="Folder of the corpus, as `corpus build` made it.", metavar="FOLDER")
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Processes; one for each core if not given.", metavar="NUMBER", min=1),
]


def reported(command: Callable[P, int]) -> Callable[P, None]:
    """Make a command's result its exit code, and its errors a message and a code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except ConfigError as exc:
            code = _complain(exc, EXIT_USAGE)
        except BotError as exc:
            code = _complain(exc, EXIT_FAILED)
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
        except BrokenPipeError:
            # whoever read our output has gone; Python would complain once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = EXIT_FAILED
        raise typer.Exit(code)

    return run


@app.command()
@reported
def play(
    server: Annotated[str | None, typer.Option(help="local or tenhou.", metavar="SERVER")] = None,
    url: Annotated[
        str | None, typer.Option(help="Address of a `suzaku lobby` that is running.", metavar="ADDRESS")
    ] = None,
    lobby: Annotated[
        str | None, typer.Option(help='Lobby to sit down in: 0, 1000-9999 or "C12345678".', metavar="LOBBY")
    ] = None,
    game_type: Annotated[
        str | None,
        typer.Option("--type", help="hanchan, tonpuu, fast, practice, a room, or a number.", metavar="TYPE"),
    ] = None,
    games: Annotated[int | None, typer.Option(help="How many games.", metavar="NUMBER")] = None,
    pace: Annotated[str | None, typer.Option(help="auto, instant or human.", metavar="PACE")] = None,
    seed: Seed = None,
    as_json: AsJson = False,
    capture: Annotated[
        str | None, typer.Option(help="Write every frame both ways to this file, redacted.", metavar="FILE")
    ] = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
    out: Out = None,
    dry_run: DryRun = False,
) -> int:
    """Play games."""
    config = _load(
        config_file,
        {
            "play.server": server,
            "local.url": url,
            "server.lobby": lobby,
            "server.type": game_type,
            "play.games": games,
            "play.pace": pace,
            "play.seed": seed,
            "records.capture": capture,
            "records.folder": out,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.play import play_games

    return play_games(config, os.environ, as_json=as_json, dry_run=dry_run, started=STARTED)


@app.command()
@reported
def lobby(
    port: Annotated[
        int | None,
        typer.Option(help="Where to listen, on this machine only; 0 takes a free one.", metavar="PORT"),
    ] = None,
    seed: Seed = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
    out: Out = None,
    dry_run: DryRun = False,
) -> int:
    """Run the built-in lobby alone.

    It runs until Ctrl-C; `suzaku play --url` sits down in it.
    """
    config = _load(
        config_file,
        {
            "play.server": "local",
            "play.seed": seed,
            "local.url": "",
            "local.port": port,
            "records.folder": out,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.serve import run_lobby

    return run_lobby(config, dry_run=dry_run)


@app.command()
@reported
def check(
    as_json: AsJson = False,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> int:
    """Check that all is ready.

    Validates the configuration, loads and warms up everything, and prints what was found.
    """
    config = _load(config_file, {"logs.level": log_level, "logs.format": log_format})
    from bot.check import check_everything

    return check_everything(config, os.environ, as_json=as_json)


@app.command()
@reported
def games(
    folder: Annotated[
        str | None, typer.Option(help="Folder of the records, if not the configured one.", metavar="FOLDER")
    ] = None,
    player: Annotated[
        str | None, typer.Option(help="Only games with this name, and from where he sat.", metavar="NAME")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only games of this day (2026-01-31) and later.", metavar="DAY")
    ] = None,
    placement: Annotated[
        int | None, typer.Option(min=1, max=4, help="Only games that ended in this place.", metavar="1-4")
    ] = None,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """List the games kept so far.

    Date, place, points, type, rounds, id and opponents of each. The place is ours where decisions of ours lie
    beside the record, else that of `--player`.
    """
    config = _load(config_file, {"records.folder": folder})
    from bot.games import list_games

    return list_games(config.records.folder, player=player, since=since, placement=placement, as_json=as_json)


@app.command()
@reported
def convert(
    source: Annotated[
        str,
        typer.Argument(
            help="A record: mjlog, Tenhou's JSON or a link with it, mjai; plain or gzip.", metavar="IN"
        ),
    ],
    out: Annotated[str, typer.Argument(help="File to write, a folder, or - for stdout.", metavar="OUT")],
    to: Annotated[
        str | None,
        typer.Option(
            help="mjlog, tenhou6, link or mjai; without it the name of OUT says (.xml, .json, .url, .jsonl).",
            metavar="FORMAT",
        ),
    ] = None,
) -> int:
    """Write a record in another format."""
    from bot.convert import convert as convert_record
    from bot.logs import set_up_logs

    set_up_logs()
    return convert_record(source, out, to)


@app.command()
@reported
def arena(
    challenger: Annotated[
        str,
        typer.Option(help="network, heuristic, random, or a folder of checkpoints.", metavar="PLAYER"),
    ] = "network",
    champions: Annotated[
        str, typer.Option("--champion", help="Who sits in the other seats.", metavar="PLAYER")
    ] = "heuristic",
    games: Annotated[
        int, typer.Option(help="How many, rounded up to whole sets.", metavar="NUMBER", min=1)
    ] = 400,
    seed: Annotated[int, typer.Option(help="Every wall follows from it.", metavar="NUMBER")] = 0,
    two: Annotated[bool, typer.Option("--two", help="Two against two, not one against three.")] = False,
    tonpuu: Annotated[bool, typer.Option("--tonpuu", help="East games, not hanchan.")] = False,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Stop as soon as one is clearly better.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; a run that was stopped goes on there.", metavar="FOLDER"),
    ] = None,
    records: Annotated[bool, typer.Option("--records", help="Keep every game's record in it too.")] = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Compare two players.

    The same walls are played with the seats rotated. Says who placed how, with 95 % intervals.
    """
    from bot.logs import set_up_logs
    from bot.warm import warm_up_visibly
    from learning.arena.command import compare

    set_up_logs()
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
        workers=workers,
        as_json=as_json,
        prepare=warm_up_visibly,
    )


@traffic.command()
@reported
def verify(
    files: Annotated[
        list[Path], typer.Argument(help="Captures: .tsv or .txt (JSON), .log or .xml.", metavar="FILES...")
    ],
    as_json: AsJson = False,
) -> int:
    """Check captured frames.

    Says for every recorded client frame whether our session would have allowed it there.
    """
    from bot.traffic import print_report, verify

    return print_report(verify(files), as_json=as_json)


@bench.command("game")
@reported
def measure_game(as_json: AsJson = False, seed: Seed = None) -> int:
    """Time the game package.

    Shanten, the fold of whole games, and table steps beside the bare engine.
    """
    from bot.bench import bench_game, print_bench

    return print_bench(bench_game(seed=seed or 0), as_json=as_json)


@bench.command("features")
@reported
def measure_features(as_json: AsJson = False, seed: Seed = None) -> int:
    """Time the encoders.

    Planes per second of one core and per decision, beside the engine's own.
    """
    from bot.bench import print_features
    from policies.features.bench import bench_features

    return print_features(bench_features(seed=seed or 0), as_json=as_json)


@bench.command("decision")
@reported
def measure_decision(
    width: Annotated[
        int | None,
        typer.Option(help="Measure untrained networks of so many channels.", metavar="NUMBER", min=1),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(help="Measure untrained networks of so many blocks.", metavar="NUMBER", min=1),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Measure untrained networks on this feature set: lite-239/1 or suphx-838/1.", metavar="NAME"
        ),
    ] = None,
    permutations: Annotated[
        int | None, typer.Option(help="Renamings to average over, if not as configured.", metavar="NUMBER")
    ] = None,
    decisions: Annotated[int, typer.Option(help="How many.", metavar="NUMBER", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Of the walls.", metavar="NUMBER", min=0)] = 0,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """Time decisions.

    Those of the configured policy, one after another as in play, in positions of games by the heuristic; or
    of networks of another size with random weights, 64×6 on lite-239/1 where nothing else is said.
    """
    config = _load(config_file, {"decision.permutations": permutations})
    from bot.bench import print_decisions
    from bot.models import load, policy_text, use_threads
    from policies.bench import bench_decisions, untrained_policy

    if width is None and depth is None and features is None:
        policy, name = load(config.decision), policy_text(config.decision)
    else:
        size = (width or 64, depth or 6, features or "lite-239/1")
        use_threads()
        policy = untrained_policy(*size, config.decision.permutations)
        name = f"untrained {size[0]}×{size[1]} on {size[2]}, {config.decision.permutations} renamings"
    return print_decisions(bench_decisions(policy, name, count=decisions, seed=seed), as_json=as_json)


@bench.command("selfplay")
@reported
def measure_selfplay(
    players: Annotated[
        list[str], typer.Option("--player", help="network, heuristic, random, or a folder.", metavar="PLAYER")
    ] = ["network", "heuristic", "random"],  # noqa: B006 - read, never changed
    games: Annotated[int, typer.Option(help="Hanchan for each line.", metavar="NUMBER", min=1)] = 128,
    workers: Workers = None,
    as_json: AsJson = False,
    seed: Seed = None,
) -> int:
    """Time self-play.

    Hanchan per second by number of processes and of tables side by side, and where the time goes.
    """
    from bot.logs import set_up_logs
    from learning.arena.bench import bench_selfplay, print_bench
    from learning.corpus.workers import default_workers

    set_up_logs()
    found = bench_selfplay(players, games=games, workers=workers or default_workers(), seed=seed or 0)
    return print_bench(found, as_json=as_json)


@bench.command("loader")
@reported
def measure_loader(
    folder: Annotated[
        Path,
        typer.Option("--corpus", help="Folder of the corpus, as `corpus build` made it.", metavar="FOLDER"),
    ],
    as_json: AsJson = False,
    slot: Annotated[
        str, typer.Option(help="Whose decisions: discard, riichi, chi, pon or kan.", metavar="SLOT")
    ] = "discard",
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Threads; one for each core if not given.", metavar="NUMBER", min=1),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Stop after about so many; all if not given.", metavar="NUMBER", min=1),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the order and the renamed tiles.", metavar="NUMBER", min=0)
    ] = 0,
) -> int:
    """Time the loader of learning.

    Decisions of real games, folded, encoded, their tiles renamed, delivered as torch tensors.
    """
    from bot.logs import set_up_logs
    from learning.samples_bench import bench_loader, print_bench

    set_up_logs()
    result = bench_loader(folder, slot, seed=seed, workers=workers, samples=samples)
    return print_bench(result, as_json=as_json)


@bench.command("training")
@reported
def measure_training(
    folder: CorpusFolder,
    model: Annotated[str, typer.Option(help="discard, riichi, chi, pon or kan.", metavar="NAME")] = "discard",
    preset: Annotated[
        str, typer.Option(help="Size: tiny, small, medium or paper.", metavar="NAME")
    ] = "small",
    features: Annotated[
        str, typer.Option(help="Feature set; empty takes the lite one of the model.", metavar="NAME")
    ] = "",
    precision: Annotated[str, typer.Option(help="auto, bf16 or fp32.", metavar="NAME")] = "auto",
    seconds: Annotated[float, typer.Option(help="Of each slice.", metavar="NUMBER", min=0.1)] = 10.0,
    seed: Annotated[int, typer.Option(help="Of weights, order and renaming.", metavar="NUMBER")] = 0,
    as_json: AsJson = False,
) -> int:
    """Time learning.

    The loader alone, the network alone, and both as a training run has them, in turn.
    """
    from bot.logs import set_up_logs
    from learning.plan import make_plan
    from learning.training_bench import bench_training, print_training

    set_up_logs()
    plan = make_plan(model, preset=preset, features=features or None, precision=precision, seed=seed)
    return print_training(bench_training(plan, folder, seconds=seconds), as_json=as_json)


@corpus.command("verify")
@reported
def verify_corpus(
    paths: Records,
    as_json: AsJson = False,
    workers: Workers = None,
) -> int:
    """Check real games against our rules.

    Every event, every action taken or let pass, every win and payment, the order of the rounds, the end of
    the game, and the walls. Lists each difference with game, round and turn.
    """
    from bot.logs import set_up_logs
    from learning.corpus.verify import print_report, verify

    set_up_logs()
    return print_report(verify(paths, workers), as_json=as_json)


@corpus.command("build")
@reported
def build_corpus(
    paths: Records,
    out: Annotated[Path, typer.Option("--out", help="Folder of the corpus.", metavar="FOLDER")],
    as_json: AsJson = False,
    workers: Workers = None,
) -> int:
    """Make real games into the corpus that learning reads.

    A build that was stopped goes on where it was; one that is finished is left as it is.
    """
    from bot.logs import set_up_logs
    from learning.corpus.build import build, print_build

    set_up_logs()
    return print_build(build(paths, out, workers), as_json=as_json)


def add_training_command(model: str) -> None:
    """Add `suzaku train MODEL`: the five take the same options."""

    @training.command(model)
    @reported
    def train_model(
        folder: CorpusFolder,
        out: Annotated[
            Path,
            typer.Option(
                "--out", help="Folder of the checkpoint; a run that was stopped goes on.", metavar="FOLDER"
            ),
        ],
        preset: Annotated[
            str, typer.Option(help="Size: tiny, small, medium or paper.", metavar="NAME")
        ] = "small",
        width: Annotated[
            int | None, typer.Option(help="Channels, instead of the preset's.", metavar="NUMBER")
        ] = None,
        depth: Annotated[
            int | None, typer.Option(help="Blocks, instead of the preset's.", metavar="NUMBER")
        ] = None,
        features: Annotated[
            str, typer.Option(help="Feature set; empty takes the lite one of the model.", metavar="NAME")
        ] = "",
        without: Annotated[
            list[str] | None, typer.Option(help="Group of planes to blank; may be repeated.", metavar="GROUP")
        ] = None,
        deep: Annotated[bool, typer.Option(help="Search for LA1 and LA2, in a set that has them.")] = True,
        room: Annotated[
            list[str] | None,
            typer.Option(
                help="Only games of this room (houou, tokujou, …); may be repeated.", metavar="ROOM"
            ),
        ] = None,
        least_rank: Annotated[
            int, typer.Option(help="Only players of this rank or more: 16 for 7-dan.", metavar="NUMBER")
        ] = -1,
        player: Annotated[str, typer.Option(help="Only the player of this name.", metavar="NAME")] = "",
        ai: Annotated[
            bool | None, typer.Option("--ai/--people", help="Only official AI accounts, or only people.")
        ] = None,
        share: Annotated[float, typer.Option(help="Part of the games.", metavar="NUMBER")] = 1.0,
        passes: Annotated[float, typer.Option(help="Over all decisions.", metavar="NUMBER")] = 1.0,
        samples: Annotated[
            int, typer.Option(help="Learn from so many at most; 0 for all.", metavar="NUMBER")
        ] = 0,
        batch_size: Annotated[int, typer.Option(help="Samples of a step.", metavar="NUMBER")] = 512,
        learning_rate: Annotated[
            float | None, typer.Option(help="Highest, instead of the preset's.", metavar="NUMBER")
        ] = None,
        averaging: Annotated[
            float,
            typer.Option(help="Of the weights over the steps; 0 keeps the last ones.", metavar="NUMBER"),
        ] = 0.999,
        augment: Annotated[bool, typer.Option(help="Exchange suits and mirror 1 and 9, at random.")] = True,
        precision: Annotated[
            str, typer.Option(help="auto, bf16 or fp32; auto is bf16 where it is fast.", metavar="NAME")
        ] = "auto",
        validate_every: Annotated[
            int, typer.Option(help="Samples between two validations.", metavar="NUMBER")
        ] = 500_000,
        validation_rows: Annotated[int, typer.Option(help="Rows of one.", metavar="NUMBER")] = 50_000,
        patience: Annotated[
            int,
            typer.Option(
                help="Stop after so many validations without a better one; 0 never.", metavar="NUMBER"
            ),
        ] = 0,
        continue_from: Annotated[
            Path | None,
            typer.Option(help="Begin with this model's weights from this folder.", metavar="FOLDER"),
        ] = None,
        tower_from: Annotated[
            Path | None,
            typer.Option(
                help="Begin with the tower of the discard model in this folder; it has seen most hands.",
                metavar="FOLDER",
            ),
        ] = None,
        seed: Annotated[int, typer.Option(help="Of weights, order and renaming.", metavar="NUMBER")] = 0,
        as_json: AsJson = False,
    ) -> int:
        """Train this model on the decisions of real games.

        A run that was stopped goes on when the same command is given again.
        """
        from bot.logs import set_up_logs
        from learning.commit import current_commit
        from learning.corpus.reader import Corpus
        from learning.plan import make_plan
        from learning.supervised import parent_of, train
        from policies.checkpoint import describe
        from policies.checkpoint.card import encode_card

        set_up_logs()
        plan = make_plan(
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
            deep=deep,
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
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="Folder of the checkpoint; a run that was stopped goes on.", metavar="FOLDER"
        ),
    ],
    rewards: Annotated[
        tuple[float, float, float, float],
        typer.Option(help="Of the places, first to fourth.", metavar="FIRST SECOND THIRD FOURTH"),
    ] = (90.0, 45.0, 0.0, -135.0),
    room: Annotated[
        list[str] | None,
        typer.Option(help="Games of this room (houou, tokujou, …); may be repeated.", metavar="ROOM"),
    ] = None,
    hidden: Annotated[int, typer.Option(help="Width of each layer of the GRU.", metavar="NUMBER")] = 64,
    dense: Annotated[int, typer.Option(help="Width between the two dense layers.", metavar="NUMBER")] = 64,
    epochs: Annotated[int, typer.Option(help="Passes over all games.", metavar="NUMBER")] = 20,
    batch_games: Annotated[int, typer.Option(help="Games of a step.", metavar="NUMBER")] = 256,
    learning_rate: Annotated[float, typer.Option(help="Highest.", metavar="NUMBER")] = 2e-3,
    joined: Annotated[
        float, typer.Option(help="Part of the games shown from a later round on.", metavar="NUMBER")
    ] = 0.25,
    patience: Annotated[
        int, typer.Option(help="Stop after so many passes without a better one; 0 never.", metavar="NUMBER")
    ] = 5,
    seed: Annotated[int, typer.Option(help="Of weights and order.", metavar="NUMBER")] = 0,
    as_json: AsJson = False,
) -> int:
    """Train the global reward predictor on how real games went on.

    A run that was stopped goes on when the same command is given again. In the end it is compared with tables
    on the games of the test split.
    """
    from bot.logs import set_up_logs
    from learning.commit import current_commit
    from learning.corpus.reader import Corpus
    from learning.reward import RewardPlan, train_reward
    from learning.reward_report import print_report
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
    study: Annotated[str, typer.Argument(help="parts or data.", metavar="NAME")],
    folder: CorpusFolder,
    out: Annotated[Path, typer.Option("--out", help="Folder of the runs.", metavar="FOLDER")],
    seed: Annotated[int, typer.Option(help="Of weights, order and renaming.", metavar="NUMBER")] = 0,
    as_json: AsJson = False,
) -> int:
    """Find out what makes the discard model better.

    Many runs one after the other, an hour or more: `parts` takes things away and adds others, `data` trains
    on a growing share of the games and draws a plot.
    """
    from bot.logs import set_up_logs
    from learning.corpus.reader import Corpus
    from learning.studies import print_study, run_study

    set_up_logs()
    results = run_study(study, Corpus(folder), out, seed=seed, quiet=as_json)
    return print_study(results, as_json=as_json)


@evaluation.command("accuracy")
@reported
def evaluate_accuracy(
    data: Annotated[
        list[Path],
        typer.Option(
            "--data", help="Folder of a corpus, or records as `corpus build` takes them.", metavar="PATH"
        ),
    ],
    checkpoints: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of checkpoints, the shipped one if not given; others are compared with the first.",
            metavar="FOLDER",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Only discard, riichi, chi, pon or kan; may be repeated.", metavar="NAME"),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            help="train, validation, test or all; without it test, but all of records.", metavar="NAME"
        ),
    ] = "",
    room: Annotated[
        list[str] | None,
        typer.Option(help="Only games of this room (houou, tokujou, …); may be repeated.", metavar="ROOM"),
    ] = None,
    least_rank: Annotated[
        int, typer.Option(help="Only players of this rank or more: 16 for 7-dan.", metavar="NUMBER")
    ] = -1,
    player: Annotated[str, typer.Option(help="Only the player of this name.", metavar="NAME")] = "",
    ai: Annotated[
        bool | None, typer.Option("--ai/--people", help="Only official AI accounts, or only people.")
    ] = None,
    permutations: Annotated[
        int, typer.Option(help="Renamings of tiles to average over: 1, 6 or 12.", metavar="NUMBER")
    ] = 1,
    games: Annotated[
        int, typer.Option(help="Of those that fit, so many drawn; 0 for all.", metavar="NUMBER", min=0)
    ] = 0,
    heuristic: Annotated[bool, typer.Option(help="Ask the rule-based player too.")] = True,
    heuristic_decisions: Annotated[
        int, typer.Option(help="Of each model that it is asked about, drawn.", metavar="NUMBER", min=1)
    ] = 20_000,
    seed: Annotated[
        int, typer.Option(help="Of what is drawn and of the intervals.", metavar="NUMBER", min=0)
    ] = 0,
    as_json: AsJson = False,
) -> int:
    """Compare the answers of networks with those of the players of real games.

    How often they are the same, how sure, by turn, riichi and rank, beside the rule-based player.
    """
    from bot.logs import set_up_logs
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


def main() -> None:
    """Entry point of the `suzaku` program."""
    app(prog_name="suzaku")


def _load(path: Path | None, flags: dict[str, Any]) -> Config:
    from bot.config import load_config
    from bot.logs import set_up_logs

    set_up_logs()
    chosen = path or (Path(os.environ["SUZAKU_CONFIG"]) if os.environ.get("SUZAKU_CONFIG") else None)
    config = load_config(chosen, os.environ, flags)
    set_up_logs(config.logs.level, config.logs.format)
    return config


def _complain(error: BotError, code: int) -> int:
    from bot.redaction import clean_text, redact

    typer.echo(f"suzaku: {redact(clean_text(str(error), keep_lines=True))}", err=True)
    return code


if __name__ == "__main__":
    main()
