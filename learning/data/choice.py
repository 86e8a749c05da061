"""Selection of the decisions to learn from, by the players and games in the index of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from game.ranking import TENHOUI, rank_name
from kit.errors import ConfigError
from kit.options import INTERNAL, Share, flag
from learning.data.corpus import Corpus, Numbers
from learning.data.layout import ROOMS, Part, Room, ai_name

ALL_PLAYERS: Final = 0b1111

_SHARE_BYTES: Final = 8


class Selection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Selects the decisions to learn from.

    Attributes:
        rooms: only games in this room; may be repeated; default: all rooms.
        least_rank: only players of at least this rank; 16 is 7-dan.
        player: only the player with this name.
        ai: whether the player is an official AI account; either if None.
        favour: take the decisions of this player (LuckyJ) or rank (7-dan) more often, as NAME=TIMES; may be
            repeated.
        share: share of the games to use, 0 to 1; a smaller share is a subset of a larger one.
        decisions: stop adding games once they hold this many decisions; 0 for all games.
    """

    rooms: Annotated[tuple[Room, ...], flag("--room")] = ()
    least_rank: Annotated[int, Meta(le=100)] = -1
    player: str = ""
    ai: Annotated[bool | None, INTERNAL] = None
    favour: tuple[str, ...] = ()
    share: Share = 1.0
    decisions: Annotated[int, Meta(ge=0)] = 0


class SelectedDecisions(NamedTuple):
    """``games [G]`` by place in the index, and ``players [G]`` with a bit for each player."""

    games: Numbers
    players: NDArray[np.uint8]


def selected(corpus: Corpus, selection: Selection, split: Part) -> SelectedDecisions:
    """The decisions of a part of the corpus that a selection takes; only of training games it takes a share.

    `learning.train.samples_run.choice_of` applies the number of decisions and the favoured players.
    """
    return choose(
        corpus,
        corpus.select(split=split, rooms=selection.rooms or ROOMS),
        least_rank=selection.least_rank,
        player=selection.player,
        ai=selection.ai,
        share=selection.share if split == "train" else 1.0,
    )


def choose(
    corpus: Corpus,
    games: Numbers,
    *,
    least_rank: int = -1,
    player: str = "",
    ai: bool | None = None,
    share: float = 1.0,
) -> SelectedDecisions:
    """Select players of games by the index; games without a selected player are left out.

    Args:
        corpus: the corpus.
        games: from `Corpus.select`.
        least_rank: lowest dan index of the player.
        player: the player's name; "" for any.
        ai: whether the player is an official AI account; either if None.
        share: approximate share of the games to take; a smaller share is a subset of every larger one,
            whatever the other filters are.
    """
    rows = corpus.index[games]
    fits = rows["ranks"] >= least_rank
    if share < 1.0:
        fits &= np.array([place_in_shares(each) < share for each in rows["id"].tolist()], np.bool_)[:, None]
    if player:
        fits &= rows["players"] == (corpus.players.index(player) if player in corpus.players else -1)
    if ai is not None:
        fits &= seats(rows["ai"]) == ai
    return _selected(games, fits)


def repeated(corpus: Corpus, choice: SelectedDecisions, times: Mapping[str, int]) -> SelectedDecisions:
    """The same decisions, those of some players several times; `identity_table` defines the names."""
    chosen = seats(choice.players)
    who = identity_table(corpus, tuple(times))[choice.games]
    again = [
        _selected(choice.games, chosen & (who == place))
        for place, count in enumerate(times.values())
        for _ in range(count - 1)
    ]
    games, players = zip(choice, *again, strict=True)
    return SelectedDecisions(np.concatenate(games), np.concatenate(players))


def identity_table(corpus: Corpus, names: Sequence[str]) -> NDArray[np.int64]:
    """The player in each seat, as indices into a list of players.

    A player with an official AI account is known by its name without the mark, others by their rank.

    Args:
        corpus: the corpus.
        names: such as ``LuckyJ`` or ``7-dan``.

    Returns:
        ``[N, 4]`` for the games of the index; -1 where none of the names fits.
    """
    places = {name: place for place, name in enumerate(names)}
    accounts = np.array([places.get(ai_name(name), -1) for name in corpus.players] or [-1], np.int64)
    ranks = np.array([places.get(rank_name(rank), -1) for rank in range(TENHOUI + 1)], np.int64)
    index = corpus.index
    who: NDArray[np.int64] = np.where(seats(index["ai"]), accounts[index["players"]], ranks[index["ranks"]])
    return who


def seats(bits: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """``[G, 4]``: which players of each game a bit is set for."""
    return np.unpackbits(bits[:, None], axis=1, count=4, bitorder="little").astype(np.bool_)


def _selected(games: Numbers, fits: NDArray[np.bool_]) -> SelectedDecisions:
    """The games with a player that fits, ``[G, 4]``."""
    players = np.packbits(fits, axis=1, bitorder="little").reshape(len(games))
    return SelectedDecisions(games[players != 0], players[players != 0])


def place_in_shares(game_id: bytes) -> float:
    """A number from 0 to 1 that is fixed for each game and independent of its part of the split."""
    digest = hashlib.sha256(b"share " + game_id).digest()
    return int.from_bytes(digest[:_SHARE_BYTES], "big") / 256.0**_SHARE_BYTES


def times_of(selection: Selection) -> dict[str, int]:
    """How often the decisions of favoured players are taken, by their names.

    >>> times_of(Selection(favour=("LuckyJ=20", "10-dan=2")))
    {'LuckyJ': 20, '10-dan': 2}

    Raises:
        ConfigError: a text is not NAME=TIMES.
    """
    times = {}
    for text in selection.favour:
        name, _, count = text.rpartition("=")
        if not name or not count.isdecimal() or not int(count):
            raise ConfigError(f"--favour {text}: give it as NAME=TIMES, such as LuckyJ=10")
        times[name] = int(count)
    return times


def described(selection: Selection) -> str:
    """A selection in words.

    >>> described(Selection()), described(Selection(rooms=("houou",), least_rank=16, share=0.1))
    ('all players', 'rooms houou, rank 16 or more, 10 % of the games')
    """
    parts = []
    if selection.rooms:
        parts.append(f"rooms {', '.join(selection.rooms)}")
    if selection.least_rank >= 0:
        parts.append(f"rank {selection.least_rank} or more")
    if selection.player:
        parts.append(f"the player {selection.player}")
    if selection.ai is not None:
        parts.append("official AI accounts" if selection.ai else "people")
    if selection.decisions:
        parts.append(f"games of {selection.decisions:,} decisions")
    if selection.share < 1.0:
        parts.append(f"{100 * selection.share:g} % of the games")
    parts += [f"{name} {times} times" for name, times in times_of(selection).items()]
    return ", ".join(parts) or "all players"
