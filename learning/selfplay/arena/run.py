"""`suzaku arena`: plays the games of a comparison, and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import structlog

from kit.errors import ReplayError
from kit.reports import write_report
from learning.runs.progress import GamesProgress
from learning.runs.store import writing
from learning.selfplay.arena.plan import ArenaPlan, sets_for
from learning.selfplay.arena.report import ArenaReport, draw_match, report
from learning.selfplay.players import contender, tables_for
from learning.selfplay.runner import OnProgress, SeriesRunner
from learning.selfplay.tally import read_results

_log = structlog.get_logger(__name__)


def make_plan(
    challenger: str, champions: str, *, games: int, tables: int | None, answer_timeout_s: float, **given: Any
) -> ArenaPlan:
    """The games of a comparison, both players loaded.

    Args:
        challenger: as for `learning.selfplay.players.contender`.
        champions: the player in the other seats.
        games: minimum number of games.
        tables: tables played at a time in each process; depends on the players if None.
        answer_timeout_s: for each answer of an external engine.
        given: other fields of the plan.

    Raises:
        ConfigError: a player is not valid.
        CheckpointError: a player's checkpoints cannot be used.
    """
    one, other = (contender(text, answer_timeout_s) for text in (challenger, champions))
    plan = ArenaPlan(
        challenger=one, champions=other, sets=0, tables=tables or tables_for(one, other), **given
    )
    return msgspec.structs.replace(plan, sets=sets_for(games, plan.mode, independent=plan.independent))


def run(
    plan: ArenaPlan,
    *,
    workers: int | None = None,
    ray: str | None = None,
    folder: Path | None = None,
    records: bool = False,
    on_progress: OnProgress = lambda _games, _of, _decisions: None,
) -> ArenaReport | None:
    """Play the games that are missing, and report on all.

    Args:
        plan: the games to play.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        records: also keep every game's record in the folder.
        on_progress: called with the progress.

    Returns:
        None if no duplicate set was completed.

    Raises:
        ConfigError: another run is in the folder, or there is no such cluster.
        WorkerFailed: a process could not continue.
        OSError: the results cannot be written.
    """
    with SeriesRunner(plan, folder, "mjlog" if records else None, on_progress) as runner:
        runner.play(workers, ray)
        return report(
            plan,
            runner.rows.values(),
            seconds=runner.seconds,
            played=runner.played,
            times=runner.times,
        )


def look(folder: Path) -> ArenaReport | None:
    """Report on the results in a folder, finished or not, without playing.

    Args:
        folder: folder of the results.

    Returns:
        None if no duplicate set is complete.

    Raises:
        ReplayError: there are no results, or they cannot be read.
    """
    plan, rows = read_results(folder, ArenaPlan)
    return report(plan, rows)


def compare(
    plan: ArenaPlan,
    folder: Path | None,
    plot: Path | None,
    *,
    records: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        plan: the players and games.
        folder: folder of the results, None to keep none.
        plot: SVG file for a plot of places and stable ranks, None for none.
        records: also keep every game's record in the folder.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.
        as_json: print one JSON object.

    Raises:
        ConfigError: the folder or the cluster is not valid.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
    """
    if plan.caution:
        _log.warning("arena.caution", reason=plan.caution)
    with writing(folder), GamesProgress("arena") as progress:
        found = run(
            plan,
            workers=workers,
            ray=ray,
            folder=folder,
            records=records,
            on_progress=progress.played,
        )
    if found is None:
        raise ReplayError("no set of games could be completed; see the log")
    return _show(found, plot, as_json=as_json)


def show_played(folder: Path, plot: Path | None, *, as_json: bool) -> int:
    """Print the report on the games in a folder, finished or still being played, and return the exit code.

    Args:
        folder: folder of the results.
        plot: SVG file for a plot of places and stable ranks, None for none.
        as_json: print one JSON object.

    Raises:
        ReplayError: results cannot be read, or the plot cannot be written.
    """
    found = look(folder)
    if found is None:
        raise ReplayError(f"{folder}: no set of games is complete yet")
    return _show(found, plot, as_json=as_json)


def _show(found: ArenaReport, plot: Path | None, *, as_json: bool) -> int:
    code = write_report(found, as_json=as_json)
    if plot is not None:
        with writing(plot):
            draw_match(found, plot)
    return code
