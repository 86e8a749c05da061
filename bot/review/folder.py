"""A folder of games: each reviewed once, and an index of all."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec

from bot.redaction import clean_text
from bot.review.one import file_name, put, reason_of, reviewed, write_review
from bot.review.source import Loaded, NotThereError, Wanted, load, records_in
from bot.review.text import index_text
from game.errors import ModelError, ReplayError, ReplayFormatError, ReplayTooLarge
from replays.review.index import index_of, made_entry
from replays.review.report import Reviewer, as_json
from replays.review.schema import Index, IndexEntry, Review, Skipped
from replays.tally import SeatTally, tally
from replays.viewer.page import index_page


class _Games:
    """What the records of a folder come to, one after another.

    Args:
        reviewer: who reviews them.
        wanted: whose decisions, and how.
        out: folder of the results, None where none are written.
    """

    def __init__(self, reviewer: Reviewer, wanted: Wanted, out: Path | None) -> None:
        self.entries: list[IndexEntry] = []
        self.skipped: list[Skipped] = []
        self.told: list[str] = []
        """Of each skipped record its name and what is wrong, for its owner to read in any case."""
        self.failed = 0
        self._reviewer = reviewer
        self._wanted = wanted
        self._out = out
        self._tallies: list[SeatTally] = []
        self._names: set[str] = set()
        self._known: dict[tuple[int, bytes], str] = {}

    def add(self, number: int, path: Path) -> None:
        """Review one record, or note why that cannot be done."""
        shown = f"record {number}" if self._wanted.anonymous else clean_text(path.name)
        try:
            loaded = load(str(path))
            made = reviewed(self._reviewer, loaded, self._wanted, tell=False)
        except NotThereError:
            return
        except (ReplayError, ModelError) as exc:
            reason = clean_text(reason_of(exc, path))
            self._skip(shown, _without_words(exc) if self._wanted.anonymous else reason, path, reason)
            self.failed += 1
            return
        game = made.seat, _course(made)
        if game in self._known:
            reason = f"the same game as {self._known[game]}"
            self._skip(shown, reason, path, reason)
            return
        self._known[game] = shown
        self._keep(number, loaded, made)

    def _keep(self, number: int, loaded: Loaded, made: Review) -> None:
        anonymous = self._wanted.anonymous
        wanted = f"game-{number:04d}" if anonymous else file_name(loaded, made, anonymous=False)
        name = self._free(wanted)
        if self._out:
            write_review(made, name, self._out)
        self.entries.append(made_entry(made, name))
        self._tallies.append(tally(loaded.record.events)[0][made.seat])

    def index(self) -> Index:
        """All of them together."""
        return index_of(self.entries, self._tallies, self.skipped, self._reviewer)

    def _skip(self, shown: str, said: str, path: Path, reason: str) -> None:
        self.skipped.append(Skipped(file=shown, reason=said))
        self.told.append(f"{clean_text(path.name)}: {reason}")

    def _free(self, wanted: str) -> str:
        """A name that no other game of the index has, on a disk that knows no capitals either."""
        name, copies = wanted, 1
        while name.casefold() in self._names:
            copies += 1
            name = f"{wanted}-{copies}"
        self._names.add(name.casefold())
        return name


def review_folder(path: Path, reviewer: Reviewer, wanted: Wanted, out: Path | None, *, to_json: bool) -> int:
    """Review every record in a folder.

    Args:
        path: the folder.
        reviewer: who reviews.
        wanted: whose decisions, and how.
        out: folder of the results, None where none are written.
        to_json: print the index as JSON.

    Returns:
        The exit code: 1 if a record could not be reviewed.

    Raises:
        ReplayError: none of them can be.
        KeyboardInterrupt: it was stopped; the index holds what was done.
    """
    files = list(records_in(path))
    if not files:
        raise ReplayError(f"{path}: no records in it; the names of records end with .xml, .mjlog, .json, …")
    games = _Games(reviewer, wanted, out)
    interrupted = False
    try:
        for number, file in enumerate(files, 1):
            _progress(f"{number} of {len(files)}, {len(games.skipped)} skipped: {clean_text(file.name)}")
            games.add(number, file)
    except KeyboardInterrupt:
        interrupted = True
    _progress("")
    if games.entries:
        _write_index(games.index(), out, to_json=to_json)
    for each in games.told:
        sys.stderr.write(f"skipped: {each}\n")
    if interrupted:
        raise KeyboardInterrupt
    if not games.entries:
        why = f"nobody is called {clean_text(wanted.player)!r}"
        raise ReplayError(
            f"{path}: none of {len(files)} records can be reviewed" + ("" if games.told else f": {why}")
        )
    return 1 if games.failed else 0


def _write_index(index: Index, out: Path | None, *, to_json: bool) -> None:
    paths = []
    if out:
        data = as_json(index)
        paths = [put(out, "index.html", index_page(data).encode("utf-8", "replace"))]
        paths.append(put(out, "index.json", data))
    sys.stdout.write(as_json(index).decode() if to_json else index_text(index, paths))


def _course(made: Review) -> bytes:
    """What tells a game from others in any format: formats differ in the order of a hand and the like."""
    discards = [
        (each.scores, [(event["actor"], event["pai"]) for event in each.events if event["type"] == "dahai"])
        for each in made.rounds
    ]
    return hashlib.sha256(msgspec.json.encode(discards)).digest()


def _without_words(error: ReplayError | ModelError) -> str:
    """What went wrong, in words that are none of the record's: those may be names."""
    match error:
        case ReplayTooLarge():
            return "too large"
        case ReplayFormatError():
            return "no record that can be read"
        case ModelError():
            return "the policy gave no answer"
        case _:
            return "cannot be reviewed"


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:100]}")
        sys.stderr.flush()
