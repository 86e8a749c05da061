"""Translates table frames to game events: converts seats to players and checks the server's scores.

``player`` is the absolute player number of seat 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from bot.tenhou.messages import server_messages as m
from game.events import (
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    Four,
    GameEvent,
    PlayerLeft,
    PlayerReturned,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
)
from game.melds import decode_meld, meld_event
from game.scoring.settlement import RIICHI_STICK
from game.tiles import UNSEEN
from kit.errors import StateMismatchError

T = TypeVar("T")

TABLE_MESSAGES: Final = (
    m.RoundDealt,
    m.TileDrawn,
    m.TileDiscarded,
    m.MeldMade,
    m.RiichiStep,
    m.IndicatorShown,
    m.RoundWon,
    m.RoundDrawn,
)
"""The frames that advance the game."""

_HIDDEN: Final = (UNSEEN,) * 13


def by_player(by_seat: Sequence[T], player: int) -> tuple[T, T, T, T]:
    """Reorders values listed by seat, where seat 0 is ``player``, to absolute players.

    >>> by_player("abcd", 1)
    ('d', 'a', 'b', 'c')
    """
    a, b, c, d = (by_seat[(p - player) % 4] for p in range(4))
    return a, b, c, d


def player_of_dealer(round_index: int, dealer_seat: int) -> int:
    """The absolute player number of seat 0, given the seat of the dealer in a round."""
    return (round_index - dealer_seat) % 4


def translate(
    message: m.ServerMessage, record: np.void, player: int, *, strict: bool = True
) -> GameEvent | None:
    """The game event of a frame; None if the frame is not a game event.

    Args:
        message: the frame.
        record: the round before the frame.
        player: the absolute player number of seat 0.
        strict: compare the server's scores with ours; false in a round rebuilt from a snapshot.

    Raises:
        StateMismatchError: the frame is invalid here, or its scores differ from ours.
    """
    translator = _TRANSLATORS.get(type(message))
    return translator(message, record, player, strict) if translator else None


def _dealt(message: m.RoundDealt, _record: np.void, player: int, _strict: bool) -> GameEvent:
    if len(message.hand) != 13:
        raise StateMismatchError("the hand of the deal does not have 13 tiles")
    return StartRound(
        round_index=message.round_index,
        honba=message.honba,
        riichi_sticks=message.riichi_sticks,
        dealer=(message.dealer + player) % 4,
        scores=by_player(message.scores, player),
        dora_indicator=message.dora_indicator,
        hands=by_player((message.hand, _HIDDEN, _HIDDEN, _HIDDEN), player),
    )


def _drawn(message: m.TileDrawn, _record: np.void, player: int, _strict: bool) -> GameEvent:
    return Draw((message.seat + player) % 4, message.tile)


def _discarded(message: m.TileDiscarded, record: np.void, player: int, _strict: bool) -> GameEvent:
    who = (message.seat + player) % 4
    tsumogiri = message.tsumogiri
    if record["hand_known"][who]:
        # The letter's case does not mark tsumogiri for our own discards.
        tsumogiri = bool(record["drawn"] == message.tile)
    return Discard(who, message.tile, tsumogiri)


def _meld(message: m.MeldMade, _record: np.void, player: int, _strict: bool) -> GameEvent:
    try:
        meld = decode_meld(message.code)
    except ValueError as exc:
        raise StateMismatchError(str(exc)) from None
    return meld_event((message.seat + player) % 4, meld)


def _riichi(message: m.RiichiStep, record: np.void, player: int, strict: bool) -> GameEvent:
    who = (message.seat + player) % 4
    if message.step == 1:
        return Riichi(who)
    if strict and message.scores is not None:
        ours = [int(score) - RIICHI_STICK * (p == who) for p, score in enumerate(record["scores"])]
        _compare(ours, by_player(message.scores, player))
    return RiichiAccepted(who)


def _compare(ours: Sequence[int], theirs: Four) -> None:
    if list(theirs) != list(ours):
        raise StateMismatchError(f"the server has the scores {list(theirs)}, we have {list(ours)}")


def _won(message: m.RoundWon, record: np.void, player: int, strict: bool) -> GameEvent:
    if strict:
        _compare([int(score) for score in record["scores"]], by_player(message.scores, player))
    return Win(
        player=(message.seat + player) % 4,
        from_player=(message.from_seat + player) % 4,
        tile=message.tile,
        hand=tuple(sorted(message.hand)),
        fu=message.fu,
        points=message.points,
        limit=message.limit,
        yaku=message.yaku,
        yakuman=message.yakuman,
        ura_indicators=message.ura_indicators,
        liable=-1 if message.liable < 0 else (message.liable + player) % 4,
        deltas=by_player(message.deltas, player),
        honba=message.honba,
        riichi_sticks=message.riichi_sticks,
    )


def _drawn_round(message: m.RoundDrawn, record: np.void, player: int, strict: bool) -> GameEvent:
    if strict:
        _compare([int(score) for score in record["scores"]], by_player(message.scores, player))
    hands = by_player(message.hands, player)
    return DrawnRound(message.reason, by_player(message.deltas, player), hands)


_TRANSLATORS: Final[dict[type[m.ServerMessage], Callable[[Any, np.void, int, bool], GameEvent]]] = {
    m.RoundDealt: _dealt,
    m.TileDrawn: _drawn,
    m.TileDiscarded: _discarded,
    m.MeldMade: _meld,
    m.RiichiStep: _riichi,
    m.IndicatorShown: lambda message, *_: DoraRevealed(message.tile),
    m.RoundWon: _won,
    m.RoundDrawn: _drawn_round,
    m.PlayerGone: lambda message, _record, player, _strict: PlayerLeft((message.seat + player) % 4),
    m.PlayerBack: lambda message, _record, player, _strict: PlayerReturned((message.seat + player) % 4),
}
