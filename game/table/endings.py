"""How a round ends: wins with their points, draws with their payments.

Turns the record at the end of a round into events; `game.table.table` adds them to the game. What a record
from elsewhere leaves out of its result is computed here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np

from game.actions import ActionKind
from game.events import DrawnRound, DrawReason, Four, Win, four
from game.layout import PHASE_CLAIM, PHASE_TURN, RIVER_CALLED
from game.packing import DRAW_REASONS
from game.rules import abort_reason, legal_actions
from game.scoring.settlement import (
    HONBA_POINTS,
    RIICHI_STICK,
    deltas,
    draw_deltas,
    liable_player,
    nagashi_deltas,
    placements,
)
from game.scoring.value import context_of, evaluate
from game.state import hand_tiles, new_round, river_of, row_of
from game.tiles import TERMINALS_AND_HONOURS
from kit.jit import kernel, warms_up

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
    return [
        _win(record, player, source, tile, ura_indicators, nearest=player == winners[0]) for player in winners
    ]


def _win(record: np.void, player: int, source: int, tile: int, under: Sequence[int], *, nearest: bool) -> Win:
    honba = int(record["honba"])
    sticks = int(record["riichi_sticks"]) if nearest else 0
    paid = honba if nearest else 0
    ura = tuple(under) if record["riichi"][player] == 2 else ()
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


def is_stated(win: Win) -> bool:
    """Whether a record states the yaku and the payments of a win."""
    return win.payments_known and bool(win.yaku or win.yakuman or win.other_yaku)


def completed(record: np.void, win: Win) -> Win:
    """A win with what its record leaves out, its value or its payments, as far as they can be computed.

    Args:
        record: before the win.
        win: the first of several on one tile is paid the honba and the sticks.
    """
    if is_stated(win):
        return win
    found = _with_value(record, win)
    if win.yaku or win.yakuman or win.other_yaku:
        paid = found if found.payments_known and found.points == win.points else win
        found = msgspec.structs.replace(win, deltas=paid.deltas, payments_known=paid.payments_known)
    return found if found.payments_known else msgspec.structs.replace(found, riichi_sticks=0)


def _with_value(record: np.void, win: Win) -> Win:
    """A win of which a record states at most the points and the payments, with the value that our rules find.

    Where the payments differ from that value, as under other rules, its points are those stated, or follow
    from the payments. The value is unknown if the hand is, or if ura dora that the record does not state may
    explain the difference. Unknown payments follow from the value.

    Args:
        record: before the win.
        win: the first of several on one tile is paid the honba.
    """
    player, sticks, dealer = win.player, win.riichi_sticks, int(record["dealer"])
    points = win.points or max(win.deltas[player] - RIICHI_STICK * sticks - HONBA_POINTS * win.honba, 0)
    unknown = msgspec.structs.replace(win, points=points, value="unknown")
    if not record["hand_known"][player]:
        return unknown
    context = context_of(record, player, win.tile, win.from_player, win.ura_indicators)
    value = evaluate(context)
    if value is None:
        return unknown
    liable = liable_player(record, player, value)
    pay = partial(deltas, value, player, win.from_player, dealer, riichi_sticks=sticks, liable=liable)
    paid = [pay(honba=honba) for honba in (win.honba, 0)]
    agrees = win.deltas in paid
    if not agrees and context.riichi and not win.ura_indicators:
        return unknown
    if not win.payments_known:
        agrees, win = True, msgspec.structs.replace(win, deltas=paid[0], payments_known=True)
    return msgspec.structs.replace(
        win,
        fu=value.fu,
        points=value.points if agrees else points,
        limit=value.limit,
        yaku=value.yaku,
        yakuman=value.yakuman,
        liable=liable,
        value="computed",
    )


def payments_until(record: np.void, after: Four | None, player: int = -1, source: int = -1) -> Four | None:
    """The payments of a result that follow from the scores after it.

    Args:
        record: before the result.
        after: the scores after it, also after further wins on the same tile; None if unknown.
        player: the winner, -1 for a draw.
        source: the player whose tile it is; the winner for a tsumo.

    Returns:
        None if the scores are unknown or do not fit.
    """
    if after is None:
        return None
    gains = [score - had for score, had in zip(after, record["scores"].tolist(), strict=True)]
    sticks = RIICHI_STICK * int(record["riichi_sticks"])
    if player < 0:
        gains[placements(after).index(1)] -= sum(gains)  # sticks that are left when the game ends
    elif any(gains[other] > 0 for other in range(4) if other != player):
        lost = sticks - gains[player]  # the gains tell each winner's part
        gains = [gains[each] if each == player else lost * (each == source) for each in range(4)]
    fits = player < 0 or sum(gains) == sticks
    return four(gains) if fits else None


def draw_reason(record: np.void, paid: Four | None) -> DrawReason:
    """Why a round ended without a win, by elimination: the only reason that the table allows, or "unknown".

    Args:
        record: at the end of the round; hands may be unknown.
        paid: change of every score, None if unknown.
    """
    exhausts = record["phase"] == PHASE_CLAIM and record["wall_left"] == 0
    able = [player for player in range(4) if exhausts and _is_nagashi(record, player)]
    if able and paid in (None, nagashi_deltas(able, int(record["dealer"]))):
        return "nagashi_mangan"
    if paid is not None and any(paid):
        return "exhaustive" if exhausts else "unknown"
    if record["phase"] == PHASE_TURN:
        return "nine_terminals" if _may_abort(record) else "unknown"
    due = aborted_by(record)
    others = [player for player in range(4) if player != record["last_player"]]
    known = all(record["hand_known"][player] for player in others)
    may_ron = known and all(_may_ron(record, player) for player in others)
    possible: list[DrawReason] = ["triple_ron"] if may_ron else []
    if due is not None:
        possible.append(due)
    elif exhausts and not (may_ron and paid is not None):  # three ready players would be paid
        possible.append("exhaustive")
    if not possible and not known:
        return "triple_ron"  # nothing else ends a round after a discard
    return possible[0] if len(possible) == 1 else "unknown"


def shown_at_draw(record: np.void, reason: DrawReason, paid: Four | None) -> DrawnRound:
    """A draw of which a record states no hands, with those that the rules oblige players to show.

    Args:
        record: at the end of the round.
        reason: why it ended, "unknown" if the record does not tell.
        paid: change of every score; in an exhaustive draw it tells who was tenpai. None if the record does
            not state it: it is computed, if the hands are known.
    """
    if reason == "unknown":
        reason = draw_reason(record, paid)
    if paid is None and (
        reason == "nagashi_mangan" or (reason == "exhaustive" and record["hand_known"].all())
    ):
        return exhausted(record)[0]
    can_pay = record["wall_left"] == 0 and reason in ("exhaustive", "unknown")
    payments_known = paid is not None or not can_pay
    paid = paid or (0, 0, 0, 0)
    everybody = range(4)
    shown: Sequence[int] = ()
    match reason:
        case "four_riichi":
            shown = everybody
        case "nine_terminals":
            shown = [int(record["turn"])]
        case "triple_ron":
            shown = [player for player in everybody if player != record["last_player"]]
        case "exhaustive" if any(paid):
            shown = [player for player in everybody if paid[player] > 0]
        case "exhaustive" | "nagashi_mangan":
            shown = [player for player in everybody if record["waits"][player]]
    known = [player for player in shown if record["hand_known"][player]]
    drawn = drawn_round(record, reason, known, paid)
    return msgspec.structs.replace(drawn, payments_known=payments_known)


def aborted_by(record: np.void) -> DrawReason | None:
    """Why the discard just made ends the round unless somebody wins on it, None if it does not."""
    index = _abort_reason(row_of(record))
    return DRAW_REASONS[index] if index >= 0 else None


@warms_up
def _judge_draw() -> None:
    aborted_by(new_round())


@kernel
def _abort_reason(rows: Any) -> int:
    return abort_reason(rows[0])


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
    hands = four(tuple(hand_tiles(record, player)) if player in shown else None for player in range(4))
    return DrawnRound(reason, paid, hands)


def _may_abort(record: np.void) -> bool:
    """Whether the player to move may abort with nine terminals, as far as the hand is known."""
    player = int(record["turn"])
    if not record["hand_known"][player]:
        return bool(record["unbroken"]) and record["river_size"][player] == 0
    return any(action.kind is ActionKind.NINE_TERMINALS for action in legal_actions(record, player))


def _may_ron(record: np.void, player: int) -> bool:
    return any(action.kind is ActionKind.RON for action in legal_actions(record, player))


def _is_nagashi(record: np.void, player: int) -> bool:
    """Whether all of a player's discards are terminals and honours and none was called."""
    size = int(record["river_size"][player])
    if (record["river_marks"][player, :size] & RIVER_CALLED).any():
        return False
    return all(tile >> 2 in _ORPHANS for tile in river_of(record, player))
