"""The command that learns from self-play."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from bot.cli.options import (
    AsJson,
    BaselineName,
    DrawTemperature,
    LearnerPrecision,
    NetworkDevice,
    PlayPrecision,
    Ray,
    RewardName,
    Tonpuu,
    Workers,
    check_ray,
    reported,
    seed_of,
)
from bot.cli.training import training
from bot.cli.training_options import CheckpointFolder, peak_learning_rate

Start: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Policy to start from: network, phoenix, large or a folder of checkpoints.",
        metavar="POLICY",
    ),
]
RunPreset: TypeAlias = Annotated[
    str, typer.Option("--preset", help="Size of the run: tiny, small or large.", metavar="NAME")
]
LearningGames: TypeAlias = Annotated[
    int | None,
    typer.Option("--games", help="Games to learn from; default: the preset's.", metavar="NUMBER", min=1),
]
SeatsName: TypeAlias = Annotated[
    str, typer.Option(help="Seats that learn: all, or one against three opponents.", metavar="all|one")
]
OpponentsName: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Opponents of one seat: the policy of the start, or past versions of the learner.",
        metavar="start|past",
    ),
]
BlockGames: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Games between two versions of the policy; default: the preset's.", metavar="NUMBER", min=1
    ),
]
Lag: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Blocks that play may be behind learning; 0 never plays and learns at the same time.",
        metavar="NUMBER",
        min=0,
        max=100,
    ),
]
Past: TypeAlias = Annotated[
    int,
    typer.Option(help="Blocks between two versions kept for --opponents past.", metavar="NUMBER", min=1),
]
StepsABlock: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--steps", help="Steps of the optimiser per block; default: the preset's.", metavar="NUMBER", min=1
    ),
]
Clip: TypeAlias = Annotated[
    float, typer.Option(help="Limit of PPO on the change of a ratio; 0 for none.", metavar="NUMBER", min=0.0)
]
Reject: TypeAlias = Annotated[
    float, typer.Option(help="Leave out decisions with a larger ratio.", metavar="NUMBER", min=1.0)
]
Anchor: TypeAlias = Annotated[
    float, typer.Option(help="Weight of the divergence from the start.", metavar="NUMBER", min=0.0)
]
OracleGames: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Oracle guiding: games in which the policy also sees the other hands and the wall; default: 0, "
        "or the preset's.",
        metavar="NUMBER",
        min=0,
    ),
]
FadeGames: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Oracle guiding: games after these in which it sees less and less of them; default: 0, or the "
        "preset's.",
        metavar="NUMBER",
        min=0,
    ),
]
EntropyTarget: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--entropy",
        help="Entropy to hold, in nats; default: that of the first block.",
        metavar="NUMBER",
        min=0.0,
    ),
]
EntropyStep: TypeAlias = Annotated[
    float, typer.Option(help="Step by which the weight of the entropy follows it.", metavar="NUMBER", min=0.0)
]
PolicyAveraging: TypeAlias = Annotated[
    float,
    typer.Option(
        "--averaging",
        help="Decay of the moving average of the weights, which is evaluated and kept.",
        metavar="NUMBER",
        min=0.0,
        max=0.9999,
    ),
]
EvaluateEvery: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Games between two evaluations; default: the preset's.", metavar="NUMBER", min=1),
]
EvaluationGames: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Games of an evaluation against the start; default: the preset's.", metavar="NUMBER", min=4
    ),
]


@training.command("rl")
@reported
def train_rl(
    out: CheckpointFolder,
    start: Start = "phoenix",
    preset: RunPreset = "small",
    games: LearningGames = None,
    tonpuu: Tonpuu = False,
    reward: RewardName = "global",
    baseline: BaselineName = "critic",
    seats: SeatsName = "all",
    opponents: OpponentsName = "start",
    past: Past = 20,
    block_games: BlockGames = None,
    lag: Lag = 1,
    temperature: DrawTemperature = 1.0,
    steps: StepsABlock = None,
    learning_rate: Annotated[float, peak_learning_rate()] = 1e-4,
    clip: Clip = 0.2,
    reject: Reject = 4.0,
    anchor: Anchor = 0.0,
    oracle_games: OracleGames = None,
    fade_games: FadeGames = None,
    entropy: EntropyTarget = None,
    entropy_step: EntropyStep = 1e-2,
    averaging: PolicyAveraging = 0.99,
    evaluate_every: EvaluateEvery = None,
    evaluation_games: EvaluationGames = None,
    seed: Annotated[int, seed_of("walls, draws and order")] = 0,
    workers: Workers = None,
    ray: Ray = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    learner_precision: LearnerPrecision = "fp32",
    as_json: AsJson = False,
) -> int:
    """Make a policy stronger by playing against itself.

    Processes play games, drawing discards from the policy's probabilities, and the discard model learns from
    how the rounds ended. Every so many games the policy is compared with the start, and the best is kept. To
    resume a stopped run, give the same command again. See docs/reinforcement.md.
    """
    check_ray(ray)
    from bot.logs.setup import set_up_logs
    from learning.matches.store import compute_for
    from learning.reinforcement.plan import make_reinforcement_plan
    from learning.reinforcement.run import learn_from_play
    from learning.runs.commit import current_commit
    from learning.supervised.plan import training_precision
    from policies.checkpoint import describe
    from policies.checkpoint.card import encode_card
    from policies.named import folder_of_named

    set_up_logs()
    plan = make_reinforcement_plan(
        preset,
        games=games,
        length="tonpuu" if tonpuu else "hanchan",
        reward=reward,
        baseline=baseline,
        seats=seats,
        opponents=opponents,
        past=past,
        block_games=block_games,
        lag=lag,
        temperature=temperature,
        steps=steps,
        learning_rate=learning_rate,
        clip=clip,
        reject=reject,
        anchor=anchor,
        oracle_games=oracle_games,
        fade_games=fade_games,
        entropy=entropy,
        entropy_step=entropy_step,
        averaging=averaging,
        evaluate_every=evaluate_every,
        evaluation_games=evaluation_games,
        seed=seed,
        precision=training_precision(learner_precision),
        compute=compute_for(None, device, precision),
    )
    card = learn_from_play(
        plan,
        folder_of_named(start),
        out,
        workers=workers,
        ray=ray,
        commit=current_commit(),
        quiet=as_json,
    )
    typer.echo(encode_card(card).decode() if as_json else f"{out}: {describe(card)}")
    return 0
