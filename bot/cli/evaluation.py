"""Commands that measure how good the networks and the estimates of reviews are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import (
    AsJson,
    DrawTemperature,
    MeasuredPrecision,
    NetworkDevice,
    NetworkPolicyName,
    PlayPrecision,
    RewardName,
    Workers,
    folder_for,
    reported,
    seed_of,
)
from bot.cli.paths import existing_folder, existing_path, output_file, output_folder
from bot.cli.selection import Data, GameSample, LeastRank, OfficialAi, PlayerName, Rooms, Split

evaluation = typer.Typer(help="Measure how good the networks are.", no_args_is_help=True)

SoFar = Annotated[
    bool, typer.Option("--so-far", help="Report on what is in --out so far, and measure nothing.")
]
"""Report on a run that may be under way."""


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
    precision: MeasuredPrecision = "fp32",
    seed: Annotated[int, seed_of("the samples and the intervals")] = 0,
    as_json: AsJson = False,
) -> int:
    """Compare the networks' choices with those of players in real games.

    Reports how often they agree and how confident the networks are, by turn, riichi and rank, together with
    the rule-based player.
    """
    from bot.logs.setup import set_up_logs
    from game.reports import write_report
    from learning.accuracy import evaluate, make_settings
    from learning.matches.store import compute_for

    set_up_logs()
    settings = make_settings(
        checkpoints=checkpoints or (),
        models=model or (),
        split=split,
        selection={"rooms": tuple(room or ()), "least_rank": least_rank, "player": player, "ai": ai},
        games=games,
        averaging=permutations,
        heuristic=heuristic_decisions if heuristic else 0,
        compute=compute_for(None, "auto", precision),
        seed=seed,
    )
    return write_report(evaluate(data, settings, quiet=as_json), as_json=as_json)


@evaluation.command("agents")
@reported
def evaluate_agents(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs of `suzaku arena`, one for each player; their opponents must be the same.",
            metavar="FOLDER...",
            parser=existing_folder,
        ),
    ],
    plot: Annotated[
        Path | None,
        typer.Option(
            help="SVG file for a plot of stable ranks and points.", metavar="FILE", parser=output_file
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Put several players side by side that met the same opponents in the arena.

    Reports places, points, rank points and stable ranks with their intervals.
    """
    from game.reports import write_report
    from learning.arena.agents import compare_agents, draw_agents

    found = compare_agents(runs)
    if plot is not None:
        draw_agents(found, plot)
    return write_report(found, as_json=as_json)


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
    from game.reports import write_report
    from learning.danger.report import measure_danger

    set_up_logs()
    report = measure_danger(data, split=split, rooms=tuple(room or ()), games=games, seed=seed, quiet=as_json)
    return write_report(report, as_json=as_json)


