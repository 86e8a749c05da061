"""Selects the games and the players that accuracy is measured on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from kit.errors import ConfigError, ReplayError
from kit.options import Seed, flag
from learning.accuracy.report import Measured
from learning.corpus.build import build
from learning.corpus.layout import CARD_FILE, ROOMS, SPLITS, Part, Room
from learning.corpus.reader import Corpus, Numbers
from learning.samples.choice import SelectedDecisions, choose
from learning.supervised.plan import Selection
from learning.supervised.samples_run import described

_TRAIN: Final = SPLITS.index("train")


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


class EvaluatedPlayers(NamedTuple):
    """Selected decisions, of people and of official AI accounts; the loader does not distinguish them."""

    people: SelectedDecisions
    ai: SelectedDecisions

    @property
    def games(self) -> Numbers:
        """All games, ascending."""
        return np.union1d(self.people.games, self.ai.games)


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
    split: str
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
        left_out = {
            **report.not_supported,
            **{
                why: count
                for why, count in (("unreadable", report.rejected), ("duplicates", report.duplicates))
                if count
            },
        }
        if not report.games:
            said = ", ".join(f"{count} {why}" for why, count in left_out.items()) or "no records"
            raise ReplayError(f"{', '.join(map(str, paths))}: no usable game: {said}")
        yield Source(tuple(paths), Corpus(Path(folder)), "all", left_out)


def players_of(source: Source, plan: GamesPlan) -> EvaluatedPlayers:
    """Select the decisions to measure on.

    Raises:
        ConfigError: no game matches.
    """
    corpus, split, selection, games = source.corpus, plan.split or source.split, plan.selection, plan.games
    part = next((each for each in SPLITS if each == split), None)
    candidates = corpus.select(split=part, rooms=selection.rooms or ROOMS)
    people, ai = (
        choose(
            corpus,
            candidates if selection.ai in (None, kind) else candidates[:0],
            least_rank=selection.least_rank if selection.least_rank >= 0 else None,
            player=selection.player or None,
            ai=kind,
        )
        for kind in (False, True)
    )
    players = EvaluatedPlayers(people, ai)
    if not len(players.games):
        where = ", ".join(map(str, source.paths))
        raise ConfigError(f"{where}: no game matches; split {split}, {described(selection)}")
    if 0 < games < len(players.games):
        drawn = np.random.default_rng((plan.seed, 0)).choice(players.games, games, replace=False)
        return EvaluatedPlayers(_only(people, drawn), _only(ai, drawn))
    return players


def measured(source: Source, players: EvaluatedPlayers, plan: GamesPlan) -> Measured:
    """Describe the decisions for a report."""
    corpus, games = source.corpus, players.games
    return Measured(
        paths=tuple(map(str, source.paths)),
        content=corpus.card["content_sha256"],
        split=plan.split or source.split,
        players=described(plan.selection),
        games=len(games),
        from_training=int((corpus.index["split"][games] == _TRAIN).sum()),
        left_out=source.left_out,
    )


def _only(choice: SelectedDecisions, games: Numbers) -> SelectedDecisions:
    kept = np.isin(choice.games, games)
    return SelectedDecisions(choice.games[kept], choice.players[kept])
