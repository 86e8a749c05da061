"""Measurements, a row a game: made in worker processes, kept as they come, reported at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from game.errors import ReplayError
from game.workers.pool import Done, Work
from learning.matches.store import NumberedRow, ResumablePlan, Store, read_rows
from learning.runs.progress import Progress
from learning.workers.spread import spread

P = TypeVar("P", bound=ResumablePlan)
R = TypeVar("R", bound=NumberedRow)
F = TypeVar("F")
S = TypeVar("S")


class MeasurementReport(msgspec.Struct, Generic[P, F], frozen=True):
    """The results of a measurement.

    Attributes:
        plan: what was measured.
        figures: over the rows so far.
    """

    plan: P
    figures: F


class Measurement(Generic[P, R, F]):
    """How a measurement is made and reported.

    Args:
        name: of the measurement, for its progress.
        plans: type of its plans.
        rows: type of its rows.
        figures: of some rows; raises `ConfigError` if nothing was found in them.
    """

    def __init__(
        self,
        name: str,
        plans: type[P],
        rows: type[R],
        figures: Callable[[P, Sequence[R]], F],
    ) -> None:
        self._name, self._plans, self._rows = name, plans, rows
        self._figures = figures

    def run(
        self,
        plan: P,
        count: int,
        prepare: Callable[[S], Work[int, R]],
        setup: S,
        folder: Path | None,
        *,
        workers: int | None,
        quiet: bool,
    ) -> MeasurementReport[P, F]:
        """Make the rows that are missing, and report on all.

        Args:
            plan: what is measured.
            count: number of rows.
            prepare: called once in each process, returns the function that makes a row from its number.
            setup: its argument.
            folder: folder of the results; an earlier run in it is resumed. None to keep none.
            workers: processes; one per core if None.
            quiet: show no progress.

        Raises:
            ConfigError: another run is in the folder, or nothing was found to measure.
            ReplayError: results cannot be read or written.
            WorkerFailed: a process could not continue.
            KeyboardInterrupt: stopped; the rows so far are kept.
        """
        name = self._name
        try:
            with Store(plan, self._rows, folder) as store:
                missing = [number for number in range(count) if number not in store.rows]
                with Progress(f"{name}.progress", name, "games", total=count, quiet=quiet) as progress:
                    progress.reach(len(store.rows))
                    for _, row in spread(prepare, setup, missing, workers=workers) if missing else ():
                        if not isinstance(row, Done) and store.add(row):
                            progress.advance(1)
                return self.report(plan, [store.rows[number] for number in sorted(store.rows)])
        except OSError as exc:
            raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
        except KeyboardInterrupt:
            where = f"the games so far are in {folder}; give the same command again to resume"
            raise KeyboardInterrupt(f"stopped: {where}" if folder else "stopped; nothing was kept") from None

    def so_far(self, folder: Path) -> MeasurementReport[P, F]:
        """Report on what a run has measured so far; it may be under way.

        Raises:
            ConfigError: nothing was found to measure yet.
            ReplayError: there is no run, or it cannot be read.
        """
        return self.report(*read_rows(folder, self._plans, self._rows))

    def report(self, plan: P, rows: Sequence[R]) -> MeasurementReport[P, F]:
        """Report on some rows.

        Raises:
            ConfigError: nothing was found to measure.
        """
        return MeasurementReport(plan, self._figures(plan, rows))
