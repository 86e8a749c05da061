"""`suzaku review`: a game, or a folder of games, as pages and JSON."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from bot.models import use_threads
from bot.redaction import clean_text
from bot.review_text import index_text, review_text
from bot.tenhou.links import fetched, parse_link
from game.errors import ModelError, ReplayError
from game.files import replace_file
from game.jit import cache_folder
from policies.named import Named, load_named
from replays.formats import SUFFIXES, detect, expand_gzip, read_file, read_game
from replays.library import DECISIONS_SUFFIX, RECORD_SUFFIX, read_decisions
from replays.record import GameRecord
from replays.review.index import index_of, made_entry
from replays.review.report import Reviewer, as_json, known_hands
from replays.review.schema import IndexEntry, Review, Skipped
from replays.tally import SeatTally, tally
from replays.tenhou6 import is_link
from replays.viewer.page import index_page, page

if TYPE_CHECKING:
    from policies.inference import Averaging
    from replays.review.report import Source

OUT: Final = Path("reviews")
AVERAGING: Final[Averaging] = 12
"""As in play where nothing else is configured."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_SEAT: Final = re.compile("seat:([0-3])")
_FETCHED: Final = "logs"
_SHOWN: Final = 100
"""Characters of a link that a message repeats: one with the whole game in it is long."""


class NotThereError(ReplayError):
    """Nobody of that name plays in this game."""


class Wanted(NamedTuple):
    """Whose decisions, and what the reports hold.

    Attributes:
        seat: absolute, None if not said.
        player: a name or how it begins, "" if not said.
        beside: a seat to compare with, None for none.
        anonymous: leave out names, ids and dates.
    """

    seat: int | None = None
    player: str = ""
    beside: int | None = None
    anonymous: bool = False


class Loaded(NamedTuple):
    """A record with where it is from, and the seat that its link or its decisions are about."""

    record: GameRecord
    name: str
    source: Source
    seat: int | None


