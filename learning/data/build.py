"""`suzaku corpus build`: packs real games into the compact corpus that learning reads.

Records are packed in parts. Each part is a file of its own and is written whole or not at all, so finished
parts survive any interruption of the build. The corpus is assembled from the parts in one pass, and the same
records always give the same bytes with the same version of Zstandard.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
import numpy.typing as npt
import structlog

from kit.errors import ReplayError
from kit.files import remove_leftovers, replace_file, replacing
from kit.text import clean_text
from kit.workers.ordered import batches, default_workers, in_order
from learning.data import layout
from learning.data.pack import PackedGame, PackedPart, pack_part, read_part
from learning.data.sources import StoredRecord, source_files, stored_games

PART_GAMES: Final = 128
"""Records in a part: a few seconds of work."""
PROGRESS_SECONDS: Final = 10.0
_PLAN_FILE: Final = "plan.json"
_LISTED: Final = 100

_log = structlog.get_logger(__name__)


class BuildReport(msgspec.Struct, frozen=True):
    """Result of a build.

    Attributes:
        folder: the corpus.
        games: games in the corpus.
        size: total size of its files, bytes.
        bytes_per_game: mean size of the compressed events alone.
        content: hash of the whole content, as on the data card.
        parts: parts the records were packed in.
        reused: parts that an earlier, interrupted build had finished.
        not_supported: number of games left out, by reason.
        rejected: records that hold no readable game.
        duplicates: repeated games.
        seconds: duration.
    """

    folder: str
    games: int
    size: int
    bytes_per_game: float
    content: str
    parts: int
    reused: int
    not_supported: dict[str, int]
    rejected: int
    duplicates: int
    seconds: float

    def __str__(self) -> str:
        """The report for people."""
        left_out = "".join(f", {count} {why}" for why, count in self.not_supported.items())
        return (
            f"{self.folder}: {self.games} games, {self.size / 1e6:.1f} MB, "
            f"{self.bytes_per_game:.0f} bytes per game, content {self.content[:16]}\n"
            f"left out: {self.rejected} unreadable, {self.duplicates} duplicates{left_out}\n"
            f"{self.seconds:.1f} s, {self.reused} of {self.parts} parts from an earlier build"
        )


def build(paths: Sequence[Path], folder: Path, workers: int | None = None) -> BuildReport:
    """Build a corpus, or resume an interrupted build.

    Args:
        paths: files, folders and shards of records.
        folder: created if missing; a corpus of other records in it is replaced.
        workers: processes; one per core if None.

    Raises:
        ReplayError: a file cannot be read or written.
    """
    started = time.monotonic()
    try:
        files = source_files(paths)
        plan = _plan(files)
        parts_folder = folder / layout.PARTS_FOLDER
        if _is_built(folder, plan):
            shutil.rmtree(parts_folder, ignore_errors=True)
            return _report(folder, 0, 0, started)
        _begin(folder, parts_folder, plan)
        parts, reused = _pack(files, parts_folder, default_workers() if workers is None else workers)
        _assemble(folder, [parts_folder / _part_name(number) for number in range(parts)], plan)
        shutil.rmtree(parts_folder)
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    return _report(folder, parts, reused, started)


# --- the plan ---------------------------------------------------------------------------------------------


def _plan(files: Sequence[Path]) -> dict[str, Any]:
    """Everything the bytes of the corpus depend on."""
    return {
        "format": layout.FORMAT,
        "part_games": PART_GAMES,
        "files": [{"name": file.name, "sha256": _file_hash(file)} for file in files],
    }


def _file_hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _is_built(folder: Path, plan: dict[str, Any]) -> bool:
    """Whether the folder holds an undamaged corpus of these records."""
    try:
        card = json.loads((folder / layout.CARD_FILE).read_bytes())
        return bool(card["plan"] == plan) and all(
            _file_hash(folder / name) == file["sha256"] for name, file in card["files"].items()
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _begin(folder: Path, parts_folder: Path, plan: dict[str, Any]) -> None:
    """Make the folders, and remove what is left of a build of other records."""
    plan_file = parts_folder / _PLAN_FILE
    text = json.dumps(plan, indent=1)
    if not plan_file.is_file() or plan_file.read_text(encoding="utf-8") != text:
        shutil.rmtree(parts_folder, ignore_errors=True)
        parts_folder.mkdir(parents=True)
        replace_file(plan_file, text.encode())
    (folder / layout.CARD_FILE).unlink(missing_ok=True)


# --- parts ------------------------------------------------------------------------------------------------


def _part_name(number: int) -> str:
    return f"part-{number:05}.bin"


def _pack(files: Sequence[Path], folder: Path, workers: int) -> tuple[int, int]:
    """Pack the parts that are still missing; return the number of all parts, and of those already there."""
    missing: list[int] = []
    counts = Counter[str]()

    def tasks() -> Iterator[list[StoredRecord]]:
        for number, batch in enumerate(batches(stored_games(files), PART_GAMES)):
            counts["parts"] += 1
            if _read_part(folder / _part_name(number)) is None:
                missing.append(number)
                yield batch

    reported = time.monotonic()
    for done, packed in enumerate(in_order(pack_part, tasks(), workers)):
        replace_file(folder / _part_name(missing[done]), hashlib.sha256(packed).digest() + packed)
        if time.monotonic() - reported >= PROGRESS_SECONDS:
            reported = time.monotonic()
            _log.info("corpus.progress", games=PART_GAMES * (missing[done] + 1))
    return counts["parts"], counts["parts"] - len(missing)


def _read_part(path: Path) -> PackedPart | None:
    """Read a finished part; None if it is missing or torn."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return read_part(data[32:]) if hashlib.sha256(data[32:]).digest() == data[:32] else None


