"""Selection of the decisions to learn from, by the players and games in the index of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.ranking import TENHOUI, rank_name
from learning.data.corpus import Corpus, Numbers
from learning.data.layout import ai_name

ALL_PLAYERS: Final = 0b1111

_SHARE_BYTES: Final = 8


class SelectedDecisions(NamedTuple):
    """``games [G]`` by place in the index, and ``players [G]`` with a bit for each player."""

    games: Numbers
    players: NDArray[np.uint8]


def choose(
    corpus: Corpus,
    games: Numbers,
    *,
    least_rank: int | None = None,
    player: str | None = None,
    ai: bool | None = None,
    share: float = 1.0,
) -> SelectedDecisions:
    """Select players of games by the index; games without a selected player are left out.

    Args:
        corpus: The corpus.
        games: From `Corpus.select`.
        least_rank: Lowest dan index of the player.
        player: The player's name.
        ai: Whether the player is an official AI account; either if None.
        share: Approximate share of the games to take; a smaller share is a subset of every larger one,
            whatever the other filters are.
    """
    rows = corpus.index[games]
    fits = np.ones((len(games), 4), np.bool_)
    if share < 1.0:
        fits &= np.array([place_in_shares(each) < share for each in rows["id"].tolist()], np.bool_)[:, None]
    if least_rank is not None:
        fits &= rows["ranks"] >= least_rank
    if player is not None:
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
    """Who sits where, as places in a list of players.

    A player with an official AI account is known by its name without the mark, others by their rank.

    Args:
        corpus: The corpus.
        names: Such as ``LuckyJ`` or ``7-dan``.

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
