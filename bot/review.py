"""`suzaku review`: a game, or a folder of games, as pages and JSON."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from bot.models import use_threads
from bot.redaction import clean_text
from bot.review_source import Loaded, NotThereError, Wanted, load, records_in, seat_of
from bot.review_text import index_text, review_text
from bot.tenhou.links import full_link
from game.errors import ConfigError, ModelError, ReplayError, ReplayFormatError, ReplayTooLarge
from game.files import replace_file
from policies.named import Named, load_named
from replays.review.index import index_of, made_entry
from replays.review.report import Reviewer, as_json
from replays.review.schema import Index, IndexEntry, Review, Skipped
from replays.tally import SeatTally, tally
from replays.viewer.page import index_page, page

if TYPE_CHECKING:
    from policies.inference import Averaging

OUT: Final = Path("reviews")

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_SEAT: Final = re.compile("seat:([0-3])")
_LONGEST_STEM: Final = 60
_SHOWN: Final = 100
"""Characters of a link that a message repeats: one with the whole game in it is long."""


def review(
    source: str,
    *,
    seat: int | None,
    player: str,
    policy: str,
    compare: str,
    averaging: Averaging,
    out: Path | None,
    to_json: bool,
    anonymous: bool,
) -> int:
    """Review what is named.

    Args:
        source: a file, a folder, or a link.
        seat: whose decisions, absolute.
        player: the same by name, or by how it begins.
        policy: a built-in one, or a folder of checkpoints.
        compare: another one, or ``seat:N``; "" for none.
        averaging: renamings of the tiles that networks average over where their names do not say.
        out: folder of the results.
        to_json: print the JSON; files are then written only where ``out`` is given.
        anonymous: leave out names, ids and dates.

    Returns:
        The exit code.

    Raises:
        ConfigError: something is asked for that is not there, or that does not go together.
        ReplayError: a record cannot be read or reviewed.
    """
    wanted = _wanted(seat, player, compare, anonymous=anonymous)
    folder = out or (None if to_json else OUT)
    if folder is not None:
        _check_folder(folder)
    link = full_link(source)
    is_folder = link is None and _is_folder(source)
    reviewer = make_reviewer(policy, "" if wanted.beside is not None else compare, averaging)
    if is_folder:
        return _review_folder(Path(source), reviewer, wanted, folder, to_json=to_json)
    try:
        loaded = load(link or source)
        made = _reviewed(reviewer, loaded, wanted, tell=True)
    except ReplayError as exc:
        raise ReplayError(f"{source[:_SHOWN]}: {_reason(exc, source)}") from exc
    paths = _write(made, file_name(loaded, made, anonymous=anonymous), folder) if folder else []
    if to_json:
        sys.stdout.write(as_json(made).decode())
    else:
        sys.stdout.write(review_text(made, paths))
    return 0


def make_reviewer(policy: str, compare: str, averaging: Averaging) -> Reviewer:
    """Load the policies and the reward predictor.

    Raises:
        ConfigError: a policy is not there.
        CheckpointError: its checkpoints cannot be used.
    """
    use_threads()
    from policies.inference import SHIPPED  # noqa: PLC0415 - torch comes with it
    from replays.review.prospects import load_predictor  # noqa: PLC0415 - likewise

    named = load_named(policy, averaging)
    other: Named | None = load_named(compare, averaging) if compare else None
    return Reviewer(f"suzaku {version('suzaku')}", named, load_predictor(SHIPPED), other)


def file_name(loaded: Loaded, made: Review, *, anonymous: bool) -> str:
    """A name for the files of a review, without its suffix; of an anonymous one it says nothing."""
    if anonymous:
        return f"review-{hashlib.sha256(as_json(made)).hexdigest()[:12]}"
    stem = made.game.id or loaded.name.split(".")[0] or "game"
    return f"{_UNSAFE.sub('_', stem)[:_LONGEST_STEM]}-{made.seat}"


def _wanted(seat: int | None, player: str, compare: str, *, anonymous: bool) -> Wanted:
    if seat is not None and player:
        raise ConfigError("--seat and --player both say whose decisions; give one of them")
    beside = _SEAT.fullmatch(compare)
    if beside is None and compare.startswith("seat:"):
        raise ConfigError(f"--compare {compare}: there is no such seat; seat:0 to seat:3 are")
    return Wanted(seat, player, int(beside.group(1)) if beside else None, anonymous)


def _check_folder(folder: Path) -> None:
    """Before anything is reviewed: whether results can go there."""
    there = folder
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise ConfigError(f"--out {folder}: {there} is no folder; name one, or one that can be made")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"--out {folder}: {there} cannot be written to; name another folder")


def _is_folder(source: str) -> bool:
    path = Path(source)
    try:
        path.stat()
    except FileNotFoundError:
        raise ReplayError(f"{source}: there is no such file or folder") from None
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else exc
        raise ReplayError(f"{source[:_SHOWN]}: cannot be read: {why}") from exc
    return path.is_dir()


def _reason(error: Exception, path: Path | str) -> str:
    """What went wrong, without the path that the message is about anyway."""
    return str(error).removeprefix(f"{path}: ")


# --- one game ---------------------------------------------------------------------------------------------


def _reviewed(reviewer: Reviewer, loaded: Loaded, wanted: Wanted, *, tell: bool) -> Review:
    seat, notice = seat_of(loaded, wanted)
    if notice and tell:
        sys.stderr.write(f"note: {notice}\n")
    return reviewer.review(
        loaded.record, seat, source=loaded.source, beside=wanted.beside, anonymous=wanted.anonymous
    )


def _write(made: Review, name: str, folder: Path) -> list[Path]:
    data = as_json(made)
    files = {f"{name}.html": page(data).encode("utf-8", "replace"), f"{name}.json": data}
    return [_put(folder, file, content) for file, content in files.items()]


def _put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            raise ReplayError(f"{path}: a link; links are not written to")
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be written: {exc.strerror}") from exc
    return path


# --- a folder ---------------------------------------------------------------------------------------------


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
            made = _reviewed(self._reviewer, loaded, self._wanted, tell=False)
        except NotThereError:
            return
        except (ReplayError, ModelError) as exc:
            reason = clean_text(_reason(exc, path))
            self._skip(shown, _without_words(exc) if self._wanted.anonymous else reason, path, reason)
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
            _write(made, name, self._out)
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


def _review_folder(path: Path, reviewer: Reviewer, wanted: Wanted, out: Path | None, *, to_json: bool) -> int:
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
    return 1 if games.told else 0


def _write_index(index: Index, out: Path | None, *, to_json: bool) -> None:
    paths = []
    if out:
        data = as_json(index)
        paths = [_put(out, "index.html", index_page(data).encode("utf-8", "replace"))]
        paths.append(_put(out, "index.json", data))
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
