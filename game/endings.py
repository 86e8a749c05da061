"""How a round ends: wins with their points, draws with their payments.

Turns the record at the end of a round into events; `game.table` adds them to the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from game.events import DrawnRound, DrawReason, Four, Win
from game.layout import RIVER_CALLED
from game.scoring import context_of, evaluate
from game.settlement import deltas, draw_deltas, liable_player, nagashi_deltas
from game.state import hand_tiles, river_of
from game.tiles import TERMINALS_AND_HONOURS

_ORPHANS: Final = frozenset(TERMINALS_AND_HONOURS)


def win_events(
    record: np.void, winners: Sequence[int], source: int, tile: int, ura_indicators: Sequence[int]
) -> list[Win]:
    """The wins on one tile.

    Args:
        record: when the win is possible, with the winners' hands known.
        winners: nearest to the discarder first; only the first is paid the honba and takes the riichi sticks.
        source: the player whose tile it is; the winner for a tsumo.
        tile: the winning tile.
        ura_indicators: beneath the revealed indicators; they count for winners in riichi.
    """
    wins = []
    for place, player in enumerate(winners):
        ura = tuple(ura_indicators) if record["riichi"][player] == 2 else ()
        wins.append(_win(record, player, source, tile, ura, nearest=place == 0))
    return wins


def _win(record: np.void, player: int, source: int, tile: int, ura: tuple[int, ...], *, nearest: bool) -> Win:
    honba = int(record["honba"])
    sticks = int(record["riichi_sticks"]) if nearest else 0
    paid = honba if nearest else 0
    context = context_of(record, player, tile, source, ura)
    value = evaluate(context)
    assert value is not None, f"player {player} may not win with {context}"
    liable = liable_player(record, player, value)
    dealer = int(record["dealer"])
    return Win(
        player=player,
        from_player=source,
        tile=tile,
        hand=context.hand,
        fu=value.fu,
        points=value.points,
        limit=value.limit,
        yaku=value.yaku,
        yakuman=value.yakuman,
        ura_indicators=ura,
        liable=liable,
        deltas=deltas(value, player, source, dealer, honba=paid, riichi_sticks=sticks, liable=liable),
        honba=honba,
        riichi_sticks=sticks,
    )


def exhausted(record: np.void) -> tuple[DrawnRound, bool]:
    """The draw at the end of the wall, nagashi mangan included, and whether the dealer repeats."""
    tenpai = (record["waits"] != 0).tolist()
    dealer = int(record["dealer"])
    ready = [player for player in range(4) if tenpai[player]]
    nagashi = [player for player in range(4) if _is_nagashi(record, player)]
    if nagashi:
        return drawn_round(record, "nagashi_mangan", ready, nagashi_deltas(nagashi, dealer)), tenpai[dealer]
    return drawn_round(record, "exhaustive", ready, draw_deltas(tenpai)), tenpai[dealer]


def drawn_round(
    record: np.void, reason: DrawReason, shown: Sequence[int], paid: Four = (0, 0, 0, 0)
) -> DrawnRound:
    """A round without a win; ``shown`` are the players who reveal their hands."""
    first, second, third, fourth = (
        tuple(hand_tiles(record, player)) if player in shown else None for player in range(4)
    )
    return DrawnRound(reason, paid, (first, second, third, fourth))


def _is_nagashi(record: np.void, player: int) -> bool:
    """Whether all of a player's discards are terminals and honours and none was called."""
    size = int(record["river_size"][player])
    if (record["river_marks"][player, :size] & RIVER_CALLED).any():
        return False
    return all(tile >> 2 in _ORPHANS for tile in river_of(record, player))
