"""Frames sent by clients: one frozen struct per kind, with the wire's spelling in each docstring."""

from __future__ import annotations

from enum import IntEnum

from bot.tenhou.messages.server_messages import Message
from bot.tenhou.names import GUEST


class ClientMessage(Message, frozen=True):
    """One frame to the server."""


class UnknownRequest(ClientMessage, frozen=True):
    """An unknown tag; its attributes are in ``extra``."""

    tag: str


class Login(ClientMessage, frozen=True):
    """HELO: name is the secret id, or `GUEST`; ``resume_code`` takes a guest's seat back."""

    name: str
    sex: str = "M"
    resume_code: str = ""
    terminal: str = ""

    def __repr__(self) -> str:
        name = self.name if self.name == GUEST else "hidden"
        code = "hidden" if self.resume_code else ""
        return f"Login(name={name!r}, sex={self.sex!r}, resume_code={code!r})"


class AuthReply(ClientMessage, frozen=True):
    """AUTH of the protocol before 2020."""

    value: str

    def __repr__(self) -> str:
        return "AuthReply(value='hidden')"


class ShowStatistics(ClientMessage, frozen=True):
    """PXR: the rule whose statistics to show; if ``repeated`` with the keepalive, the attribute is ``v``."""

    game_type: int
    repeated: bool = False


class KeepAlive(ClientMessage, frozen=True):
    """Z."""


class MoveLobby(ClientMessage, frozen=True):
    """LOBBY, a chat line in the old form: go to a private lobby."""

    lobby: str


class JoinTournament(ClientMessage, frozen=True):
    """CS: go to a tournament's lobby, ``C`` and eight digits."""

    lobby: str


class AskDate(ClientMessage, frozen=True):
    """DATE."""


class AskEcho(ClientMessage, frozen=True):
    """ECHO."""


class Queue(ClientMessage, frozen=True):
    """JOIN: queue for ``LOBBY,TYPE``; an empty ticket leaves the queue."""

    ticket: str = ""


class AcceptMatch(ClientMessage, frozen=True):
    """GOK."""


class Ready(ClientMessage, frozen=True):
    """NEXTREADY."""


class DiscardTile(ClientMessage, frozen=True):
    """D: discard a tile."""

    tile: int


class DeclareRiichi(ClientMessage, frozen=True):
    """REACH: declare riichi; the old form names the tile to be discarded."""

    tile: int = -1


class ResponseType(IntEnum):
    """``type`` of an N frame."""

    PASS = 0
    PON = 1
    DAIMINKAN = 2
    CHI = 3
    ANKAN = 4
    KAKAN = 5
    RON = 6
    TSUMO = 7
    NINE_TERMINALS = 9
    NORTH = 10


class Respond(ClientMessage, frozen=True):
    """N: win, call, kan, abort or pass.

    ``tiles`` are the two tiles from our hand for chi and pon, or the tile of a kan on our turn.
    """

    choice: ResponseType = ResponseType.PASS
    tiles: tuple[int, ...] = ()


class Leave(ClientMessage, frozen=True):
    """BYE: log out."""


class Say(ClientMessage, frozen=True):
    """CHAT."""

    text: str


class WatchGame(ClientMessage, frozen=True):
    """WG: spectate a running game from one player's seat."""

    game: str
    player: int = 0


class GetFile(ClientMessage, frozen=True):
    """GET: a request for the web client's images."""


class AskPolicy(ClientMessage, frozen=True):
    """policy-file-request, the Flash client's first line."""


class AskProgram(ClientMessage, frozen=True):
    """GETSWF, the Flash client's second line."""
