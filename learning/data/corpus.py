"""The corpus as learning reads it: memory-mapped, selected by its index, game by game."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from game.packing import Packed
from kit.errors import ReplayError, ReplayFormatError
from learning.data import layout
from learning.data.layout import ROOMS, SPLITS, Part, Room

Numbers = npt.NDArray[np.int64]
"""Games as places in the index."""

_REBUILD: Final = "run `suzaku corpus build` again"


class Corpus:
    """A built corpus.

    It can be sent to another process, which then maps the same files.

    Attributes:
        folder: the corpus folder.
        index: ``[N]`` of `layout.GAME`, read-only.
        absences: ``[M]`` of `layout.ABSENCE`, ordered by game.
        players: names; the index refers to places in this tuple.
        card: the data card.

    Raises:
        ReplayError: there is no complete corpus in this format.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.card = _card(folder)
        self.index: npt.NDArray[np.void] = np.load(folder / layout.INDEX_FILE, mmap_mode="r")
        self.absences: npt.NDArray[np.void] = np.load(folder / layout.ABSENCES_FILE)
        self.players: tuple[str, ...] = tuple(
            json.loads((folder / layout.PLAYERS_FILE).read_text(encoding="utf-8", errors="surrogatepass"))
        )
        events = folder / layout.EVENTS_FILE
        self._data = (
            np.memmap(events, dtype=np.uint8, mode="r") if events.stat().st_size else np.zeros(0, "u1")
        )
        if self.index.dtype != layout.GAME or len(self.index) != self.card["games"]:
            raise ReplayError(f"{folder}: index and data card disagree; {_REBUILD}")

    def __len__(self) -> int:
        return len(self.index)

    def __reduce__(self) -> tuple[type[Corpus], tuple[Path]]:
        return Corpus, (self.folder,)

    def events(self, number: int) -> Packed:
        """The packed events of one game, ready for `game.state.fold_packed`.

        Raises:
            ReplayError: the stored game is damaged.
        """
        row = self.index[number]
        start = int(row["offset"])
        try:
            return layout.expand_events(self._data[start : start + int(row["size"])].tobytes())
        except ReplayFormatError as exc:
            place = self.folder / layout.EVENTS_FILE
            raise ReplayError(f"{place}: {self.game_id(number)} is damaged ({exc}); {_REBUILD}") from None

    def game_id(self, number: int) -> str:
        """The id of a game."""
        return bytes(self.index["id"][number]).decode()

    def absences_of(self, number: int) -> npt.NDArray[np.void]:
        """``[M]`` of `layout.ABSENCE`: times when players were away from a game."""
        first, end = np.searchsorted(self.absences["game"], (number, number + 1))
        return self.absences[first:end]

    def select(self, *, split: Part = "all", rooms: Sequence[Room] = ROOMS) -> Numbers:
        """Games that match, in ascending order.

        Args:
            split: part of the corpus.
            rooms: rooms they were played in.
        """
        index = self.index
        fits = np.isin(index["room"], [ROOMS.index(room) for room in rooms])
        if split != "all":
            fits &= index["split"] == SPLITS.index(split)
        return np.flatnonzero(fits)


def _card(folder: Path) -> dict[str, Any]:
    path = folder / layout.CARD_FILE
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        form = card["plan"]["format"]
        sizes = {name: file["bytes"] for name, file in card["files"].items()}
    except FileNotFoundError:
        raise ReplayError(f"{folder}: no complete corpus; run `suzaku corpus build`") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ReplayError(f"{path}: not a data card ({exc}); {_REBUILD}") from None
    if form != layout.FORMAT:
        raise ReplayError(f"{folder}: made in another format, {form}, not {layout.FORMAT}; {_REBUILD}")
    for name, size in sizes.items():
        if not (folder / name).is_file() or (folder / name).stat().st_size != size:
            raise ReplayError(f"{folder / name}: missing or cut short; {_REBUILD}")
    return card
