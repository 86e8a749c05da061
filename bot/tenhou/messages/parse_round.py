"""Frames of a round to structs: the deal, draws, discards, melds, riichi, results and snapshots.

What INIT, N, AGARI and RYUUKYOKU hold is read by `replays.mjlog.tags`, as for records. Here follows what is
demanded of frames alone: that hand, melds and indicators make sense together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.element import Fields
from game.events import Four
from game.melds import decode_meld
from game.tiles import TILES
from replays.mjlog import tags

RIICHI_MARK: Final = 255

_SEATS: Final = range(4)


def seat_of(f: Fields, name: str) -> int:
    """A seat relative to us."""
    return f.number(name, 0, 3)


# --- a round -----------------------------------------------------------------------------------------


def _init(f: Fields) -> m.ServerMessage:
    tag = tags.read_init(f)
    if min(tag.scores) < 0:
        raise f.fail("ten has a score below zero, with which no round begins")
    if not tag.hand:
        raise f.fail("there is no hand")
    _distinct(f, tag.hand, tag.seed.indicators)
    return m.RoundDealt(
        tag.seed.round_index,
        tag.seed.honba,
        tag.seed.riichi_sticks,
        tag.seed.indicators[0],
        tag.scores,
        tag.dealer,
        tag.hand,
        tag.seed.dice,
        f.take("chip", "", limit=64),
    )


def _distinct(f: Fields, *groups: tuple[int, ...]) -> None:
    tiles = [tile for group in groups for tile in group]
    if len(set(tiles)) != len(tiles):
        raise f.fail("a tile is in two places")


def _reinit(f: Fields) -> m.ServerMessage:
    seed = tags.read_seed(f, 5)
    hand = f.tiles("hai", tags.HAND_SIZES)
    melds = tuple(_melds(f, f"m{seat}") for seat in _SEATS)
    rivers, riichi_at = zip(*(_river(f, f"kawa{seat}") for seat in _SEATS), strict=True)
    if len(hand) + 3 * _meld_weight(melds[0]) not in (13, 14):
        raise f.fail("hand and melds do not make up a complete hand")
    laid = (_meld_tiles(code) for codes in melds for code in codes)
    _distinct(f, hand, *laid, *rivers, seed.indicators)
    return m.RoundSnapshot(
        seed.round_index,
        seed.honba,
        seed.riichi_sticks,
        seed.indicators,
        tags.read_scores(f),
        seat_of(f, "oya"),
        hand,
        cast("tuple[m.Tiles, m.Tiles, m.Tiles, m.Tiles]", melds),
        cast("tuple[m.Tiles, m.Tiles, m.Tiles, m.Tiles]", rivers),
        cast("Four", riichi_at),
        seed.dice,
    )


def _river(f: Fields, name: str) -> tuple[m.Tiles, int]:
    """Tiles of a river, and the index of the riichi mark in it."""
    values = f.numbers(name, 0, RIICHI_MARK, range(64))
    tiles = tuple(value for value in values if value != RIICHI_MARK)
    if len(values) - len(tiles) > 1 or any(tile > 135 for tile in tiles):
        raise f.fail(f"{name} has a number that is not a tile, or two riichi marks")
    return tiles, values.index(RIICHI_MARK) if len(tiles) < len(values) else -1


def _melds(f: Fields, name: str) -> tuple[int, ...]:
    return _checked(f, f.numbers(name, 0, 0xFFFF, range(9)))


def _checked(f: Fields, codes: tuple[int, ...]) -> tuple[int, ...]:
    for code in codes:
        tags.meld_of_code(f, code)
    return codes


def _meld_weight(codes: tuple[int, ...]) -> int:
    """The number of sets in the melds; a nukidora North is not a set."""
    return sum(not tags.is_north(code) for code in codes)


def _meld_tiles(code: int) -> tuple[int, ...]:
    return (code >> 8,) if tags.is_north(code) else decode_meld(code).tiles


def _offers(f: Fields) -> int:
    return f.number("t", 0, 255, 0)


def _drawn(f: Fields, letter: str, digits: str) -> m.ServerMessage:
    seat = "TUVW".index(letter)
    if not digits and seat == 0:
        raise f.fail("our own draw has no tile")
    return m.TileDrawn(seat, _tile(f, digits) if digits else -1, _offers(f), extra=f.rest())


def _discarded(f: Fields, letter: str, digits: str) -> m.ServerMessage:
    if not digits:
        raise f.fail("a discard has no tile")
    seat = "DEFG".index(letter.upper())
    # The case has no meaning for our own discards; the server writes them in upper case.
    tsumogiri = letter.islower() and seat != 0
    return m.TileDiscarded(seat, _tile(f, digits), tsumogiri, _offers(f), extra=f.rest())


def _tile(f: Fields, digits: str) -> int:
    return f.integer("the tile", digits, 0, TILES - 1)


def _n(f: Fields) -> m.ServerMessage:
    tag = tags.read_meld(f)
    return m.MeldMade(tag.who, tag.code, _offers(f))


def _reach(f: Fields) -> m.ServerMessage:
    # Old records omit the scores of step 2.
    scores = tags.read_scores(f) if f.has("ten") else None
    return m.RiichiStep(seat_of(f, "who"), f.number("step", 1, 2), scores)


def _dora(f: Fields) -> m.ServerMessage:
    return m.IndicatorShown(f.number("hai", 0, 135))


def _furiten(f: Fields) -> m.ServerMessage:
    return m.FuritenShown(f.number("show", 0, 1) == 1)


# --- the end of a round ------------------------------------------------------------------------------


def _chips(f: Fields) -> m.Pairs:
    return f.take_where(lambda name: name in ("chip", "ratio"))


def _agari(f: Fields) -> m.ServerMessage:
    tag = tags.read_agari(f)
    win = tag.win
    melds = _checked(f, tag.melds)
    if len(win.hand) + 3 * _meld_weight(melds) != 14 or win.tile not in win.hand:
        raise f.fail("hai and m are not a winning hand, or machi is not in it")
    if not tag.indicators:
        raise f.fail("doraHai shows no indicator")
    laid = (_meld_tiles(code) for code in melds)
    _distinct(f, win.hand, *laid, tag.indicators, win.ura_indicators)
    if bool(win.yaku) == bool(win.yakuman):
        raise f.fail("a win has either yaku or yakuman")
    return m.RoundWon(
        seat=win.player,
        from_seat=win.from_player,
        tile=win.tile,
        hand=win.hand,
        melds=melds,
        fu=win.fu,
        points=win.points,
        limit=win.limit,
        yaku=win.yaku,
        yakuman=win.yakuman,
        indicators=tag.indicators,
        ura_indicators=win.ura_indicators,
        honba=win.honba,
        riichi_sticks=win.riichi_sticks,
        scores=tag.scores,
        deltas=win.deltas,
        liable=win.liable,
        final=tag.final,
        chips=_chips(f),
    )


def _ryuukyoku(f: Fields) -> m.ServerMessage:
    tag = tags.read_ryuukyoku(f)
    _distinct(f, *(hand for hand in tag.hands if hand))
    return m.RoundDrawn(
        tag.reason, tag.honba, tag.riichi_sticks, tag.scores, tag.deltas, tag.hands, tag.final, _chips(f)
    )


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
    **dict.fromkeys("DEFGdefg", _discarded),
}
"""By the letter of a tag that contains a tile; called with the letter and the digits."""
