"""`suzaku bench`: how fast each part is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bot.cli.command import Given, command
from bot.cli.shared import (
    NO_LOGIN,
    AsJson,
    CorpusFolder,
    Device,
    Player,
    Precision,
    TrainingPrecision,
    WallSeed,
    Workers,
)
from kit.options import Count, Seed, flag
from kit.reports import write_report

if TYPE_CHECKING:
    import learning.measure.bench
    import learning.train.plan
    import policies.flow.slots
    import policies.nets.architectures
    from bot.config.settings import Config


@command()
def features(*, as_json: AsJson = False, seed: WallSeed = 0) -> int:
    """Measure the speed of the feature encoders.

    Reports encodings per second on one core and the time per decision.
    """
    from learning.measure.bench import bench_features

    return write_report(bench_features(seed=seed), as_json=as_json)


@command({"permutations": "decision.permutations", "device": "decision.device"}, fixed=NO_LOGIN)
def decision(
    *,
    config: Config,
    untrained: Given[learning.measure.bench.UntrainedNetworks],
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
    from learning.measure.bench import UntrainedNetworks, bench_decisions

    policy, name = None, policy_text(config.decision)
    if untrained:
        networks, averaging = UntrainedNetworks(**untrained), config.decision.permutations
        compute = compute_of(config.decision)
        policy = networks.policy(averaging, compute)
        name = f"{networks}, {averaging} permutations, {compute.device}"
    found = bench_decisions(policy or load(config.decision), name, number=decisions, seed=seed)
    return write_report(found, as_json=as_json)


@command()
def selfplay(
    *,
    players: Annotated[list[Player], flag("--player")] | None = None,
    games: Count = 128,
    tables: list[Count] | None = None,
    workers: Workers = None,
    device: Device = "cpu",
    precision: Precision = "auto",
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
    from kit.workers.ordered import default_workers
    from learning.measure.bench import PLAYERS, TABLES, bench_selfplay
    from learning.runs.store import compute_for

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
    preset: learning.train.plan.PresetName = "small",
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
    from learning.measure.bench import bench_training
    from learning.train.plan import make_plan

    plan = make_plan(
        model, preset=preset, tower=tower, features=features or None, precision=precision, seed=seed
    )
    return write_report(bench_training(plan, corpus, seconds=seconds), as_json=as_json)
