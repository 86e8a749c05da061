"""`suzaku bench`: how fast each part is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bot.cli.command import Given, Setting, command
from bot.cli.shared import (
    AsJson,
    CorpusFolder,
    Device,
    PlayPrecision,
    TrainingPrecision,
    WallSeed,
    Workers,
)
from kit.options import Count, Seed, flag

if TYPE_CHECKING:
    import learning.reinforcement.plan
    import learning.supervised.plan
    import policies.flow.slots
    import policies.nets.architectures
    import policies.play.bench
    from bot.config.settings import Config


@command()
def game(*, as_json: AsJson = False, seed: WallSeed = 0) -> int:
    """Measure the speed of the game package.

    Measures shanten, the fold of whole games, and table steps compared with the bare engine.
    """
    from bot.measurements import bench_game, print_bench

    return print_bench(bench_game(seed=seed), as_json=as_json)


@command()
def features(*, as_json: AsJson = False, seed: WallSeed = 0) -> int:
    """Measure the speed of the feature encoders.

    Reports encodings per second on one core and the time per decision, compared with the engine's own
    encoder.
    """
    from kit.reports import write_report
    from policies.play.encoding_bench import bench_features

    return write_report(bench_features(seed=seed), as_json=as_json)


@command({"permutations": "decision.permutations", "device": "decision.device"})
def decision(
    *,
    config: Config,
    untrained: Given[policies.play.bench.UntrainedNetworks],
    decisions: Count = 1000,
    seed: WallSeed = 0,
    as_json: AsJson = False,
) -> int:
    """Measure the time per decision.

    Asks the configured policy for one decision at a time, as in play, in positions from games of the
    heuristic. With --tower, --width, --depth or --features it measures networks with random weights instead.

    Args:
        config: the configuration.
        untrained: networks to measure.
        decisions: number of decisions.
        seed: of the walls.
        as_json: whether to print JSON.
    """
    from bot.startup.models import compute_of, load, policy_text
    from kit.reports import write_report
    from policies.play.bench import UntrainedNetworks, bench_decisions, untrained_policy

    if not untrained:
        policy, name = load(config.decision), policy_text(config.decision)
        return write_report(bench_decisions(policy, name, count=decisions, seed=seed), as_json=as_json)
    networks, averaging = UntrainedNetworks(**untrained), config.decision.permutations
    compute = compute_of(config.decision)
    name = f"{networks}, {averaging} permutations, {compute.device}"
    networks_policy = untrained_policy(networks, averaging, compute=compute)
    return write_report(bench_decisions(networks_policy, name, count=decisions, seed=seed), as_json=as_json)


@command(
    {
        "playouts": Setting("adaptation.playouts", help="Rounds to play out for a hand; default: 2000."),
        "device": Setting("adaptation.device", help="Device for the process; default: the configured one."),
    },
    fixed={"adaptation.mode": "adapt", "adaptation.playouts": 2000, "adaptation.seconds": 600.0},
)
def adaptation(config: Config, *, hands: Count = 3, seed: WallSeed = 0, as_json: AsJson = False) -> int:
    """Measure how soon the policy has adapted to a dealt hand.

    The process is the one that thinks beside a game: it takes only processor time that nothing else wants.

    Args:
        config: the configuration.
        hands: hands to time, one after the other.
        seed: of the walls.
        as_json: whether to print JSON.
    """
    from bot.adaptation.bench import bench_adaptation
    from bot.startup.models import thinking_of
    from kit.reports import write_report

    return write_report(bench_adaptation(thinking_of(config), hands, seed), as_json=as_json)


@command()
def loader(
    *,
    corpus: CorpusFolder,
    as_json: AsJson = False,
    slot: policies.flow.slots.Slot = "discard",  # type: ignore[assignment]
    workers: Count | None = None,
    samples: Count | None = None,
    seed: Seed = 0,
) -> int:
    """Measure the speed of the training data loader.

    It folds and encodes decisions of real games, permutes their tiles, and delivers torch tensors.

    Args:
        corpus: the games.
        as_json: whether to print JSON.
        slot: decisions to load.
        workers: number of threads; default: one per core.
        samples: stop after about this many samples; default: all.
        seed: seed of the sample order and the tile permutations.
    """
    from kit.reports import write_report
    from learning.samples.loader_bench import bench_loader

    found = bench_loader(corpus, slot, seed=seed, workers=workers, samples=samples)
    return write_report(found, as_json=as_json)


@command()
def selfplay(
    *,
    players: Annotated[list[str], flag("--player")] | None = None,
    games: Count = 128,
    tables: list[Count] | None = None,
    workers: Workers = None,
    device: Device = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
    seed: WallSeed = 0,
) -> int:
    """Measure the speed of self-play.

    Reports hanchan per second by number of concurrent tables and of processes, and where the time goes.

    Args:
        players: player to measure, as for `suzaku arena`; may be repeated; default: network, heuristic and
            random.
        games: hanchan per measurement.
        tables: tables played at a time in each process; may be repeated; default: 1, 8, 16, 32, 64 and 128.
            Several processes are measured with the most.
        workers: number of processes.
        device: of the networks.
        precision: of the networks.
        as_json: whether to print JSON.
        seed: of all walls.
    """
    from kit.reports import write_report
    from kit.workers.ordered import default_workers
    from learning.arena.selfplay_bench import PLAYERS, TABLES, bench_selfplay
    from learning.matches.store import compute_for

    found = bench_selfplay(
        players or PLAYERS,
        games=games,
        workers=workers or default_workers(),
        tables=tables or TABLES,
        seed=seed,
        compute=compute_for(None, device, precision),
    )
    return write_report(found, as_json=as_json)


@command()
def training(
    *,
    corpus: CorpusFolder,
    model: policies.flow.slots.Slot = "discard",  # type: ignore[assignment]
    preset: learning.supervised.plan.PresetName = "small",
    tower: policies.nets.architectures.TowerName = "suits",
    features: str = "",
    precision: TrainingPrecision = "auto",
    seconds: Annotated[float, Meta(ge=0.1)] = 10.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Measure the speed of training.

    Measures in turn the loader alone, the network alone, and both together as in a training run.

    Args:
        corpus: the games.
        model: model to train.
        preset: network size.
        tower: body of the network.
        features: feature set; default: the model's lite set.
        precision: of learning.
        seconds: duration of each slice, in seconds.
        seed: seed of weights, sample order and tile permutations.
        as_json: whether to print JSON.
    """
    from kit.reports import write_report
    from learning.supervised.plan import make_plan
    from learning.supervised.training_bench import bench_training

    plan = make_plan(
        model, preset=preset, tower=tower, features=features or None, precision=precision, seed=seed
    )
    return write_report(bench_training(plan, corpus, seconds=seconds), as_json=as_json)