@evaluation.command("hands")
@reported
def evaluate_hands(
    data: Data,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Folder with models of hands; default: the included ones.",
            metavar="FOLDER",
            parser=existing_folder,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this model: direct, diffusion or autoregressive; may be repeated.", metavar="NAME"
        ),
    ] = None,
    split: Split = "",
    room: Rooms = None,
    games: GameSample = 0,
    decisions: Annotated[
        int, typer.Option(help="Decisions at which hands are generated.", metavar="NUMBER", min=2)
    ] = 1000,
    discards: Annotated[
        int, typer.Option(help="Discards whose danger is foreseen.", metavar="NUMBER", min=2)
    ] = 50_000,
    hands: Annotated[
        int,
        typer.Option(help="Hands to generate for each opponent at each decision.", metavar="NUMBER", min=1),
    ] = 100,
    steps: Annotated[
        list[int] | None,
        typer.Option(
            help="Steps of the diffusion; default: those it was distilled for, or 12; may be repeated.",
            metavar="NUMBER",
            min=1,
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            help="Share of the noise of DDPM at each step; 0 is DDIM; default: 0 if distilled, else 1.",
            metavar="NUMBER",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    guidance: Annotated[
        float, typer.Option(help="Strength of the diffusion's guidance.", metavar="NUMBER", min=0.0)
    ] = 0.0,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Round greedily as in the paper, not all hands together.")
    ] = False,
    one_tile: Annotated[
        bool,
        typer.Option("--one-tile", help="Autoregressive: ask the network for every tile, not for three."),
    ] = False,
    match_ready: Annotated[
        bool,
        typer.Option(help="Make as many generated hands ready as the direct model expects."),
    ] = True,
    plots: Annotated[
        Path | None,
        typer.Option(help="Folder for plots of shanten and waits.", metavar="FOLDER", parser=output_folder),
    ] = None,
    seed: Annotated[int, seed_of("the samples and the hands")] = 0,
    as_json: AsJson = False,
) -> int:
    """Compare what the models of hands foresee with the hands of real games (docs/hands.md).

    Reports the errors of shanten, the calibration of waits, the cost of generated hands, and how well
    deal-ins are foreseen, by rule and by the direct model.
    """
    from bot.logs.setup import set_up_logs
    from game.reports import write_report
    from learning.hands.evaluation import HandsEvaluation, evaluate_hands, save_plots
    from policies.device import use_one_thread
    from policies.hands.autoregressive import AutoregressiveSettings
    from policies.hands.diffusion import DiffusionSettings
    from policies.hands.direct import HAND_MODELS_FOLDER

    set_up_logs()
    use_one_thread()
    plan = HandsEvaluation(
        folder=checkpoints or HAND_MODELS_FOLDER,
        models=tuple(model or ()),
        split=split,
        rooms=tuple(room or ()),
        games=games,
        decisions=decisions,
        discards=discards,
        samples=hands,
        diffusion=tuple(
            DiffusionSettings(
                steps=each,
                noise=noise,
                guidance=guidance,
                rounding="greedy" if greedy else "together",
                match_ready=match_ready,
            )
            for each in steps or (0,)
        ),
        autoregressive=(AutoregressiveSettings(together=not one_tile, match_ready=match_ready),),
        seed=seed,
    )
    report = evaluate_hands(data, plan, quiet=as_json)
    if plots is not None:
        save_plots(report, plots)
    return write_report(report, as_json=as_json)


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
            help="Networks that judge and play: network, phoenix, large or a folder of checkpoints.",
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
    from learning.losses.study import LossPlan, print_report, study
    from policies.device import use_one_thread

    set_up_logs()
    use_one_thread()
    plan = LossPlan(games, split, worlds, policy, seed)
    return print_report(study(data, plan, quiet=as_json), as_json=as_json)


