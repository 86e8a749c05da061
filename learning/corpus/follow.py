"""Follows one round in five records at once: the whole table's view and each of the four players'.

Every move is looked up in the legal set of its player's own view, and every passed chance in the sets of
those who passed, before the event is folded into all five records.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from game.actions import ActionKind
from game.fold import fold_one
from game.fold.reasons import FITS
from game.forbidden import rule_broken
from game.layout import PHASE_CLAIM, PHASE_IDLE, PHASE_ROB, ROUND_STATE
from game.melds import MeldKind
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DRAW,
    DRAW_REASONS,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    START_ROUND,
    WIN,
    Packed,
)
from game.rules import abort_reason, legal_rows
from kit.jit import kernel, warms_up

VIEWS: Final = 5
"""Records of a round: those of players 0 to 3, and the whole table's."""
TABLE: Final = 4

# Faults of an event.
DOES_NOT_FIT: Final = 1
"""The fold refuses it; ``player`` is the view, 4 for the whole table; ``detail`` the fold's reason."""
NOT_LEGAL: Final = 2
"""``player``'s own view does not offer the move; ``detail`` is the rule it breaks in `RULES`."""
NO_PASS: Final = 3
"""``player`` passed where their own view does not allow a pass."""
NOT_CALLED_OFF: Final = 4
"""The round continued although it had to be aborted; ``detail`` is the reason to abort."""
NO_REASON: Final = 5
"""The round was aborted without cause; ``detail`` is the stated reason."""
INDICATORS: Final = 6
"""The number of open indicators does not match the kans so far; ``detail`` is the number open."""
NO_RESULT: Final = 7
"""The round has no result, or an event follows it."""

# How far a round could be followed.
BROKEN: Final = 0
"""Not as far as its result."""
RESULT: Final = 1
"""As far as its result, which does not fit."""
WHOLE: Final = 2
"""To its end."""

# Counters: events, moves and claims looked up, passed chances.
EVENTS: Final = 0
MOVES: Final = 1
CLAIMS: Final = 2
PASSES: Final = 3
COUNTS: Final = 4

_MAX_FAULTS: Final = 64
_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)
_FOUR_WINDS: Final = DRAW_REASONS.index("four_winds")
_FOUR_RIICHI: Final = DRAW_REASONS.index("four_riichi")
_FOUR_KANS: Final = DRAW_REASONS.index("four_kans")
_TRIPLE_RON: Final = DRAW_REASONS.index("triple_ron")
_NINE_TERMINALS: Final = DRAW_REASONS.index("nine_terminals")
_MELD_DAIMINKAN: Final = int(MeldKind.DAIMINKAN)
_UNKNOWN: Final = DRAW_REASONS.index("unknown")
_ACTION_PASS: Final = int(ActionKind.PASS)
_ACTION_TSUMO: Final = int(ActionKind.TSUMO)
_ACTION_RON: Final = int(ActionKind.RON)
_ACTION_NINE_TERMINALS: Final = int(ActionKind.NINE_TERMINALS)
_ACTION_OF_CODE: Final = np.full(len(LENGTHS), -1, dtype=np.int64)
for _code, _kind in (
    (DISCARD, ActionKind.DISCARD),
    (RIICHI, ActionKind.RIICHI),
    (CHI, ActionKind.CHI),
    (PON, ActionKind.PON),
    (DAIMINKAN, ActionKind.DAIMINKAN),
    (ANKAN, ActionKind.ANKAN),
    (KAKAN, ActionKind.KAKAN),
):
    _ACTION_OF_CODE[_code] = int(_kind)


class Follower:
    """Records of one round, reused from round to round.

    Attributes:
        before: ``[5]`` records just before the result.
        after: ``[5]`` records after the last event that fitted.
        reached: how far the round could be followed: `BROKEN`, `RESULT` or `WHOLE`.
        counts: ``[4]`` totals, see `EVENTS`.
    """

    def __init__(self) -> None:
        self.before = np.zeros(VIEWS, dtype=ROUND_STATE)
        self.after = np.zeros(VIEWS, dtype=ROUND_STATE)
        self.counts = np.zeros(COUNTS, dtype=np.int64)
        self.reached = BROKEN
        self._faults = np.zeros((_MAX_FAULTS, 4), dtype=np.int64)
        self._rows = np.zeros((48, 6), dtype=np.int16)

    def follow(self, codes: Packed) -> npt.NDArray[np.int64]:
        """Follow one round, from `StartRound` to its last result.

        Returns:
            ``[N, 4]`` faults: kind, place of the event in ``codes``, player, detail. Checking stops at the
            first event that does not fit.
        """
        found, self.reached = follow_round(
            self.after, self.before, codes, self._rows, self._faults, self.counts
        )
        return self._faults[:found]


