"""A slow and plain reimplementation of the planes: the content of each group as the table describes it.

Written against records and the public helpers of `game`, with loops and lists instead of kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from game.actions import ActionKind
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_TURN, RIVER_CALLED, RIVER_RIICHI, RIVER_TSUMOGIRI
from game.melds import MeldKind
from game.rules import legal_actions, legal_rows
from game.scoring.settlement import placements
from game.shanten import shanten, shanten_normal, shanten_seven_pairs
from game.state import hand_tiles, is_furiten, melds_of, river_of, unseen34
from game.tiles import RED_FIVES, TERMINALS_AND_HONOURS
from policies.features.efficiency import TYPICAL
from policies.features.table import LITE, SUPHX

Plane = NDArray[np.float64]
Counts = tuple[int, ...]

SIMPLES = [k for k in range(34) if k not in TERMINALS_AND_HONOURS]


def nothing(planes: int) -> Plane:
    return np.zeros((planes, 34))


def everywhere(flag: float) -> Plane:
    return np.full((1, 34), float(flag))


def one_hot(index: int, planes: int) -> Plane:
    out = nothing(planes)
    out[index] = 1
    return out


def kinds(those: Iterable[int]) -> Plane:
    out = nothing(1)
    out[0, list(those)] = 1
    return out


def therm(tiles34: Iterable[int], planes: int) -> Plane:
    count = np.bincount(list(tiles34), minlength=34)
    return np.array([[float(count[k] > i) for k in range(34)] for i in range(planes)])


def stack(*parts: Plane) -> Plane:
    return np.concatenate(parts)


def bits(mask: int) -> list[int]:
    return [k for k in range(34) if int(mask) >> k & 1]


def dora_of(indicator: int) -> int:
    for row in (range(9), range(9, 18), range(18, 27), range(27, 31), range(31, 34)):
        if indicator in row:
            return row[(indicator - row[0] + 1) % len(row)]
    raise AssertionError


class View:
    """A record and a player, with values that several groups need."""

    def __init__(self, record: np.void, me: int, last_round: int = 7) -> None:
        self.record = record
        self.me = me
        self.last_round = last_round
        self.players = [(me + seat) % 4 for seat in range(4)]
        self.hand = hand_tiles(record, me)
        self.counts: Counts = tuple(int(c) for c in record["hand34"][me])
        self.melds = melds_of(record, me)
        self.unseen: Counts = tuple(int(c) for c in unseen34(record, me))
        self.dora = [dora_of(int(t) >> 2) for t in record["indicators"][: record["indicator_count"]]]
        self.phase = int(record["phase"])
        self.my_turn = self.phase in (PHASE_TURN, PHASE_CALLED) and record["turn"] == me
        self.after_call = self.my_turn and self.phase == PHASE_CALLED and record["riichi"][me] == 0

    def river(self, player: int) -> list[tuple[int, int]]:
        return list(
            zip(river_of(self.record, player), self.record["river_marks"][player].tolist(), strict=False)
        )

    @property
    def draws(self) -> int:
        """My remaining draws: deal out the wall and count."""
        first = int(self.record["turn"])
        if self.my_turn or self.phase in (PHASE_TURN, PHASE_CALLED):
            first = (first + 1) % 4
        elif self.phase == PHASE_CLAIM:
            first = (int(self.record["last_player"]) + 1) % 4
        return sum((first + i) % 4 == self.me for i in range(int(self.record["wall_left"])))


# --- hand -------------------------------------------------------------------------------------------------


def group_a1(view: View) -> Plane:
    return therm((t >> 2 for t in view.hand), 4)


def group_a2(view: View) -> Plane:
    return stack(*(everywhere(red in view.hand) for red in RED_FIVES))


def group_a3(view: View) -> Plane:
    drawn = int(view.record["drawn"])
    return kinds([drawn >> 2] if view.my_turn and drawn >= 0 else [])


def meld_planes(melds: Iterable[tuple[tuple[int, ...], int]]) -> Plane:
    melds = list(melds)
    tiles = [t for each, _ in melds for t in each]
    return stack(
        therm((t >> 2 for t in tiles), 4),
        kinds(called >> 2 for _, called in melds if called >= 0),
        kinds(t >> 2 for t in tiles if t in RED_FIVES),
    )


def group_b_lite(view: View) -> Plane:
    return stack(*(meld_planes((m.tiles, m.called) for m in melds_of(view.record, p)) for p in view.players))


def group_b(view: View) -> Plane:
    parts = []
    for player in view.players:
        melds = melds_of(view.record, player)
        parts += [meld_planes([(m.tiles, m.called)]) for m in melds]
        parts += [nothing(6)] * (4 - len(melds))
    return stack(*parts)


def group_c1(view: View) -> Plane:
    shown = view.record["indicators"][: view.record["indicator_count"]]
    return therm((int(t) >> 2 for t in shown), 4)


def group_c2(view: View) -> Plane:
    return therm(view.dora, 4)


def group_c3(view: View) -> Plane:
    return one_hot(len(view.dora) - 1, 5)


# --- discards ---------------------------------------------------------------------------------------------


def group_d_lite(view: View) -> Plane:
    parts = []
    for player in view.players:
        last = river_of(view.record, player)[::-1][:4]
        parts += [kinds([t >> 2]) for t in last] + [nothing(1)] * (4 - len(last))
    return stack(*parts)


def group_d(view: View) -> Plane:
    parts = []
    for player in view.players:
        river = view.river(player)
        for tile, marks in river:
            parts += [kinds([tile >> 2]), kinds([] if marks & RIVER_TSUMOGIRI else [tile >> 2])]
        parts += [nothing(2)] * (30 - len(river))
    return stack(*parts)


def group_e(view: View) -> Plane:
    parts = []
    for player in view.players:
        river = view.river(player)
        parts += [
            therm((t >> 2 for t, _ in river), 4),
            kinds(t >> 2 for t, m in river if not m & RIVER_TSUMOGIRI),
            kinds(t >> 2 for t, m in river if m & RIVER_TSUMOGIRI),
            kinds(t >> 2 for t, m in river if m & RIVER_RIICHI),
            kinds(t >> 2 for t, m in river if m & RIVER_CALLED),
            kinds(t >> 2 for t, m in river if t in RED_FIVES),
        ]
    return stack(*parts)


def group_f(view: View) -> Plane:
    out = []
    for player in view.players:
        river = view.river(player)
        since = next((i for i, (_, m) in enumerate(river) if m & RIVER_RIICHI), len(river))
        planes = nothing(3)
        for i, (tile, marks) in enumerate(river):
            weight = round(255 * math.exp(-0.2 * (len(river) - 1 - i))) / 255
            planes[0, tile >> 2] += weight
            planes[1, tile >> 2] += 0 if marks & RIVER_TSUMOGIRI else weight
            planes[2, tile >> 2] += weight if i >= since else 0
        out.append(np.minimum(planes, 1))
    return stack(*out)


# --- safety -----------------------------------------------------------------------------------------------


def suji_of(kind: int) -> list[int]:
    return [k for k in (kind - 3, kind + 3) if kind < 27 and 0 <= k < 27 and k // 9 == kind // 9]


def group_g(view: View) -> Plane:
    parts = []
    for player in view.players[1:]:
        river = view.river(player)
        own = {t >> 2 for t, _ in river}
        passed = set(bits(view.record["safe34"][player])) if view.record["riichi"][player] == 2 else set()
        known = own | passed
        full = [k for k in range(27) if suji_of(k) and all(s in known for s in suji_of(k))]
        half = [k for k in range(27) if len(suji_of(k)) == 2 and sum(s in known for s in suji_of(k)) == 1]
        riichi_tiles = [t >> 2 for t, m in river if m & RIVER_RIICHI]
        parts += [
            kinds(own),
            kinds(passed),
            kinds(bits(view.record["turn_safe34"][player])),
            kinds(full),
            kinds(half),
            kinds(s for k in riichi_tiles for s in suji_of(k)),
        ]
    best = {k: max(wait_room(view, k)) for k in range(27)}
    return stack(*parts, kinds(k for k in best if best[k] == 0), kinds(k for k in best if best[k] == 1))


def wait_room(view: View, kind: int) -> list[int]:
    """For each two-sided wait that would win on a kind, the fewest unseen copies of one of its tiles."""
    low, high = (kind - 2, kind - 1), (kind + 1, kind + 2)
    pairs = ([low] if kind % 9 >= 3 else []) + ([high] if kind % 9 <= 5 else [])
    return [min(view.unseen[a], view.unseen[b]) for a, b in pairs]


def group_h(view: View) -> Plane:
    return therm((k for k in range(34) for _ in range(view.unseen[k])), 4)


# --- standing ---------------------------------------------------------------------------------------------


def group_i1_lite(view: View) -> Plane:
    scores = [int(view.record["scores"][p]) for p in view.players]
    values = [s / 50_000 for s in scores] + [s / 25_000 for s in scores]
    return stack(*(everywhere(min(max(v, 0), 1)) for v in values))


def group_i2_lite(view: View) -> Plane:
    scores = [int(view.record["scores"][p]) for p in view.players]
    return stack(*(everywhere(min(max(0.5 + (scores[0] - s) / 50_000, 0), 1)) for s in scores[1:]))


def group_i1(view: View) -> Plane:
    parts = []
    for player in view.players:
        score = max(int(view.record["scores"][player]), 0)
        if score < 40_000:
            bucket = score // 2000
        else:
            bucket = 20 if score < 45_000 else 21 if score < 50_000 else 22 if score < 60_000 else 23
        parts.append(one_hot(bucket, 24))
    return stack(*parts)


def group_i2(view: View) -> Plane:
    parts = []
    for player in view.players[1:]:
        lead = int(view.record["scores"][view.me] - view.record["scores"][player])
        edges = [0, 1000, 2000, 4000, 8000, 12_000, 16_000, 24_000]
        bucket = max(i for i, edge in enumerate(edges) if abs(lead) >= edge)
        parts.append(one_hot(bucket + (8 if lead < 0 else 0), 16))
    return stack(*parts)


def group_i3(view: View) -> Plane:
    return one_hot(placements(view.record["scores"])[view.me] - 1, 4)


def group_j(view: View) -> Plane:
    record = view.record
    wind, number = divmod(int(record["round_index"]), 4)
    own = (view.me - int(record["dealer"])) % 4
    return stack(
        one_hot(wind, 3),
        one_hot(number, 4),
        one_hot(own, 4),
        one_hot(view.players.index(int(record["dealer"])), 4),
        one_hot(min(int(record["honba"]), 5), 6),
        one_hot(min(int(record["riichi_sticks"]), 5), 6),
        kinds([27 + wind]),
        kinds([27 + own]),
    )


def group_k_lite(view: View) -> Plane:
    left = int(view.record["wall_left"])
    return stack(everywhere(left / 70), one_hot(min(left // 12, 5), 6))


def group_k(view: View) -> Plane:
    return one_hot(int(view.record["wall_left"]) // 4, 18)


def riichi_turn(view: View, player: int) -> int:
    """Turn of the declaration, from 1; 0 without."""
    record = view.record
    if not record["riichi"][player]:
        return 0
    order = int(record["riichi_order"][player])
    return 1 + (order if order >= 0 else int(record["discard_count"])) // 4


def third(turn: int) -> Plane:
    return one_hot(0 if turn <= 6 else 1 if turn <= 12 else 2, 3) if turn else nothing(3)


def group_l_lite(view: View) -> Plane:
    parts = []
    for player in view.players:
        turn = riichi_turn(view, player)
        parts += [
            everywhere(turn > 0),
            everywhere(view.record["ippatsu"][player]),
            everywhere(min(turn / 18, 1)),
        ]
    return stack(*parts)


def group_l(view: View) -> Plane:
    parts = []
    for player in view.players:
        turn = riichi_turn(view, player)
        parts += [everywhere(turn > 0), third(turn), everywhere(view.record["ippatsu"][player])]
    return stack(*parts)


def group_m(view: View) -> Plane:
    return stack(*(everywhere(not any(m.is_open for m in melds_of(view.record, p))) for p in view.players))


def group_o(view: View) -> Plane:
    parts = []
    for player in view.players[1:]:
        orders = view.record["meld_order"][player][: view.record["meld_count"][player]].tolist()
        parts += [third(1 + order // 4) for order in orders] + [nothing(3)] * (4 - len(orders))
    return stack(*parts)


def group_p(view: View) -> Plane:
    parts = []
    for seat, player in enumerate(view.players):
        tiles = [t for m in melds_of(view.record, player) for t in m.tiles]
        tiles += view.hand if seat == 0 else []
        count = sum(view.dora.count(t >> 2) + (t in RED_FIVES) for t in tiles)
        parts.append(stack(*(everywhere(count > i) for i in range(5))))
    return stack(*parts)


def group_q(view: View) -> Plane:
    record = view.record
    late = int(record["round_index"]) >= view.last_round
    first = bool(record["unbroken"]) and not river_of(record, view.me)
    nine = any(a.kind is ActionKind.NINE_TERMINALS for a in legal_actions(record, view.me))
    return stack(
        everywhere(late),
        everywhere(int(record["round_index"]) > view.last_round),
        everywhere(late and int(record["dealer"]) == view.me and placements(record["scores"])[view.me] == 1),
        everywhere(first),
        everywhere(nine),
        everywhere(view.draws == 0),
    )


# --- shape ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 20)
def distance(counts: Counts, melds: int) -> int:
    return int(shanten(np.array(counts, np.int8), melds))


def changed(counts: Counts, plus: int = -1, minus: int = -1) -> Counts:
    new = list(counts)
    if plus >= 0:
        new[plus] += 1
    if minus >= 0:
        new[minus] -= 1
    return tuple(new)


@lru_cache(maxsize=1 << 18)
def lowering(counts: Counts, melds: int) -> tuple[int, ...]:
    """Kinds whose next copy lowers the shanten."""
    now = distance(counts, melds)
    return tuple(k for k in range(34) if counts[k] < 4 and distance(changed(counts, plus=k), melds) < now)


def held(counts: Counts) -> list[int]:
    return [k for k in range(34) if counts[k]]


def group_n_lite(view: View) -> Plane:
    melds = len(view.melds)
    now = distance(view.counts, melds)
    if sum(view.counts) % 3 == 2:
        now = min(distance(changed(view.counts, minus=k), melds) for k in held(view.counts))
    return stack(one_hot(min(now, 5), 6), shape_masks(view))


def group_n(view: View) -> Plane:
    hand = np.array(view.counts, np.int8)
    melds = len(view.melds)
    normal = one_hot(min(max(shanten_normal(hand, melds), 0), 6), 7)
    pairs = nothing(7) if melds else one_hot(min(max(shanten_seven_pairs(hand), 0), 6), 7)
    return stack(normal, pairs, shape_masks(view))


def shape_masks(view: View) -> Plane:
    record, me, melds = view.record, view.me, len(view.melds)
    waits = [] if view.after_call else bits(record["waits"][me])
    furiten = is_furiten(record, me)
    if view.after_call:
        furiten = bool(record["missed_turn"][me] or record["missed_riichi"][me])
    if sum(view.counts) % 3 == 2:
        rests = [changed(view.counts, minus=k) for k in held(view.counts)]
        least = min(distance(rest, melds) for rest in rests)
        useful = {k for rest in rests if distance(rest, melds) == least for k in lowering(rest, melds)}
    else:
        useful = set(lowering(view.counts, melds))
    rows = np.empty((48, 6), np.int16)
    legal = rows[: legal_rows(record, me, rows)].tolist() if view.my_turn else []
    discards = [row[1] >> 2 for row in legal if row[0] == ActionKind.DISCARD]
    ready = [k for k in held(view.counts) if distance(changed(view.counts, minus=k), melds) == 0]
    declaring = view.my_turn and view.phase == PHASE_CALLED and record["riichi"][me] == 1
    may_declare = declaring or any(row[0] == ActionKind.RIICHI for row in legal)
    return stack(
        kinds(waits),
        everywhere(furiten),
        kinds(k for k in useful if view.unseen[k]),
        kinds(discards),
        kinds(bits(record["kuikae"]) if view.after_call else []),
        kinds(ready if may_declare else []),
    )


# --- LA3 --------------------------------------------------------------------------------------------------


class Position:
    """One of the 34: the hand it leads to, or several equally good ones."""

    def __init__(self, view: View, hands: list[Counts], unseen: Counts) -> None:
        self.view = view
        self.hands = hands
        self.unseen = unseen
        self.melds = len(view.melds)
        self.shanten = distance(hands[0], self.melds)
        self.useful = [k for k in lowering(hands[0], self.melds) if unseen[k]]
        self.copies = sum(unseen[k] for k in self.useful)
        self.next_waits: dict[int, int] | None = None

    def look(self) -> None:
        """The best wait after each useful draw."""
        self.next_waits = {}
        for drawn in self.useful:
            left = changed(self.unseen, minus=drawn)
            full = changed(self.hands[0], plus=drawn)
            self.next_waits[drawn] = max(
                sum(left[k] for k in lowering(rest, self.melds))
                for rest in (changed(full, minus=k) for k in held(full))
                if distance(rest, self.melds) == 0
            )

    def chances(self, draws: int) -> tuple[float, float]:
        """P(tenpai), P(win) with this many draws, state by state."""
        draws = min(draws, self.view.draws)
        total = sum(self.view.unseen)
        if self.shanten < 0:
            return 1.0, 1.0
        states: dict[object, float] = {self.shanten: 1.0}
        for i in range(draws):
            after: dict[object, float] = {}
            for state, share in states.items():
                stays = 1.0
                for target, copies in self.steps(state):
                    chance = min(1.0, copies / max(total - i, 1))
                    after[target] = after.get(target, 0.0) + share * chance
                    stays -= chance
                after[state] = after.get(state, 0.0) + share * stays
            states = after
        ready = sum(
            share
            for state, share in states.items()
            if state == "won" or state in (0,) or isinstance(state, tuple)
        )
        return ready, states.get("won", 0.0)

    def steps(self, state: object) -> list[tuple[object, float]]:
        """The states that one draw leads to, with the number of copies for each."""
        if state == "won":
            return []
        if isinstance(state, tuple):
            return [("won", state[1])]
        assert isinstance(state, int)
        if self.next_waits is not None and state == 1:
            return [(("wait", self.next_waits[k], k), self.unseen[k]) for k in self.useful]
        copies = self.copies if state == min(self.shanten, len(TYPICAL) - 1) else float(TYPICAL[state])
        return [("won" if state == 0 else state - 1, copies)]


def positions(view: View) -> dict[int, Position]:
    melds = len(view.melds)
    counts = view.counts
    found = {}
    if sum(counts) % 3 == 2:
        for kind in held(counts):
            found[kind] = Position(view, [changed(counts, minus=kind)], view.unseen)
        least = min(p.shanten for p in found.values())
        for position in found.values():
            if position.shanten == least == 1:
                position.look()
        return found
    now = distance(counts, melds)
    useful = lowering(counts, melds)
    for kind in range(34):
        if view.unseen[kind] == 0:
            continue
        if kind not in useful:
            found[kind] = Position(view, [counts], view.unseen)
            if now == 1:
                found[kind].look()
        elif now == 0:
            found[kind] = Position(view, [changed(counts, plus=kind)], view.unseen)
            found[kind].useful, found[kind].copies = [], 0
        else:
            found[kind] = best_after_draw(view, kind, now)
    return found


def best_after_draw(view: View, drawn: int, now: int) -> Position:
    melds = len(view.melds)
    left = changed(view.unseen, minus=drawn)
    full = changed(view.counts, plus=drawn)
    ways = [
        Position(view, [rest], left)
        for rest in (changed(full, minus=k) for k in held(full))
        if distance(rest, melds) == now - 1
    ]
    best = max((p.copies, len(p.useful)) for p in ways)
    ways = [p for p in ways if (p.copies, len(p.useful)) == best]
    ways[0].hands = [p.hands[0] for p in ways]
    return ways[0]


def promise(view: View, hand: Counts) -> int:
    """Points of a self-drawn win by what the hand shows."""
    record, me = view.record, view.me
    melds = [t >> 2 for m in view.melds for t in m.tiles]
    every = [k for k in range(34) for _ in range(hand[k])] + melds
    closed = not record["is_open"][me]
    can_riichi = closed and (
        record["riichi"][me] or (record["scores"][me] >= 1000 and record["wall_left"] >= 4)
    )
    yaku = int(closed) + int(bool(can_riichi))
    for wind in (int(record["round_index"]) // 4, (me - int(record["dealer"])) % 4):
        yaku += every.count(27 + wind) >= 3
    yaku += sum(every.count(k) >= 3 for k in (31, 32, 33))
    yaku += all(k in SIMPLES for k in every)
    suits = {k // 9 for k in every if k < 27}
    if len(suits) == 1:
        yaku += (5 if all(k < 27 for k in every) else 2) + closed
    if not yaku:
        return 0
    dora = sum(view.dora.count(k) for k in every)
    for red in RED_FIVES:
        in_meld = any(red in m.tiles for m in view.melds)
        dora += in_meld or (red in view.hand and hand[red >> 2] > 0)
    han = min(yaku + dora, 13)
    base = 30 * 2 ** (2 + han)
    for least, limit in ((13, 8000), (11, 6000), (8, 4000), (6, 3000), (5, 2000)):
        if han >= least:
            base = limit
            break
    base = min(base, 2000) if han < 5 else base
    up = [-(-base * share // 100) * 100 for share in (1, 2)]
    return int(3 * up[1] if me == record["dealer"] else 2 * up[0] + up[1])


def missing_normal(counts: list[int], melds: int) -> int:
    return int(shanten_normal(np.array(counts, np.int8), melds)) + 1


def missing_pairs(counts: list[int], melds: int) -> int:
    return 99 if melds else int(shanten_seven_pairs(np.array(counts, np.int8))) + 1


def yaku_distances(view: View, hand: Counts) -> list[int | None]:
    """Tiles missing to each of the five kinds of hand, None if out of reach."""
    record, me, melds = view.record, view.me, len(view.melds)
    in_melds = [t >> 2 for m in view.melds for t in m.tiles]
    out: list[int | None] = []

    def nearest(allowed: Iterable[int]) -> int | None:
        allowed = set(allowed)
        if any(k not in allowed for k in in_melds):
            return None
        kept = [hand[k] if k in allowed else 0 for k in range(34)]
        return min(missing_normal(kept, melds), missing_pairs(kept, melds))

    out.append(nearest(SIMPLES))
    values = {31, 32, 33, 27 + int(record["round_index"]) // 4, 27 + (me - int(record["dealer"])) % 4}
    ways = []
    for kind in values:
        if in_melds.count(kind) >= 3:
            ways.append(missing_normal(list(hand), melds))
        elif melds < 4 and view.unseen[kind] + view.counts[kind] >= 3:
            rest = [0 if k == kind else hand[k] for k in range(34)]
            ways.append(max(0, 3 - hand[kind]) + missing_normal(rest, melds + 1))
    out.append(min(ways, default=None))
    suits = [nearest([*range(9 * s, 9 * s + 9), *range(27, 34)]) for s in range(3)]
    out.append(min((n for n in suits if n is not None), default=None))
    if any(m.kind is MeldKind.CHI for m in view.melds):
        out.append(None)
    else:
        have = sorted(hand, reverse=True)[: 5 - melds]
        triplets = sum(3 - min(c, 3) for c in have[:-1]) + 2 - min(have[-1], 2)
        out.append(min(triplets, missing_pairs(list(hand), melds)))
    can_riichi = not record["is_open"][me] and (
        record["riichi"][me] or (record["scores"][me] >= 1000 and record["wall_left"] >= 4)
    )
    out.append(distance(hand, melds) + 1 if can_riichi else None)
    return out


def group_la3(view: View) -> Plane:
    out = nothing(36)
    found = positions(view)
    least = min((p.shanten for p in found.values()), default=0)
    for kind, position in found.items():
        out[min(position.shanten - least, 2), kind] = 1
        for i, edge in enumerate((1, 4, 8, 12, 16, 20, 28, 40)):
            out[3 + i, kind] = position.copies >= edge
        for i, edge in enumerate((1, 2, 4, 8)):
            out[11 + i, kind] = len(position.useful) >= edge
        if position.next_waits is not None and position.copies:
            good = sum(position.unseen[k] for k, copies in position.next_waits.items() if copies >= 5)
            for i in range(4):
                out[15 + i, kind] = good / position.copies >= (i + 1) / 4
        points = max(promise(view, hand) for hand in position.hands)
        for i, draws in enumerate((3, 6, 9, 99)):
            ready, won = position.chances(draws)
            out[19 + i, kind] = ready
            out[23 + i, kind] = won
            out[27 + i, kind] = min(1, math.sqrt(won * points / 32_000))
        discards = sum(view.counts) % 3 == 2
        whole = changed(view.counts, minus=kind) if discards else changed(view.counts, plus=kind)
        for i, missing in enumerate(yaku_distances(view, whole)):
            out[31 + i, kind] = 0 if missing is None else 1 / (1 + missing)
    return out


_SHARED: dict[str, Callable[[View], Plane]] = {
    "A1": group_a1, "A2": group_a2, "A3": group_a3, "C1": group_c1, "C2": group_c2, "E": group_e,
    "F": group_f, "G": group_g, "H": group_h, "I3": group_i3, "J": group_j,
}  # fmt: skip

GROUPS: dict[str, dict[str, Callable[[View], Plane]]] = {
    LITE: {
        **_SHARED, "B": group_b_lite, "D": group_d_lite, "I1": group_i1_lite, "I2": group_i2_lite,
        "K": group_k_lite, "L": group_l_lite, "N": group_n_lite,
    },
    SUPHX: {
        **_SHARED, "B": group_b, "C3": group_c3, "D": group_d, "I1": group_i1, "I2": group_i2,
        "K": group_k, "L": group_l, "M": group_m, "N": group_n, "O": group_o, "P": group_p, "Q": group_q,
    },
}  # fmt: skip
"""The expected content of each group except LA1–LA3, by set and id."""
