"""Commands for two-player mahjong and counterfactual regret minimisation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli.options import AsJson, Workers, folder_for, reported, seed_of
from bot.cli.paths import output_file

Update: TypeAlias = Annotated[
    str, typer.Option(help="Variant of CFR: cfr, plus (CFR+) or linear.", metavar="NAME")
]
Table: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Node table to measure: a folder of `suzaku train cfr`; or normal, triplets, pairs or uniform. "
        "current:FOLDER is the table's current strategy instead of the average.",
        metavar="TABLE",
    ),
]
FirstPlayer: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A player: normal, triplets or pairs for one policy, uniform for one drawn at each decision, "
        "random for any legal action, or a folder of `suzaku train cfr`.",
        metavar="PLAYER",
    ),
]
SecondPlayer: TypeAlias = Annotated[
    str, typer.Argument(help="The other player, named likewise.", metavar="OPPONENT")
]


@reported
def duel(
    player: FirstPlayer,
    opponent: SecondPlayer,
    deals: Annotated[
        int,
        typer.Option(help="Deals; each is played in both seats.", metavar="NUMBER", min=1, max=10_000_000),
    ] = 10_000,
    seed: Annotated[int, seed_of("deals and choices")] = 0,
    watch: Annotated[
        int | None,
        typer.Option(
            help="Play only the deal of this number, and print every move.", metavar="NUMBER", min=0
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            help="Write the log of the watched deal, or of the first, for `suzaku review FILE`.",
            metavar="FILE",
            parser=output_file,
        ),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Play two-player mahjong.

    Two players, over the same deals in both seats. Reports the points a game with a 95 % interval
    (docs/two-player.md).
    """
    from bot.logs.setup import set_up_logs
    from game.files import replace_file
    from game.reports import write_report
    from game.two_player.log import write_log
    from learning.cfr.duels import DuelPlan, play_duels, print_duels
    from learning.cfr.duels import watch as watch_deal
    from policies.two_player.watched import duel_text

    set_up_logs()
    plan = DuelPlan((player, opponent), deals, seed)
    if watch is not None or log is not None:
        watched = watch_deal(plan, watch or 0)
        if log is not None:
            replace_file(log, write_log(watched))
        if watch is not None:
            write_report(watched, duel_text, as_json=as_json)
            return 0
    return print_duels(play_duels(plan, workers=workers), as_json=as_json)


@reported
def train_cfr(
    out: Annotated[Path, folder_for("of the node table; a stopped run resumes, a finished one goes on")],
    iterations: Annotated[
        int, typer.Option(help="Iterations in all, earlier ones included.", metavar="NUMBER", min=1)
    ] = 10_000,
    sampling: Annotated[
        str,
        typer.Option(
            help="What an iteration tries on its deal: chance for all policies of both players, external for "
            "those of one and a drawn one of the other.",
            metavar="NAME",
        ),
    ] = "chance",
    update: Update = "cfr",
    epoch: Annotated[
        int,
        typer.Option(
            help="Iterations between evaluations; after 20 of these, evaluations come less often.",
            metavar="NUMBER",
            min=1,
        ),
    ] = 500,
    deals: Annotated[
        int, typer.Option(help="Deals of each evaluation.", metavar="NUMBER", min=1, max=1_000_000)
    ] = 3_000,
    seed: Annotated[int, seed_of("deals and samples")] = 0,
    as_json: AsJson = False,
) -> int:
    """Learn when to play which policy in two-player mahjong.

    Monte-Carlo counterfactual regret minimisation over abstract policies, after the CFR-p paper. The node
    table is a SQLite file in --out (docs/two-player.md).
    """
    from bot.logs.setup import set_up_logs
    from learning.cfr.run import CfrPlan, learn, print_run

    set_up_logs()
    plan = CfrPlan(sampling=sampling, update=update, epoch=epoch, deals=deals, seed=seed)
    return print_run(plan, learn(plan, iterations, out, quiet=as_json), out, as_json=as_json)


@reported
def evaluate_exploitability(
    table: Table,
    deals: Annotated[
        int, typer.Option(help="Deals of the benchmark.", metavar="NUMBER", min=1, max=1_000_000)
    ] = 3_000,
    exact_deals: Annotated[
        int,
        typer.Option(
            help="Deals to fit exact best responses to, with as many held out; 0: none. A thousand take a "
            "few seconds and 100 MB.",
            metavar="NUMBER",
            min=0,
            max=100_000,
        ),
    ] = 3_000,
    seed: Annotated[int, seed_of("the deals")] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Measure how exploitable a strategy of two-player mahjong is.

    As the CFR-p paper does, by the best score of the abstract policies on fixed deals; and by exact best
    responses in the abstract game.
    """
    from bot.logs.setup import set_up_logs
    from learning.cfr.exploit_report import measure_exploitability, print_exploitability

    set_up_logs()
    report = measure_exploitability(table, deals=deals, exact_deals=exact_deals, seed=seed, workers=workers)
    return print_exploitability(report, as_json=as_json)


@reported
def evaluate_cfr(
    game: Annotated[str, typer.Option(help="The game: kuhn or leduc.", metavar="NAME")] = "kuhn",
    update: Update = "cfr",
    external: Annotated[
        bool, typer.Option("--external", help="Sample chance and the opponent (external sampling).")
    ] = False,
    iterations: Annotated[
        int, typer.Option(help="Iterations to do.", metavar="NUMBER", min=1, max=100_000_000)
    ] = 20_000,
    seed: Annotated[int, seed_of("the samples")] = 0,
    as_json: AsJson = False,
) -> int:
    """Check counterfactual regret minimisation on a game whose value is known.

    Reports the value and the exploitability of the average strategy as it learns; --json lists the strategy
    too.
    """
    from bot.logs.setup import set_up_logs
    from learning.cfr.known_report import print_known, solve

    set_up_logs()
    report = solve(game, update=update, external=external, iterations=iterations, seed=seed)
    return print_known(report, as_json=as_json)
