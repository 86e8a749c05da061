"""Frames sent by the server, one frozen struct per kind; relative seats, scores in points, tiles as ids.

Each docstring gives the wire's spelling. ``extra`` keeps unknown attributes, so that they can be reported
once and written out again.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from game.actions import ActionKind
from game.events import DrawReason, Four
from replays.mjlog import tags as tenhou_tags

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Names: TypeAlias = tuple[str, str, str, str]
Tiles: TypeAlias = tuple[int, ...]
FinalScores: TypeAlias = tenhou_tags.FinalScores

OFFER_PON: Final = 1
OFFER_DAIMINKAN: Final = 2
OFFER_CHI: Final = 4
OFFER_RON: Final = 8
OFFER_TSUMO: Final = 16
OFFER_RIICHI: Final = 32
OFFER_NINE_TERMINALS: Final = 64
OFFER_NORTH: Final = 128
OFFERS: Final = {
    ActionKind.PON: OFFER_PON,
    ActionKind.DAIMINKAN: OFFER_DAIMINKAN,
    ActionKind.CHI: OFFER_CHI,
    ActionKind.RON: OFFER_RON,
    ActionKind.TSUMO: OFFER_TSUMO,
    ActionKind.RIICHI: OFFER_RIICHI,
    ActionKind.NINE_TERMINALS: OFFER_NINE_TERMINALS,
}
"""The offer bit of each kind of action. Discards, passes and kans on our own turn have none."""
ALREADY_CONNECTED: Final = "1004"
"""Error code: at a login the id is connected already; in a game it has logged in elsewhere."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One frame in either direction."""

    extra: Pairs = ()


class ServerMessage(Message, frozen=True):
    """One frame from the server."""


class Unknown(ServerMessage, frozen=True):
    """An unknown tag; its attributes are in ``extra``."""

    tag: str


# --- login and lobby ---------------------------------------------------------------------------------


class Hello(ServerMessage, frozen=True):
    """HELO: the login is accepted.

    Attributes:
        name: our public name.
        auth: challenge of the protocol before 2020, else empty.
        promotion: text of a new certificate of rank, else empty.
        closing: the server is about to close.
        profile: statistics as on the wire (``PF4``, ``rr``, ``expire`` …).
    """

    name: str
    auth: str = ""
    promotion: str = ""
    closing: bool = False
    profile: Pairs = ()


class LoginAgain(ServerMessage, frozen=True):
    """REHELO: drop the connection and log in again in five seconds."""


class LobbyCounts(ServerMessage, frozen=True):
    """LN: numbers of players connected, queued and playing, as on the wire."""

    connected: str = ""
    queued: str = ""
    playing: str = ""


class Ranking(ServerMessage, frozen=True):
    """RANKING: this month's figures, as on the wire."""

    values: str = ""


class ServerError(ServerMessage, frozen=True):
    """ERR: the last request was refused."""

    code: str


class EchoReply(ServerMessage, frozen=True):
    """ECHO."""


class DateReply(ServerMessage, frozen=True):
    """DATE: the server's clock, ``YYYYMMDDhhmmss``."""

    time: str = ""


class ChatLine(ServerMessage, frozen=True):
    """CHAT: a chat message, or the confirmation that we moved to another lobby."""

    name: str = ""
    text: str = ""
    lobby: str = ""
    colour: str = ""
    hidden: str = ""


class TournamentInfo(ServerMessage, frozen=True):
    """CS: we are in a tournament's lobby; its rules are in ``details`` as on the wire."""

    details: Pairs = ()


class QueueAgain(ServerMessage, frozen=True):
    """REJOIN: no table yet; queue again with exactly this ticket."""

    ticket: str


# --- start, progress and end of a game ---------------------------------------------------------------


class MatchFound(ServerMessage, frozen=True):
    """GO: a game begins, or the game we were disconnected from goes on.

    Attributes:
        game_type: rule bits, see `bot.tenhou.game_types`.
        lobby: number of the lobby.
        resume_code: token that takes the seat back; a secret.
        spectating: we only spectate.
        title: name of the tournament.
        rules: tournament attributes ``rule``, ``ranking`` and ``csrule`` as on the wire.
    """

    game_type: int
    lobby: str = "0"
    resume_code: str = ""
    spectating: bool = False
    title: str | None = None
    rules: Pairs = ()

    def __repr__(self) -> str:
        code = "hidden" if self.resume_code else ""
        return (
            f"MatchFound(game_type={self.game_type}, lobby={self.lobby!r}, resume_code={code!r}, "
            f"spectating={self.spectating})"
        )


