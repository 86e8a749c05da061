"""`suzaku corpus verify`: checks real games against our rules, to the last point."""

from __future__ import annotations

import functools
import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog

from kit.errors import ReplayError
from kit.reports import write_report
from kit.text import clean_text
from kit.workers.ordered import batches, default_workers, in_order, peak_memory_mb
from learning.corpus.check import Checked, Checker, RecordDifference, unsupported
from learning.corpus.order import ODDITIES
from learning.corpus.sources import StoredRecord, load, stored_games
from replays.mjlog.reader import read_record

BATCH: Final = 32
PROGRESS_SECONDS: Final = 10.0
_ADDED: Final = ("rounds", "events", "moves", "claims", "passes", "wins", "seeded", "disconnected")
"""Fields that `Checked` and `CorpusReport` share."""

_log = structlog.get_logger(__name__)


class CorpusReport(msgspec.Struct, frozen=True):
    """Result of a verification.

    Attributes:
        games: records found: ``checked`` + ``not_supported`` + ``unreadable``.
        checked: games checked in full.
        not_supported: number of games under other rules, by reason.
        unreadable: files and lines that hold no readable game; each is in ``listed``.
        differences: differences our rules do not explain; all are in ``listed``.
        oddities: differences where Tenhou itself deviates, by the name of the case.
        forbidden: moves that a rule forbids and the server allowed, by rule; not counted as differences, but
            each is in ``listed``.
        forbidden_games: games with such a move.
        rounds: rounds checked.
        events: events folded, into five views each.
        moves: moves on the player's own turn looked up in the legal set of that player's view.
        claims: calls and wins looked up in the same way.
        passes: passed chances looked up in the same way.
        wins: wins whose yaku, han, fu, points and payments were compared.
        seeded: games whose walls were compared with their seed.
        disconnected: games that a player left.
        seconds: duration.
        games_per_s: checked games per second.
        memory_mb: sum of the peak memory of all processes.
        workers: processes used.
        listed: the differences and the forbidden moves, in the order of the games.
        explanations: meanings of the names in ``oddities``.
    """

    games: int
    checked: int
    not_supported: dict[str, int]
    unreadable: int
    differences: int
    oddities: dict[str, int]
    forbidden: dict[str, int]
    forbidden_games: int
    rounds: int
    events: int
    moves: int
    claims: int
    passes: int
    wins: int
    seeded: int
    disconnected: int
    seconds: float
    games_per_s: float
    memory_mb: float
    workers: int
    listed: tuple[RecordDifference, ...]
    explanations: dict[str, str]


class WorkerReport(msgspec.Struct):
    """Message from a worker process."""

    games: list[Checked]
    process: int
    memory_mb: float


def verify(paths: Sequence[Path], workers: int | None = None) -> CorpusReport:
    """Check every game of some files, folders and shards.

    Args:
        paths: records to read.
        workers: processes; one per core if None.
    """
    workers = default_workers() if workers is None else workers
    tally = VerifyTotals(workers)
    for batch in in_order(_check_batch, batches(stored_games(paths), BATCH), workers):
        tally.add(batch)
    return tally.report()


def print_report(report: CorpusReport, *, as_json: bool) -> int:
    """Print the report; exit code 1 if it contains anything unexplained."""
    write_report(report, render, as_json=as_json)
    return 1 if report.differences or report.unreadable else 0


