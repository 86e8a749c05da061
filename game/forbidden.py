"""Names the rule that a possible event breaks.

The fold accepts whatever the tiles and the order of play allow: what a server or a record reports has
happened, and no server enforces every rule (Tenhou's leaves kuikae to its client). `game.rules` lists what we
may do ourselves; this module names the rule that another player broke.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.events import Draw, GameEvent
from game.fold import bit
from game.jit import kernel, warms_up
from game.layout import PHASE_CALLED, PHASE_CLAIM
from game.packing import ANKAN, CHI, DAIMINKAN, DISCARD, KAKAN, PON, RIICHI, WIN, pack
from game.rules import ends_unclaimed, leaves_discard, may_lay_ankan, tenpai_discards
from game.shanten import waits
from game.state import new_round, row_of

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


def broken_rule(record: np.void, event: GameEvent) -> str:
    """The rule that an event breaks, as far as the known hands show; "" if none.

    Args:
        record: the round before the event, which must fit it.
        event: the event.

    Raises:
        StateMismatchError: a number of the event is out of range.
    """
    return RULES[rule_number(record, event)]


def rule_number(record: np.void, event: GameEvent) -> int:
    """The index in `RULES` of that rule, 0 for none.

    Raises:
        StateMismatchError: a number of the event is out of range.
    """
    packed = pack(event)
    return PERMITTED if packed is None else int(_rule_broken(row_of(record), packed))


@warms_up
def _judge() -> None:
    """Judge an event, so that no game waits for it: all rules are one kernel."""
    rule_number(new_round(), Draw(0, 0))


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


@kernel
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


@kernel
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


@kernel
def _by_win(rec: Any, player: int, source: int, tile: int) -> int:
    if not rec.hand_known[player] or tile < 0 or tile > 135:
        return PERMITTED
    ready = rec.waits[player]
    if ready & bit(tile >> 2) == _NONE:
        return NOT_COMPLETE
    if player == source:
        return PERMITTED
    missed = rec.missed_turn[player] or rec.missed_riichi[player]
    return FURITEN if missed or ready & rec.river34[player] != _NONE else PERMITTED


@kernel
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


@kernel
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
