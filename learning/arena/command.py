"""The command `suzaku arena`, from its flags to its report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

from game.errors import ConfigError, ReplayError
from game.settlement import GameLength
from learning.arena.coverage import GAMES as COVERAGE_GAMES
from learning.arena.page.render import write_page
from learning.arena.plan import Mode, Plan, sets_for
from learning.arena.players import contender, tables_for
from learning.arena.report import Report, print_report
from learning.arena.run import look, run
from learning.progress import GamesProgress

_log = structlog.get_logger(__name__)


def compare(
    challenger: str,
    champions: str,
    *,
    games: int,
    seed: int,
    mode: Mode,
    length: GameLength,
    folder: Path | None,
    records: bool,
    sequential: bool,
    independent: bool,
    coverage_runs: int,
    html: Path | None,
    workers: int | None,
    ray: str | None,
    tables: int | None,
    answer_timeout_s: float,
    as_json: bool,
    prepare: Callable[[], object] = lambda: None,
) -> int:
    """Play, and print the report; the exit code.

    Args:
        challenger: as `learning.arena.players.contender` takes it.
        champions: those in the other seats.
        games: at least so many.
        seed: every wall follows from it.
        mode: one against three, or two against two.
        length: of the games.
        folder: for the results, None for nowhere.
        records: keep every game's record in it too.
        sequential: stop as soon as one side is clearly better.
        independent: give each game walls of its own.
        coverage_runs: draw so many small runs from the games, and see how many intervals hold 2.5.
        html: a file for the page of the comparison, None for no page.
        workers: processes; one for each core if None.
        ray: a cluster's address, to play there; see `learning.spread.spread`.
        tables: side by side in each process; as many as suit the players if None.
        answer_timeout_s: for each answer of an external engine.
        as_json: print one JSON object.
        prepare: called once both players are loaded, before anybody plays.

    Raises:
        ConfigError: a player, the folder or the cluster is not what it must be.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not go on.
    """
    if records and folder is None:
        raise ConfigError("--records needs --out: records are kept beside the results")
    check_page(html)
    one, other = (contender(text, answer_timeout_s) for text in (challenger, champions))
    plan = Plan(
        challenger=one,
        champions=other,
        sets=sets_for(games, mode, independent=independent),
        seed=seed,
        mode=mode,
        independent=independent,
        length=length,
        tables=tables or tables_for(one, other),
    )
    if coverage_runs and plan.games < COVERAGE_GAMES:
        raise ConfigError(f"--coverage needs --games {COVERAGE_GAMES} or more, to draw its runs from")
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
                tell=progress.played,
            )
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    if found is None:
        raise ReplayError("not one set of games could be played to its end; see the log")
    return show(found, html, as_json=as_json)


def compare_played(
    folder: Path | None, *, sequential: bool, coverage_runs: int, html: Path | None, as_json: bool
) -> int:
    """Print the report on games that lie in a folder, or are being played there; the exit code.

    Args:
        folder: of the results.
        sequential: count no game past the point where one side was clearly better.
        coverage_runs: draw so many small runs from the games, and see how many intervals hold 2.5.
        html: a file for the page of the comparison, None for no page.
        as_json: print one JSON object.

    Raises:
        ConfigError: there is no folder, or none for the page.
        ReplayError: results cannot be read, or the page not written.
    """
    if folder is None:
        raise ConfigError("--report needs --out: the folder whose games to report on")
    check_page(html)
    found = look(folder, sequential=sequential, coverage_runs=coverage_runs)
    if found is None:
        raise ReplayError(f"{folder}: not one set of games is complete yet")
    return show(found, html, as_json=as_json)


def check_page(html: Path | None) -> None:
    """See whether a page could be written, before hours of games.

    Raises:
        ConfigError: its folder is missing.
    """
    if html is not None and not html.parent.is_dir():
        raise ConfigError(f"--html: there is no folder {html.parent}")


def show(found: Report, html: Path | None, *, as_json: bool) -> int:
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
