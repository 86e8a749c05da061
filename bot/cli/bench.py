"""Commands that measure."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.command import load_settings
from bot.cli.options import (
    AsJson,
    BaselineName,
    ConfigFile,
    CorpusFolder,
    Device,
    DrawTemperature,
    LearnerPrecision,
    NetworkDevice,
    NetworkPolicyName,
    Permutations,
    PlayPrecision,
    Seed,
    Workers,
    reported,
    seed_of,
)
from bot.cli.training_options import FeatureSet, Precision, Preset, Tower, TrainingSeed

bench = typer.Typer(help="Run benchmarks.", no_args_is_help=True)


@bench.command("game")
@reported
def measure_game(as_json: AsJson = False, seed: Seed = None) -> int:
    """Measure the speed of the game package.

    Measures shanten, the fold of whole games, and table steps compared with the bare engine.
    """
    from bot.measurements import bench_game, print_bench

    return print_bench(bench_game(seed=seed or 0), as_json=as_json)


@bench.command("features")
@reported
def measure_features(as_json: AsJson = False, seed: Seed = None) -> int:
    """Measure the speed of the feature encoders.

    Reports encodings per second on one core and the time per decision, compared with the engine's own
    encoder.
    """
    from game.reports import write_report
    from policies.features.encoding_bench import bench_features

    return write_report(bench_features(seed=seed or 0), as_json=as_json)


@bench.command("decision")
@reported
def measure_decision(
    width: Annotated[
        int | None,
        typer.Option(help="Measure untrained networks with this many channels.", metavar="NUMBER", min=1),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(help="Measure untrained networks with this many blocks.", metavar="NUMBER", min=1),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Measure untrained networks on this feature set: lite-239/1 or suphx-838/1.", metavar="NAME"
        ),
    ] = None,
    tower: Annotated[
        str | None,
        typer.Option(
            help="Measure untrained networks with this tower: residual, pooled or suits.", metavar="NAME"
        ),
    ] = None,
    permutations: Permutations = None,
    device: Device = None,
    decisions: Annotated[int, typer.Option(help="Number of decisions.", metavar="NUMBER", min=1)] = 1000,
    seed: Annotated[int, seed_of("the walls")] = 0,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """Measure the time per decision.

    Asks the configured policy for one decision at a time, as in play, in positions from games of the
    heuristic. With --tower, --width, --depth or --features it measures networks with random weights instead;
    the defaults are then suits, 64 channels, 6 blocks and lite-239/1.
    """
    from bot.logs.setup import set_up_logs

    set_up_logs()
    config = load_settings(config_file, {"decision.permutations": permutations, "decision.device": device})
    from bot.startup.models import compute_of, load, policy_text
    from game.reports import write_report
    from policies.decision_bench import bench_decisions, untrained_policy
    from policies.device import use_one_thread
    from policies.networks import tower_named

    if width is None and depth is None and features is None and tower is None:
        policy, name = load(config.decision), policy_text(config.decision)
    else:
        size = (width or 64, depth or 6, features or "lite-239/1")
        use_one_thread()
        where = compute_of(config.decision)
        name = tower_named(tower or "suits")
        policy = untrained_policy(*size, config.decision.permutations, tower=name, compute=where)
        averaged = f"{config.decision.permutations} permutations"
        name = f"untrained {name} {size[0]}×{size[1]} on {size[2]}, {averaged}, {where.device}"
    return write_report(bench_decisions(policy, name, count=decisions, seed=seed), as_json=as_json)


@bench.command("adaptation")
@reported
def measure_adaptation(
    playouts: Annotated[
        int, typer.Option(help="Rounds to play out for a hand.", metavar="NUMBER", min=16)
    ] = 2000,
    hands: Annotated[
        int, typer.Option(help="Hands to time, one after the other.", metavar="NUMBER", min=1)
    ] = 3,
    device: Annotated[
        str | None,
        typer.Option(
            help="Device for the process: auto, cpu or cuda; default: adaptation.device.", metavar="DEVICE"
        ),
    ] = None,
    seed: Annotated[int, seed_of("the walls")] = 0,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """Measure how soon the policy has adapted to a dealt hand.

    The process is the one that thinks beside a game: it takes only processor time that nothing else wants.
    """
    changes = {
        "mode": "adapt",
        "playouts": playouts,
        "device": device,
        "seconds": 600.0,
    }
    from bot.logs.setup import set_up_logs

    set_up_logs()
    config = load_settings(config_file, {f"adaptation.{name}": value for name, value in changes.items()})
    from bot.adaptation.bench import bench_adaptation
    from bot.startup.models import thinking_of
    from game.reports import write_report

    return write_report(bench_adaptation(thinking_of(config), hands, seed), as_json=as_json)


@bench.command("loader")
@reported
def measure_loader(
    folder: CorpusFolder,
    as_json: AsJson = False,
    slot: Annotated[
        str, typer.Option(help="Decisions to load: discard, riichi, chi, pon or kan.", metavar="SLOT")
    ] = "discard",
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Number of threads; default: one per core.", metavar="NUMBER", min=1),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Stop after about this many samples; default: all.", metavar="NUMBER", min=1),
    ] = None,
    seed: Annotated[int, seed_of("the sample order and the tile permutations")] = 0,
) -> int:
    """Measure the speed of the training data loader.

    It folds and encodes decisions of real games, permutes their tiles, and delivers torch tensors.
    """
    from bot.logs.setup import set_up_logs
    from learning.samples.loader_bench import bench_loader, print_bench

    set_up_logs()
    result = bench_loader(folder, slot, seed=seed, workers=workers, samples=samples)
    return print_bench(result, as_json=as_json)


@bench.command("selfplay")
@reported
def measure_selfplay(
    players: Annotated[
        list[str] | None,
        typer.Option(
            "--player",
            help="Player to measure, as for `suzaku arena`; may be repeated; default: network, heuristic "
            "and random.",
            metavar="PLAYER",
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Hanchan per measurement.", metavar="NUMBER", min=1)] = 128,
    tables: Annotated[
        list[int] | None,
        typer.Option(
            help="Tables played at a time in each process; may be repeated; default: 1, 8, 16, 32, 64 and "
            "128. Several processes are measured with the most.",
            metavar="NUMBER",
            min=1,
        ),
    ] = None,
    workers: Workers = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
    seed: Seed = None,
) -> int:
    """Measure the speed of self-play.

    Reports hanchan per second by number of concurrent tables and of processes, and where the time goes.
    """
    from bot.logs.setup import set_up_logs
    from game.reports import write_report
    from game.workers.ordered import default_workers
    from learning.arena.selfplay_bench import PLAYERS, TABLES, bench_selfplay
    from learning.matches.store import compute_for

    set_up_logs()
    workers = workers or default_workers()
    compute = compute_for(None, device, precision)
    found = bench_selfplay(
        players or PLAYERS,
        games=games,
        workers=workers,
        tables=tables or TABLES,
        seed=seed or 0,
        compute=compute,
    )
    return write_report(found, as_json=as_json)


@bench.command("training")
@reported
def measure_training(
    folder: CorpusFolder,
    model: Annotated[
        str, typer.Option(help="Model to train: discard, riichi, chi, pon or kan.", metavar="NAME")
    ] = "discard",
    preset: Preset = "small",
    tower: Tower = "suits",
    features: FeatureSet = "",
    precision: Precision = "auto",
    seconds: Annotated[
        float, typer.Option(help="Duration of each slice, in seconds.", metavar="NUMBER", min=0.1)
    ] = 10.0,
    seed: TrainingSeed = 0,
    as_json: AsJson = False,
) -> int:
    """Measure the speed of training.

    Measures in turn the loader alone, the network alone, and both together as in a training run.
    """
    from bot.logs.setup import set_up_logs
    from learning.supervised.plan import make_plan
    from learning.supervised.training_bench import bench_training, print_training

    set_up_logs()
    plan = make_plan(
        model, preset=preset, tower=tower, features=features or None, precision=precision, seed=seed
    )
    return print_training(bench_training(plan, folder, seconds=seconds), as_json=as_json)


@bench.command("rl")
@reported
def measure_rl(
    start: NetworkPolicyName = "phoenix",
    games: Annotated[int, typer.Option(help="Games in a block.", metavar="NUMBER", min=1)] = 128,
    workers: Workers = None,
    baseline: BaselineName = "critic",
    temperature: DrawTemperature = 1.0,
    learner_precision: LearnerPrecision = "fp32",
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    seed: Annotated[int, seed_of("walls and draws")] = 0,
    as_json: AsJson = False,
) -> int:
    """Measure how fast self-play learning is.

    Measures how fast actors play, how fast the learner learns, and both at the same time, with one process
    and with several.
    """
    from bot.logs.setup import set_up_logs
    from game.workers.ordered import default_workers
    from learning.matches.store import compute_for
    from learning.reinforcement.plan import make_reinforcement_plan
    from learning.reinforcement.throughput import bench_rl, print_learning_bench
    from learning.supervised.plan import training_precision
    from policies.named import folder_of_named

    set_up_logs()
    compute = compute_for(None, device, precision)
    plan = make_reinforcement_plan(
        block_games=games,
        games=games,
        baseline=baseline,
        temperature=temperature,
        seed=seed,
        precision=training_precision(learner_precision),
        compute=compute,
    )
    found = bench_rl(plan, folder_of_named(start), workers or default_workers())
    return print_learning_bench(found, as_json=as_json)
