"""`suzaku train`: networks, and tables of two-player mahjong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cli.command import command
from bot.cli.shared import AsJson, OutputFolder
from game.options import Count

if TYPE_CHECKING:
    import learning.cfr.run


@command()
def cfr(
    plan: learning.cfr.run.CfrPlan,
    *,
    out: Annotated[
        OutputFolder,
        Parameter(help="Folder of the node table; a stopped run resumes, a finished one goes on."),
    ],
    iterations: Count = 10_000,
    as_json: AsJson = False,
) -> int:
    """Learn when to play which policy in two-player mahjong.

    Monte-Carlo counterfactual regret minimisation over abstract policies, after the CFR-p paper. The node
    table is a SQLite file in --out (docs/two-player.md).

    Args:
        plan: the run.
        out: folder of the node table.
        iterations: iterations in all, earlier ones included.
        as_json: whether to print JSON.
    """
    from learning.cfr.run import learn, print_run

    return print_run(plan, learn(plan, iterations, out, quiet=as_json), out, as_json=as_json)