class PlayerNames(ServerMessage, frozen=True):
    """UN with all names: the players by seat, seat 0 first.

    Attributes:
        names: public names, empty for the empty seat of a three-player table.
        dans: rank indexes.
        rates: ratings.
        sexes: ``M``, ``F`` or ``C`` for a computer.
        stakes: ``rc`` and ``gold`` of the chip modes as on the wire.
    """

    names: Names
    dans: Four = (0, 0, 0, 0)
    rates: tuple[float, float, float, float] = (1500.0, 1500.0, 1500.0, 1500.0)
    sexes: Names = ("M", "M", "M", "M")
    stakes: Pairs = ()


class PlayerBack(ServerMessage, frozen=True):
    """UN with one name: that player has reconnected."""

    seat: int
    name: str = ""


class PlayerGone(ServerMessage, frozen=True):
    """BYE: a player has disconnected."""

    seat: int


class GameBegins(ServerMessage, frozen=True):
    """TAIKYOKU: seat of the first dealer, and the id of the record if one is kept."""

    dealer: int
    log_id: str = ""


class ScoresResumed(ServerMessage, frozen=True):
    """SAIKAI: the state of the game that we rejoin."""

    honba: int
    riichi_sticks: int
    dealer: int
    scores: Four


class OwnResult(ServerMessage, frozen=True):
    """PROF: our own result; the frame with the final scores follows."""

    lobby: str = "0"
    game_type: int = 0
    figures: str = ""


# --- a round -----------------------------------------------------------------------------------------


class RoundDealt(ServerMessage, frozen=True):
    """INIT: a round begins.

    Attributes:
        round_index: 0 East 1 … 4 South 1 … 8 West 1.
        dice: both dice, each minus one.
        dealer: seat of the dealer.
        hand: our 13 tiles.
        chips: chips in the chip modes, as on the wire.
    """

    round_index: int
    honba: int
    riichi_sticks: int
    dora_indicator: int
    scores: Four
    dealer: int
    hand: Tiles
    dice: tuple[int, int] = (0, 0)
    chips: str = ""


class RoundSnapshot(ServerMessage, frozen=True):
    """REINIT: the current state of the running round.

    Attributes:
        indicators: all dora indicators shown so far.
        hand: our concealed tiles.
        melds: meld codes by seat, newest first.
        rivers: discards by seat, without called tiles.
        riichi_at: index of the riichi discard in the river by seat, -1 for none; the river's length if that
            discard was called and nothing has been discarded since.
    """

    round_index: int
    honba: int
    riichi_sticks: int
    indicators: Tiles
    scores: Four
    dealer: int
    hand: Tiles
    melds: tuple[Tiles, Tiles, Tiles, Tiles] = ((), (), (), ())
    rivers: tuple[Tiles, Tiles, Tiles, Tiles] = ((), (), (), ())
    riichi_at: Four = (-1, -1, -1, -1)
    dice: tuple[int, int] = (0, 0)


class TileDrawn(ServerMessage, frozen=True):
    """T, U, V, W: a seat draws a tile, -1 if unseen. ``offers`` are the OFFER_* bits of our own draw."""

    seat: int
    tile: int = -1
    offers: int = 0


class TileDiscarded(ServerMessage, frozen=True):
    """D, E, F, G: a seat discards a tile; the letter's case gives ``tsumogiri``, except for our own."""

    seat: int
    tile: int
    tsumogiri: bool = False
    offers: int = 0


class MeldMade(ServerMessage, frozen=True):
    """N: a seat makes a meld, given by its 16-bit code."""

    seat: int
    code: int
    offers: int = 0


class RiichiStep(ServerMessage, frozen=True):
    """REACH: step 1 declares riichi, step 2 pays the stick and gives the new scores."""

    seat: int
    step: int
    scores: Four | None = None


class IndicatorShown(ServerMessage, frozen=True):
    """DORA: a further dora indicator."""

    tile: int


class FuritenShown(ServerMessage, frozen=True):
    """FURITEN: whether we are furiten now, so that we cannot win on a discard."""

    furiten: bool


class RoundWon(ServerMessage, frozen=True):
    """AGARI: a win. See `game.events.Win` for the figures; ``scores`` are before the win, sticks paid."""

    seat: int
    from_seat: int
    tile: int
    hand: Tiles
    melds: Tiles
    fu: int
    points: int
    limit: int
    yaku: tuple[tuple[int, int], ...]
    yakuman: Tiles
    indicators: Tiles
    ura_indicators: Tiles
    honba: int
    riichi_sticks: int
    scores: Four
    deltas: Four
    liable: int = -1
    final: FinalScores | None = None
    chips: Pairs = ()


class RoundDrawn(ServerMessage, frozen=True):
    """RYUUKYOKU: the round ends without a win. ``hands`` by seat, None if not shown."""

    reason: DrawReason
    honba: int
    riichi_sticks: int
    scores: Four
    deltas: Four
    hands: tuple[Tiles | None, Tiles | None, Tiles | None, Tiles | None] = (None, None, None, None)
    final: FinalScores | None = None
    chips: Pairs = ()
