"""Review many games, from folders or named one by one: each game once, and an index of all."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from bot.logs.redaction import clean_text
from bot.records.sources import STDIN, LoadedRecord, is_folder, joined, load, players_text, records_in, shown
from bot.review.one import (
    ReviewPlan,
    SeatMissingError,
    UnknownPlayerError,
    file_name,
    player_of,
    put,
    reason_of,
    reviewed,
    write_review,
)
from bot.review.text import index_text
from game.events import four
from kit.errors import ConfigError, ModelError, ReplayError, ReplayFormatError, ReplayTooLarge
from kit.reports import csv_table
from replays.files import write_file
from replays.review import grading, schema
from replays.review.report import Reviewer, as_json
from replays.tally import PlayerTally, tally
from replays.viewer.page import index_page

EXERCISES: Final = 40
"""Errors to practise from the index; a round and a decision are about 10 kB."""
KINDS: Final[dict[schema.ErrorKind, str]] = {
    "win": "win abort play_on",
    "riichi": "riichi silent",
    "safety": "safety place lead defence later",
    "efficiency": "shanten wide ukeire improve links",
    "value": "dora yakuhai tanyao flush pairs",
    "call": "yakuhai_call no_yaku no_closer closed",
    "kan": "kan no_kan",
    "other": "policy",
}
"""What an error is about, by its first reason."""
_KIND_OF: Final = {f"reason_{key}": kind for kind, keys in KINDS.items() for key in keys.split()}


class _ReviewCollector:
    """Collects the reviews of the records, one after another.

    Args:
        reviewer: makes the reviews.
        plan: whose decisions, and options of the report.
        out: folder for the results, None to write none.
    """

    def __init__(self, reviewer: Reviewer, plan: ReviewPlan, out: Path | None) -> None:
        self.entries: list[schema.IndexEntry] = []
        self.skipped: list[schema.Skipped] = []
        self.told: list[str] = []
        """For each skipped record its name and the reason, printed also when the review is anonymous."""
        self.failed = 0
        self.unsaid: list[frozenset[str]] = []
        """The players of each game in which nothing specifies whom to review."""
        self.others: list[str] = []
        """The players of games without the one to review."""
        self._reviewer = reviewer
        self._plan = plan
        self._out = out
        self._exercises: list[schema.Exercise] = []
        self._tallies: list[PlayerTally] = []
        self._names: set[str] = set()
        self._players: set[str] = set()
        self._known: dict[tuple[int, bytes], str] = {}

    def add(self, number: int, source: str) -> None:
        """Review one record, or note why it cannot be reviewed."""
        name = f"record {number}" if self._plan.anonymous else _name_of(source)
        try:
            loaded = load(source)
            made = reviewed(self._reviewer, loaded, player_of(loaded, self._plan), self._plan)
        except UnknownPlayerError:
            self.others += loaded.record.names
            return
        except (ReplayError, ModelError) as exc:
            reason = clean_text(reason_of(exc, source))
            self._skip(name, _without_words(exc) if self._plan.anonymous else reason, source, reason)
            self.failed += 1
            if isinstance(exc, SeatMissingError):
                self.unsaid.append(exc.names)
            return
        game = made.player, _course(made)
        if game in self._known:
            reason = f"the same game as {self._known[game]}"
            self._skip(name, reason, source, reason)
            return
        self._known[game] = name
        self._keep(number, loaded, made)

    def _keep(self, number: int, loaded: LoadedRecord, made: schema.Review) -> None:
        anonymous = self._plan.anonymous
        wanted = f"game-{number:04d}" if anonymous else file_name(loaded, made, anonymous=False)
        name = self._free(wanted)
        if self._out:
            write_review(made, name, self._out)
        self.entries.append(made_entry(made, name))
        self._exercises = worst_of(self._exercises, made)
        tallies = tally(loaded.record.events)[0]
        for player in (made.player, *(each.player for each in made.seats)):
            self._tallies.append(tallies[player])
            self._players.add(loaded.record.names[player])

    def index(self) -> schema.ReviewIndex:
        """The index of all games."""
        made = index_of(self.entries, self._tallies, self.skipped, self._reviewer, len(self._players))
        return replace(made, exercises=tuple(self._exercises))

    def _skip(self, name: str, said: str, source: str, reason: str) -> None:
        self.skipped.append(schema.Skipped(file=name, reason=said))
        self.told.append(f"{_name_of(source)}: {reason}")

    def _free(self, wanted: str) -> str:
        """A unique file name in the index, also on file systems that ignore case."""
        name, copies = wanted, 1
        while name.casefold() in self._names:
            copies += 1
            name = f"{wanted}-{copies}"
        self._names.add(name.casefold())
        return name


def made_entry(review: schema.Review, name: str) -> schema.IndexEntry:
    """The entry of one review.

    Args:
        review: review of one game.
        name: name of its files, without suffixes.
    """
    return schema.IndexEntry(
        **grading.fields(review.summary),
        page=f"{name}.html",
        data=f"{name}.json",
        game=review.game,
        player=review.player,
        rates=review.summary.rates,
        seats=tuple(
            schema.SeatFigures(**grading.fields(each.summary), player=each.player) for each in review.seats
        ),
        errors=tuple(
            schema.IndexedError(
                round=error.round,
                event=error.event,
                turn=error.turn,
                round_index=review.rounds[error.round].round_index,
                honba=review.rounds[error.round].honba,
                category=error.category,
                kind=next((_KIND_OF[note.key] for note in error.notes if note.key in _KIND_OF), "other"),
                price=error.price.points if error.price else None,
            )
            for error in map(review.decisions.__getitem__, review.summary.worst)
        ),
    )


def worst_of(known: Sequence[schema.Exercise], review: schema.Review) -> list[schema.Exercise]:
    """The worst of known errors and a review's."""
    new = (
        schema.Exercise(
            names=review.game.names,
            player=review.player,
            round=replace(place, events=place.events[: error.event + 1]),
            decision=replace(error, candidates=()),
        )
        for error in map(review.decisions.__getitem__, review.summary.worst)
        for place in [review.rounds[error.round]]
    )
    return sorted([*known, *new], key=lambda one: grading.gravity(one.decision))[:EXERCISES]


