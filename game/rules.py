"""The legal actions of a player, from what that player knows, by Tenhou's four-player rules.

Red fives and open tanyao are on. Source: `docs/tenhou-protocol.md`, section 9, checked against recorded
games; a comment marks each rule that is specific to Tenhou.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from game.actions import WINS, Action, ActionKind
from game.fold.calls import kuikae_mask
from game.fold.reasons import bit
from game.layout import AT_HAND, PHASE_CALLED, PHASE_CLAIM, PHASE_ROB, PHASE_TURN
from game.melds import MeldKind
from game.packing import DRAW_REASONS
from game.scoring.dora import is_red
from game.scoring.value import has_yaku
from game.shanten import waits
from game.state import hand_tiles, row_of
from game.tiles import EAST, TERMINALS_AND_HONOURS, WHITE, face_of
from kit.jit import kernel

_NONE: Final = np.uint64(0)
_ORPHANS: Final = np.uint64(sum(1 << kind for kind in TERMINALS_AND_HONOURS))
_WIDTH: Final = 6
_ROWS: Final = 48
"""Most legal actions at once, rounded up: 14 discards, 3 kans, riichi, win, abort; or 10 claims."""

_PASS: Final = int(ActionKind.PASS)
_DISCARD: Final = int(ActionKind.DISCARD)
_RIICHI: Final = int(ActionKind.RIICHI)
_CHI: Final = int(ActionKind.CHI)
_PON: Final = int(ActionKind.PON)
_DAIMINKAN: Final = int(ActionKind.DAIMINKAN)
_ANKAN: Final = int(ActionKind.ANKAN)
_KAKAN: Final = int(ActionKind.KAKAN)
_TSUMO: Final = int(ActionKind.TSUMO)
_RON: Final = int(ActionKind.RON)
_NINE_TERMINALS: Final = int(ActionKind.NINE_TERMINALS)
_MELD_PON: Final = int(MeldKind.PON)
_MELD_DAIMINKAN: Final = int(MeldKind.DAIMINKAN)
_FOUR_WINDS: Final = DRAW_REASONS.index("four_winds")
_FOUR_RIICHI: Final = DRAW_REASONS.index("four_riichi")
_FOUR_KANS: Final = DRAW_REASONS.index("four_kans")


def legal_actions(record: np.void, player: int) -> list[Action]:
    """The actions open to a player with a known hand; empty if the player is not asked.

    Equal faces count once: the drawn tile stands for its face, else the lowest copy. Order: win, kans,
    riichi, nine terminals, discards; or win, pon, open kan, chi, pass.
    """
    rows = np.empty((_ROWS, _WIDTH), dtype=np.int16)
    count = _legal_rows(row_of(record), player, rows)
    actions = [_action(row) for row in rows[:count].tolist()]
    if actions and actions[0].kind in WINS:
        is_tsumo = actions[0].kind is ActionKind.TSUMO
        if not has_yaku(record, player, actions[0].tile, is_tsumo):
            actions.pop(0)
    if len(actions) == 1 and actions[0].kind is ActionKind.PASS:
        return []
    return actions


def _action(row: list[int]) -> Action:
    kind = ActionKind(row[0])
    return Action(kind, row[1], tuple(tile for tile in row[2:] if tile >= 0))


def action_row(action: Action) -> list[int]:
    """The action as `legal_rows` writes it: kind, tile, four consumed tiles, -1 where empty.

    >>> action_row(Action(ActionKind.PON, 7, (4, 5)))
    [4, 7, 4, 5, -1, -1]
    """
    empty = _WIDTH - 2 - len(action.consumed)
    return [int(action.kind), action.tile, *action.consumed, *[-1] * empty]


@kernel
def _legal_rows(records: Any, player: int, rows: Any) -> Any:
    return legal_rows(records[0], player, rows)


@kernel
def legal_rows(rec: Any, player: int, rows: Any) -> int:
    """Write the legal actions of a player as rows ``(kind, tile, consumed x 4)``, -1 where empty.

    Wins are checked for shape and furiten only; whether the hand has a yaku is left to the scoring.

    Args:
        rec: a record in which the player's hand is known.
        player: absolute.
        rows: ``[48, 6]`` int16, filled from the top.

    Returns:
        Number of rows written; a claim ends with a pass.
    """
    if not rec.hand_known[player]:
        return 0
    if rec.phase == PHASE_TURN and rec.turn == player:
        return _turn_rows(rec, player, rows)
    if rec.phase == PHASE_CALLED and rec.turn == player:
        return _called_rows(rec, player, rows)
    if (rec.phase in (PHASE_CLAIM, PHASE_ROB)) and rec.last_player != player:
        return _claim_rows(rec, player, rows)
    return 0


@kernel
def _put(rows: Any, at: int, kind: int, tile: int, c0: int, c1: int, c2: int, c3: int) -> int:
    rows[at, 0] = kind
    rows[at, 1] = tile
    rows[at, 2] = c0
    rows[at, 3] = c1
    rows[at, 4] = c2
    rows[at, 5] = c3
    return at + 1


@kernel
def _held(rec: Any, player: int, tile: int) -> bool:
    return rec.where[tile] == AT_HAND + player


@kernel
def _plain(rec: Any, player: int, kind: int, nth: int) -> int:
    """The nth lowest copy of a kind in the hand that is not red, else -1."""
    for tile in range(4 * kind, 4 * kind + 4):
        if _held(rec, player, tile) and not is_red(tile):
            if nth == 0:
                return tile
            nth -= 1
    return -1


@kernel
def _red(rec: Any, player: int, kind: int) -> int:
    """The red copy of a kind in the hand, else -1."""
    tile = 4 * kind
    return tile if is_red(tile) and _held(rec, player, tile) else -1


# --- own turn ---------------------------------------------------------------------------------------------


@kernel(inline="always")
def _turn_rows(rec: Any, player: int, rows: Any) -> int:
    n = 0
    if rec.waits[player] & bit(rec.drawn >> 2) != _NONE:
        n = _put(rows, n, _TSUMO, rec.drawn, -1, -1, -1, -1)
    n = _own_kan_rows(rec, player, rows, n)
    if rec.riichi[player] == 2:
        return _put(rows, n, _DISCARD, rec.drawn, -1, -1, -1, -1)
    if riichi_allowed(rec, player) and tenpai_discards(rec, player) != _NONE:
        n = _put(rows, n, _RIICHI, -1, -1, -1, -1, -1)
    if rec.unbroken and rec.river_size[player] == 0 and orphan_kinds(rec.hand34[player]) >= 9:
        n = _put(rows, n, _NINE_TERMINALS, -1, -1, -1, -1, -1)
    return _discard_rows(rec, player, rows, n, _NONE)


@kernel
def orphan_kinds(hand34: Any) -> int:
    """Number of kinds of terminals and honours."""
    kinds = 0
    for kind in range(34):
        if hand34[kind] > 0 and _ORPHANS & bit(kind) != _NONE:
            kinds += 1
    return kinds


@kernel(inline="always")
def _own_kan_rows(rec: Any, player: int, rows: Any, n: int) -> int:
    if rec.wall_left <= 0 or rec.kan_count >= 4:
        return n
    for kind in range(34):
        if rec.hand34[player, kind] == 4 and may_lay_ankan(rec, player, kind):
            first = 4 * kind
            n = _put(rows, n, _ANKAN, -1, first, first + 1, first + 2, first + 3)
    for slot in range(rec.meld_count[player]):
        tiles = rec.meld_tiles[player, slot]
        kind = tiles[0] >> 2
        if rec.meld_kind[player, slot] == _MELD_PON and rec.hand34[player, kind] == 1:
            tile = 16 * kind + 6 - tiles[0] - tiles[1] - tiles[2]  # the copy outside the pon
            n = _put(rows, n, _KAKAN, tile, tiles[0], tiles[1], tiles[2], -1)
    return n


@kernel
def may_lay_ankan(rec: Any, player: int, kind: int) -> bool:
    """In riichi a closed kan needs the drawn tile, and must not change the waits."""
    if rec.riichi[player] == 0:
        return True
    if rec.drawn >> 2 != kind:
        return False
    hand34 = rec.hand34[player].copy()
    hand34[kind] = 0
    return waits(hand34, rec.meld_count[player] + 1) == rec.waits[player]


@kernel
def riichi_allowed(rec: Any, player: int) -> bool:
    """Whether a player with a ready hand may declare riichi: closed, 1,000 points, four tiles in the wall."""
    if rec.is_open[player] or rec.riichi[player] != 0:
        return False
    return bool(rec.scores[player] >= 1000 and rec.wall_left >= 4)


@kernel
def tenpai_discards(rec: Any, player: int) -> Any:
    """The kinds whose discard leaves the hand tenpai."""
    hand34 = rec.hand34[player].copy()
    kinds = np.uint64(0)
    for kind in range(34):
        if hand34[kind] == 0:
            continue
        hand34[kind] -= 1
        if waits(hand34, rec.meld_count[player]) != _NONE:
            kinds |= bit(kind)
        hand34[kind] += 1
    return kinds


@kernel(inline="always")
def _called_rows(rec: Any, player: int, rows: Any) -> int:
    if rec.riichi[player] == 1:
        return _discard_rows(rec, player, rows, 0, ~tenpai_discards(rec, player))
    return _discard_rows(rec, player, rows, 0, rec.kuikae)


@kernel
def _discard_rows(rec: Any, player: int, rows: Any, n: int, forbidden: Any) -> int:
    for kind in range(34):
        if rec.hand34[player, kind] == 0 or forbidden & bit(kind) != _NONE:
            continue
        plain = _plain(rec, player, kind, 0)
        if rec.drawn >= 0 and rec.drawn >> 2 == kind and not is_red(rec.drawn):
            plain = rec.drawn
        if plain >= 0:
            n = _put(rows, n, _DISCARD, plain, -1, -1, -1, -1)
        red = _red(rec, player, kind)
        if red >= 0:
            n = _put(rows, n, _DISCARD, red, -1, -1, -1, -1)
    return n


# --- others' tiles ----------------------------------------------------------------------------------------


@kernel(inline="always")
def _claim_rows(rec: Any, player: int, rows: Any) -> int:
    n = 0
    tile = rec.last_tile
    if _may_ron(rec, player):
        n = _put(rows, n, _RON, tile, -1, -1, -1, -1)
    if rec.phase == PHASE_CLAIM and rec.riichi[player] == 0 and rec.wall_left > 0 and not ends_unclaimed(rec):
        n = _pon_rows(rec, player, tile, rows, n)
        if rec.hand34[player, tile >> 2] == 3 and rec.kan_count < 4:
            own = tile & ~3
            first = own if own != tile else own + 1
            second = first + 1 if first + 1 != tile else first + 2
            third = own + 3 if own + 3 != tile else own + 2
            n = _put(rows, n, _DAIMINKAN, tile, first, second, third, -1)
        if player == (rec.last_player + 1) % 4 and tile < 108:
            n = _chi_rows(rec, player, tile, rows, n)
    return _put(rows, n, _PASS, -1, -1, -1, -1, -1)


@kernel
def _may_ron(rec: Any, player: int) -> bool:
    return rec.waits[player] & bit(rec.last_tile >> 2) != _NONE and not is_furiten(rec, player)


@kernel
def is_furiten(rec: Any, player: int) -> bool:
    """Whether a player whose hand is known may not win by ron."""
    if rec.missed_turn[player] != 0 or rec.missed_riichi[player] != 0:
        return True
    return bool(rec.waits[player] & rec.river34[player] != _NONE)


@kernel
def ends_unclaimed(rec: Any) -> bool:
    """Whether this discard ends the round unless it is won on: four kans, not all by one player."""
    if rec.kan_count < 4:
        return False
    for p in range(4):
        kans = 0
        for slot in range(rec.meld_count[p]):
            kans += rec.meld_kind[p, slot] >= _MELD_DAIMINKAN
        if kans == 4:
            return False
    return True


@kernel
def abort_reason(rec: Any) -> int:
    """Why this discard ends the round unless it is won on: an index in `DRAW_REASONS`, -1 if it does not."""
    if rec.riichi.min() == 2:
        return _FOUR_RIICHI
    if ends_unclaimed(rec):
        return _FOUR_KANS
    if not rec.unbroken or rec.discard_count != 4:
        return -1
    first = rec.river[0, 0] >> 2
    if first < EAST or first >= WHITE:
        return -1
    for player in range(1, 4):
        if rec.river[player, 0] >> 2 != first:
            return -1
    return _FOUR_WINDS


@kernel(inline="always")
def _pon_rows(rec: Any, player: int, tile: int, rows: Any, n: int) -> int:
    kind = tile >> 2
    held = rec.hand34[player, kind]
    if held < 2:
        return n
    first = _plain(rec, player, kind, 0)
    second = _plain(rec, player, kind, 1)
    red = _red(rec, player, kind)
    if second >= 0:
        n = _put(rows, n, _PON, tile, first, second, -1, -1)
    if red >= 0:
        n = _put(rows, n, _PON, tile, red, first, -1, -1)
    return n


@kernel(inline="always")
def _chi_rows(rec: Any, player: int, tile: int, rows: Any, n: int) -> int:
    kind = tile >> 2
    for low in range(kind - 2, kind + 1):
        if low < 0 or low // 9 != (low + 2) // 9 or low // 9 != kind // 9:
            continue
        a = low if low != kind else low + 1
        b = low + 2 if low + 2 != kind else low + 1
        if rec.hand34[player, a] == 0 or rec.hand34[player, b] == 0:
            continue
        if leaves_discard(rec, player, kind, a, b):
            n = _chi_faces(rec, player, tile, a, b, rows, n)
    return n


@kernel(inline="always")
def _chi_faces(rec: Any, player: int, tile: int, a: int, b: int, rows: Any, n: int) -> int:
    """One row for each choice of red or other copies; a sequence has at most one five."""
    for from_a in range(2):
        first = _plain(rec, player, a, 0) if from_a == 0 else _red(rec, player, a)
        if first < 0:
            continue
        for from_b in range(2):
            second = _plain(rec, player, b, 0) if from_b == 0 else _red(rec, player, b)
            if second >= 0:
                n = _put(rows, n, _CHI, tile, first, second, -1, -1)
    return n


@kernel
def leaves_discard(rec: Any, player: int, called: int, a: int, b: int) -> bool:
    """Whether a discard remains after the call; otherwise the call is not allowed."""
    forbidden = kuikae_mask(called, a, b)
    for kind in range(34):
        left = rec.hand34[player, kind] - (kind == a) - (kind == b)
        if left > 0 and forbidden & bit(kind) == _NONE:
            return True
    return False


_IN_RIICHI: Final = 2
"""`game.layout`: the riichi is accepted."""


def twins_of_drawn(record: np.void, player: int, legal: Sequence[Action]) -> list[int]:
    """Other copies of the drawn tile that may be discarded from the hand instead of it, ascending.

    Legal actions list such a discard as tsumogiri only; `game.table.table.Table.step` accepts the copies as
    well.

    Args:
        record: the round, with the player's hand known.
        player: who is asked, absolute.
        legal: the player's legal actions.
    """
    drawn = int(record["drawn"])
    if Action(ActionKind.DISCARD, drawn) not in legal or record["riichi"][player] == _IN_RIICHI:
        return []
    return [tile for tile in hand_tiles(record, player) if tile != drawn and face_of(tile) == face_of(drawn)]
