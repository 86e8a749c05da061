"""Whose decisions to learn from: players and games picked by the index of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learning.corpus.layout import ROOMS, Room
from learning.corpus.reader import Corpus, Numbers

ALL_PLAYERS: Final = 0b1111

_SHARE_BYTES: Final = 8


class Choice(NamedTuple):
    """Whose decisions: ``games [G]`` by their place in the index, ``players [G]`` a bit for each player."""

    games: Numbers
    players: NDArray[np.uint8]


def choose(
    corpus: Corpus,
    games: Numbers,
    *,
    least_rank: int | None = None,
    player: str | None = None,
    ai: bool | None = None,
    rooms: Sequence[Room] = ROOMS,
    share: float = 1.0,
) -> Choice:
    """Pick players of games, by the index; games without any are left out.

    Args:
        corpus: The corpus.
        games: As `Corpus.select` gives them.
        least_rank: Dan index the player has at least.
        player: His name.
        ai: Whether he is an official AI account; either if None.
        rooms: Rooms the games were played in.
        share: Of the games, about so much of all; a smaller share lies within every larger one, whatever
            else is chosen.
    """
    rows = corpus.index[games]
    fits = np.ones((len(games), 4), np.bool_)
    fits &= np.isin(rows["room"], [ROOMS.index(room) for room in rooms])[:, None]
    if share < 1.0:
        fits &= np.array([_place_in_shares(each) < share for each in rows["id"].tolist()], np.bool_)[:, None]
    if least_rank is not None:
        fits &= rows["ranks"] >= least_rank
    if player is not None:
        fits &= rows["players"] == (corpus.players.index(player) if player in corpus.players else -1)
    if ai is not None:
        fits &= ((rows["ai"][:, None] >> np.arange(4)) & 1 == 1) == ai
    players = np.packbits(fits, axis=1, bitorder="little").reshape(len(games))
    return Choice(games[players != 0], players[players != 0])


def _place_in_shares(game_id: bytes) -> float:
    """A number from 0 to 1 that a game has for ever, and that its part of the split says nothing about."""
    digest = hashlib.sha256(b"share " + game_id).digest()
    return int.from_bytes(digest[:_SHARE_BYTES], "big") / 256.0**_SHARE_BYTES
