"""Parses the tags of a round, on the wire and in record files: INIT, N, AGARI and RYUUKYOKU.

Attributes go in, typed values come out, with points instead of hundreds. Each value is checked against its
range, but not against the others: the caller does that. ``who`` is a player in record files and a seat on the
wire, where seat 0 is ours.

Source: recorded games of 2009 to 2026 and recorded connections.
"""

from __future__ import annotations

from typing import Final, TypeAlias, get_args
from urllib.parse import unquote

import msgspec

from game.events import DrawReason, Four, ValueSource, Win, four
from game.melds import Meld, decode_meld
from game.tiles import TILES
from replays.mjlog.attributes import Attributes

HUNDRED: Final = 100
"""Points per unit of the tags' scores."""
SCORE_MAX: Final = 9999
"""In hundreds."""
HAND_SIZES: Final = (1, 2, 4, 5, 7, 8, 10, 11, 13, 14)
_NORTH_MASK: Final = 0x3F
_NORTH_CODE: Final = 0x20

UNPAID: Final = "unpaid"
"""Attribute of our own results whose payments are unknown; ``sc`` has zeros."""
OTHER_YAKU: Final = "otherYaku"
"""Attribute of our own wins: encoded names and han of yaku that Tenhou does not have."""
UNFINISHED: Final = "unfinished"
"""Attribute of our own records of games without an end; any other record without an end is damaged."""

DRAW_REASONS: Final[dict[str, DrawReason]] = {
    "": "exhaustive",
    "yao9": "nine_terminals",
    "kaze4": "four_winds",
    "reach4": "four_riichi",
    "ron3": "triple_ron",
    "kan4": "four_kans",
    "nm": "nagashi_mangan",
    "unknown": "unknown",
}
"""Why a round ends without a win, by RYUUKYOKU's ``type``; ``unknown`` is ours, not Tenhou's."""
VALUES: Final[dict[str, ValueSource]] = {value: value for value in get_args(ValueSource)}
DRAW_TYPES: Final[dict[DrawReason, str]] = {reason: kind for kind, reason in DRAW_REASONS.items()}

Tiles: TypeAlias = tuple[int, ...]
Hands: TypeAlias = tuple[Tiles | None, Tiles | None, Tiles | None, Tiles | None]


# --- INIT --------------------------------------------------------------------------------------------


class SeedValues(msgspec.Struct, frozen=True):
    """``seed``: the round, its repeats and sticks, both dice less one, and the indicators shown."""

    round_index: int
    honba: int
    riichi_sticks: int
    dice: tuple[int, int]
    indicators: Tiles


class InitTag(msgspec.Struct, frozen=True):
    """A deal. ``hand`` is our own on the wire, otherwise empty; ``hands`` are the numbered ones."""

    seed: SeedValues
    scores: Four
    dealer: int
    hand: Tiles
    hands: Hands


def read_seed(a: Attributes, indicators: int = 1) -> SeedValues:
    """``seed`` with one indicator, or up to ``indicators`` of them."""
    values = a.numbers("seed", 0, TILES - 1, range(6, 6 + indicators))
    if values[0] > 15 or values[3] > 5 or values[4] > 5 or len(set(values[5:])) != len(values[5:]):
        raise a.fail("seed is out of range: no round, no dice or an indicator twice")
    return SeedValues(values[0], values[1], values[2], (values[3], values[4]), values[5:])


def read_scores(a: Attributes) -> Four:
    """``ten``: scores in points. A riichi without 1,000 points leaves a negative score."""
    return a.four("ten", -SCORE_MAX, SCORE_MAX, HUNDRED)


def read_init(a: Attributes) -> InitTag:
    """INIT."""
    return InitTag(
        read_seed(a), read_scores(a), a.number("oya", 0, 3), a.tiles("hai", (0, 13)), _hands(a, (0, 13))
    )


def _hands(a: Attributes, sizes: tuple[int, ...]) -> Hands:
    return four(a.tiles(f"hai{n}", sizes) if a.has(f"hai{n}") else None for n in range(4))


# --- N -----------------------------------------------------------------------------------------------


class MeldTag(msgspec.Struct, frozen=True):
    """A meld, None if the code is a three-player north."""

    who: int
    code: int
    meld: Meld | None


def read_meld(a: Attributes) -> MeldTag:
    """N."""
    code = a.number("m", 0, 0xFFFF)
    return MeldTag(a.number("who", 0, 3), code, meld_of_code(a, code))


