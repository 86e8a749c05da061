"""Frames of a round to structs: the deal, draws, discards, melds, riichi, results and snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import msgspec

from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.element import Fields
from game.events import DrawReason, Four
from game.melds import decode_meld
from game.tiles import TILES

HUNDRED: Final = 100
SCORE_MAX: Final = 9999
"""In hundreds, as scores stand on the wire."""
RIICHI_MARK: Final = 255
NORTH_MASK: Final = 0x3F
NORTH_CODE: Final = 0x20

REASONS: Final[dict[str, DrawReason]] = {
    "": "exhaustive",
    "yao9": "nine_terminals",
    "kaze4": "four_winds",
    "reach4": "four_riichi",
    "ron3": "triple_ron",
    "kan4": "four_kans",
    "nm": "nagashi_mangan",
}

_HAND_SIZES: Final = (1, 2, 4, 5, 7, 8, 10, 11, 13, 14)
_SEATS: Final = range(4)


def seat_of(f: Fields, name: str) -> int:
    """A seat relative to us."""
    return f.number(name, 0, 3)


# --- a round -----------------------------------------------------------------------------------------


class _Seed(msgspec.Struct, frozen=True):
    round_index: int
    honba: int
    riichi_sticks: int
    dice: tuple[int, int]
    indicators: tuple[int, ...]


def _seed(f: Fields, indicators: int) -> _Seed:
    values = f.numbers("seed", 0, 135, range(6, 6 + indicators))
    if values[0] > 15 or values[3] > 5 or values[4] > 5 or len(set(values[5:])) != len(values[5:]):
        raise f.fail("seed holds no round, no dice or an indicator twice")
    return _Seed(values[0], values[1], values[2], (values[3], values[4]), values[5:])


def _ten(f: Fields, lowest: int = -SCORE_MAX) -> Four:
    """``ten``: by seat the score; who declares riichi without 1,000 points has less than none."""
    return f.four("ten", lowest, SCORE_MAX, HUNDRED)


def _init(f: Fields) -> m.ServerMessage:
    seed = _seed(f, 1)
    hand = f.tiles("hai", (0, 13))
    hands: tuple[m.Tiles, ...] = ()
    if f.has("hai0"):
        hands = tuple(f.tiles(f"hai{seat}", (0, 13)) for seat in _SEATS)
    if bool(hand) == bool(hands) or (hands and not hands[0]):
        raise f.fail("holds no hand, or one in two ways")
    _distinct(f, hand, *hands, seed.indicators)
    return m.RoundDealt(
        seed.round_index,
        seed.honba,
        seed.riichi_sticks,
        seed.indicators[0],
        _ten(f, lowest=0),
        seat_of(f, "oya"),
        hand,
        hands,
        seed.dice,
        f.take("chip", "", limit=64),
    )


def _distinct(f: Fields, *groups: tuple[int, ...]) -> None:
    tiles = [tile for group in groups for tile in group]
    if len(set(tiles)) != len(tiles):
        raise f.fail("a tile lies in two places")


def _reinit(f: Fields) -> m.ServerMessage:
    seed = _seed(f, 5)
    hand = f.tiles("hai", _HAND_SIZES)
    melds = tuple(_melds(f, f"m{seat}") for seat in _SEATS)
    rivers, riichi_at = zip(*(_river(f, f"kawa{seat}") for seat in _SEATS), strict=True)
    if len(hand) + 3 * _meld_weight(melds[0]) not in (13, 14):
        raise f.fail("hand and melds do not add up to a hand")
    laid = (_meld_tiles(code) for codes in melds for code in codes)
    _distinct(f, hand, *laid, *rivers, seed.indicators)
    return m.RoundSnapshot(
        seed.round_index,
        seed.honba,
        seed.riichi_sticks,
        seed.indicators,
        _ten(f),
        seat_of(f, "oya"),
        hand,
        cast("tuple[m.Tiles, m.Tiles, m.Tiles, m.Tiles]", melds),
        cast("tuple[m.Tiles, m.Tiles, m.Tiles, m.Tiles]", rivers),
        cast("Four", riichi_at),
        seed.dice,
    )


def _river(f: Fields, name: str) -> tuple[m.Tiles, int]:
    """Tiles of a river, and where the riichi mark stands in it."""
    values = f.numbers(name, 0, RIICHI_MARK, range(64))
    tiles = tuple(value for value in values if value != RIICHI_MARK)
    if len(values) - len(tiles) > 1 or any(tile > 135 for tile in tiles):
        raise f.fail(f"{name} holds what is no tile, or two riichi marks")
    return tiles, values.index(RIICHI_MARK) if len(tiles) < len(values) else -1


def _is_north(code: int) -> bool:
    return code & NORTH_MASK == NORTH_CODE and 120 <= code >> 8 <= 123


def _meld_code(f: Fields, code: int) -> int:
    if not _is_north(code):
        try:
            decode_meld(code)
        except ValueError as exc:
            raise f.fail(str(exc)) from None
    return code


def _melds(f: Fields, name: str) -> tuple[int, ...]:
    codes = f.numbers(name, 0, 0xFFFF, range(9))
    return tuple(_meld_code(f, code) for code in codes)


def _meld_weight(codes: tuple[int, ...]) -> int:
    """How many sets the melds stand for; a north is none."""
    return sum(not _is_north(code) for code in codes)


def _meld_tiles(code: int) -> tuple[int, ...]:
    return (code >> 8,) if _is_north(code) else decode_meld(code).tiles


def _offers(f: Fields, name: str = "t") -> int:
    return f.number(name, 0, 255, 0)


def _drawn(f: Fields, letter: str, digits: str) -> m.ServerMessage:
    seat = "TUVW".index(letter)
    if not digits and seat == 0:
        raise f.fail("our own draw names no tile")
    return m.TileDrawn(seat, _tile(f, digits) if digits else -1, _offers(f), extra=f.rest())


def _thrown(f: Fields, letter: str, digits: str) -> m.ServerMessage:
    if not digits:
        raise f.fail("a discard names no tile")
    seat = "DEFG".index(letter.upper())
    # For our own discards the case means nothing; the server writes them in upper case.
    tsumogiri = letter.islower() and seat != 0
    return m.TileThrown(seat, _tile(f, digits), tsumogiri, _offers(f), extra=f.rest())


def _tile(f: Fields, digits: str) -> int:
    return f.integer("the tile", digits, 0, TILES - 1)


def _n(f: Fields) -> m.ServerMessage:
    return m.MeldMade(seat_of(f, "who"), _meld_code(f, f.number("m", 0, 0xFFFF)), _offers(f))


def _reach(f: Fields) -> m.ServerMessage:
    # Old records leave out the scores of step 2.
    return m.RiichiStep(seat_of(f, "who"), f.number("step", 1, 2), _ten(f) if f.has("ten") else None)


def _dora(f: Fields) -> m.ServerMessage:
    return m.IndicatorShown(f.number("hai", 0, 135))


def _furiten(f: Fields) -> m.ServerMessage:
    return m.FuritenShown(f.number("show", 0, 1) == 1)


# --- the end of a round ------------------------------------------------------------------------------


def scores_and_deltas(f: Fields) -> tuple[Four, Four]:
    """``sc``: by seat the score before and its change, in points.

    The second result of a double ron starts from what the first left, which may be below zero; so may scores
    after a riichi without 1,000 points.
    """
    # The chip modes append eight numbers for their chips; those tables are not played here.
    values = f.numbers("sc", -SCORE_MAX, SCORE_MAX, (8, 16))[:8]
    before = tuple(HUNDRED * value for value in values[::2])
    deltas = tuple(HUNDRED * value for value in values[1::2])
    return cast("Four", before), cast("Four", deltas)


def _final(f: Fields) -> m.FinalScores | None:
    if not f.has("owari"):
        return None
    parts = f.take("owari", limit=128).split(",")
    if len(parts) != 8:
        raise f.fail(f"owari lists {len(parts)} values")
    scores = tuple(HUNDRED * f.integer("owari", part, -SCORE_MAX, SCORE_MAX) for part in parts[::2])
    results = tuple(f.tenths("owari", part) for part in parts[1::2])
    return m.FinalScores(cast("Four", scores), cast("Four", results))


def _chips(f: Fields) -> m.Pairs:
    return f.take_where(lambda name: name in ("chip", "ratio"))


def _agari(f: Fields) -> m.ServerMessage:
    hand, melds, tile = f.tiles("hai", _HAND_SIZES), _melds(f, "m"), f.number("machi", 0, 135)
    if len(hand) + 3 * _meld_weight(melds) != 14 or tile not in hand:
        raise f.fail("hai and m are no winning hand, or machi is not in it")
    indicators, ura = f.tiles("doraHai", range(1, 6)), f.tiles("doraHaiUra", range(6))
    _distinct(f, hand, *(_meld_tiles(code) for code in melds), indicators, ura)
    fu, points, limit = f.numbers("ten", 0, 999_999, (3,))
    pairs = f.numbers("yaku", 0, 199, range(0, 65, 2))
    yakuman = f.numbers("yakuman", 0, 99, range(17))
    if fu > 200 or limit > 5 or bool(pairs) == bool(yakuman):
        raise f.fail("the value of the hand makes no sense")
    honba, sticks = f.numbers("ba", 0, 999, (2,))
    scores, deltas = scores_and_deltas(f)
    return m.RoundWon(
        seat=seat_of(f, "who"),
        from_seat=seat_of(f, "fromWho"),
        tile=tile,
        hand=hand,
        melds=melds,
        fu=fu,
        points=points,
        limit=limit,
        yaku=tuple(zip(pairs[::2], pairs[1::2], strict=True)),
        yakuman=yakuman,
        indicators=indicators,
        ura_indicators=ura,
        honba=honba,
        riichi_sticks=sticks,
        scores=scores,
        deltas=deltas,
        liable=f.number("paoWho", 0, 3, -1),
        final=_final(f),
        chips=_chips(f),
    )


def _ryuukyoku(f: Fields) -> m.ServerMessage:
    kind = f.take("type", "", limit=16)
    if kind not in REASONS:
        raise f.fail(f"type {kind!r} is no way to end a round")
    honba, sticks = f.numbers("ba", 0, 999, (2,))
    scores, deltas = scores_and_deltas(f)
    hands = tuple(f.tiles(f"hai{s}", _HAND_SIZES) if f.has(f"hai{s}") else None for s in _SEATS)
    _distinct(f, *(hand for hand in hands if hand))
    a, b, c, d = hands
    return m.RoundDrawn(REASONS[kind], honba, sticks, scores, deltas, (a, b, c, d), _final(f), _chips(f))


ROUND_PARSERS: Final[dict[str, Callable[[Fields], m.ServerMessage]]] = {
    "INIT": _init,
    "REINIT": _reinit,
    "N": _n,
    "REACH": _reach,
    "DORA": _dora,
    "FURITEN": _furiten,
    "AGARI": _agari,
    "RYUUKYOKU": _ryuukyoku,
}
"""By tag."""

TILE_PARSERS: Final[dict[str, Callable[[Fields, str, str], m.ServerMessage]]] = {
    **dict.fromkeys("TUVW", _drawn),
    **dict.fromkeys("DEFGdefg", _thrown),
}
"""By the letter of a tag that carries a tile; given the letter and the digits."""
