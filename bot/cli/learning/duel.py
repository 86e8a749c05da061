"""`suzaku duel`: two-player mahjong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.command import Given, command
from bot.cli.shared import AsJson, Workers

if TYPE_CHECKING:
    import learning.cfr.duel


@command()
def duel(
    player: str,
    opponent: str,
    /,
    given: Given[learning.cfr.duel.DuelPlan],
    *,
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
        workers: processes.
        as_json: whether to print JSON.
    """
    from kit.reports import write_report
    from learning.cfr.duel import DuelPlan, play_duels

    return write_report(play_duels(DuelPlan((player, opponent), **given), workers=workers), as_json=as_json)