@command()
def rl(
    *,
    start: str = "phoenix",
    games: Count = 128,
    workers: Workers = None,
    baseline: learning.reinforcement.plan.BaselineKind = "critic",
    temperature: Annotated[float, Meta(ge=0.05, le=100.0)] = 1.0,
    learner_precision: TrainingPrecision = "fp32",
    device: Device = "cpu",
    precision: PlayPrecision = "auto",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Measure how fast self-play learning is.

    Measures how fast actors play, how fast the learner learns, and both at the same time, with one process
    and with several.

    Args:
        start: policy that plays and learns: network, phoenix, large or a folder of checkpoints.
        games: games in a block.
        workers: number of processes.
        baseline: baseline of the rewards; oracle: of a critic that sees all tiles.
        temperature: sampling temperature of the discards.
        learner_precision: of learning.
        device: of the networks in play.
        precision: of the networks in play.
        seed: seed of walls and draws.
        as_json: whether to print JSON.
    """
    from kit.reports import write_report
    from kit.workers.ordered import default_workers
    from learning.matches.store import compute_for
    from learning.reinforcement.plan import make_reinforcement_plan
    from learning.reinforcement.throughput import bench_rl
    from learning.supervised.plan import training_precision
    from policies.play.named import folder_of_named

    plan = make_reinforcement_plan(
        block_games=games,
        games=games,
        baseline=baseline,
        temperature=temperature,
        seed=seed,
        precision=training_precision(learner_precision),
        compute=compute_for(None, device, precision),
    )
    found = bench_rl(plan, folder_of_named(start), workers or default_workers())
    return write_report(found, as_json=as_json)