def meld_of_code(a: Attributes, code: int) -> Meld | None:
    """The meld of a code, None for a three-player north."""
    if is_north(code):
        return None
    try:
        return decode_meld(code)
    except ValueError as exc:
        raise a.fail(str(exc)) from None


def is_north(code: int) -> bool:
    """Whether a meld's code is a north set aside at a three-player table."""
    return code & _NORTH_MASK == _NORTH_CODE and 120 <= code >> 8 <= 123


# --- AGARI and RYUUKYOKU -----------------------------------------------------------------------------


class FinalScores(msgspec.Struct, frozen=True):
    """``owari``: final points, and results in tenths (-17.0 is -170)."""

    scores: Four
    results: Four


class AgariTag(msgspec.Struct, frozen=True):
    """A win, with what else its tag says: the winner's melds as codes, and the scores before it."""

    win: Win
    melds: Tiles
    indicators: Tiles
    scores: Four
    final: FinalScores | None


class RyuukyokuTag(msgspec.Struct, frozen=True):
    """The end of a round without a win; hands that are not shown are None."""

    reason: DrawReason
    honba: int
    riichi_sticks: int
    scores: Four
    deltas: Four
    hands: Hands
    final: FinalScores | None


def read_agari(a: Attributes) -> AgariTag:
    """AGARI."""
    fu, points, limit = a.numbers("ten", 0, 999_999, (3,))
    yaku = a.numbers("yaku", 0, 199, range(0, 65, 2))
    if fu > 200 or limit > 5:
        raise a.fail("ten is out of range: no fu or no limit")
    honba, sticks = a.numbers("ba", 0, 999, (2,))
    scores, deltas = read_changes(a)
    win = Win(
        player=a.number("who", 0, 3),
        from_player=a.number("fromWho", 0, 3),
        tile=a.number("machi", 0, TILES - 1),
        hand=a.tiles("hai", (0, *HAND_SIZES)),  # only our own records of hidden hands lack it
        fu=fu,
        points=points,
        limit=limit,
        yaku=tuple(zip(yaku[::2], yaku[1::2], strict=True)),
        yakuman=a.numbers("yakuman", 0, 99, range(17)),
        ura_indicators=a.tiles("doraHaiUra", range(6)),
        liable=a.number("paoWho", 0, 3, -1),
        deltas=deltas,
        honba=honba,
        riichi_sticks=sticks,
        # not Tenhou's, which states every value and every payment
        value=VALUES.get(a.take("value", ""), "stated"),
        payments_known=not a.has(UNPAID),
        other_yaku=_other_yaku(a),
    )
    melds, indicators = a.numbers("m", 0, 0xFFFF, range(9)), a.tiles("doraHai", range(6))
    return AgariTag(win, melds, indicators, scores, _read_final(a))


def _other_yaku(a: Attributes) -> tuple[tuple[str, int], ...]:
    parts = a.take(OTHER_YAKU, "").split(",")
    hans = [a.integer(OTHER_YAKU, han, 0, 99) for han in parts[1::2]]
    return tuple((unquote(name)[:48], han) for name, han in zip(parts[::2], hans, strict=False))


def read_ryuukyoku(a: Attributes) -> RyuukyokuTag:
    """RYUUKYOKU."""
    kind = a.take("type", "")
    if kind not in DRAW_REASONS:
        raise a.fail(f"unknown type {kind[:20]!r}")
    honba, sticks = a.numbers("ba", 0, 999, (2,))
    scores, deltas = read_changes(a)
    hands = _hands(a, HAND_SIZES)
    return RyuukyokuTag(DRAW_REASONS[kind], honba, sticks, scores, deltas, hands, _read_final(a))


def read_changes(a: Attributes) -> tuple[Four, Four]:
    """``sc``: the score before and its change, in points.

    The second result of a double ron starts from what the first left, which may be below zero; so may scores
    after a riichi without 1,000 points.
    """
    # The chip modes append eight numbers for their chips; those tables are not played here.
    values = a.numbers("sc", -SCORE_MAX, SCORE_MAX, (8, 16))
    before, deltas = (four(HUNDRED * value for value in values[first:8:2]) for first in (0, 1))
    return before, deltas


def _read_final(a: Attributes) -> FinalScores | None:
    if not a.has("owari"):
        return None
    parts = a.take("owari", limit=128).split(",")
    if len(parts) != 8:
        raise a.fail(f"owari has {len(parts)} values instead of four scores and four results")
    scores = four(HUNDRED * a.integer("owari", part, -SCORE_MAX, SCORE_MAX) for part in parts[::2])
    return FinalScores(scores, four(a.tenths("owari", part) for part in parts[1::2]))