@kernel
def follow_round(views: Any, before: Any, codes: Any, rows: Any, faults: Any, counts: Any) -> Any:
    """See `Follower.follow`; return the number of faults written, and how far the round was followed."""
    masked = np.empty(62, dtype=np.int16)
    for view in range(VIEWS):
        views[view].phase = PHASE_IDLE
    found = 0
    at = 0
    ended = False
    while at < codes.size:
        code = codes[at : at + _LENGTHS[codes[at]]]
        what = code[0]
        counts[EVENTS] += 1
        if what in (WIN, DRAWN_ROUND):
            if not ended:
                for view in range(VIEWS):
                    before[view] = views[view]
                ended = True
                found = _check_result(views, codes, at, rows, faults, found, counts)
        elif ended:
            return _fault(faults, found, NO_RESULT, at, TABLE, 0), RESULT
        else:
            found = _check_move(views, code, at, rows, faults, found, counts)
        for view in range(VIEWS):
            reason = fold_one(views[view], _seen_by(view, code, masked))
            if reason != FITS:
                return _fault(faults, found, DOES_NOT_FIT, at, view, reason), int(ended)
        at += code.size
    if not ended:
        return _fault(faults, found, NO_RESULT, at, TABLE, 0), BROKEN
    return found, WHOLE


@kernel
def _fault(faults: Any, found: int, what: int, at: int, player: int, detail: int) -> int:
    if found >= faults.shape[0]:
        return found
    faults[found, 0] = what
    faults[found, 1] = at
    faults[found, 2] = player
    faults[found, 3] = detail
    return found + 1


@kernel
def _seen_by(view: int, code: Any, masked: Any) -> Any:
    """The event as a player sees it, without the other players' hidden tiles."""
    if view == TABLE or code[0] > DRAW:
        return code
    seen = masked[: code.size]
    seen[:] = code
    if code[0] == START_ROUND:
        for player in range(4):
            if player != view:
                seen[10 + 13 * player : 23 + 13 * player] = -1
    elif code[1] != view:
        seen[2] = -1
    return seen


# --- moves ------------------------------------------------------------------------------------------------


@kernel
def _check_move(views: Any, code: Any, at: int, rows: Any, faults: Any, found: int, counts: Any) -> int:
    what = code[0]
    if what == DRAW:
        return _check_draw(views, at, rows, faults, found, counts)
    if what not in (DISCARD, RIICHI, CHI, PON, DAIMINKAN, ANKAN, KAKAN):
        return found
    player = code[1]
    if what in (CHI, PON, DAIMINKAN):
        found = _check_passes(views, at, 1 << player, rows, faults, found, counts)
        counts[CLAIMS] += 1
    else:
        counts[MOVES] += 1
    if what == DISCARD and views[TABLE].indicator_count != views[TABLE].kan_count + 1:
        found = _fault(faults, found, INDICATORS, at, player, views[TABLE].indicator_count)
    count = legal_rows(views[player], player, rows)
    if not _offers(rows, count, code):
        found = _fault(faults, found, NOT_LEGAL, at, player, rule_broken(views[player], code))
    return found


@kernel
def _check_draw(views: Any, at: int, rows: Any, faults: Any, found: int, counts: Any) -> int:
    """A draw implies that every player passed, that nothing ended the round, and which indicators are due."""
    table = views[TABLE]
    due = table.kan_count + 1
    if table.phase in (PHASE_CLAIM, PHASE_ROB):
        found = _check_passes(views, at, 0, rows, faults, found, counts)
    if table.phase == PHASE_CLAIM:
        reason = abort_reason(table)
        if reason >= 0:
            found = _fault(faults, found, NOT_CALLED_OFF, at, TABLE, reason)
    elif table.rinshan and _last_kan_is_open(table):
        due -= 1
    if table.indicator_count != due:
        found = _fault(faults, found, INDICATORS, at, TABLE, table.indicator_count)
    return found


@kernel
def _last_kan_is_open(table: Any) -> bool:
    """Whether ``turn`` has just called an open kan: its indicator is revealed after the discard."""
    if table.phase == PHASE_ROB:
        return True
    last = table.meld_count[table.turn] - 1
    return bool(table.meld_kind[table.turn, last] == _MELD_DAIMINKAN)


