"""Measurements with a row a game: made in worker processes, kept as they come, reported at any time."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Generic, Self, TypeVar

import msgspec
import numpy as np

from game.events import GameEvent
from game.scoring.settlement import GameLength
from game.state import clone
from game.table.walls import wall_seed
from kit.errors import TrainingError
from kit.reports import aligned
from kit.workers.ordered import batches
from kit.workers.pool import Done, Work
from learning.runs.progress import Progress
from learning.runs.spread import spread
from learning.runs.store import NumberedRow, ResumablePlan, read_rows, resumed
from policies.deals.deal import RoundView
from policies.flow.slots import Policy
from policies.play.rollout import Choice, PolicyChooser, Request, Rollout, Seating, Times

P = TypeVar("P", bound=ResumablePlan)
R = TypeVar("R", bound=NumberedRow)
F = TypeVar("F")
T = TypeVar("T")


_WIDTH: Final = 110


class MeasurementReport(msgspec.Struct, Generic[P, F], frozen=True):
    """The results of a measurement.

    Attributes:
        plan: the plan.
        figures: figures of the rows so far.
    """

    plan: P
    figures: F


def report_text(
    verdicts: Iterable[str], columns: Sequence[str], rows: Iterable[Sequence[str]], plan: str
) -> str:
    """A report for people: sentences with the verdict, a table, and what was measured."""
    return "\n".join((*verdicts, "", *aligned(columns, *rows), "", *textwrap.wrap(plan, _WIDTH)))


class Measurement(Generic[P, R, F]):
    """A measurement that is resumed in its folder.

    Args:
        name: shown with the progress.
        plans: type of its plans.
        rows: type of its rows.
        figures: computes the figures of some rows; raises `ConfigError` if nothing was found in them.
        setup: makes the setup of a process from a plan.
        prepare: called once in each process with the setup, returns the function that makes a row from its
            number.
        together: number of rows that are made side by side; the function then takes a sequence of numbers. 0:
            one by one.
    """

    def __init__(
        self,
        name: str,
        plans: type[P],
        rows: type[R],
        figures: Callable[[P, Sequence[R]], F],
        setup: Callable[[P], Any],
        prepare: Callable[[Any], Work[Any, R]],
        together: int = 0,
    ) -> None:
        self._name, self._plans, self._rows = name, plans, rows
        self._figures, self._setup, self._prepare = figures, setup, prepare
        self._together = together

    def run(
        self, plan: P, folder: Path | None, *, workers: int | None, quiet: bool, ray: str | None = None
    ) -> MeasurementReport[P, F]:
        """Make the rows that are missing, and report on all.

        Args:
            plan: the plan.
            folder: folder of the results; an earlier run in it is resumed. None to keep none.
            workers: processes; one per core if None.
            quiet: show no progress.
            ray: address of a cluster to work on; see `learning.runs.spread.spread`.

        Raises:
            ConfigError: another run is in the folder, or nothing was found to measure.
            ReplayError: results cannot be read or written.
            WorkerFailed: a process could not continue.
            KeyboardInterrupt: stopped; the rows so far are kept.
        """
        name, count = self._name, getattr(plan, plan.counted)
        with resumed(plan, self._rows, folder, count) as store:
            missing = [number for number in range(count) if number not in store.rows]
            tasks = batches(missing, self._together) if self._together else missing
            made = (
                spread(self._prepare, self._setup(plan), tasks, workers=workers, ray=ray) if missing else ()
            )
            event, done = f"{name}.progress", len(store.rows)
            with Progress(event, name, "games", total=count, done=done, quiet=quiet) as progress:
                for _, row in made:
                    if not isinstance(row, Done) and store.add(row):
                        progress.advance(1)
            return self.report(plan, [store.rows[number] for number in sorted(store.rows)])

    def so_far(self, folder: Path) -> MeasurementReport[P, F]:
        """Report on the rows in a folder; the run may be under way.

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


class SelfPlayDecision(msgspec.Struct, frozen=True):
    """A decision in a game of self-play.

    Attributes:
        view: what the player sees.
        record: the same with all hands.
        events: events of the game so far, with all tiles known.
    """

    view: RoundView
    record: np.void
    events: tuple[GameEvent, ...]

    @classmethod
    def of(cls, request: Request, **more: Any) -> Self:
        """The decision of a request; ``more`` has the fields of a subclass."""
        return cls(RoundView.of(request), clone(request.record), tuple(request.table.events), **more)


class _Watcher(Generic[T]):
    """A chooser that plays by a policy, and collects what is found at its decisions."""

    def __init__(self, policy: Policy, find: Callable[[Request, Choice], T | None]) -> None:
        self._chooser, self._find = PolicyChooser(policy), find
        self.found: list[T] = []

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide; see `policies.play.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        seen = (self._find(*each) for each in zip(requests, choices, strict=True))
        self.found += [each for each in seen if each is not None]
        return choices

    def close(self, times: Times) -> None:
        """Nothing to do; see `policies.play.rollout.Chooser`."""


def found_in_game(
    find: Callable[[Request, Choice], T | None],
    policy: Policy,
    *,
    purpose: str,
    seed: int,
    number: int,
    length: GameLength,
) -> list[T]:
    """Play a game of self-play, and return what was found at its decisions.

    Args:
        find: returns what it finds at a decision, None for nothing.
        policy: plays all seats.
        purpose: keeps the walls of different measurements apart.
        seed: seed of the measurement.
        number: number of the game.
        length: length of the game.

    Raises:
        TrainingError: the game crashed.
    """
    watcher = _Watcher(policy, find)
    seating = Seating(number, wall_seed(purpose, seed, number), (0, 0, 0, 0))
    for game in Rollout([watcher], length=length).play([seating]):
        if game.crash:
            raise TrainingError(f"game {number}: {game.crash}")
    return watcher.found
