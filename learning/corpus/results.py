"""Compares the result of a round with our rules: yaku, fu, han, points, payments, hands shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from game.events import DrawnRound, Win
from game.layout import AT_HAND
from game.scoring.settlement import deltas, liable_player
from game.scoring.value import context_of, evaluate
from game.table.endings import drawn_round, exhausted
from learning.corpus.follow import TABLE

Finding: TypeAlias = tuple[int, str]
"""Player (-1 for none) and the difference."""

_WALL_RAN_OUT: Final = ("exhaustive", "nagashi_mangan")


def win_findings(before: npt.NDArray[np.void], wins: Sequence[Win]) -> Iterator[Finding]:
    """Compare the wins of a round with the results under our rules.

    Args:
        before: ``[5]`` the views before the first win.
        wins: in order; the first takes honba and sticks.
    """
    for place, win in enumerate(wins):
        for field, theirs, ours in _win_fields(before[win.player], win, is_first=place == 0):
            if theirs != ours:
                yield win.player, f"{field} {theirs} in the record, {ours} by our rules"


def _win_fields(view: np.void, win: Win, *, is_first: bool) -> Iterator[tuple[str, Any, Any]]:
    player, source = win.player, win.from_player
    context = context_of(view, player, win.tile, source, win.ura_indicators)
    value = evaluate(context)
    if value is None:
        yield "a hand", win.hand, "no yaku"
        return
    honba, sticks = int(view["honba"]), int(view["riichi_sticks"]) if is_first else 0
    liable = liable_player(view, player, value)
    dealer = int(view["dealer"])
    paid = deltas(
        value, player, source, dealer, honba=honba if is_first else 0, riichi_sticks=sticks, liable=liable
    )
    yield "hand", tuple(sorted(win.hand)), context.hand
    if win.value == "stated":
        yield "yaku", win.yaku, value.yaku
        yield "yakuman", win.yakuman, value.yakuman
        yield "han", sum(han for _, han in win.yaku) + 13 * len(win.yakuman), value.han
        yield "fu", win.fu, value.fu
        yield "points", win.points, value.points
        yield "limit", win.limit, value.limit
    yield "liable player", win.liable, liable
    yield "score changes", win.deltas, paid
    yield "honba", win.honba, honba  # Tenhou states it with every win; only the first is paid for it
    yield "sticks", win.riichi_sticks, sticks
    shown = int(view["indicator_count"]) if context.riichi else 0
    yield "ura indicators", len(win.ura_indicators), shown


def drawn_findings(before: npt.NDArray[np.void], drawn: DrawnRound) -> Iterator[Finding]:
    """Compare a round without a win with the result under our rules."""
    table = before[TABLE]
    ours, _ = exhausted(table) if drawn.reason in _WALL_RAN_OUT else (drawn_round(table, drawn.reason, ()), 0)
    if drawn.reason not in (ours.reason, "unknown"):
        yield -1, f"{drawn.reason} in the record, {ours.reason} by our rules"
    if drawn.deltas != ours.deltas:
        yield -1, f"score changes {drawn.deltas} in the record, {ours.deltas} by our rules"
    for player, hand in enumerate(drawn.hands):
        if hand is not None and not _holds(table, player, hand):
            yield player, f"shows {hand}, which is not their hand"
        elif drawn.reason in _WALL_RAN_OUT and (hand is None) != (ours.hands[player] is None):
            yield player, f"{'is' if ours.hands[player] else 'is not'} tenpai by our rules"


def _holds(table: np.void, player: int, hand: Sequence[int]) -> bool:
    held = np.flatnonzero(table["where"] == AT_HAND + player)
    return sorted(hand) == held.tolist()