@kernel
def _check_passes(views: Any, at: int, acting: int, rows: Any, faults: Any, found: int, counts: Any) -> int:
    """Every player not in ``acting`` (bits) passed what they were offered; check that they were free to."""
    for player in range(4):
        if player == views[TABLE].last_player or acting >> player & 1:
            continue
        count = legal_rows(views[player], player, rows)
        counts[PASSES] += count > 1
        if count == 0 or rows[count - 1, 0] != _ACTION_PASS:
            found = _fault(faults, found, NO_PASS, at, player, 0)
    return found


@kernel
def _is_red(tile: int) -> bool:
    return bool(tile in (16, 52, 88))


@kernel
def _same_face(a: int, b: int) -> bool:
    return bool(a >> 2 == b >> 2 and _is_red(a) == _is_red(b))


@kernel
def _offers(rows: Any, count: int, code: Any) -> bool:
    """Whether one of the rows is this move; copies of the same face count as equal."""
    kind = _ACTION_OF_CODE[code[0]]
    for i in range(count):
        row = rows[i]
        if row[0] != kind:
            continue
        if code[0] == RIICHI:
            return True
        if code[0] == ANKAN:
            same = row[2] >> 2 == code[2] >> 2
        elif code[0] in (DISCARD, KAKAN):
            same = _same_face(row[1], code[2])
        else:
            same = row[1] == code[3] and _same_faces(row[2:], code[4:])
        if same:
            return True
    return False


@kernel
def _same_faces(row: Any, own: Any) -> bool:
    """Whether the melded tiles have the same faces in some order."""
    used = 0
    for i in range(own.size):
        match = -1
        for j in range(own.size):
            if not used >> j & 1 and _same_face(row[j], own[i]):
                match = j
        if match < 0:
            return False
        used |= 1 << match
    return True


# --- results ----------------------------------------------------------------------------------------------


@kernel
def _check_result(views: Any, codes: Any, at: int, rows: Any, faults: Any, found: int, counts: Any) -> int:
    """Look up the wins, or the reason why the round was aborted."""
    table = views[TABLE]
    if codes[at] == DRAWN_ROUND:
        return _check_drawn(views, at, codes[at + 1], rows, faults, found, counts)
    winners = 0
    while at < codes.size and codes[at] == WIN:
        player = codes[at + 1]
        source = codes[at + 2]
        count = legal_rows(views[player], player, rows)
        own = player == source
        accepted = table.riichi[source] == 2 and table.riichi_order[source] == table.discard_count - 1
        late = not own and table.phase == PHASE_CLAIM and accepted
        if count == 0 or rows[0, 0] != (_ACTION_TSUMO if own else _ACTION_RON) or late:
            rule = 0 if late else rule_broken(views[player], codes[at : at + _LENGTHS[WIN]])
            found = _fault(faults, found, NOT_LEGAL, at, player, rule)
        counts[MOVES if own else CLAIMS] += 1
        winners |= 1 << player
        at += _LENGTHS[WIN]
    if table.phase in (PHASE_CLAIM, PHASE_ROB):
        found = _check_passes(views, at - _LENGTHS[WIN], winners, rows, faults, found, counts)
    return found


@kernel
def _check_drawn(views: Any, at: int, reason: int, rows: Any, faults: Any, found: int, counts: Any) -> int:
    table = views[TABLE]
    if reason == _NINE_TERMINALS:
        player = table.turn
        counts[MOVES] += 1
        count = legal_rows(views[player], player, rows)
        for i in range(count):
            if rows[i, 0] == _ACTION_NINE_TERMINALS:
                return found
        return _fault(faults, found, NOT_LEGAL, at, player, 0)
    if reason == _TRIPLE_RON:
        for player in range(4):
            if player == table.last_player:
                continue
            counts[CLAIMS] += 1
            count = legal_rows(views[player], player, rows)
            if count == 0 or rows[0, 0] != _ACTION_RON:
                found = _fault(faults, found, NOT_LEGAL, at, player, 0)
        return found
    if reason == _UNKNOWN:
        return found
    found = _check_passes(views, at, 0, rows, faults, found, counts)
    due = abort_reason(table)
    if reason in (_FOUR_WINDS, _FOUR_RIICHI, _FOUR_KANS):
        return found if due == reason else _fault(faults, found, NO_REASON, at, TABLE, reason)
    return found if due < 0 else _fault(faults, found, NOT_CALLED_OFF, at, TABLE, due)


@warms_up
def _warm_up() -> None:
    Follower().follow(np.empty(0, np.int16))
