"""`suzaku selfplay`: games to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.command import Given, command
from bot.cli.shared import (
    ANSWER_S,
    AnswerTimeout,
    AsJson,
    Device,
    OutputFolder,
    PlayPrecision,
    Ray,
    Workers,
)
from kit.options import Count

if TYPE_CHECKING:
    import learning.selfplay.run


@command()
def selfplay(
    given: Given[learning.selfplay.run.SelfPlay],
    *,
    games: Count,
    out: OutputFolder,
    players: list[str] | None = None,
    answer_timeout: AnswerTimeout = ANSWER_S,
    workers: Workers = None,
    ray: Ray = None,
    device: Device = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
) -> int:
    """Play training games and save their records.

    Every game has its own walls, and the seating rotates through every order. `suzaku corpus build` reads the
    records.

    Args:
        given: the games.
        games: number of games.
        out: folder for results and records. A stopped run resumes there; a finished run continues if --games
            is larger.
        players: one player for all seats, or four separated by commas, each as for `suzaku arena`; default:
            the included networks. If an engine's command contains commas, repeat --players for each player
            instead.
        answer_timeout: of external engines.
        workers: processes.
        ray: address of a cluster.
        device: of the networks.
        precision: of the networks.
        as_json: whether to print JSON.
    """
    from bot.startup.warm import warm_up_visibly
    from learning.runs.store import compute_for, tables_in
    from learning.selfplay.players import tables_for
    from learning.selfplay.run import SelfPlay, play, players_of

    four = players_of(players or ["network"], answer_timeout)
    plan = SelfPlay(
        players=four,
        games=games,
        tables=tables_in(out) or tables_for(*four),
        compute=compute_for(out, device, precision),
        **given,
    )
    warm_up_visibly()
    return play(plan, out, workers=workers, ray=ray, as_json=as_json)
