"""Parse server frames, in JSON or XML, to structs, by a table of small functions looked up by tag."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, cast
from urllib.parse import unquote

import msgspec

from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.element import Fields, read_element
from bot.tenhou.messages.parse_round import ROUND_PARSERS, TILE_PARSERS, seat_of
from replays.mjlog.tags import read_changes

_TILE_TAG: Final = re.compile(r"([DEFGdefgTUVW])([0-9]{0,3})")
_LOG_ID: Final = re.compile(r"[0-9A-Za-z-]{0,64}")
_SEATS: Final = range(4)


def parse_server(text: str) -> m.ServerMessage:
    """One frame from the server, in JSON or XML form.

    Raises:
        RemoteProtocolError: the frame is unreadable; no other error is raised.
    """
    element = read_element(text)
    fields = Fields(element, text)
    tile = _TILE_TAG.fullmatch(element.tag)
    if tile:
        return TILE_PARSERS[tile[1]](fields, tile[1], tile[2])
    parser = _PARSERS.get(element.tag)
    if parser is None:
        return m.Unknown(element.tag, extra=fields.rest())
    message = parser(fields)
    extra = fields.rest()
    return msgspec.structs.replace(message, extra=extra) if extra else message


# --- login and lobby ---------------------------------------------------------------------------------

_PROFILE: Final = re.compile(r"PF\w*|ratingscale|rr|opt|expire|expiredays")


def _hello(f: Fields) -> m.ServerMessage:
    return m.Hello(
        name=_words(f, "uname"),
        auth=f.take("auth", "", limit=64),
        promotion=_words(f, "nintei"),
        closing=f.take("closing", "", limit=64) != "",
        profile=f.take_where(lambda name: bool(_PROFILE.fullmatch(name))),
    )


def _words(f: Fields, name: str) -> str:
    return unquote(f.take(name, ""), errors="replace")


def _chat(f: Fields) -> m.ServerMessage:
    rest = (f.take(name, "", limit=256) for name in ("lobby", "color", "hidden"))
    return m.ChatLine(_words(f, "uname"), _words(f, "text"), *rest)


# --- start, progress and end of a game ---------------------------------------------------------------


def _go(f: Fields) -> m.ServerMessage:
    return m.MatchFound(
        game_type=f.number("type", 0, 4095),
        lobby=f.take("lobby", "0", limit=16),
        resume_code=f.take("gpid", "", limit=64),
        spectating=f.take("kansen", "", limit=8) not in ("", "0"),
        title=_words(f, "title") if f.has("title") else None,
        rules=f.take_where(lambda name: name in ("rule", "ranking", "csrule")),
    )


def _un(f: Fields) -> m.ServerMessage:
    named = [seat for seat in _SEATS if f.has(f"n{seat}")]
    if len(named) == 1 and not f.has("dan"):
        return m.PlayerBack(named[0], _words(f, f"n{named[0]}"))
    if len(named) != 4:
        raise f.fail(f"names {len(named)} players")
    names = cast("m.Names", tuple(_words(f, f"n{seat}") for seat in _SEATS))
    dans = f.four("dan", 0, 99) if f.has("dan") else (0, 0, 0, 0)
    stakes = f.take_where(lambda name: name in ("rc", "gold"))
    return m.PlayerNames(names, dans, f.ratings("rate"), _sexes(f), stakes)


def _sexes(f: Fields) -> m.Names:
    parts = f.take("sx", "M,M,M,M", limit=16).split(",")
    if len(parts) != 4:
        raise f.fail("sx is not a list of four")
    return parts[0], parts[1], parts[2], parts[3]


def _taikyoku(f: Fields) -> m.ServerMessage:
    log_id = f.take("log", "", limit=64)
    if not _LOG_ID.fullmatch(log_id):
        raise f.fail("log is not the id of a record")
    return m.GameBegins(seat_of(f, "oya"), log_id)


def _saikai(f: Fields) -> m.ServerMessage:
    honba, sticks = f.numbers("ba", 0, 99, (2,))
    return m.ScoresResumed(honba, sticks, seat_of(f, "oya"), read_changes(f)[0])


def _prof(f: Fields) -> m.ServerMessage:
    return m.OwnResult(
        f.take("lobby", "0", limit=16), f.number("type", 0, 4095, 0), f.take("add", "", limit=256)
    )


_PARSERS: Final[dict[str, Callable[[Fields], m.ServerMessage]]] = {
    "HELO": _hello,
    "REHELO": lambda _: m.LoginAgain(),
    "LN": lambda f: m.LobbyCounts(f.take("n", ""), f.take("j", ""), f.take("g", "")),
    "RANKING": lambda f: m.Ranking(f.take("v2", "")),
    "ERR": lambda f: m.ServerError(f.take("code", "", limit=64)),
    "ECHO": lambda _: m.EchoReply(),
    "DATE": lambda f: m.DateReply(f.take("t", "", limit=64)),
    "CHAT": _chat,
    "CS": lambda f: m.TournamentInfo(f.take_where(lambda _: True)),
    "REJOIN": lambda f: m.QueueAgain(f.take("t", limit=64)),
    "GO": _go,
    "UN": _un,
    "BYE": lambda f: m.PlayerGone(seat_of(f, "who")),
    "TAIKYOKU": _taikyoku,
    "SAIKAI": _saikai,
    "PROF": _prof,
    **ROUND_PARSERS,
}
