"""`suzaku review`: the decisions of games, compared with a policy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cli.command import command
from bot.cli.shared import ComparedPolicy, OutputFolder, Source
from kit.options import flag

if TYPE_CHECKING:
    import bot.review.one
    from bot.config.settings import Config
    from replays.review.judging import Adviser


@command({"device": "decision.device"})
def review(
    sources: Annotated[list[Source], Parameter(name="SOURCE...")],
    /,
    *,
    config: Config,
    plan: bot.review.one.ReviewPlan,
    policy: ComparedPolicy = "network",
    compare: str = "",
    out: OutputFolder | None = None,
    as_json: Annotated[bool, flag("--json")] = False,
) -> int:
    """Review games.

    Compares every decision of a player with the policy's choice, and writes a web page and the same data as
    JSON (docs/review.md). For a folder or several records it reviews every game and adds an index.

    Args:
        sources: records in any format, folders of records, links to games on tenhou.net, or ids of games; -
            is stdin.
        config: the configuration.
        plan: whose decisions, and what the reviews show.
        policy: whose choices to compare with.
        compare: a second policy to show as well, or seat:N for the figures of another player, by number.
        out: folder for the results; default: reviews/.
        as_json: print the review as JSON; write files only if --out is given.
    """
    from bot.review.command import review as review_sources
    from bot.startup.models import compute_of

    return review_sources(
        sources,
        plan,
        policy=_adviser(policy),
        compare=_adviser(compare),
        averaging=config.decision.permutations,
        compute=compute_of(config.decision),
        out=out,
        to_json=as_json,
    )


def _adviser(text: str) -> str | Adviser:
    """The engine that a text specifies, else the text."""
    if not text.startswith("engine"):
        return text
    from learning.selfplay.advising import EngineAdviser
    from learning.selfplay.engines import engine_of

    return EngineAdviser(text) if engine_of(text) else text
