"""Recorded games, and the decisions in them."""

from __future__ import annotations

import os
from pathlib import Path

from bot.records.sources import full_source, load
from game.table.table import masked
from replays.formats import parse
from replays.record import GameRecord
from replays.review.moments import Moment, follow
from replays.review.report import check_player, length_of


def read_game(source: str | Path | bytes) -> GameRecord:
    """Read a game: mjlog, Tenhou's JSON, a link to Tenhou's viewer, mjai or majiang-core, also gzipped.

    Args:
        source: the path of a file; a link, or the id of a game on Tenhou, which is downloaded once; or the
            content of a file as bytes.

    Returns:
        The record: ``names``, ``events`` from `StartGame` to `EndGame`, ``ending`` with the final scores.

    Raises:
        ReplayError: it cannot be read or downloaded; `ReplayFormatError`: it is in no known format.
    """
    return parse(source) if isinstance(source, bytes) else load(full_source(os.fspath(source))).record


def decisions(game: GameRecord, seat: int) -> list[Moment]:
    """The decisions of one player, each an `Observation` of no more than this player could see.

    Moves without a choice are left out, and so are calls that a player with a higher claim took away.

    Args:
        game: from `read_game`.
        seat: the player, 0 to 3; 0 dealt first.

    Returns:
        In order. ``legal`` has the legal actions; ``done`` is the player's, a riichi with the tile
        discarded; ``round`` counts from 0; ``record`` is the round as seen, of `game.layout.ROUND_STATE`.

    Raises:
        ReplayError: the game has other rules, or does not show this player's hand.
        ReplayFormatError: its events do not fit together; the message names the round.
        ValueError: there is no such seat.
    """
    check_seat(seat)
    check_player(game, seat)
    seen = [masked(event, seat) for event in game.events]
    return follow(seen, seat, length_of(game.game_type)).moments


def check_seat(seat: int) -> None:
    """Reject what is not a seat, as negative numbers would count from the last.

    Raises:
        ValueError: there is no such seat.
    """
    if seat not in range(4):
        raise ValueError(f"seat {seat}: give 0 to 3")