@evaluation.command("deals")
@reported
def evaluate_deals(
    out: Annotated[Path, folder_for("for the results; a run in it is resumed")],
    policy: NetworkPolicyName = "network",
    sampler: Annotated[
        list[str] | None,
        typer.Option(
            help="Sampler of deals: uniform, autoregressive, diffusion or diffusion:steps=NUMBER; may be "
            "repeated; default: uniform and diffusion.",
            metavar="NAME",
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Games to take decisions from.", metavar="NUMBER", min=1)] = 500,
    per_game: Annotated[
        int, typer.Option(help="Most close decisions of a game to play out.", metavar="NUMBER", min=1)
    ] = 2,
    close: Annotated[
        float,
        typer.Option(
            help="Least probability of the second choice in a close decision.",
            metavar="SHARE",
            min=0.01,
            max=0.5,
        ),
    ] = 0.15,
    worlds: Annotated[
        int, typer.Option(help="Deals of each sampler for a decision.", metavar="NUMBER", min=4)
    ] = 70,
    walls: Annotated[
        int,
        typer.Option(
            help="Walls drawn for the true hands, which judge; 0 draws twice as many as --worlds.",
            metavar="NUMBER",
            min=0,
        ),
    ] = 0,
    from_go_around: Annotated[
        int,
        typer.Option(
            help="Earlier discards that the player must have made.", metavar="NUMBER", min=0, max=17
        ),
    ] = 0,
    hands_only: Annotated[
        bool, typer.Option("--hands-only", help="Compare the hands only, and play nothing out.")
    ] = False,
    final: Annotated[
        bool,
        typer.Option("--final", help="Compare choices by the expected final reward too."),
    ] = False,
    so_far: SoFar = False,
    seed: Annotated[int, seed_of("games, decisions and deals")] = 0,
    workers: Workers = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
) -> int:
    """Measure how well sampled hidden hands stand for the real ones.

    Takes close decisions of self-play, and plays the two likeliest discards to the end of the round over the
    same sampled deals. Compares the difference with the one that the true hands give, and judges the choices
    made by sampled deals with the true hands.
    """
    from bot.logs.setup import set_up_logs
    from learning.matches.store import compute_for
    from learning.worlds.figures import DEALS, make_plan, measure

    set_up_logs()
    if so_far:
        return DEALS.show(DEALS.so_far(out), as_json=as_json)
    plan = make_plan(
        policy=policy,
        samplers=sampler or ("uniform", "diffusion"),
        games=games,
        per_game=per_game,
        close=close,
        worlds=worlds,
        seed=seed,
        play=not hands_only,
        final=final,
        from_go_around=from_go_around,
        walls=walls,
        compute=compute_for(out, device, precision),
    )
    return DEALS.show(measure(plan, out, workers=workers, quiet=as_json), as_json=as_json)


@evaluation.command("adaptation")
@reported
def evaluate_adaptation(
    out: Annotated[Path, folder_for("for the results; a run in it is resumed")],
    policy: NetworkPolicyName = "network",
    sampler: Annotated[
        str, typer.Option(help="Sampler of the deals to learn from (docs/hands.md).", metavar="NAME")
    ] = "uniform",
    hands: Annotated[int, typer.Option(help="Hands to adapt to.", metavar="NUMBER", min=1)] = 300,
    playouts: Annotated[
        list[int] | None,
        typer.Option(
            help="Rounds to learn from; tests follow each number; default: 100, 500 and 2000.",
            metavar="NUMBER",
            min=2,
        ),
    ] = None,
    tests: Annotated[int, typer.Option(help="Rounds of a test.", metavar="NUMBER", min=2)] = 400,
    moment: Annotated[
        str,
        typer.Option(
            help="Hands at the start of a round, tested with new hands for the others, or in its middle, "
            "tested with the true ones.",
            metavar="start|middle",
        ),
    ] = "start",
    reward: RewardName = "points",
    steps: Annotated[int, typer.Option(help="Gradient steps.", metavar="NUMBER", min=1)] = 2,
    divergence: Annotated[
        list[float] | None,
        typer.Option(
            help="How far the policy may move, in nats a decision; each is tested; default: 0.3.",
            metavar="NATS",
            min=1e-6,
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(
            help="Deals on which the adapted policy is tested, and given up unless it gains; 0 for none.",
            metavar="NUMBER",
            min=0,
        ),
    ] = 128,
    replays: Annotated[
        int,
        typer.Option(
            help="Play-outs of each deal; their common part is luck, and is subtracted.",
            metavar="NUMBER",
            min=1,
        ),
    ] = 2,
    temperature: DrawTemperature = 1.0,
    so_far: SoFar = False,
    seed: Annotated[int, seed_of("games, hands and deals")] = 0,
    workers: Workers = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
) -> int:
    """Measure what adapting the policy to a dealt hand gains.

    Takes hands from self-play, lets a copy of the policy learn from rounds played out over sampled deals, and
    compares it with the policy over other deals, with the same tiles for both.
    """
    from bot.logs.setup import set_up_logs
    from learning.adaptation.figures import ADAPTATION, make_plan, measure
    from learning.matches.store import compute_for
    from policies.adaptation import AdaptationSettings

    set_up_logs()
    if so_far:
        return ADAPTATION.show(ADAPTATION.so_far(out), as_json=as_json)
    plan = make_plan(
        policy=policy,
        sampler=sampler,
        hands=hands,
        playouts=tuple(playouts or (100, 500, 2_000)),
        tests=tests,
        moment=moment,
        reward=reward,
        divergences=tuple(divergence or (AdaptationSettings().divergence,)),
        settings=AdaptationSettings(
            steps=steps,
            trials=trials,
            replays=replays,
            temperature=temperature,
        ),
        seed=seed,
        compute=compute_for(out, device, precision),
    )
    return ADAPTATION.show(measure(plan, out, workers=workers, quiet=as_json), as_json=as_json)
