"""The command `suzaku arena`, from flags to report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import structlog

from game.errors import ReplayError
from game.reports import write_report
from learning.arena.page.render import write_page
from learning.arena.plan import ArenaPlan, sets_for
from learning.arena.report import ArenaReport
from learning.arena.run import look, run
from learning.matches.players import contender, tables_for
from learning.runs.progress import GamesProgress

_log = structlog.get_logger(__name__)


def make_plan(
    challenger: str, champions: str, *, games: int, tables: int | None, answer_timeout_s: float, **given: Any
) -> ArenaPlan:
    """The games of a comparison, both players loaded.

    Args:
        challenger: as for `learning.matches.players.contender`.
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


def compare(
    plan: ArenaPlan,
    folder: Path | None,
    html: Path | None,
    *,
    records: bool,
    sequential: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        plan: the players and games.
        folder: folder of the results, None to keep none.
        html: file for the page of the comparison, None for no page.
        records: also keep every game's record in the folder.
        sequential: stop as soon as one side is clearly better.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.workers.spread.spread`.
        as_json: print one JSON object.

    Raises:
        ConfigError: the folder or the cluster is not valid.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
    """
    if plan.caution:
        _log.warning("arena.caution", reason=plan.caution)
    try:
        with GamesProgress("arena") as progress:
            found = run(
                plan,
                workers=workers,
                ray=ray,
                folder=folder,
                records=records,
                sequential=sequential,
                on_progress=progress.played,
            )
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    if found is None:
        raise ReplayError("no set of games could be completed; see the log")
    return _show(found, html, as_json=as_json)


def show_played(folder: Path, html: Path | None, *, sequential: bool, as_json: bool) -> int:
    """Print the report on the games in a folder, finished or still being played, and return the exit code.

    Args:
        folder: folder of the results.
        html: file for the page of the comparison, None for no page.
        sequential: ignore games past the point where one side was clearly better.
        as_json: print one JSON object.

    Raises:
        ReplayError: results cannot be read, or the page cannot be written.
    """
    found = look(folder, sequential=sequential)
    if found is None:
        raise ReplayError(f"{folder}: no set of games is complete yet")
    return _show(found, html, as_json=as_json)


def _show(found: ArenaReport, html: Path | None, *, as_json: bool) -> int:
    code = write_report(found, as_json=as_json)
    if html is not None:
        try:
            write_page(found, html)
        except OSError as exc:
            raise ReplayError(f"{html}: {exc.strerror or exc}") from exc
    return code
