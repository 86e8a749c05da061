"""The rule-based models: whether to declare an available win, or to abort with nine terminals.

Source: Suphx, arXiv:2003.13590, section 2.1: always, except in the last round of the game when the win would
leave us in fourth place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from game.actions import ActionKind
from game.scoring.settlement import LAST_ROUND, GameLength, deltas, game_over, liable_player, placements
from game.scoring.value import context_of, evaluate
from game.shanten import shanten, shanten_thirteen_orphans
from game.tiles import TERMINALS_AND_HONOURS

if TYPE_CHECKING:
    import numpy as np

    from game.actions import Action
    from game.events import Four
    from game.scoring.settlement import GameLength


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


_KEEP_SHANTEN: Final = 3
"""A normal hand this close to a win is worth more than a new deal."""
_ORPHANS_KINDS: Final = 11
"""With this many kinds thirteen orphans are worth trying; with fewer, only when far behind."""
_BEHIND: Final = 16_000
"""Points behind first place in the last rounds from which an abort is the worse choice."""


def should_abort(record: np.void, player: int, length: GameLength) -> bool:
    """Whether to abort the round with nine or more kinds of terminals and honours.

    Plays on with a hand close to a win, with eleven kinds or more (thirteen orphans three away), and with ten
    when only a very large win would still help.
    """
    hand = record["hand34"][player]
    if int(shanten(hand, 0)) <= _KEEP_SHANTEN:
        return False
    kinds = sum(1 for kind in TERMINALS_AND_HONOURS if hand[kind] > 0)
    if kinds >= _ORPHANS_KINDS or int(shanten_thirteen_orphans(hand)) <= 2:
        return False
    scores = [int(score) for score in record["scores"]]
    late = int(record["round_index"]) >= LAST_ROUND[length] - 1
    return not (kinds >= _ORPHANS_KINDS - 1 and late and max(scores) - scores[player] >= _BEHIND)
