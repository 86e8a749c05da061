"""The value of playing on: exact for hands tenpai or one tile away, by routes for hands further away.

All values are gains in the units of `policies.heuristic.stakes`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.fold.reasons import bit
from game.scoring.fast import win_points
from game.scoring.hand_parts import F_HAN, FRAME
from game.shanten import accepted, shanten, waits
from game.tiles import EAST
from kit.jit import kernel
from policies.heuristic.routes import route_value
from policies.heuristic.side import CLOSED, MELDS, SEAT_WIND, dora_in, set_win_frame
from policies.heuristic.stakes import gain_of

# Entries of `moment`, which is the same for every hand evaluated in one decision.
DRAWS: Final = 0
"""Own draws left."""
PRESSURE: Final = 1
"""0–1: chance that the most dangerous opponent is tenpai."""
DRAW_RISK: Final = 2
"""Expected loss from discarding a tile drawn at random."""
RIICHI_OPEN: Final = 3
"""1 if riichi may still be declared, given points and wall; 2 after it."""
STICK_PRICE: Final = 4
"""Value of the riichi stick."""
TENPAI_PRICE: Final = 5
"""Value of being tenpai when the wall runs out."""
TURN: Final = 6
"""Own discards so far."""
LATER_RISK: Final = 7
"""Expected loss per turn in riichi to hands that are no threat yet."""
FOLDING: Final = 8
"""0-1: how much the opponents still avoid dealing in."""
MOMENT_SIZE: Final = 9


class Setting(NamedTuple):
    """Everything that the value of a hand depends on beside its concealed tiles.

    Attributes:
        side: ``[SIDE_SIZE]`` int64, the hand's fixed part, see `policies.heuristic.side`.
        unseen34: ``[34]`` int8, copies the player cannot see.
        dora34: ``[34]`` int8, how often each kind counts as dora.
        gains: ``[HAN_MAX]`` float64, the gain of a win, by han.
        moment: ``[MOMENT_SIZE]`` float64, with the entries above.
        discarded34: bit per kind the player has discarded.
    """

    side: NDArray[np.int64]
    unseen34: NDArray[np.int8]
    dora34: NDArray[np.int8]
    gains: NDArray[np.float64]
    moment: NDArray[np.float64]
    discarded34: np.uint64


_RON_RATE: Final = 0.38
_RON_RATE_SILENT: Final = 0.48
"""How much likelier an opponent's discard is a wait than a random tile: opponents fold against riichi."""
_DISCARDED: Final = (1.35, 1.15, 0.9, 0.75, 0.7)
"""Relative readiness to discard 1/9, 2/8, 3/7, 4/6 and 5."""
_DISCARDED_HONOUR: Final = 1.6
_ENDS_EARLY: Final = 0.015
_ENDS_LATE: Final = 0.09
"""Chance per turn that another player ends the round, with 15 or more own draws left, and with 8 or fewer."""
_FOLDED_BY_RIICHI: Final = 0.35
"""Share of that chance that our riichi removes, because opponents fold."""
_ENDS_AGAINST_RIICHI: Final = 0.045
"""Added to that chance against a riichi."""
_RIICHI_SIDE_HAN: Final = 0.5
"""Ippatsu and ura dora on average: chance of one han."""
_SILENT_RISK: Final = 0.25
_ONWARD_RISK: Final = 0.3
_RIICHI_RISK: Final = 0.45
"""Share of the risk of drawn tiles taken by a silent tenpai, an unfinished hand and a declared riichi. The
first two can still fold, and all draw safe tiles more often than their share of unseen tiles suggests."""
_HORIZON: Final = 3.0
"""Number of draws within which an improving draw is considered."""


@kernel
def _discarded(kind: int) -> float:
    if kind >= 27:
        return _DISCARDED_HONOUR
    return _DISCARDED[min(kind % 9, 8 - kind % 9)]


