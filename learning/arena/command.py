"""The command `suzaku arena`, from its flags to its report."""

from __future__ import annotations

from pathlib import Path

from game.errors import ConfigError, ReplayError
from game.settlement import GameLength
from learning.arena.plan import Mode, Plan, sets_for
from learning.arena.players import contender
from learning.arena.progress import shown
from learning.arena.report import print_report
from learning.arena.run import run
from learning.corpus.workers import default_workers


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
    workers: int | None,
    as_json: bool,
) -> int:
    """Play, and print the report; the exit code.

    Raises:
        ConfigError: a player, or the folder, is not what it must be.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not go on.
    """
    if records and folder is None:
        raise ConfigError("--records needs --out: records are kept beside the results")
    plan = Plan(
        challenger=contender(challenger),
        champions=contender(champions),
        sets=sets_for(games, mode),
        seed=seed,
        mode=mode,
        length=length,
    )
    try:
        with shown() as tell:
            found = run(
                plan,
                workers=workers or default_workers(),
                folder=folder,
                records=records,
                sequential=sequential,
                tell=tell,
            )
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    if found is None:
        raise ReplayError("not one set of games could be played to its end; see the log")
    return print_report(found, as_json=as_json)
