"""The kernel that finds decisions in packed games and keeps the states; `learning.data.positions` runs it.

Arrays with room for as many decisions as a game has events always suffice. An event holds at most two
decisions: a discard can hold one on the player's own turn and one about an open kan. In that case the
preceding draw or call holds none.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.actions import ActionKind
from game.fold.dispatch import fold_one
from game.fold.reasons import BAD_CODE, CUT_SHORT, FITS, bit
from game.layout import PHASE_CALLED, PHASE_TURN
from game.melds import MeldKind
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DORA_REVEALED,
    DRAW,
    DRAW_REASONS,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    RIICHI_ACCEPTED,
    WIN,
)
from game.rules import legal_rows
from game.shanten import shanten
from game.tiles import KINDS
from kit.jit import kernel
from policies.flow.slots import Slot

RULES_ROWS: Final = (48, 6)
"""Shape of the rows that `game.rules.legal_rows` fills."""
MOST_ROWS: Final = 5
"""Most melds of one slot that a player can make at once: 2p3p, 3p5p, 3p0p, 5p6p and 0p6p on a 4p."""
OF_DECISIONS: Final = 4
"""Number of leading arrays of `Positions` with one element per decision; the others have one per row."""
TOO_LONG: Final = -1
"""A reason beside the fold's, which are 0 and above: the game has more events than it should."""

_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)
_TRIPLE_RON: Final = DRAW_REASONS.index("triple_ron")
_MELD_PON: Final = int(MeldKind.PON)
_ACCEPTED: Final = 2
_NONE: Final = np.uint64(0)
_ONE: Final = np.uint64(1)

_DISCARD: Final = int(ActionKind.DISCARD)
_DECLARE: Final = int(ActionKind.RIICHI)

Sampled: TypeAlias = Slot | Literal["draw"]
"""Samples are the decisions of a slot, or the moments after every draw, whatever the player then does."""
AT_DRAWS: Final = "draw"

# samples as numbered in the kernels
_OF_DISCARD, _OF_RIICHI, _OF_CHI, _OF_PON, _OF_KAN, _OF_DRAWS = range(6)
NUMBERS: Final[dict[Sampled, int]] = {
    Slot.DISCARD: _OF_DISCARD,
    Slot.RIICHI: _OF_RIICHI,
    Slot.CHI: _OF_CHI,
    Slot.PON: _OF_PON,
    Slot.KAN: _OF_KAN,
    AT_DRAWS: _OF_DRAWS,
}


def _of_codes(values: dict[int, int]) -> NDArray[np.int64]:
    """A value for each code of a packed event, -1 for codes without one."""
    return np.array([values.get(code, -1) for code in range(len(LENGTHS))], np.int64)


# by the code of a call: the action's kind, and the position of the hand's tiles in the packed event
_CALL_KINDS: Final = _of_codes(
    {
        CHI: int(ActionKind.CHI),
        PON: int(ActionKind.PON),
        DAIMINKAN: int(ActionKind.DAIMINKAN),
        ANKAN: int(ActionKind.ANKAN),
        KAKAN: int(ActionKind.KAKAN),
    }
)
_FIRST_OWN: Final = _of_codes({CHI: 4, PON: 4, DAIMINKAN: 4, ANKAN: 2, KAKAN: 3})

# by the kind of an action: the slot that decides it
_SLOT_OF_KIND: Final = np.full(len(ActionKind), -1, np.int64)
for _kind, _slot in (
    (ActionKind.CHI, _OF_CHI),
    (ActionKind.PON, _OF_PON),
    (ActionKind.DAIMINKAN, _OF_KAN),
    (ActionKind.ANKAN, _OF_KAN),
    (ActionKind.KAKAN, _OF_KAN),
):
    _SLOT_OF_KIND[_kind] = _slot


class Positions(NamedTuple):
    """Decisions of one slot, or draws, and the rows to learn from; the rows of a decision are adjacent.

    Attributes:
        states: ``[D]`` of `ROUND_STATE`, when the player was asked; all hands are known in them.
        players: ``[D]`` int8, the deciding player, absolute.
        legal: ``[D]`` uint64, a bit for each kind that may be discarded; 0 for other decisions than discards.
        games: ``[D]`` int64, the game's place in the index.
        owners: ``[N]`` int32, the decision of each row.
        labels: ``[N]`` int8, the kind discarded; for other slots 1 for what was done and 0 for what was not;
            0 for draws.
        calls: ``[N, 6]`` int16, the meld in question as `game.rules.legal_rows` writes it; -1 without one.
    """

    states: NDArray[np.void]
    players: NDArray[np.int8]
    legal: NDArray[np.uint64]
    games: NDArray[np.int64]
    owners: NDArray[np.int32]
    labels: NDArray[np.int8]
    calls: NDArray[np.int16]