def index_of(
    entries: Sequence[schema.IndexEntry],
    tallies: Sequence[PlayerTally],
    skipped: Sequence[schema.Skipped],
    reviewer: Reviewer,
    players: int,
) -> schema.ReviewIndex:
    """The index, ordered by date; games without a date come last.

    Args:
        entries: one per game.
        tallies: the counts of each reviewed player in each game.
        skipped: records that could not be reviewed.
        reviewer: the reviewer used.
        players: number of different people reviewed.
    """
    ordered = sorted(entries, key=lambda entry: (entry.game.date is None, entry.game.date or "", entry.page))
    return schema.ReviewIndex(
        program=reviewer.program,
        policy=reviewer.policy,
        thresholds=grading.THRESHOLDS,
        rating_definition=grading.RATING,
        games=tuple(ordered),
        skipped=tuple(skipped),
        ranks=tuple(_by_rank(entries)),
        total=_total(entries, tallies, players),
    )


def _by_rank(entries: Sequence[schema.IndexEntry]) -> Iterator[schema.RankFigures]:
    held: dict[int, list[schema.SeatFigures]] = {}
    for entry in entries:
        if entry.game.ranks is not None:
            for each in (entry, *entry.seats):
                held.setdefault(entry.game.ranks[each.player], []).append(each)
    for rank, games in sorted(held.items()):
        yield schema.RankFigures(**grading.fields(grading.together(games)), rank=rank, games=len(games))


def write_table(path: Path, entries: Sequence[schema.IndexEntry]) -> Path:
    """Write a table with a line for each game, for a spreadsheet; return its path.

    Raises:
        ReplayError: it cannot be written.
    """
    write_file(path, csv_table([_row(entry) for entry in entries]), "name the file itself")
    return path


def _row(entry: schema.IndexEntry) -> dict[str, str | float | None]:
    game, player = entry.game, entry.player
    lost = {
        kind: round(sum(each.price or 0.0 for each in entry.errors if each.kind == kind), 1) for kind in KINDS
    }
    return {
        "date": game.date,
        "game": game.id,
        "page": entry.page,
        "player": game.names[player],
        "seat": player,
        "place": game.places[player] if game.places else None,
        "score": game.scores[player] if game.scores else None,
        "result": game.results[player] if game.results else None,
        **{name: figure for name, figure in grading.fields(entry).items() if name != "categories"},
        **msgspec.to_builtins(entry.categories),
        **{f"price_{kind}": None if entry.price is None else lost[kind] for kind in KINDS},
        **msgspec.to_builtins(entry.rates),
    }


def _total(
    entries: Sequence[schema.IndexEntry], tallies: Sequence[PlayerTally], players: int
) -> schema.Total:
    places = [entry.game.places[entry.player] for entry in entries if entry.game.places and not entry.seats]
    rounds = sum(entry.rates.rounds * (1 + len(entry.seats)) for entry in entries)
    return schema.Total(
        **grading.fields(grading.together([each for entry in entries for each in (entry, *entry.seats)])),
        games=len(entries),
        players=players,
        rates=grading.rates_of(grading.added(tallies), rounds),
        places=four(places.count(place) for place in (1, 2, 3, 4)),
        average_place=round(sum(places) / len(places), 3) if places else None,
    )


