"""`suzaku duel`: two-player mahjong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bot.cli.command import Given, command
from bot.cli.shared import AsJson, OutputFile, Workers

if TYPE_CHECKING:
    import learning.cfr.duels


@command()
def duel(
    player: str,
    opponent: str,
    /,
    given: Given[learning.cfr.duels.DuelPlan],
    *,
    watch: Annotated[int, Meta(ge=0)] | None = None,
    log: OutputFile | None = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Play two-player mahjong.

    Two players, over the same deals in both seats. Reports the points a game with a 95 % interval
    (docs/two-player.md).

    Args:
        player: a player: normal, triplets or pairs for one policy, uniform for one drawn at each decision,
            random for any legal action, or a folder of `suzaku train cfr`.
        opponent: the other player, named likewise.
        given: the deals.
        watch: play only the deal of this number, and print every move.
        log: write the log of the watched deal, or of the first, for `suzaku review FILE`.
        workers: processes.
        as_json: whether to print JSON.
    """
    from game.two_player.log import write_log
    from kit.files import replace_file
    from kit.reports import write_report
    from learning.cfr.duels import DuelPlan, play_duels
    from learning.cfr.duels import watch as watch_deal
    from policies.two_player.watched import duel_text

    plan = DuelPlan((player, opponent), **given)
    if watch is not None or log is not None:
        watched = watch_deal(plan, watch or 0)
        if log is not None:
            replace_file(log, write_log(watched))
        if watch is not None:
            return write_report(watched, duel_text, as_json=as_json)
    return write_report(play_duels(plan, workers=workers), as_json=as_json)