# --- the corpus -------------------------------------------------------------------------------------------


class _Assembly:
    """Rows and names collected while the parts are read."""

    def __init__(self, events: BinaryIO) -> None:
        self.rows: list[npt.NDArray[np.void]] = []
        self.absences: list[tuple[int, int, int, int]] = []
        self.players: dict[str, int] = {}
        self.origins = Counter[str]()
        self.not_supported = Counter[str]()
        self.rejected: list[tuple[str, str]] = []
        self.duplicates = 0
        self._ids: set[str] = set()
        self._events = events
        self._offset = 0

    def add(self, part: PackedPart) -> None:
        for game in part.games:
            if self._is_new(game.game_id):
                self._game(game)
        for game_id, why in part.not_supported:
            if self._is_new(game_id):
                self.not_supported[why] += 1
        self.rejected += part.rejected

    def _is_new(self, game_id: str) -> bool:
        new = game_id not in self._ids
        self.duplicates += not new
        self._ids.add(game_id)
        return new

    def _game(self, game: PackedGame) -> None:
        row = np.zeros(1, dtype=layout.GAME)
        row["id"] = game.game_id.encode()
        row["offset"], row["size"] = self._offset, len(game.data)
        for name, value in game.fields.items():
            row[name][0] = value
        row["players"][0] = [self.players.setdefault(name, len(self.players)) for name in game.names]
        self.absences += [(len(self.rows), a.player, a.first, a.end) for a in game.absences]
        self._events.write(game.data)
        self._offset += len(game.data)
        self.origins[game.source] += 1
        self.rows.append(row)


def _assemble(folder: Path, parts: Sequence[Path], plan: dict[str, Any]) -> None:
    """Assemble the corpus; the card is written last."""
    remove_leftovers(folder, older_than_s=0.0)
    with replacing(folder / layout.EVENTS_FILE) as events:
        assembly = _Assembly(events)
        for path in parts:
            part = _read_part(path)
            if part is None:
                raise ReplayError(f"{path}: changed while the corpus was built; build it again")
            assembly.add(part)
    index = np.concatenate(assembly.rows) if assembly.rows else np.zeros(0, dtype=layout.GAME)
    _write_array(folder / layout.INDEX_FILE, index)
    _write_array(folder / layout.ABSENCES_FILE, np.array(assembly.absences, dtype=layout.ABSENCE))
    names = json.dumps(list(assembly.players), ensure_ascii=False, indent=0)
    replace_file(folder / layout.PLAYERS_FILE, names.encode("utf-8", "surrogatepass"))
    card = _card(folder, index, assembly, plan)
    replace_file(folder / layout.CARD_FILE, json.dumps(card, indent=1, ensure_ascii=False).encode())


def _write_array(path: Path, array: npt.NDArray[Any]) -> None:
    with replacing(path) as file:
        np.save(file, array, allow_pickle=False)


def _card(
    folder: Path, index: npt.NDArray[np.void], assembly: _Assembly, plan: dict[str, Any]
) -> dict[str, Any]:
    names = (layout.EVENTS_FILE, layout.INDEX_FILE, layout.ABSENCES_FILE, layout.PLAYERS_FILE)
    hashes = {name: _file_hash(folder / name) for name in names}
    content = hashlib.sha256("".join(hashes.values()).encode()).hexdigest()
    return {
        "what": "Four-player Tenhou games with red fives and open tanyao, all hands open, as packed events",
        "games": len(index),
        "content_sha256": content,
        "rounds": int(index["rounds"].sum()),
        "discards": int(index["discards"].sum()),
        "events": int(index["events"].sum()),
        "split": {name: int((index["split"] == n).sum()) for n, name in enumerate(layout.SPLITS)},
        "rooms": {name: int((index["room"] == n).sum()) for n, name in enumerate(layout.ROOMS)},
        "lengths": {
            "hanchan": int((index["hanchan"] == 1).sum()),
            "tonpuu": int((index["hanchan"] == 0).sum()),
        },
        "years": _counts(index["year"]),
        "ranks": _counts(index["ranks"]),
        "players": len(assembly.players),
        "games_with_ai": int((index["ai"] != 0).sum()),
        "games_with_absence": int((index["away"] != 0).sum()),
        "sources": dict(sorted(assembly.origins.items())),
        "not_supported": dict(sorted(assembly.not_supported.items())),
        "duplicates": assembly.duplicates,
        "rejected": len(assembly.rejected),
        "rejected_first": [f"{place}: {why}" for place, why in assembly.rejected[:_LISTED]],
        "files": {name: {"bytes": (folder / name).stat().st_size, "sha256": hashes[name]} for name in names},
        "plan": plan,
    }


def _counts(values: npt.NDArray[Any]) -> dict[str, int]:
    found, counts = np.unique(values, return_counts=True)
    return {str(value): int(count) for value, count in zip(found.tolist(), counts.tolist(), strict=True)}


def _report(folder: Path, parts: int, reused: int, started: float) -> BuildReport:
    card = json.loads((folder / layout.CARD_FILE).read_text(encoding="utf-8"))
    sys.stderr.writelines(f"unreadable: {clean_text(each)}\n" for each in card["rejected_first"])
    files = card["files"]
    games = card["games"]
    return BuildReport(
        folder=str(folder),
        games=games,
        size=sum(file["bytes"] for file in files.values()),
        bytes_per_game=round(files[layout.EVENTS_FILE]["bytes"] / max(games, 1), 1),
        content=card["content_sha256"],
        parts=parts,
        reused=reused,
        not_supported=card["not_supported"],
        rejected=card["rejected"],
        duplicates=card["duplicates"],
        seconds=round(time.monotonic() - started, 2),
    )