@kernel
def _still_playing(draws: float, pressure: float, deterred: float) -> float:
    """Chance that no other player ends the round before the next own draw.

    Args:
        draws: own draws left.
        pressure: 0-1.
        deterred: 0-1, how far our riichi makes opponents fold.
    """
    early = min(1.0, max(0.0, (draws - 8.0) / 7.0))
    ends = _ENDS_LATE + (_ENDS_EARLY - _ENDS_LATE) * early
    ends *= 1.0 - _FOLDED_BY_RIICHI * deterred
    return 1.0 - ends - _ENDS_AGAINST_RIICHI * pressure


@kernel
def _race(per_turn: float, draws: float, pressure: float, deterred: float, out: Any) -> None:
    """The race of a tenpai hand to the end of the round.

    Args:
        per_turn: chance to win within one turn.
        draws: own draws left.
        pressure: 0-1.
        deterred: 0-1, as for `_still_playing`.
        out: ``[3]`` float64, receives the chance to win, the chance that the wall runs out first, and the
            number of further discards.
    """
    keep = 1.0
    won = 0.0
    discarded = 0.0
    left = draws
    while left > 0.0:
        part = min(1.0, left)
        won += keep * per_turn * part
        keep *= 1.0 - (1.0 - (1.0 - per_turn) * _still_playing(left, pressure, deterred)) * part
        discarded += keep * part
        left -= 1.0
    out[0] = won
    out[1] = keep
    out[2] = discarded


@kernel
def _total(unseen34: Any) -> float:
    """Number of unseen tiles, at least 1."""
    total = 0.0
    for kind in range(34):
        total += unseen34[kind]
    return max(1.0, total)


@kernel
def tenpai_value(hand34: Any, setting: Any, out: Any) -> None:
    """Value of a tenpai hand, with and without riichi.

    Args:
        hand34: ``[34]`` int8, 3n+1 concealed tiles.
        setting: a `Setting`; a wait among the kinds discarded is furiten.
        out: ``[2]`` float64, receives the value of riichi (-1e9 if not possible) and of staying silent.
    """
    out[0] = -1e9
    out[1] = 0.0
    side, unseen34, dora34, gains, moment, discarded34 = setting
    mask = waits(hand34, side[MELDS])
    unseen_total = _total(unseen34)
    furiten = (mask & discarded34) != 0
    careless = 0.5 + 0.5 * min(1.0, moment[DRAWS] / 12.0)  # late in the round fewer live tiles are discarded
    dora = dora_in(hand34, dora34, side)
    closed = side[CLOSED] == 1
    is_dealer = side[SEAT_WIND] == EAST
    frame = np.empty(FRAME, dtype=np.int64)
    set_win_frame(side, frame)
    by_han = np.zeros(3)  # the gain with riichi or tsumo, and with one and two han beside it
    trial = hand34.copy()
    tsumo = 0.0  # per turn, then the same multiplied by its gain
    ron = 0.0
    ron_silent = 0.0
    riichi_gain = 0.0
    silent_gain = 0.0
    for kind in range(34):
        live = unseen34[kind]
        if (mask & bit(kind)) == 0 or live <= 0:
            continue
        trial[kind] += 1
        won_dora = dora + dora34[kind]
        frame[F_HAN] = 0
        points = win_points(trial, kind, False, won_dora, frame)
        frame[F_HAN] = int(closed)  # riichi, or a tsumo without it
        for more in range(3 if closed else 1):
            by_han[more] = gain_of(gains, win_points(trial, kind, False, won_dora + more, frame), is_dealer)
        trial[kind] -= 1
        by_draw = live / unseen_total
        by_discard = 0.0 if furiten else 3.0 * careless * _discarded(kind) * by_draw
        tsumo += by_draw
        ron += _RON_RATE * by_discard
        declared = by_han[0] + _RIICHI_SIDE_HAN * (by_han[1] - by_han[0])
        declared_tsumo = by_han[1] + _RIICHI_SIDE_HAN * (by_han[2] - by_han[1])
        riichi_gain += _RON_RATE * by_discard * declared + by_draw * declared_tsumo
        if points > 0:
            ron_silent += _RON_RATE_SILENT * by_discard
            silent_gain += _RON_RATE_SILENT * by_discard * gain_of(gains, points, is_dealer)
        silent_gain += by_draw * by_han[0]
    draws = moment[DRAWS]
    pressure = moment[PRESSURE]
    slower = 1.0 - 0.35 * pressure
    race = np.empty(3, dtype=np.float64)
    per_turn = tsumo + ron_silent * slower
    _race(per_turn, draws, pressure, 0.0, race)
    out[1] = (
        moment[TENPAI_PRICE] * race[1] - _SILENT_RISK * (moment[DRAW_RISK] + moment[LATER_RISK]) * race[2]
    )
    if silent_gain > 0.0:
        out[1] += race[0] * silent_gain / (tsumo + ron_silent)
    if closed and moment[RIICHI_OPEN] > 0.0 and tsumo > 0.0:
        _race(tsumo + ron * slower, draws, pressure, moment[FOLDING], race)
        out[0] = race[0] * riichi_gain / (tsumo + ron) - (1.0 - race[0]) * moment[STICK_PRICE]
        out[0] += moment[TENPAI_PRICE] * race[1]
        out[0] -= (_RIICHI_RISK * moment[DRAW_RISK] + moment[LATER_RISK]) * race[2]


