"""`suzaku arena`, `selfplay` and `duel`: games between players, to compare them or to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bot.cli.command import Given, command
from bot.cli.shared import (
    ANSWER_S,
    AnswerTimeout,
    AsJson,
    Device,
    OutputFile,
    OutputFolder,
    Player,
    PlayPrecision,
    Ray,
    Workers,
)
from kit.errors import ConfigError
from kit.options import Count, flag
from kit.reports import write_report

if TYPE_CHECKING:
    import learning.cfr.duel
    import learning.selfplay.arena.plan
    import learning.selfplay.run


@command()
def arena(
    given: Given[learning.selfplay.arena.plan.ArenaPlan],
    *,
    challenger: Player = "network",
    champion: Player = "heuristic",
    games: Count = 400,
    out: OutputFolder | None = None,
    records: bool = False,
    report_only: Annotated[bool, flag("--report")] = False,
    workers: Workers = None,
    ray: Ray = None,
    tables: Count | None = None,
    device: Device = "cpu",
    precision: PlayPrecision = "auto",
    answer_timeout: AnswerTimeout = ANSWER_S,
    differences: bool = False,
    walls: Count | None = None,
    horizon: Annotated[int, Meta(ge=0, le=70)] = 0,
    uma: learning.selfplay.arena.plan.UmaOption = None,
    plot: OutputFile | None = None,
    as_json: AsJson = False,
) -> int:
    """Compare two players.

    The players rotate through the seats over the same walls. Reports their placements with 95 % intervals.

    Args:
        given: the comparison.
        challenger: player to measure: network (imitates LuckyJ), phoenix (imitates people of the Phoenix
            room), players@NAME (Suphx, NAGA25, Tenhoui, or 10-dan to 4-dan), heuristic, beginner, random, or
            a folder of checkpoints. Append :6 or :12 to average over that many tile permutations,
            +search=DEALS to search close decisions, +adapt=PLAYOUTS to adapt to the dealt hand.
            python:FILE.py is a policy of your own (docs/policy.md). External mjai programs: engine:COMMAND
            answers arrays of messages, engine-lines:COMMAND answers every message, engine-asked:COMMAND
            answers only when it has a choice. Prefix NAME= to set the name in reports and records.
        champion: player in the other seats.
        games: number of games, rounded up to whole sets.
        out: folder for the results. A stopped run resumes there; a finished run continues if --games is
            larger.
        records: also save the record of every game in --out.
        report_only: play no games; report on the games in --out, also of an unfinished run.
        workers: processes.
        ray: address of a cluster.
        tables: concurrent tables per process; default: 128, or 4 with an external engine, which needs one
            process per seat.
        device: of the networks.
        precision: of the networks.
        answer_timeout: of external engines.
        differences: instead of a match, play out both choices wherever the champion would have decided
            otherwise than the challenger, and add up the differences; best if they seldom differ.
        walls: walls over which a difference is played out, with --differences; default: 4.
        horizon: with --differences, stop play-outs after this many discards and let the critic value the
            rest, which is quicker but adds its errors; 0: play to the end of the round.
        uma: what places are worth to you, in place of a 7-dan's rank points (90,45,0,-135): four numbers, or
            with the score 15,5,-5,-15@25000 (docs/arena.md). Only the report follows it; the players play as
            trained.
        plot: SVG file for a plot of places and stable ranks, or with --differences of where the gain comes
            from.
        as_json: whether to print JSON.
    """
    from bot.startup.warm import warm_up_visibly
    from kit.distribution import require
    from learning.runs.store import compute_for, tables_in
    from learning.selfplay.arena.differences_report import compare_decisions
    from learning.selfplay.arena.plan import make_plan
    from learning.selfplay.arena.report import compare, show_played

    if differences and (records or given.keys() & {"mode", "independent"}):
        raise ConfigError("--differences goes with none of --records, --two and --independent")
    if (horizon or walls) and not differences:
        raise ConfigError("--walls and --horizon go with --differences")
    if horizon and uma:
        raise ConfigError("--uma goes without --horizon, whose critic knows only a 7-dan's rank points")
    if out is None and (report_only or records):
        raise ConfigError(
            "--report needs --out: the folder whose games to report on"
            if report_only
            else "--records needs --out: records are kept beside the results"
        )
    if plot is not None:
        require("matplotlib", "--plot")
    if differences:
        return compare_decisions(
            challenger,
            champion,
            out,
            plot,
            report_only=report_only,
            workers=workers,
            ray=ray,
            as_json=as_json,
            games=games,
            walls=walls or 4,
            horizon=horizon,
            uma=uma,
            compute=compute_for(out, device, precision),
            **given,
        )
    if out is not None and report_only:
        return show_played(out, plot, uma=uma, as_json=as_json)
    plan = make_plan(
        challenger,
        champion,
        games=games,
        tables=tables or tables_in(out),
        compute=compute_for(out, device, precision),
        answer_timeout_s=answer_timeout,
        **given,
    )
    warm_up_visibly()
    return compare(plan, out, plot, uma=uma, records=records, workers=workers, ray=ray, as_json=as_json)


@command()
def selfplay(
    given: Given[learning.selfplay.run.SelfPlay],
    *,
    games: Count,
    out: OutputFolder,
    players: list[Player] | None = None,
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
    from learning.cfr.duel import DuelPlan, play_duels

    return write_report(play_duels(DuelPlan((player, opponent), **given), workers=workers), as_json=as_json)
