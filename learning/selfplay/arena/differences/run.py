"""`suzaku arena --differences`: plays the games that are missing, and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from kit.errors import ConfigError
from kit.reports import write_report
from learning.runs.measurement import Measurement
from learning.runs.store import writing
from learning.selfplay.arena.differences.figures import draw_differences, figures_of, text_of
from learning.selfplay.arena.differences.plan import DifferencesGame, DifferencesPlan, make_differences_plan
from learning.selfplay.arena.differences.playing import TOGETHER, differences_of_games, setup_of

DIFFERENCES: Final = Measurement(
    "differences", DifferencesPlan, DifferencesGame, figures_of, setup_of, differences_of_games, TOGETHER
)
"""The plan, and the row of a game."""


def compare_decisions(
    challenger: str,
    champions: str,
    folder: Path | None,
    plot: Path | None,
    *,
    report_only: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        challenger: the player under test.
        champions: the player in the other seats.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        plot: SVG file for a plot of where the gain comes from, None for none.
        report_only: play nothing; report on the games in the folder, also of an unfinished run.
        workers: processes; one per core if None.
        ray: address of a cluster; see `learning.runs.spread.spread`.
        as_json: print one JSON object, without progress.
        given: fields of the plan.

    Raises:
        BotError: as in `make_differences_plan` and `learning.runs.measurement.Measurement.run`.
    """
    if not report_only:
        plan = make_differences_plan(challenger, champions, **given)
        report = DIFFERENCES.run(plan, folder, workers=workers, quiet=as_json, ray=ray)
    elif folder is not None:
        report = DIFFERENCES.so_far(folder)
    else:
        raise ConfigError("--report needs --out: the folder whose games to report on")
    code = write_report(report, text_of, as_json=as_json)
    if plot is not None:
        with writing(plot):
            draw_differences(report.figures, plot)
    return code