@kernel
def hand_worth(hand34: Any, setting: Any, depth: int) -> float:
    """Value of a 3n+1 hand before its next draw.

    Args:
        hand34: ``[34]`` int8.
        setting: a `Setting`.
        depth: 0 evaluates the next draw by routes only; 1 also the shape after that draw.
    """
    distance, mask = accepted(hand34, setting.side[MELDS])
    if distance <= 0:
        out = np.empty(2, dtype=np.float64)
        tenpai_value(hand34, setting, out)
        return float(out[0] if setting.moment[RIICHI_OPEN] > 1.0 else max(out[0], out[1]))
    if distance == 1 and depth > 0:
        exact = _one_away(hand34, setting, mask)
        broad = _further(hand34, setting, mask, distance, 0)
        return float(max(0.0, exact * _ONE_AWAY_SCALE) ** 0.5 * max(0.0, broad) ** 0.5)
    return _further(hand34, setting, mask, distance, depth)


@kernel(inline="always")
def _one_away(hand34: Any, setting: Any, mask: Any) -> float:
    """Value of a hand one draw from tenpai: each draw, then the best tenpai, then the race."""
    side, unseen34, moment = setting.side, setting.unseen34, setting.moment
    total = _total(unseen34)
    later = moment.copy()
    later[DRAWS] = max(0.0, moment[DRAWS] - 1.0)
    half = moment.copy()
    half[DRAWS] = max(0.0, 0.5 * moment[DRAWS] - 1.0)
    trial = hand34.copy()
    rest = unseen34.copy()
    out = np.empty(2, dtype=np.float64)
    arrive = 0.0
    soon = 0.0
    late = 0.0
    for kind in range(34):
        live = unseen34[kind]
        if (mask & bit(kind)) == 0 or live <= 0:
            continue
        trial[kind] += 1
        rest[kind] -= 1
        best, best_late = _best_tenpai(trial, setting, rest, later, half, kind, out)
        trial[kind] -= 1
        rest[kind] += 1
        # calls also bring the tile once the hand is open
        supply = live / total * (1.0 if side[CLOSED] else _OPEN_SUPPLY)
        arrive += supply
        soon += supply * best
        late += supply * best_late
    return _race_to_tenpai(moment, arrive, soon, late) if arrive > 0.0 else 0.0


@kernel(inline="always")
def _best_tenpai(trial: Any, setting: Any, rest: Any, later: Any, half: Any, drawn: int, out: Any) -> Any:
    """Value of the best tenpai after a draw at the moment ``later``, and of the same hand at ``half``."""
    side, dora34, gains = setting.side, setting.dora34, setting.gains
    best = 0.0
    best_late = 0.0
    for discard in range(34):
        if trial[discard] == 0 or discard == drawn:
            continue
        trial[discard] -= 1
        if shanten(trial, side[MELDS]) == 0:
            gone = setting.discarded34 | bit(discard)
            tenpai_value(trial, Setting(side, rest, dora34, gains, later, gone), out)
            now = max(out[0], out[1])
            if now > best:
                best = now
                tenpai_value(trial, Setting(side, rest, dora34, gains, half, gone), out)
                best_late = max(out[0], out[1], 0.0)
        trial[discard] += 1
    return best, best_late