@kernel
def collect(
    codes: Any,
    away: Any,
    wanted: int,
    slot: int,
    game: int,
    length: int,
    scratch: Any,
    rows: Any,
    found: Any,
    sizes: Any,
) -> Any:
    """Fold a game and keep the state at each decision; only count decisions if the arrays are empty.

    The indicator of an open or added kan is revealed after the player has chosen the discard, although the
    record puts it earlier: ``scratch[1]`` is the state in which the player chose.

    Returns:
        ``(event, reason)``: the event that does not fit and why, reason 0 if all fit.
    """
    rec = scratch[0]
    shown = False
    at = 0
    event = 0
    while at < codes.size:
        if codes[at] < 1 or codes[at] >= _LENGTHS.size:
            return event, BAD_CODE
        if at + _LENGTHS[codes[at]] > codes.size:
            return event, CUT_SHORT
        if event == length:
            return event, TOO_LONG
        code = codes[at : at + _LENGTHS[codes[at]]]
        if code[0] in (DISCARD, RIICHI, ANKAN, KAKAN) and slot not in (_OF_CHI, _OF_PON, _OF_DRAWS):
            player = code[1]
            asked = 0 <= player < 4 and (wanted >> player) & 1 == 1
            if asked and not _is_away(away, player, event, event):
                _add_turn(scratch[1 if shown else 0], player, slot, code, game, rows, found, sizes)
        if code[0] != DORA_REVEALED:
            shown = False
        elif rec.phase == PHASE_TURN and not shown:
            scratch[1] = rec
            shown = True
        reason = fold_one(rec, code)
        if reason != FITS:
            return event, reason
        at += code.size
        if code[0] == DISCARD and slot in (_OF_CHI, _OF_PON, _OF_KAN):
            _add_claims(rec, codes[at:], event, away, wanted, slot, game, rows, found, sizes)
        elif code[0] == DRAW and slot == _OF_DRAWS and (wanted >> code[1]) & 1 == 1:
            _add_decision(rec, code[1], _NONE, game, found, sizes)
            _add_row(0, found, sizes)
        event += 1
    return event, FITS


@kernel
def _is_away(away: Any, player: int, first: int, last: int) -> bool:
    """Whether a player was away at any event from ``first`` to ``last``."""
    is_away = False
    for i in range(len(away)):
        is_away |= away[i, 0] == player and away[i, 1] <= last and first < away[i, 2]
    return is_away


@kernel
def _add_decision(rec: Any, player: int, legal: Any, game: int, found: Any, sizes: Any) -> None:
    if len(found.states) > 0:
        at = sizes[0]
        found.states[at] = rec
        found.players[at] = player
        found.legal[at] = legal
        found.games[at] = game
    sizes[0] += 1


@kernel
def _add_row(label: int, found: Any, sizes: Any) -> int:
    """Add a row to the latest decision; return its place if there is room, else -1."""
    at = -1
    if len(found.states) > 0:
        at = sizes[1]
        found.owners[at] = sizes[0] - 1
        found.labels[at] = label
        found.calls[at, :] = -1
    sizes[1] += 1
    return at


@kernel
def _add_turn(
    rec: Any, player: int, slot: int, code: Any, game: int, rows: Any, found: Any, sizes: Any
) -> None:
    """Note the decision of a player who discards, declares riichi or makes a kan on their own turn."""
    if slot == _OF_DISCARD:
        if code[0] != DISCARD or rec.riichi[player] == _ACCEPTED:
            return
        legal = _legal_kinds(rec, player, rows)
        # A tile that the rules forbid was discarded anyway: nothing to learn from, and outside the mask.
        if legal & bit(code[2] >> 2) == _NONE:
            return
        if legal & (legal - _ONE) != _NONE:  # more than one bit
            _add_decision(rec, player, legal, game, found, sizes)
            _add_row(code[2] >> 2, found, sizes)
    elif slot == _OF_RIICHI:
        if code[0] in (DISCARD, RIICHI) and _may_declare(rec, player, rows):
            _add_decision(rec, player, _NONE, game, found, sizes)
            _add_row(int(code[0] == RIICHI), found, sizes)
            sizes[2] += code[0] == RIICHI
    elif _has_kan(rec, player):
        _add_melds(rec, player, slot, code, game, rows, found, sizes)


