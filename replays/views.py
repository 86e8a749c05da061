"""Combines the views of several players of one game."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from game.events import Draw, GameEvent, StartGame, StartRound
from game.tiles import UNSEEN


def joined(one: Sequence[GameEvent], other: Sequence[GameEvent]) -> tuple[GameEvent, ...] | None:
    """The combined information of two views of a game, None if they are not views of the same game.

    >>> joined([Draw(0, 5), Draw(1)], [Draw(0), Draw(1, 9)])
    (Draw(player=0, tile=5), Draw(player=1, tile=9))
    >>> joined([Draw(0, 5)], [Draw(0, 6)]) is None
    True
    """
    if len(one) != len(other):
        return None
    both = []
    for left, right in zip(one, other, strict=True):
        event = _both(left, right)
        if event is None:
            return None
        both.append(event)
    return tuple(both)


def _both(left: GameEvent, right: GameEvent) -> GameEvent | None:
    if left == right:
        return left
    if isinstance(left, StartGame) and isinstance(right, StartGame):
        return StartGame(left.names) if left.names == right.names else None
    if isinstance(left, Draw) and isinstance(right, Draw):
        seen = right if left.tile == UNSEEN else left
        return seen if left.player == right.player and UNSEEN in (left.tile, right.tile) else None
    if isinstance(left, StartRound) and isinstance(right, StartRound):
        a, b, c, d = (
            theirs if UNSEEN in ours else ours for ours, theirs in zip(left.hands, right.hands, strict=True)
        )
        found = msgspec.structs.replace(left, hands=(a, b, c, d))
        return found if _shows_no_other(right, found) else None
    return None


def _shows_no_other(view: StartRound, found: StartRound) -> bool:
    """Whether a view of a deal shows nothing other than what was found."""
    hands = zip(view.hands, found.hands, strict=True)
    return all(UNSEEN in seen or seen == hand for seen, hand in hands) and view == msgspec.structs.replace(
        found, hands=view.hands
    )