def records_of(sources: Sequence[str]) -> list[str]:
    """The records of the sources, each as `load` takes it; for a folder, all records in it.

    Raises:
        ReplayError: a source does not exist, or a folder contains no record.
    """
    found: list[str] = []
    for source in sources:
        if source == STDIN or "://" in source:
            found.append(source)
            continue
        path = Path(source)
        files = list(records_in(path)) if is_folder(source) else [path]
        if not files:
            raise ReplayError(f"{path}: contains no records; names of records end in .xml, .mjlog, .json, …")
        found += map(str, files)
    return joined(found)


def _name_of(source: str) -> str:
    """The name of a record in messages."""
    return clean_text(shown(source) if source == STDIN or "://" in source else Path(source).name)


def check_players(sources: Sequence[str], plan: ReviewPlan) -> None:
    """Check, before models are loaded, that something specifies the player in at least one record.

    Raises:
        ConfigError: nothing does.
    """
    unsaid = []
    for source in sources:
        try:
            player_of(load(source), plan)
        except SeatMissingError as exc:
            unsaid.append(exc.names)
        except ReplayError:
            continue
        else:
            return
    if unsaid:
        raise ConfigError(_whose(unsaid))


def review_many(
    sources: Sequence[str], reviewer: Reviewer, plan: ReviewPlan, out: Path | None, *, to_json: bool
) -> int:
    """Review every record, and write an index of them.

    Args:
        sources: the records.
        reviewer: makes the reviews.
        plan: whose decisions, and options of the report.
        out: folder for the results, None to write none.
        to_json: print the index as JSON.

    Returns:
        The exit code: 1 if a record could not be reviewed.

    Raises:
        ReplayError: none of them can be reviewed.
        KeyboardInterrupt: the review was stopped; the index contains the games reviewed so far.
    """
    games = _ReviewCollector(reviewer, plan, out)
    interrupted = False
    try:
        for number, source in enumerate(sources, 1):
            _progress(f"{number} of {len(sources)}, {len(games.skipped)} skipped: {_name_of(source)}")
            games.add(number, source)
    except KeyboardInterrupt:
        interrupted = True
    _progress("")
    if games.entries:
        _write_index(games.index(), out, plan.table, to_json=to_json)
    for each in games.told:
        sys.stderr.write(f"skipped: {each}\n")
    if games.unsaid:
        sys.stderr.write(f"note: {_whose(games.unsaid)}\n")
    if interrupted:
        raise KeyboardInterrupt
    if not games.entries:
        names = players_text(games.others, plan.player)
        why = "" if games.told else f": no player is named {clean_text(plan.player)!r}; there are {names}"
        raise ReplayError(f"none of {len(sources)} records can be reviewed{why}")
    return 1 if games.failed else 0


def _whose(unsaid: Sequence[frozenset[str]]) -> str:
    """A note on how to select the player in games where nothing specifies one, from their players."""
    played = Counter(name for names in unsaid for name in names)
    count = max(played.values())
    often = [clean_text(name) for name, times in played.items() if times == count]
    example = f" (such as '{often[0]}', who plays in {count} of them)" if len(often) == 1 and often[0] else ""
    return (
        f"nothing specifies whose decisions to review in {len(unsaid)} of the records; "
        f"add --player NAME{example}, --seat 0 to 3, or --all-seats"
    )


def _write_index(index: schema.ReviewIndex, out: Path | None, table: Path | None, *, to_json: bool) -> None:
    paths = []
    if out:
        data = as_json(index)
        paths = [put(out, "index.html", index_page(data).encode("utf-8", "replace"))]
        paths.append(put(out, "index.json", data))
    if table:
        paths.append(write_table(table, index.games))
    sys.stdout.write(as_json(index).decode() if to_json else index_text(index, paths))


def _course(made: schema.Review) -> bytes:
    """A hash that identifies a game in any format: formats differ, for example, in the order of a hand."""
    discards = [
        (each.scores, [(event["actor"], event["pai"]) for event in each.events if event["type"] == "dahai"])
        for each in made.rounds
    ]
    return hashlib.sha256(msgspec.json.encode(discards)).digest()


def _without_words(error: ReplayError | ModelError) -> str:
    """The reason without text from the record, which may contain names."""
    match error:
        case SeatMissingError():
            return str(error)
        case ReplayTooLarge():
            return "too large"
        case ReplayFormatError():
            return "not a readable record"
        case ModelError():
            return "the policy gave no answer"
        case _:
            return "cannot be reviewed"


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:100]}")
        sys.stderr.flush()
