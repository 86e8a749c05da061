"""Parse client frames, in JSON or XML, to structs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

import msgspec

from bot.tenhou.messages import client_messages as m
from bot.tenhou.messages.element import Fields, read_element

_LOBBY: Final = re.compile(r"/lobby\s+([0-9A-Za-z]{1,16})", re.ASCII)
_TILE_COUNTS: Final = {
    m.ResponseType.PON: ("hai0", "hai1"),
    m.ResponseType.CHI: ("hai0", "hai1"),
    m.ResponseType.ANKAN: ("hai",),
    m.ResponseType.KAKAN: ("hai",),
}


def parse_client(text: str) -> m.ClientMessage:
    """One frame from a client, in JSON or XML form.

    Raises:
        RemoteProtocolError: the frame is unreadable; no other error is raised.
    """
    element = read_element(text)
    fields = Fields(element, text)
    parser = _PARSERS.get(element.tag)
    if parser is None:
        return m.UnknownRequest(element.tag, extra=fields.rest())
    message = parser(fields)
    extra = fields.rest()
    return msgspec.structs.replace(message, extra=extra) if extra else message


def _hello(f: Fields) -> m.ClientMessage:
    return m.Login(
        name=unquote(f.take("name", limit=256), errors="replace"),
        sex=f.take("sx", "M", limit=8),
        resume_code=f.take("gpid", "", limit=64),
        terminal=f.take("tid", "", limit=16),
    )


def _pxr(f: Fields) -> m.ClientMessage:
    repeated = f.has("v")
    return m.ShowStatistics(f.number("v" if repeated else "V", -1, 4095), repeated)


def _chat(f: Fields) -> m.ClientMessage:
    text = unquote(f.take("text", "", limit=4096), errors="replace")
    lobby = _LOBBY.fullmatch(text)
    return m.MoveLobby(lobby[1]) if lobby else m.Say(text)


def _n(f: Fields) -> m.ClientMessage:
    number = f.number("type", 0, 10, 0)
    if number not in set(m.ResponseType):
        raise f.fail(f"type {number} is not an answer")
    choice = m.ResponseType(number)
    names: tuple[str, ...] = _TILE_COUNTS.get(choice, ())
    if choice is m.ResponseType.NORTH and f.has("hai"):
        names = ("hai",)
    tiles = tuple(f.number(name, 0, 135) for name in names)
    if len(set(tiles)) != len(tiles):
        raise f.fail("names a tile twice")
    return m.Respond(choice, tiles)


_PARSERS: Final[dict[str, Callable[[Fields], m.ClientMessage]]] = {
    "HELO": _hello,
    "AUTH": lambda f: m.AuthReply(f.take("val", limit=64)),
    "PXR": _pxr,
    "Z": lambda _: m.KeepAlive(),
    "LOBBY": lambda f: m.MoveLobby(f.take("id", limit=16)),
    "CS": lambda f: m.JoinTournament(f.take("lobby", limit=32)),
    "DATE": lambda _: m.AskDate(),
    "ECHO": lambda _: m.AskEcho(),
    "JOIN": lambda f: m.Queue(f.take("t", "", limit=64)),
    "GOK": lambda _: m.AcceptMatch(),
    "NEXTREADY": lambda _: m.Ready(),
    "D": lambda f: m.DiscardTile(f.number("p", 0, 135)),
    "REACH": lambda f: m.DeclareRiichi(f.number("hai", 0, 135, -1)),
    "N": _n,
    "BYE": lambda _: m.Leave(),
    "CHAT": _chat,
    "WG": lambda f: m.WatchGame(f.take("id", limit=64), f.number("tw", 0, 3, 0)),
    "GET": lambda _: m.GetFile(),
    "policy-file-request": lambda _: m.AskPolicy(),
    "GETSWF": lambda _: m.AskProgram(),
}
