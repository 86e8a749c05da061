"""Why a move is not allowed: the one list of rules, in one wording.

The fold accepts whatever the tiles and the order of play allow: what a server or a record reports has
happened, and no server enforces every rule (Tenhou's leaves kuikae to its client). `game.rules` lists what we
may do ourselves. This module names the rule that an event breaks (`broken_rule`), and says of an action that
is not legal what makes it impossible or which rule forbids it (`why_not`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.actions import Action, ActionKind
from game.events import Draw, GameEvent
from game.fold.reasons import BAD_TILE, FITS, NO_MELD, NOT_TO_MOVE, REASONS, TILE_ELSEWHERE, bit
from game.layout import PHASE_CALLED, PHASE_CLAIM
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DRAW_REASONS,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    WIN,
    Packed,
    pack,
)
from game.rules import ends_unclaimed, is_furiten, leaves_discard, may_lay_ankan, tenpai_discards
from game.shanten import waits
from game.state import hand_tiles, misfit, new_round, row_of
from game.tiles import tile_text
from kit.jit import kernel, warms_up

RULES: Final = (
    "",
    "swap-calling (kuikae)",
    "a call that leaves only swap-calling",
    "a discard from the hand in riichi",
    "a call in riichi",
    "a closed kan in riichi that changes the hand",
    "riichi with an open hand",
    "riichi with fewer than 1,000 points",
    "riichi with fewer than four tiles in the wall",
    "riichi with a hand that is not ready",
    "a call or kan with no tile left to draw",
    "a fifth kan",
    "a call of the discard that ends the round",
    "a kan straight after a call",
    "a ron in furiten",
    "a win with a hand that is not complete",
)
(
    PERMITTED,
    KUIKAE,
    NO_DISCARD_LEFT,
    HAND_CHANGED,
    CALL_IN_RIICHI,
    KAN_IN_RIICHI,
    RIICHI_OPEN,
    RIICHI_POINTS,
    RIICHI_WALL,
    RIICHI_NOT_READY,
    LAST_TILE,
    FIFTH_KAN,
    ROUND_ENDS,
    KAN_AFTER_CALL,
    FURITEN,
    NOT_COMPLETE,
) = range(len(RULES))

_NONE: Final = np.uint64(0)
_MELDS: Final = {
    ActionKind.CHI: CHI,
    ActionKind.PON: PON,
    ActionKind.DAIMINKAN: DAIMINKAN,
    ActionKind.ANKAN: ANKAN,
    ActionKind.KAKAN: KAKAN,
}
_OF_THE_TILES: Final = (FITS, BAD_TILE, TILE_ELSEWHERE, NO_MELD)
_OTHERWISE: Final = {
    ActionKind.TSUMO: "the hand has no yaku",
    ActionKind.RON: "the hand has no yaku",
    ActionKind.NINE_TERMINALS: "it takes nine kinds of terminals and honours on the first turn, before calls",
}
"""By elimination, of actions that fit and break no rule above."""
_NINE_TERMINALS: Final = (DRAWN_ROUND, DRAW_REASONS.index("nine_terminals"), 0, 0, 0, 0)


def broken_rule(record: np.void, event: GameEvent) -> str:
    """The rule that an event breaks, as far as the known hands show; "" if none.

    Args:
        record: the round before the event, which must fit it.
        event: the event.

    Raises:
        StateMismatchError: a number of the event is out of range.
    """
    packed = pack(event)
    return "" if packed is None else RULES[_rule_broken(row_of(record), packed)]


def why_not(record: np.void, player: int, action: Action) -> str:
    """Why an action is not legal: what makes it impossible, or the rule that forbids it.

    Args:
        record: the round, the player's hand known.
        player: absolute.
        action: the action, which is not legal; its tiles may be left out.

    Returns:
        A clause without its beginning, as in `REASONS`; "" if nothing explains it.
    """
    if action.kind is ActionKind.PASS:
        return "a discard is due" if record["turn"] == player else REASONS[NOT_TO_MOVE]
    packed = _packed(record, player, action)
    fault = misfit(record, packed)
    if fault not in _OF_THE_TILES:
        return REASONS[fault]
    discarded = (action.tile,) if action.kind in (ActionKind.DISCARD, ActionKind.KAKAN) else ()
    for tile in (*discarded, *(action.consumed if action.kind is not ActionKind.KAKAN else ())):
        if tile >= 0 and tile not in hand_tiles(record, player):
            return f"{tile_text(tile)} is not in the hand"
    if rule := RULES[_rule_broken(row_of(record), packed)]:
        return f"the rules forbid {rule}"
    if fault:
        return "no tiles of the hand may be used for it" if -1 in packed else REASONS[fault]
    return _OTHERWISE.get(action.kind, "")


def _packed(record: np.void, player: int, action: Action) -> Packed:
    """The event of an action, -1 for tiles that are left out."""
    source, claimed, kind = int(record["last_player"]), int(record["last_tile"]), action.kind
    code: tuple[int, ...]
    if kind is ActionKind.DISCARD:
        code = (DISCARD, player, action.tile, int(action.tile == record["drawn"]))
    elif kind is ActionKind.RIICHI:
        code = (RIICHI, player)
    elif kind is ActionKind.NINE_TERMINALS:
        code = _NINE_TERMINALS
    elif kind is ActionKind.TSUMO:
        code = (WIN, player, player, int(record["drawn"]), 0, 0, 0, 0, 0)
    elif kind is ActionKind.RON:
        code = (WIN, player, source, claimed, 0, 0, 0, 0, 0)
    else:
        what = _MELDS[kind]
        tile = action.tile if kind is ActionKind.KAKAN or action.tile >= 0 else claimed
        before = {ActionKind.ANKAN: (), ActionKind.KAKAN: (tile,)}.get(kind, (source, tile))
        code = (what, player, *before, *action.consumed)
        code = (*code, *[-1] * (LENGTHS[what] - len(code)))[: LENGTHS[what]]
    return np.array(code, dtype=np.int16)


@warms_up
def _judge() -> None:
    """Judge an event, so that no game waits for it: all rules are one kernel."""
    broken_rule(new_round(), Draw(0, 0))


@kernel
def _rule_broken(rows: Any, code: Any) -> int:
    return rule_broken(rows[0], code)


@kernel
def rule_broken(rec: Any, code: Any) -> int:
    """The index in `RULES` of the rule that a packed event breaks, 0 for none."""
    what = code[0]
    if what not in (DISCARD, CHI, PON, DAIMINKAN, ANKAN, KAKAN, RIICHI, WIN):
        return PERMITTED
    player = code[1]
    if player < 0 or player > 3:
        return PERMITTED
    if what == DISCARD:
        return _by_discard(rec, player, code[2], code[3])
    if what == RIICHI:
        return _by_riichi(rec, player)
    if what == WIN:
        return _by_win(rec, player, code[2], code[3])
    if what in (ANKAN, KAKAN):
        return _by_own_kan(rec, player, code)
    return _by_call(rec, player, code)


@kernel(inline="always")
def _by_discard(rec: Any, player: int, tile: int, tsumogiri: int) -> int:
    if tile < 0 or tile > 135:
        return PERMITTED
    if rec.riichi[player] == 2 and tsumogiri == 0:
        return HAND_CHANGED
    if rec.phase == PHASE_CALLED and rec.kuikae & bit(tile >> 2) != _NONE:
        return KUIKAE
    if rec.riichi[player] == 1 and rec.hand_known[player]:
        hand34 = rec.hand34[player].copy()
        hand34[tile >> 2] -= 1
        if waits(hand34, rec.meld_count[player]) == _NONE:
            return RIICHI_NOT_READY
    return PERMITTED


@kernel(inline="always")
def _by_riichi(rec: Any, player: int) -> int:
    if rec.is_open[player]:
        return RIICHI_OPEN
    if rec.scores[player] < 1000:
        return RIICHI_POINTS
    if rec.wall_left < 4:
        return RIICHI_WALL
    if rec.hand_known[player] and tenpai_discards(rec, player) == _NONE:
        return RIICHI_NOT_READY
    return PERMITTED


@kernel(inline="always")
def _by_win(rec: Any, player: int, source: int, tile: int) -> int:
    if not rec.hand_known[player] or tile < 0 or tile > 135:
        return PERMITTED
    if rec.waits[player] & bit(tile >> 2) == _NONE:
        return NOT_COMPLETE
    return FURITEN if player != source and is_furiten(rec, player) else PERMITTED


@kernel(inline="always")
def _by_own_kan(rec: Any, player: int, code: Any) -> int:
    if rec.phase == PHASE_CALLED:
        return KAN_AFTER_CALL
    if rec.wall_left <= 0:
        return LAST_TILE
    if rec.kan_count >= 4:
        return FIFTH_KAN
    if rec.riichi[player] == 0 or code[2] < 0 or code[2] > 135:
        return PERMITTED
    if code[0] == KAKAN or (rec.hand_known[player] and not may_lay_ankan(rec, player, code[2] >> 2)):
        return KAN_IN_RIICHI
    return PERMITTED


@kernel(inline="always")
def _by_call(rec: Any, player: int, code: Any) -> int:
    if rec.riichi[player] != 0:
        return CALL_IN_RIICHI
    if rec.wall_left <= 0:
        return LAST_TILE
    if rec.phase == PHASE_CLAIM and ends_unclaimed(rec):
        return ROUND_ENDS
    if code[0] == DAIMINKAN:
        return FIFTH_KAN if rec.kan_count >= 4 else PERMITTED
    called, first, second = code[3] >> 2, code[4] >> 2, code[5] >> 2
    if rec.hand_known[player] and not leaves_discard(rec, player, called, first, second):
        return NO_DISCARD_LEFT
    return PERMITTED