@kernel(inline="always")
def _race_to_tenpai(moment: Any, arrive: float, soon: float, late: float) -> float:
    """Value over all turns, between that of a tenpai reached immediately and of one reached halfway.

    Args:
        moment: ``[MOMENT_SIZE]`` float64.
        arrive: chance per turn to reach tenpai.
        soon: the same, multiplied by the value of a tenpai reached immediately.
        late: the same for one reached halfway.
    """
    worth = 0.0
    keep = 1.0
    draws = int(moment[DRAWS])
    for turn in range(draws):
        part = min(1.0, turn / max(1.0, 0.5 * draws))
        if turn > 0.5 * draws:
            scale = max(0.0, (draws - turn) / (0.5 * draws))
            worth += keep * late * scale
        else:
            worth += keep * (soon * (1.0 - part) + late * part)
        keep *= _still_playing(draws - turn, moment[PRESSURE], 0.0) * max(0.0, 1.0 - arrive)
    return worth


_ONE_AWAY_SCALE: Final = 1.5
"""Factor on the exact value of a hand one tile away for shape improvements. Source: Phoenix-room games."""
_OPEN_SUPPLY: Final = 1.9
"""How much faster a tile arrives if it may also be called."""
_USUAL_COPIES: Final = (5.0, 14.0, 22.0, 30.0, 38.0, 45.0, 50.0)
"""Accepted copies of an average hand by shanten."""
_SHAPE_POWER: Final = 0.7


@kernel
def _further(hand34: Any, setting: Any, mask: Any, distance: int, depth: int) -> float:
    """Value of a hand two or more away: its routes now, and after each draw that helps one of them."""
    side, unseen34, dora34, gains, moment, _ = setting
    draws, pressure = moment[DRAWS], moment[PRESSURE]
    now = route_value(hand34, side, unseen34, dora34, gains, draws, pressure)
    total = _total(unseen34)
    trial = hand34.copy()
    rest = unseen34.copy()
    helped = 0.0
    rise = 0.0
    for kind in range(34):
        live = unseen34[kind]
        if live <= 0:
            continue
        trial[kind] += 1
        then = route_value(trial, side, unseen34, dora34, gains, max(0.0, draws - 1.5), pressure)
        if depth > 0 and (mask & bit(kind)) != 0:
            rest[kind] -= 1
            then *= _shape(trial, side, rest, distance - 1)
            rest[kind] += 1
        trial[kind] -= 1
        if then > now * 1.02:
            helped += live / total
            rise += live / total * (then - now)
    if helped <= 0.0:
        return now
    # chance that one of these draws comes within the horizon, counted at most once
    within = (1.0 - (1.0 - helped) ** min(_HORIZON, draws)) / helped
    return float(now + within * rise)


@kernel(inline="always")
def _shape(hand34: Any, side: Any, unseen34: Any, distance: int) -> float:
    """Quality of a 3n+2 hand's shape after its best discard, 1 for an average one."""
    trial = hand34.copy()
    best = 0
    for discard in range(34):
        if trial[discard] == 0:
            continue
        trial[discard] -= 1
        if shanten(trial, side[MELDS]) == distance:
            _, mask = accepted(trial, side[MELDS])
            copies = 0
            for kind in range(34):
                if (mask & bit(kind)) != 0:
                    copies += unseen34[kind]
            best = max(best, copies)
        trial[discard] += 1
    usual = _USUAL_COPIES[max(0, min(6, distance))]
    return float(min(1.6, max(0.5, (best / usual) ** _SHAPE_POWER)))


@kernel
def future_risk(hand34: Any, side: Any, moment: Any) -> float:
    """Expected loss from tiles still to be discarded on the way, for a hand not yet tenpai."""
    if moment[PRESSURE] <= 0.0:
        return 0.0
    distance = shanten(hand34, side[MELDS])
    if distance <= 0:
        return 0.0  # already part of the race
    turns = min(moment[DRAWS], 2.5 + 0.5 * min(distance, 3))
    return float(_ONWARD_RISK * moment[DRAW_RISK] * turns)
