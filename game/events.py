"""Everything that happens at a table, one event type per mjai message, under this project's names.

Live play, replay files and simulated tables all produce these events; everything else is a fold over them.
Players are absolute (0 dealt first), tiles are physical ids 0–135 or -1 if unseen, scores are in points.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, TypeVar

import msgspec

Four: TypeAlias = tuple[int, int, int, int]
DrawReason: TypeAlias = Literal[
    "exhaustive",
    "nine_terminals",
    "four_winds",
    "four_riichi",
    "triple_ron",
    "four_kans",
    "nagashi_mangan",
    "unknown",
]
ValueSource: TypeAlias = Literal["stated", "computed", "unknown"]


T = TypeVar("T")


def four(values: Iterable[T]) -> tuple[T, T, T, T]:
    """One value for each player.

    Raises:
        ValueError: there are more or fewer.
    """
    a, b, c, d = values
    return a, b, c, d


class Event(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base of all events at a table."""


class StartGame(Event, frozen=True, tag="start_game"):
    """The players sit down. ``player`` is the one whose view this is, -1 for a view with all hands open."""

    names: tuple[str, str, str, str] = ("", "", "", "")
    player: int = -1


class StartRound(Event, frozen=True, tag="start_round"):
    """A round is dealt: ``round_index`` 0 is East 1, 4 South 1, 8 West 1; hands of 13 tiles, -1 if unseen."""

    round_index: int
    honba: int
    riichi_sticks: int
    dealer: int
    scores: Four
    dora_indicator: int
    hands: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class Draw(Event, frozen=True, tag="draw"):
    """A player draws a tile from the wall, or the replacement tile after a kan."""

    player: int
    tile: int = -1


class Discard(Event, frozen=True, tag="discard"):
    """A player discards a tile; ``tsumogiri`` if it is the one just drawn."""

    player: int
    tile: int
    tsumogiri: bool


class Chi(Event, frozen=True, tag="chi"):
    """``player`` completes a sequence with ``tile`` from ``from_player`` and two tiles from the hand."""

    player: int
    from_player: int
    tile: int
    consumed: tuple[int, int]


class Pon(Event, frozen=True, tag="pon"):
    """``player`` completes a triplet with ``tile`` from ``from_player`` and two tiles from the hand."""

    player: int
    from_player: int
    tile: int
    consumed: tuple[int, int]


class Daiminkan(Event, frozen=True, tag="daiminkan"):
    """``player`` makes an open kan with ``tile`` from ``from_player`` and three tiles from the hand."""

    player: int
    from_player: int
    tile: int
    consumed: tuple[int, int, int]


class Ankan(Event, frozen=True, tag="ankan"):
    """``player`` makes a closed kan of four tiles from the hand; the copy that names it on the wire first."""

    player: int
    consumed: tuple[int, int, int, int]


class Kakan(Event, frozen=True, tag="kakan"):
    """``player`` adds ``tile`` to the pon of ``consumed``."""

    player: int
    tile: int
    consumed: tuple[int, int, int]


class DoraRevealed(Event, frozen=True, tag="dora_revealed"):
    """Another dora indicator is revealed."""

    indicator: int


class Riichi(Event, frozen=True, tag="riichi"):
    """A player declares riichi; the discard follows."""

    player: int


class RiichiAccepted(Event, frozen=True, tag="riichi_accepted"):
    """The riichi discard was not won on, and the stick is paid."""

    player: int


class Win(Event, frozen=True, tag="win"):
    """A player wins, by tsumo if ``from_player`` is ``player``.

    Attributes:
        tile: the winning tile.
        hand: concealed tiles with the winning one, ascending.
        fu: minipoints; 0 for a yakuman reported without them.
        points: value without honba and sticks; for a tsumo the sum of all payments.
        limit: 0 none, 1 mangan, 2 haneman, 3 baiman, 4 sanbaiman, 5 yakuman.
        yaku: ``(Tenhou id, han)`` in Tenhou's order; empty for a yakuman by pattern.
        yakuman: Tenhou ids of the yakuman patterns.
        other_yaku: names and han of yaku that Tenhou does not have; 0 han for a yakuman.
        ura_indicators: shown only for a riichi.
        liable: the player who pays for a completed yakuman (pao), -1 for none.
        deltas: change of every score, honba and sticks included; 0 where unknown.
        honba: repeat counters as the record states them; in a double ron only the nearer winner is paid them.
        riichi_sticks: sticks collected with this win.
        payments_known: whether the record states ``deltas``, or they follow from it.
        value: where ``fu``, ``points``, ``limit`` and the yaku come from: the record states them, our rules
            computed them from the hand, or neither, and then only ``points`` is known, from the payments.
    """

    player: int
    from_player: int
    tile: int
    hand: tuple[int, ...]
    fu: int
    points: int
    limit: int
    yaku: tuple[tuple[int, int], ...]
    yakuman: tuple[int, ...]
    ura_indicators: tuple[int, ...]
    liable: int
    deltas: Four
    honba: int
    riichi_sticks: int
    value: ValueSource = "stated"
    payments_known: bool = True
    other_yaku: tuple[tuple[str, int], ...] = ()


class DrawnRound(Event, frozen=True, tag="drawn_round"):
    """The round ends without a win; ``reason`` is ``"unknown"`` if neither the record nor the table tells.

    ``hands`` are the concealed tiles revealed, None for hands not shown; ``deltas`` are 0 where unknown.
    """

    reason: DrawReason
    deltas: Four
    hands: tuple[
        tuple[int, ...] | None, tuple[int, ...] | None, tuple[int, ...] | None, tuple[int, ...] | None
    ] = (None, None, None, None)
    payments_known: bool = True


class EndRound(Event, frozen=True, tag="end_round"):
    """The round is over and its scores are settled."""


class EndGame(Event, frozen=True, tag="end_game"):
    """The game is over.

    Attributes:
        scores: final points, leftover sticks given to first place.
        results: final results in tenths, uma and oka included (``-170`` is -17.0); None if unknown.
    """

    scores: Four
    results: Four | None


class PlayerLeft(Event, frozen=True, tag="player_left"):
    """A player disconnected; the server discards that player's draws. Has no mjai form."""

    player: int


class PlayerReturned(Event, frozen=True, tag="player_returned"):
    """A player reconnected. Has no mjai form."""

    player: int


GameEvent: TypeAlias = (
    StartGame
    | StartRound
    | Draw
    | Discard
    | Chi
    | Pon
    | Daiminkan
    | Ankan
    | Kakan
    | DoraRevealed
    | Riichi
    | RiichiAccepted
    | Win
    | DrawnRound
    | EndRound
    | EndGame
    | PlayerLeft
    | PlayerReturned
)
