"""The rule-based win model: whether to declare an available win.

Source: Suphx, arXiv:2003.13590, section 2.1: always, except in the last round of the game when the win would
leave us in fourth place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from game.actions import ActionKind
from game.scoring import context_of, evaluate
from game.settlement import LAST_ROUND, deltas, game_over, liable_player, placements

if TYPE_CHECKING:
    import numpy as np

    from game.actions import Action
    from game.events import Four
    from game.settlement import GameLength


def should_win(record: np.void, player: int, action: Action, length: GameLength) -> bool:
    """Whether to declare a tsumo or ron.

    Declines only a win that ends the game with us fourth, with ties broken by the seat order of East 1. A win
    does not end the game while all players stay below 30,000 and another wind remains, nor when we are dealer
    and not first. Hidden information is ignored: ura dora, and other winners on the same tile.

    Args:
        record: the round when the win is possible, our hand known.
        player: us, absolute.
        action: the win.
        length: length of the game.
    """
    round_index = int(record["round_index"])
    if round_index < LAST_ROUND[length]:
        # before the last round the game ends only if a score falls below 0, and then that player is last
        return True
    scores = _scores_after(record, player, action)
    if scores is None:
        return True
    repeats = player == int(record["dealer"])
    if not game_over(round_index, repeats, scores, length, aborted=False):
        return True
    return placements(scores)[player] != 4


def _scores_after(record: np.void, player: int, action: Action) -> Four | None:
    """Scores after the payment of the win; None if we find no yaku in it and must trust the offer."""
    from_player = player if action.kind is ActionKind.TSUMO else int(record["last_player"])
    value = evaluate(context_of(record, player, action.tile, from_player))
    if value is None:
        return None
    paid = deltas(
        value,
        player,
        from_player,
        int(record["dealer"]),
        honba=int(record["honba"]),
        riichi_sticks=int(record["riichi_sticks"]),
        liable=liable_player(record, player, value),
    )
    first, second, third, fourth = (int(had) + gets for had, gets in zip(record["scores"], paid, strict=True))
    return first, second, third, fourth
