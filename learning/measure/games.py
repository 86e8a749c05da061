"""Selects the games and the players that models are measured on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from kit.errors import ConfigError, ReplayError
from kit.options import Seed, flag
from learning.data.build import build
from learning.data.choice import SelectedDecisions, Selection, described, selected
from learning.data.corpus import Corpus
from learning.data.layout import CARD_FILE, SPLITS, Part, Room


class GamesPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Games to measure on.

    Attributes:
        split: split to use; default: test for a corpus, all for records.
        rooms: only games in this room; may be repeated.
        games: number of matching games to sample; 0 for all.
        seed: seed of all samples.
    """

    split: Part | None = None
    rooms: Annotated[tuple[Room, ...], flag("--room")] = ()
    games: Annotated[int, Meta(ge=0)] = 0
    seed: Seed = 0

    @property
    def selection(self) -> Selection:
        """The players."""
        return Selection(rooms=self.rooms)


class Measured(msgspec.Struct, frozen=True):
    """The games behind some figures.

    Attributes:
        paths: the paths given by the user.
        content: hash of the corpus, or of the one built from the records.
        split: part of it; "all" for records.
        players: the selected players, in words.
        games: games with such a player.
        from_training: how many of them belong to the training split.
        left_out: number of records that could not be used, by reason.
    """

    paths: tuple[str, ...]
    content: str
    split: str
    players: str
    games: int
    from_training: int
    left_out: dict[str, int]

    def __str__(self) -> str:
        """The games in words."""
        left_out = [f"{count:,} records left out: {why}" for why, count in self.left_out.items()]
        return ", ".join(
            (
                f"{self.games:,} games of {' '.join(self.paths)} (content {self.content[:16]}), "
                f"split {self.split}, {self.from_training:,} of the training part",
                self.players,
                *left_out,
            )
        )


class Source(NamedTuple):
    """A corpus, and its origin.

    Attributes:
        paths: the paths given by the user.
        corpus: the games.
        split: the default part.
        left_out: number of records that could not be used, by reason.
    """

    paths: tuple[Path, ...]
    corpus: Corpus
    split: Part
    left_out: dict[str, int]


@contextmanager
def opened(paths: Sequence[Path]) -> Iterator[Source]:
    """Open a built corpus, or build a temporary one from records.

    Raises:
        ReplayError: there is neither, or it cannot be read.
    """
    for path in paths:
        if not path.exists():
            raise ReplayError(f"{path}: there is no such file or folder")
    built = [path for path in paths if (path / CARD_FILE).is_file()]
    if built and len(paths) > 1:
        raise ReplayError(f"{built[0]}: a built corpus is measured alone, not with other paths")
    if built:
        yield Source(tuple(paths), Corpus(built[0]), "test", {})
        return
    with tempfile.TemporaryDirectory(prefix="suzaku-") as folder:
        report = build(paths, Path(folder))
        others = {"unreadable": report.rejected, "duplicates": report.duplicates}
        left_out = report.not_supported | {why: count for why, count in others.items() if count}
        if not report.games:
            reasons = ", ".join(f"{count} {why}" for why, count in left_out.items()) or "no records"
            raise ReplayError(f"{', '.join(map(str, paths))}: no usable game: {reasons}")
        yield Source(tuple(paths), Corpus(Path(folder)), "all", left_out)


def players_of(source: Source, plan: GamesPlan) -> SelectedDecisions:
    """Select the decisions to measure on.

    Raises:
        ConfigError: no game matches.
    """
    split, selection = plan.split or source.split, plan.selection
    players = selected(source.corpus, selection, split)
    if not len(players.games):
        where = ", ".join(map(str, source.paths))
        raise ConfigError(f"{where}: no game matches; split {split}, {described(selection)}")
    if 0 < plan.games < len(players.games):
        drawn = np.random.default_rng((plan.seed, 0)).choice(players.games, plan.games, replace=False)
        kept = np.isin(players.games, drawn)
        return SelectedDecisions(players.games[kept], players.players[kept])
    return players


def measured(source: Source, players: SelectedDecisions, plan: GamesPlan) -> Measured:
    """Describe the games for a report."""
    corpus, games = source.corpus, players.games
    return Measured(
        paths=tuple(map(str, source.paths)),
        content=corpus.card["content_sha256"],
        split=plan.split or source.split,
        players=described(plan.selection),
        games=len(games),
        from_training=int((corpus.index["split"][games] == SPLITS.index("train")).sum()),
        left_out=source.left_out,
    )