@kernel
def _legal_kinds(rec: Any, player: int, rows: Any) -> Any:
    """A bit for each kind that a player may discard now."""
    kinds = _NONE
    if rec.phase != PHASE_CALLED:
        for kind in range(KINDS):
            if rec.hand34[player, kind] > 0:
                kinds |= bit(kind)
        return kinds
    for i in range(legal_rows(rec, player, rows)):
        if rows[i, 0] == _DISCARD:
            kinds |= bit(rows[i, 1] >> 2)
    return kinds


@kernel
def _may_declare(rec: Any, player: int, rows: Any) -> bool:
    """Whether riichi is legal; hands far from tenpai are excluded first, as the rules search for waits."""
    if rec.phase != PHASE_TURN or rec.is_open[player] or rec.riichi[player] != 0:
        return False
    if shanten(rec.hand34[player], rec.meld_count[player]) > 0:
        return False
    declares = 0
    for i in range(legal_rows(rec, player, rows)):
        declares += rows[i, 0] == _DECLARE
    return declares > 0


@kernel
def _has_kan(rec: Any, player: int) -> bool:
    """Whether a player holds four of a kind, or the fourth tile to a pon."""
    if rec.phase != PHASE_TURN:
        return False
    for kind in range(KINDS):
        if rec.hand34[player, kind] == 4:
            return True
    for slot in range(rec.meld_count[player]):
        is_pon = rec.meld_kind[player, slot] == _MELD_PON
        if is_pon and rec.hand34[player, rec.meld_tiles[player, slot, 0] >> 2] == 1:
            return True
    return False


@kernel
def _add_claims(
    rec: Any,
    codes: Any,
    event: int,
    away: Any,
    wanted: int,
    slot: int,
    game: int,
    rows: Any,
    found: Any,
    sizes: Any,
) -> None:
    """Note the others' decisions about a discard, from what follows: ``codes``, from ``event + 1`` on."""
    at = 0
    last = event + 1
    while at < codes.size and codes[at] in (RIICHI_ACCEPTED, DORA_REVEALED):
        at += _LENGTHS[codes[at]]
        last += 1
    if at >= codes.size or codes[at] < 1 or codes[at] >= _LENGTHS.size:
        return
    if at + _LENGTHS[codes[at]] > codes.size:
        return
    code = codes[at : at + _LENGTHS[codes[at]]]
    if code[0] == WIN or (code[0] == DRAWN_ROUND and code[1] == _TRIPLE_RON):
        return
    kind = rec.last_tile >> 2
    for player in range(4):
        if player == rec.last_player or (wanted >> player) & 1 == 0:
            continue
        if slot == _OF_CHI:
            may = player == (rec.last_player + 1) % 4 and (
                code[0] not in (PON, DAIMINKAN) or code[1] == player
            )
        else:
            may = rec.hand34[player, kind] >= (2 if slot == _OF_PON else 3)
        if may and not _is_away(away, player, event, last):
            _add_melds(rec, player, slot, code, game, rows, found, sizes)


@kernel
def _add_melds(
    rec: Any, player: int, slot: int, code: Any, game: int, rows: Any, found: Any, sizes: Any
) -> None:
    """Add a row for each meld of a slot that a player may make; ``code`` is the event that followed."""
    decided = False
    for i in range(legal_rows(rec, player, rows)):
        if _SLOT_OF_KIND[rows[i, 0]] != slot:
            continue
        if not decided:
            _add_decision(rec, player, _NONE, game, found, sizes)
            decided = True
        taken = _is_taken(rows[i], player, code)
        place = _add_row(int(taken), found, sizes)
        if place >= 0:
            found.calls[place] = rows[i]
        sizes[2] += taken


@kernel
def _is_taken(row: Any, player: int, code: Any) -> bool:
    """Whether an event is this meld by this player: equal faces, regardless of copies."""
    if _CALL_KINDS[code[0]] != row[0] or code[1] != player:
        return False
    kinds, others = _NONE, _NONE
    reds = 0
    first = _FIRST_OWN[code[0]]
    for i in range(4):
        if row[2 + i] < 0:
            break
        kinds |= bit(row[2 + i] >> 2)
        others |= bit(code[first + i] >> 2)
        reds += int(row[2 + i] in (16, 52, 88)) - int(code[first + i] in (16, 52, 88))
    return bool(kinds == others and reds == 0)
