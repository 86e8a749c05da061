"""Selection of the decisions to learn from, by the players and games in the index of a corpus."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learning.corpus.reader import Corpus, Numbers

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
        fits &= ((rows["ai"][:, None] >> np.arange(4)) & 1 == 1) == ai
    players = np.packbits(fits, axis=1, bitorder="little").reshape(len(games))
    return SelectedDecisions(games[players != 0], players[players != 0])


def place_in_shares(game_id: bytes) -> float:
    """A number from 0 to 1 that is fixed for each game and independent of its part of the split."""
    digest = hashlib.sha256(b"share " + game_id).digest()
    return int.from_bytes(digest[:_SHARE_BYTES], "big") / 256.0**_SHARE_BYTES