def render(report: CorpusReport) -> str:
    """Format the report as text."""
    others = "".join(f", {count} {why}" for why, count in report.not_supported.items())
    lines = [
        f"{report.games} games: {report.checked} checked, {report.unreadable} unreadable, "
        f"{sum(report.not_supported.values())} not supported{others}",
        f"{report.rounds} rounds, {report.events} events; {report.moves} moves, {report.claims} claims and "
        f"{report.passes} passed chances looked up; {report.wins} wins compared; {report.seeded} games "
        f"dealt from their seeds; {report.disconnected} with a disconnect",
        f"differences {report.differences}, games with forbidden moves {report.forbidden_games}",
    ]
    lines += [f"forbidden: {count} {rule}" for rule, count in report.forbidden.items()]
    lines += [f"odd: {count} {name} ({report.explanations[name]})" for name, count in report.oddities.items()]
    lines += [clean_text(_line(found)) for found in report.listed]
    lines.append(
        f"{report.seconds:.1f} s, {report.games_per_s:.0f} games/s, processes: {report.workers}, "
        f"{report.memory_mb:.0f} MB at most"
    )
    return "\n".join(lines)


def _line(found: RecordDifference) -> str:
    player = f"player {found.player}: " if found.player >= 0 else ""
    return f"{found.game_id} {found.round or 'game'} turn {found.turn}: {found.kind}: {player}{found.text}"


@functools.cache
def _checker() -> Checker:
    return Checker()


def _check_batch(batch: list[StoredRecord]) -> WorkerReport:
    return WorkerReport([_check(stored) for stored in batch], os.getpid(), peak_memory_mb())


def _check(stored: StoredRecord) -> Checked:
    name = stored.place
    try:
        loaded = load(stored)
        name = loaded.game_id
        if why := unsupported(loaded.game_type):
            return Checked(name, why)
        return _checker().check(read_record(loaded.text, name))
    except ReplayError as exc:
        text = f"{stored.place}: {exc}"
        return Checked(name, differences=(RecordDifference(name, "", 0, "unreadable", -1, text),))


class VerifyTotals:
    """Adds up the workers' results."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._started = self._reported = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._oddities: Counter[str] = Counter()
        self._forbidden: Counter[str] = Counter()
        self._listed: list[RecordDifference] = []
        self._memory: dict[int, float] = {}

    def add(self, batch: WorkerReport) -> None:
        """Add a batch of games."""
        self._memory[batch.process] = batch.memory_mb
        for game in batch.games:
            self._add(game)
        if time.monotonic() - self._reported >= PROGRESS_SECONDS:
            self._reported = time.monotonic()
            speed = self._counts["games"] / (self._reported - self._started)
            _log.info(
                "corpus.progress",
                games=self._counts["games"],
                games_per_s=round(speed),
                differences=self._counts["differences"],
            )

    def _add(self, game: Checked) -> None:
        self._counts["games"] += 1
        if game.unsupported:
            self._others[game.unsupported] += 1
            return
        unreadable = any(found.kind == "unreadable" for found in game.differences)
        self._counts["unreadable" if unreadable else "checked"] += 1
        for name in _ADDED:
            self._counts[name] += getattr(game, name)
        self._counts["forbidden_games"] += any(found.forbidden for found in game.differences)
        for found in game.differences:
            if found.oddity:
                self._oddities[found.oddity] += 1
            elif found.forbidden:
                self._forbidden[found.forbidden] += 1
                self._listed.append(found)
            else:
                self._counts["differences"] += found.kind != "unreadable"
                self._listed.append(found)

    def report(self) -> CorpusReport:
        """The totals so far."""
        seconds = time.monotonic() - self._started
        own = 0.0 if self._workers <= 1 else peak_memory_mb()
        return CorpusReport(
            **{
                name: self._counts[name]
                for name in ("games", "checked", "unreadable", "differences", "forbidden_games", *_ADDED)
            },
            forbidden=dict(self._forbidden.most_common()),
            not_supported=dict(self._others.most_common()),
            oddities=dict(self._oddities.most_common()),
            seconds=round(seconds, 2),
            games_per_s=round(self._counts["checked"] / seconds, 1) if seconds else 0.0,
            memory_mb=round(own + sum(self._memory.values()), 1),
            workers=self._workers,
            listed=tuple(self._listed),
            explanations={name: ODDITIES[name] for name in ODDITIES if name in self._oddities},
        )
