"""The command `suzaku arena`, from flags to report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

from game.errors import ConfigError, ReplayError
from game.settlement import GameLength
from learning.arena.coverage import GAMES as COVERAGE_GAMES
from learning.arena.page.render import write_page
from learning.arena.plan import ArenaPlan, Mode, sets_for
from learning.arena.report import ArenaReport, print_report
from learning.arena.run import look, run
from learning.matches.players import contender, tables_for
from learning.runs.progress import GamesProgress
from policies.compute import Compute

_log = structlog.get_logger(__name__)


def make_plan(
    challenger: str,
    champions: str,
    *,
    games: int,
    seed: int,
    mode: Mode,
    length: GameLength,
    independent: bool,
    coverage_runs: int,
    tables: int | None,
    compute: Compute,
    answer_timeout_s: float,
) -> ArenaPlan:
    """The games of a comparison, both players loaded.

    Args:
        challenger: as for `learning.matches.players.contender`.
        champions: the player in the other seats.
        games: minimum number of games.
        seed: determines every wall.
        mode: one against three, or two against two.
        length: length of the games.
        independent: give each game walls of its own.
        coverage_runs: number of small runs that will be drawn from the games.
        tables: tables played at a time in each process; depends on the players if None.
        compute: device and precision of the networks.
        answer_timeout_s: for each answer of an external engine.

    Raises:
        ConfigError: a player is not valid, or there are too few games to draw runs from.
    """
    one, other = (contender(text, answer_timeout_s) for text in (challenger, champions))
    plan = ArenaPlan(
        challenger=one,
        champions=other,
        sets=sets_for(games, mode, independent=independent),
        seed=seed,
        mode=mode,
        independent=independent,
        length=length,
        tables=tables or tables_for(one, other),
        compute=compute,
    )
    if coverage_runs and plan.games < COVERAGE_GAMES:
        raise ConfigError(f"--coverage needs --games {COVERAGE_GAMES} or more, to draw its runs from")
    return plan


def compare(
    plan: ArenaPlan,
    *,
    folder: Path | None,
    records: bool,
    sequential: bool,
    coverage_runs: int,
    html: Path | None,
    workers: int | None,
    ray: str | None,
    as_json: bool,
    prepare: Callable[[], object] = lambda: None,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        plan: the players and games.
        folder: folder of the results, None to keep none.
        records: also keep every game's record in it.
        sequential: stop as soon as one side is clearly better.
        coverage_runs: number of small runs to draw from the games, to count the intervals that contain 2.5.
        html: file for the page of the comparison, None for no page.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.workers.spread.spread`.
        as_json: print one JSON object.
        prepare: called before the first game.

    Raises:
        ConfigError: the folder or the cluster is not valid.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
    """
    if plan.caution:
        _log.warning("arena.caution", reason=plan.caution)
    prepare()
    try:
        with GamesProgress("arena") as progress:
            found = run(
                plan,
                workers=workers,
                ray=ray,
                folder=folder,
                records=records,
                sequential=sequential,
                coverage_runs=coverage_runs,
                on_progress=progress.played,
            )
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    if found is None:
        raise ReplayError("no set of games could be completed; see the log")
    return show(found, html, as_json=as_json)


def compare_played(
    folder: Path | None, *, sequential: bool, coverage_runs: int, html: Path | None, as_json: bool
) -> int:
    """Print the report on the games in a folder, finished or still being played, and return the exit code.

    Args:
        folder: folder of the results.
        sequential: ignore games past the point where one side was clearly better.
        coverage_runs: number of small runs to draw from the games, to count the intervals that contain 2.5.
        html: file for the page of the comparison, None for no page.
        as_json: print one JSON object.

    Raises:
        ConfigError: no folder is given, or the page has none.
        ReplayError: results cannot be read, or the page cannot be written.
    """
    if folder is None:
        raise ConfigError("--report needs --out: the folder whose games to report on")
    check_page(html)
    found = look(folder, sequential=sequential, coverage_runs=coverage_runs)
    if found is None:
        raise ReplayError(f"{folder}: no set of games is complete yet")
    return show(found, html, as_json=as_json)


def check_outputs(folder: Path | None, html: Path | None, *, records: bool) -> None:
    """Check that everything asked for could be kept, before players are loaded and games are played.

    Raises:
        ConfigError: there is no folder for the records, or none for the page.
    """
    if records and folder is None:
        raise ConfigError("--records needs --out: records are kept beside the results")
    check_page(html)


def check_page(html: Path | None) -> None:
    """Check that a page could be written, before hours of games.

    Raises:
        ConfigError: its folder is missing.
    """
    if html is not None and not html.parent.is_dir():
        raise ConfigError(f"--html: there is no folder {html.parent}")


def show(found: ArenaReport, html: Path | None, *, as_json: bool) -> int:
    """Print a report, and write its page.

    Raises:
        ReplayError: the page cannot be written.
    """
    code = print_report(found, as_json=as_json)
    if html is not None:
        try:
            write_page(found, html)
        except OSError as exc:
            raise ReplayError(f"{html}: {exc.strerror or exc}") from exc
    return code
