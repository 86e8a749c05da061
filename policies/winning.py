"""The rule-based win model: whether to declare a win that is offered.

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

    Declines only a win that ends the game with us fourth, ties going by the seats of East 1. A win does not
    end it while everybody stays below 30,000 and a further wind remains, nor when we deal and are not first.
    What is still hidden counts for nothing: ura dora, and others who win on the same tile.

    Args:
        record: the round at the moment of the offer, our hand known.
        player: we.
        action: the win that is offered.
        length: of the game.
    """
    round_index = int(record["round_index"])
    if round_index < LAST_ROUND[length]:
        # it ends here only if somebody goes bust, and then he is last
        return True
    scores = _scores_after(record, player, action)
    if scores is None:
        return True
    repeats = player == int(record["dealer"])
    if not game_over(round_index, repeats, scores, length, aborted=False):
        return True
    return placements(scores)[player] != 4


def _scores_after(record: np.void, player: int, action: Action) -> Four | None:
    """Scores once the win is paid; None if we find no yaku in it and the offer must know better."""
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
