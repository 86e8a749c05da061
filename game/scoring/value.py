"""The value of a win: fu, han, yaku and points, as Tenhou counts them.

The `mahjong` library finds the yaku and the fu; this module supplies the circumstances of the win and
converts the result into Tenhou's yaku numbers, order and limits. `game.scoring.settlement` computes who pays.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, HandConstants, OptionalRules
from mahjong.hand_calculating.yaku_config import YAKU_ID_TO_TENHOU_ID
from mahjong.meld import Meld as LibraryMeld

from game.layout import PHASE_CLAIM, PHASE_ROB, PHASE_TURN
from game.melds import Meld, MeldKind
from game.scoring.settlement import ron_points, tsumo_points
from game.state import hand_tiles, melds_of
from game.tiles import EAST, KINDS, WHITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

YAKU_RIICHI: Final = 1
YAKU_DOUBLE_RIICHI: Final = 21
YAKU_DORA: Final = 52
YAKU_URA_DORA: Final = 53
YAKU_RED_FIVE: Final = 54

LIMIT_MANGAN: Final = 1
LIMIT_YAKUMAN: Final = 5
YAKUMAN_BASE: Final = 8000

# Least han of haneman, baiman, sanbaiman and counted yakuman, with the base points of each.
_LIMITS_BY_HAN: Final = ((13, 5, 8000), (11, 4, 6000), (8, 3, 4000), (6, 2, 3000))
# Tenhou lists circumstances, tsumo, patterns, honours (in the order of their triplets, see `_honour_yaku`),
# outside hands and flushes, dora, red fives, ura dora. Observed in 160,000 wins; for yaku that never
# occurred together the order is a guess (27 with 29 or 30, 40 with other yakuman).
_BEFORE_HONOURS: Final = (1, 21, 2, 3, 4, 5, 6, 0, 7, 22, 9, 32, 24, 25, 27, 30, 29, 28, 26, 8)
_AFTER_HONOURS: Final = (23, 33, 31, 34, 35, YAKU_DORA, YAKU_RED_FIVE, YAKU_URA_DORA)
_YAKUMAN_ORDER: Final = (37, 38, 51, 39, 49, 50, 40, 41, 42, 43, 44, 45, 46, 47, 48)
YAKU_SEAT_WIND: Final = 10
YAKU_ROUND_WIND: Final = 14
_YAKU_DRAGON: Final = 18

_LIBRARY_KINDS: Final = {
    MeldKind.CHI: LibraryMeld.CHI,
    MeldKind.PON: LibraryMeld.PON,
    MeldKind.DAIMINKAN: LibraryMeld.KAN,
    MeldKind.ANKAN: LibraryMeld.KAN,
    MeldKind.KAKAN: LibraryMeld.SHOUMINKAN,
}
_RULES: Final = OptionalRules(
    has_open_tanyao=True,
    has_aka_dora=True,
    has_double_yakuman=False,
    kazoe_limit=HandConstants.KAZOE_LIMITED,
    kiriage=False,
    limit_to_sextuple_yakuman=False,
)


class WinContext(msgspec.Struct, frozen=True, kw_only=True):
    """A finished hand and everything its value depends on.

    Attributes:
        hand: concealed physical tiles with the winning one.
        melds: the winner's melds in the order they were made.
        tile: the winning tile.
        is_tsumo: whether the win is by self-draw.
        seat_wind: 0 East (the dealer) to 3 North.
        round_wind: 0 East to 3 North.
        riichi: 0 no, 1 riichi, 2 double riichi.
        ippatsu: within one uninterrupted turn after the riichi.
        rinshan: on the replacement tile of a kan.
        chankan: on the tile of an added kan.
        last_tile: on the last draw (haitei) or the last discard (houtei).
        first_turn: on the first draw, before any call (tenhou, chiihou).
        dora_indicators: indicators shown at the moment of the win.
        ura_indicators: indicators beneath them; they count only after a riichi.
    """

    hand: tuple[int, ...]
    tile: int
    is_tsumo: bool
    melds: tuple[Meld, ...] = ()
    seat_wind: int = 0
    round_wind: int = 0
    riichi: int = 0
    ippatsu: bool = False
    rinshan: bool = False
    chankan: bool = False
    last_tile: bool = False
    first_turn: bool = False
    dora_indicators: tuple[int, ...] = ()
    ura_indicators: tuple[int, ...] = ()

    @property
    def is_dealer(self) -> bool:
        """Whether the winner is the dealer."""
        return self.seat_wind == 0


class WinValue(msgspec.Struct, frozen=True):
    """The value of a hand, before honba and sticks.

    Attributes:
        fu: minipoints, rounded; 25 for seven pairs, 0 for thirteen orphans.
        han: all han, dora included; 13 for each yakuman pattern.
        points: what the winner receives; for a tsumo the sum of all payments.
        limit: 0 none, 1 mangan, 2 haneman, 3 baiman, 4 sanbaiman, 5 yakuman.
        yaku: ``(Tenhou id, han)`` in Tenhou's order; empty for a yakuman by pattern.
        yakuman: Tenhou ids of the yakuman patterns, in Tenhou's order.
        base: basic points; every payment is a rounded multiple of them (2,000 for a mangan).
    """

    fu: int
    han: int
    points: int
    limit: int
    yaku: tuple[tuple[int, int], ...]
    yakuman: tuple[int, ...]
    base: int


def base_points(han: int, fu: int) -> tuple[int, int]:
    """Basic points and limit (0–5) of a hand without yakuman patterns. No kiriage mangan.

    >>> base_points(4, 30), base_points(4, 40), base_points(13, 30)
    ((1920, 0), (2000, 1), (8000, 5))
    """
    for least, limit, base in _LIMITS_BY_HAN:
        if han >= least:
            return base, limit
    base = fu << (2 + han)
    return (2000, LIMIT_MANGAN) if han >= 5 or base > 2000 else (base, 0)


@lru_cache(maxsize=8192)
def evaluate(context: WinContext) -> WinValue | None:
    """The value of the hand, or None if it is not complete or has no yaku."""
    response = HandCalculator.estimate_hand_value(
        tiles=[*context.hand, *(tile for meld in context.melds for tile in meld.tiles)],
        win_tile=context.tile,
        melds=[_library_meld(meld) for meld in context.melds],
        dora_indicators=context.dora_indicators,
        ura_dora_indicators=context.ura_indicators,
        config=_library_config(context),
    )
    if response.error is not None or not response.yaku or response.fu is None:
        return None
    found = {
        YAKU_ID_TO_TENHOU_ID[yaku.yaku_id]: (yaku.han_open if response.is_open_hand else yaku.han_closed)
        for yaku in response.yaku
    }
    if any(yaku.is_yakuman for yaku in response.yaku):
        return _yakuman_value(tuple(i for i in _YAKUMAN_ORDER if i in found), response.fu, context)
    if context.riichi:
        found.setdefault(YAKU_URA_DORA, 0)
    han = sum(found.values())
    base, limit = base_points(han, response.fu)
    order = (*_BEFORE_HONOURS, *_honour_yaku(context), *_AFTER_HONOURS)
    yaku = tuple((yaku_id, found[yaku_id]) for yaku_id in order if yaku_id in found)
    return WinValue(response.fu, han, _points(base, context), limit, yaku, (), base)


def context_of(
    record: np.void, player: int, tile: int, from_player: int, ura_indicators: Sequence[int] = ()
) -> WinContext:
    """The circumstances of a win at this point of the round.

    Args:
        record: one ``ROUND_STATE``, in the phase in which the win is possible.
        player: the winner, whose hand must be known.
        tile: the winning tile.
        from_player: the player whose tile it is; ``player`` for a tsumo.
        ura_indicators: if known.

    Raises:
        ValueError: the hand of ``player`` is not known.
    """
    if not record["hand_known"][player]:
        raise ValueError(f"the hand of player {player} is not known")
    is_tsumo = player == from_player
    held = hand_tiles(record, player)
    hand = tuple(held if is_tsumo else sorted([*held, tile]))
    riichi = record["riichi"][player] == 2
    rinshan = _is_rinshan(record, is_tsumo)
    return WinContext(
        hand=hand,
        tile=tile,
        is_tsumo=is_tsumo,
        melds=tuple(melds_of(record, player)),
        seat_wind=int(player - record["dealer"]) % 4,
        round_wind=int(record["round_index"]) // 4,
        riichi=(2 if record["double_riichi"][player] else 1) if riichi else 0,
        ippatsu=bool(riichi and record["ippatsu"][player]),
        rinshan=rinshan,
        chankan=_is_chankan(record, is_tsumo),
        last_tile=_is_last_tile(record, is_tsumo),
        first_turn=bool(is_tsumo and record["unbroken"] and record["river_size"][player] == 0),
        dora_indicators=tuple(record["indicators"][: record["indicator_count"]].tolist()),
        ura_indicators=tuple(ura_indicators),
    )


def has_yaku(record: np.void, player: int, tile: int, is_tsumo: bool) -> bool:
    """Whether a hand that ``tile`` completes may win: it needs a yaku.

    The tile must complete the hand; this is not checked if a circumstance alone gives the yaku. For a
    tsumo the tile is already in the hand.
    """
    if (
        record["riichi"][player] == 2
        or (is_tsumo and not record["is_open"][player])
        or _is_rinshan(record, is_tsumo)
        or _is_chankan(record, is_tsumo)
        or _is_last_tile(record, is_tsumo)
    ):
        return True
    count = int(record["meld_count"][player])
    kinds = record["meld_kind"][player, :count].tolist()
    lowest = record["meld_tiles"][player, :count, 0].tolist()
    return _pattern_has_yaku(
        record["hand34"][player].tobytes(),
        tuple((kind, tile136 >> 2) for kind, tile136 in zip(kinds, lowest, strict=True)),
        tile >> 2,
        is_tsumo,
        (int(player - record["dealer"]) % 4, int(record["round_index"]) // 4),
    )


@lru_cache(maxsize=1 << 16)
def _pattern_has_yaku(
    hand34: bytes, melds: tuple[tuple[int, int], ...], tile34: int, is_tsumo: bool, winds: tuple[int, int]
) -> bool:
    """The same from kinds and winds alone, cached: few combinations occur in a game, and every draw asks."""
    counts = list(hand34)
    if not is_tsumo:
        counts[tile34] += 1
    context = WinContext(
        hand=tuple(4 * kind + copy for kind, count in enumerate(counts) for copy in range(count)),
        tile=4 * tile34,
        is_tsumo=is_tsumo,
        melds=tuple(_plain_meld(MeldKind(kind), low34) for kind, low34 in melds),
        seat_wind=winds[0],
        round_wind=winds[1],
    )
    return evaluate(context) is not None


def _plain_meld(kind: MeldKind, low34: int) -> Meld:
    # a pattern does not depend on which copies they are
    if kind is MeldKind.CHI:
        return Meld(kind, tuple(4 * (low34 + i) for i in range(3)))
    return Meld(kind, tuple(range(4 * low34, 4 * low34 + (3 if kind is MeldKind.PON else 4))))


def _is_rinshan(record: np.void, is_tsumo: bool) -> bool:
    return bool(is_tsumo and record["phase"] == PHASE_TURN and record["rinshan"])


def _is_chankan(record: np.void, is_tsumo: bool) -> bool:
    return bool(not is_tsumo and record["phase"] == PHASE_ROB)


def _is_last_tile(record: np.void, is_tsumo: bool) -> bool:
    if record["wall_left"] != 0:
        return False
    if is_tsumo:
        return not record["rinshan"]
    return bool(record["phase"] == PHASE_CLAIM)


def _library_meld(meld: Meld) -> LibraryMeld:
    return LibraryMeld(_LIBRARY_KINDS[meld.kind], meld.tiles, opened=meld.is_open)


def _library_config(context: WinContext) -> HandConfig:
    return HandConfig(
        is_tsumo=context.is_tsumo,
        is_riichi=context.riichi == 1,
        is_daburu_riichi=context.riichi == 2,
        is_ippatsu=context.ippatsu,
        is_rinshan=context.rinshan,
        is_chankan=context.chankan,
        is_haitei=context.last_tile and context.is_tsumo,
        is_houtei=context.last_tile and not context.is_tsumo,
        is_tenhou=context.first_turn and context.is_dealer,
        is_chiihou=context.first_turn and not context.is_dealer,
        player_wind=EAST + context.seat_wind,
        round_wind=EAST + context.round_wind,
        options=_RULES,
    )


def _honour_yaku(context: WinContext) -> list[int]:
    """Yaku of the honour triplets: concealed by kind, then melds in order; round wind before seat wind."""
    kinds = [tile >> 2 for tile in context.hand]
    triplets = [kind for kind in range(EAST, KINDS) if kinds.count(kind) >= 3]
    triplets += [meld.tiles[0] >> 2 for meld in context.melds if meld.tiles[0] >> 2 >= EAST]
    found = []
    for kind in triplets:
        if kind >= WHITE:
            found.append(_YAKU_DRAGON + kind - WHITE)
        if kind == EAST + context.round_wind:
            found.append(YAKU_ROUND_WIND + context.round_wind)
        if kind == EAST + context.seat_wind:
            found.append(YAKU_SEAT_WIND + context.seat_wind)
    return found


def _yakuman_value(yakuman: tuple[int, ...], fu: int, context: WinContext) -> WinValue:
    base = YAKUMAN_BASE * len(yakuman)
    return WinValue(fu, 13 * len(yakuman), _points(base, context), LIMIT_YAKUMAN, (), yakuman, base)


def _points(base: int, context: WinContext) -> int:
    return (tsumo_points if context.is_tsumo else ron_points)(base, context.is_dealer)