def review(
    source: str,
    *,
    seat: int | None,
    player: str,
    policy: str,
    compare: str,
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
        out: folder of the results.
        to_json: print the JSON; files are then written only where ``out`` is given.
        anonymous: leave out names, ids and dates.

    Returns:
        The exit code.

    Raises:
        ConfigError: something is asked for that is not there.
        ReplayError: a record cannot be read or reviewed.
    """
    beside = _SEAT.fullmatch(compare)
    wanted = Wanted(seat, player, int(beside.group(1)) if beside else None, anonymous)
    linked = source.startswith(("http:", "https:", "tenhou.net/"))
    if not linked and not Path(source).exists():
        raise ReplayError(f"{source}: there is no such file or folder")
    reviewer = make_reviewer(policy, "" if beside else compare)
    folder = out or (None if to_json else OUT)
    if not linked and Path(source).is_dir():
        return _review_folder(Path(source), reviewer, wanted, folder, to_json)
    try:
        loaded = load(source)
        made = _reviewed(reviewer, loaded, wanted, tell=True)
    except ReplayError as exc:
        raise ReplayError(f"{source[:_SHOWN]}: {exc}") from exc
    paths = _write(made, file_name(loaded, made), folder) if folder else []
    if to_json:
        sys.stdout.write(as_json(made).decode())
    else:
        sys.stdout.write(review_text(made, paths))
    return 0


def make_reviewer(policy: str, compare: str) -> Reviewer:
    """Load the policies and the reward predictor.

    Raises:
        ConfigError: a policy is not there.
        CheckpointError: its checkpoints cannot be used.
    """
    use_threads()
    from policies.inference import SHIPPED  # noqa: PLC0415 - torch comes with it
    from replays.review.prospects import load_predictor  # noqa: PLC0415 - likewise

    named = load_named(policy, AVERAGING)
    other: Named | None = load_named(compare, AVERAGING) if compare else None
    return Reviewer(f"suzaku {version('suzaku')}", named, load_predictor(SHIPPED), other)


def load(source: str) -> Loaded:
    """A record from a file or a link; a link to Tenhou is fetched.

    Raises:
        ReplayError: it cannot be read or fetched.
    """
    if is_link(source):
        return Loaded(read_game(source), "link", "link", None)
    link = parse_link(source)
    if link is not None:
        path = fetched(link.game_id, cache_folder() / _FETCHED)
        return Loaded(_of_file(path), path.name, "mjlog", link.seat)
    if "://" in source:
        raise ReplayError("only links to games on tenhou.net are followed; save the record and name the file")
    path = Path(source)
    record = _of_file(path)
    return Loaded(record, path.name, _format(path), record.decisions[0].player if record.decisions else None)


def seat_of(loaded: Loaded, wanted: Wanted) -> tuple[int, str]:
    """Whose decisions are meant, and why if nobody said so.

    Raises:
        NotThereError: there is no such player.
        ReplayError: there is more than one.
    """
    record = loaded.record
    if wanted.seat is not None:
        return wanted.seat, ""
    if wanted.player:
        return _seat_named(record, wanted.player), ""
    if loaded.seat is not None:
        return loaded.seat, ""
    known = [player for player, shown in enumerate(known_hands(record)) if shown]
    seat = known[0] if len(known) == 1 else 0
    names = ", ".join(f"{player} {clean_text(name) or '?'}" for player, name in enumerate(record.names))
    return seat, f"reviewing seat {seat}; --seat or --player chooses another of {names}"


def file_name(loaded: Loaded, made: Review) -> str:
    """A name for the files of a review, without its suffix; of an anonymous one it says nothing."""
    if not any(made.game.names):
        return f"review-{hashlib.sha256(as_json(made)).hexdigest()[:12]}"
    stem = made.game.id or _UNSAFE.sub("_", loaded.name.split(".")[0])[:60] or "game"
    return f"{_UNSAFE.sub('_', stem)}-{made.seat}"


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


def _of_file(path: Path) -> GameRecord:
    record = read_game(path)
    if not path.name.endswith(RECORD_SUFFIX):
        return record
    beside = path.with_name(path.name.removesuffix(RECORD_SUFFIX) + DECISIONS_SUFFIX)
    try:
        return msgspec.structs.replace(record, decisions=read_decisions(beside))
    except ReplayError as exc:
        sys.stderr.write(f"note: {clean_text(str(exc))}; what happened in play is left out\n")
        return record


def _format(path: Path) -> Source:
    data = read_file(path)
    return detect((expand_gzip(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8"))


def _seat_named(record: GameRecord, wanted: str) -> int:
    exact = [player for player, name in enumerate(record.names) if name == wanted]
    fitting = exact or [player for player, name in enumerate(record.names) if name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(clean_text(name) or "?" for name in record.names)
    if not fitting:
        raise NotThereError(f"nobody is called {clean_text(wanted)!r}; the players are {names}")
    raise ReplayError(f"more than one is called {clean_text(wanted)!r}: {names}; --seat says which")


# --- a folder ---------------------------------------------------------------------------------------------


def _review_folder(path: Path, reviewer: Reviewer, wanted: Wanted, out: Path | None, to_json: bool) -> int:
    entries: list[IndexEntry] = []
    tallies: list[SeatTally] = []
    skipped: list[Skipped] = []
    files = list(_records(path))
    if not files:
        raise ReplayError(f"{path}: no records in it")
    for number, file in enumerate(files, 1):
        _progress(f"{number} of {len(files)}, {len(skipped)} skipped: {clean_text(file.name)}")
        try:
            loaded = load(str(file))
            made = _reviewed(reviewer, loaded, wanted, tell=False)
        except NotThereError:
            continue
        except (ReplayError, ModelError) as exc:
            name = f"record {number}" if wanted.anonymous else clean_text(file.name)
            skipped.append(Skipped(file=name, reason=clean_text(str(exc))))
            continue
        name = f"game-{number:04d}" if wanted.anonymous else file_name(loaded, made)
        if out:
            _write(made, name, out)
        entries.append(made_entry(made, name))
        tallies.append(tally(loaded.record.events)[0][made.seat])
    _progress("")
    if not entries:
        why = skipped[0].reason if skipped else f"nobody is called {clean_text(wanted.player)!r}"
        raise ReplayError(f"{path}: none of {len(files)} records can be reviewed: {why}")
    index = index_of(entries, tallies, skipped, reviewer)
    paths = []
    if out:
        data = as_json(index)
        paths = [_put(out, "index.html", index_page(data).encode("utf-8", "replace"))]
        paths.append(_put(out, "index.json", data))
    sys.stdout.write(as_json(index).decode() if to_json else index_text(index, paths))
    for each in skipped:
        sys.stderr.write(f"skipped: {each.file}: {each.reason}\n")
    return 1 if skipped else 0


def _records(folder: Path) -> Iterator[Path]:
    """Files whose names say that they are records, by name; what lies beside them is none."""
    try:
        found: Sequence[Path] = sorted(folder.iterdir())
    except OSError as exc:
        raise ReplayError(f"{folder}: cannot be looked into: {exc.strerror}") from exc
    for path in found:
        suffix = Path(path.name.removesuffix(".gz")).suffix
        if suffix in SUFFIXES and path.name != "index.json" and not path.name.endswith(DECISIONS_SUFFIX):
            yield path


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:100]}")
        sys.stderr.flush()
