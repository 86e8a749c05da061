"""Render structs of both directions as text, in JSON and in the old XML form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as s
from bot.tenhou.messages.element import write_json, write_xml
from bot.tenhou.messages.parse_round import RIICHI_MARK
from game.events import Four
from kit.errors import LocalProtocolError
from replays.mjlog.tags import DRAW_TYPES, HUNDRED
from replays.mjlog.writer import rating_text

Attributes: TypeAlias = dict[str, str | int]
Wire: TypeAlias = tuple[str, Attributes]

_TEXT_ONLY: Final = (c.KeepAlive, c.ShowStatistics, c.Leave, c.AskEcho, c.AskDate, c.GetFile, c.AskPolicy)
"""Frames that the web client sends as XML even over its WebSocket."""


def render_json(message: s.Message) -> str:
    """The frame as sent over a WebSocket.

    Server attributes are all text; numbers from a client are numbers, and some of its frames are XML even
    here.

    Raises:
        LocalProtocolError: the message cannot be written.
    """
    if isinstance(message, _TEXT_ONLY):
        return render_xml(message)
    tag, attributes = _wire(message)
    if isinstance(message, s.ServerMessage):
        return write_json(tag, {name: str(value) for name, value in attributes.items()})
    return write_json(tag, attributes)


def render_xml(message: s.Message) -> str:
    """The frame in the old form, without the NUL that ends it on a TCP stream.

    Raises:
        LocalProtocolError: the message cannot be written in this form.
    """
    if isinstance(message, c.MoveLobby):
        return write_xml("CHAT", {"text": f"/lobby%20{message.lobby}"} | dict(message.extra))
    return write_xml(*_wire(message))


def _wire(message: s.Message) -> Wire:
    writer = _WRITERS.get(type(message))
    if writer is None:
        raise LocalProtocolError(f"{type(message).__name__} cannot be written in this form")
    tag, attributes = writer(message)
    return tag, attributes | dict(message.extra)


def percent(text: str) -> str:
    """The text with every byte percent-encoded, as Tenhou writes names.

    >>> percent("No")
    '%4E%6F'
    """
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _join(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


def _some(**attributes: str | int) -> Attributes:
    """Attributes without those that are empty."""
    return {name: value for name, value in attributes.items() if value != ""}


def _hundreds(scores: Iterable[int]) -> list[int]:
    return [score // HUNDRED for score in scores]


def _tenths(value: int) -> str:
    return f"{'-' if value < 0 else ''}{abs(value) // 10}.{abs(value) % 10}"


# --- server ------------------------------------------------------------------------------------------


def _hello(m: s.Hello) -> Wire:
    first = _some(uname=percent(m.name), auth=m.auth)
    last = _some(nintei=percent(m.promotion), closing="1" if m.closing else "")
    return "HELO", {"uname": ""} | first | dict(m.profile) | last


def _chat(m: s.ChatLine) -> Wire:
    return "CHAT", _some(
        uname=percent(m.name), text=percent(m.text), lobby=m.lobby, color=m.colour, hidden=m.hidden
    )


def _go(m: s.MatchFound) -> Wire:
    named: Attributes = {} if m.title is None else {"title": percent(m.title)}
    watched = _some(kansen="1" if m.spectating else "", gpid=m.resume_code)
    kind: Attributes = {"type": m.game_type, "lobby": m.lobby}
    return "GO", kind | watched | named | dict(m.rules)


def _un(m: s.PlayerNames) -> Wire:
    names: Attributes = {f"n{seat}": percent(name) for seat, name in enumerate(m.names)}
    rates = _join(map(rating_text, m.rates))
    more: Attributes = {"dan": _join(m.dans), "rate": rates, "sx": _join(m.sexes)}
    return "UN", names | more | dict(m.stakes)


def _saikai(m: s.ScoresResumed) -> Wire:
    scores = _join(f"{score},0" for score in _hundreds(m.scores))
    return "SAIKAI", {"ba": f"{m.honba},{m.riichi_sticks}", "oya": m.dealer, "sc": scores}


def _seed(m: s.RoundDealt | s.RoundSnapshot, indicators: Iterable[int]) -> str:
    return _join((m.round_index, m.honba, m.riichi_sticks, *m.dice, *indicators))


def _init(m: s.RoundDealt) -> Wire:
    return "INIT", {
        "seed": _seed(m, (m.dora_indicator,)),
        "ten": _join(_hundreds(m.scores)),
        **_some(chip=m.chips),
        "oya": m.dealer,
        "hai": _join(m.hand),
    }


def _reinit(m: s.RoundSnapshot) -> Wire:
    melds = {f"m{seat}": _join(codes) for seat, codes in enumerate(m.melds)}
    rivers = {f"kawa{seat}": _join(_marked(m.rivers[seat], m.riichi_at[seat])) for seat in range(4)}
    return "REINIT", {
        "seed": _seed(m, m.indicators),
        "ten": _join(_hundreds(m.scores)),
        "oya": m.dealer,
        "hai": _join(m.hand),
        **_some(**melds, **rivers),
    }


def _marked(river: s.Tiles, riichi_at: int) -> s.Tiles:
    return river if riichi_at < 0 else (*river[:riichi_at], RIICHI_MARK, *river[riichi_at:])


def _offered(offers: int) -> Attributes:
    return {"t": offers} if offers else {}


def _drawn(m: s.TileDrawn) -> Wire:
    return "TUVW"[m.seat] + ("" if m.tile < 0 else str(m.tile)), _offered(m.offers)


def _discarded(m: s.TileDiscarded) -> Wire:
    # The server always writes our own discards in upper case.
    letters = "Defg" if m.tsumogiri else "DEFG"
    return f"{letters[m.seat]}{m.tile}", _offered(m.offers)


def _reach(m: s.RiichiStep) -> Wire:
    scores: Attributes = {} if m.scores is None else {"ten": _join(_hundreds(m.scores))}
    return "REACH", {"who": m.seat} | scores | {"step": m.step}


def _changes(before: Four, deltas: Four) -> str:
    pairs = zip(_hundreds(before), _hundreds(deltas), strict=True)
    return _join(value for pair in pairs for value in pair)


def _owari(final: s.FinalScores | None) -> str:
    if final is None:
        return ""
    pairs = zip(_hundreds(final.scores), map(_tenths, final.results), strict=True)
    return _join(value for pair in pairs for value in pair)


def _agari(m: s.RoundWon) -> Wire:
    value = (
        {"yakuman": _join(m.yakuman)} if m.yakuman else {"yaku": _join(n for pair in m.yaku for n in pair)}
    )
    return "AGARI", {
        "ba": f"{m.honba},{m.riichi_sticks}",
        "hai": _join(m.hand),
        **_some(m=_join(m.melds)),
        "machi": m.tile,
        "ten": f"{m.fu},{m.points},{m.limit}",
        **value,
        "doraHai": _join(m.indicators),
        **_some(doraHaiUra=_join(m.ura_indicators)),
        "who": m.seat,
        "fromWho": m.from_seat,
        **_some(paoWho="" if m.liable < 0 else m.liable),
        "sc": _changes(m.scores, m.deltas),
        **_some(owari=_owari(m.final)),
        **dict(m.chips),
    }


def _ryuukyoku(m: s.RoundDrawn) -> Wire:
    hands = {f"hai{seat}": _join(hand) for seat, hand in enumerate(m.hands) if hand is not None}
    return "RYUUKYOKU", {
        **_some(type=DRAW_TYPES[m.reason]),
        "ba": f"{m.honba},{m.riichi_sticks}",
        "sc": _changes(m.scores, m.deltas),
        **hands,
        **_some(owari=_owari(m.final)),
        **dict(m.chips),
    }


# --- client ------------------------------------------------------------------------------------------


def _login(m: c.Login) -> Wire:
    return "HELO", {"name": m.name} | _some(tid=m.terminal) | {"sx": m.sex} | _some(gpid=m.resume_code)


def _tournament(m: c.JoinTournament) -> Wire:
    if not re.fullmatch(r"C[0-9]{8}", m.lobby):
        # Eight more digits would be the organiser's edit code.
        raise LocalProtocolError("a tournament's lobby is C and eight digits")
    return "CS", {"lobby": m.lobby}


def _n(m: c.Respond) -> Wire:
    if m.choice in (c.ResponseType.PON, c.ResponseType.CHI):
        first, second = m.tiles
        return "N", {"type": int(m.choice), "hai0": first, "hai1": second}
    tiles: Attributes = {"hai": m.tiles[0]} if m.tiles else {}
    return "N", ({"type": int(m.choice)} if m.choice else {}) | tiles


_WRITERS: Final[dict[type[s.Message], Callable[[Any], Wire]]] = {
    s.Unknown: lambda m: (m.tag, {}),
    s.Hello: _hello,
    s.LoginAgain: lambda _: ("REHELO", {}),
    s.LobbyCounts: lambda m: ("LN", {"n": m.connected, "j": m.queued, "g": m.playing}),
    s.Ranking: lambda m: ("RANKING", {"v2": m.values}),
    s.ServerError: lambda m: ("ERR", {"code": m.code}),
    s.EchoReply: lambda _: ("ECHO", {}),
    s.DateReply: lambda m: ("DATE", _some(t=m.time)),
    s.ChatLine: _chat,
    s.TournamentInfo: lambda m: ("CS", dict(m.details)),
    s.QueueAgain: lambda m: ("REJOIN", {"t": m.ticket}),
    s.MatchFound: _go,
    s.PlayerNames: _un,
    s.PlayerBack: lambda m: ("UN", {f"n{m.seat}": percent(m.name)}),
    s.PlayerGone: lambda m: ("BYE", {"who": m.seat}),
    s.GameBegins: lambda m: ("TAIKYOKU", {"oya": m.dealer} | _some(log=m.log_id)),
    s.ScoresResumed: _saikai,
    s.OwnResult: lambda m: ("PROF", {"lobby": m.lobby, "type": m.game_type, "add": m.figures}),
    s.RoundDealt: _init,
    s.RoundSnapshot: _reinit,
    s.TileDrawn: _drawn,
    s.TileDiscarded: _discarded,
    s.MeldMade: lambda m: ("N", {"who": m.seat, "m": m.code} | _offered(m.offers)),
    s.RiichiStep: _reach,
    s.IndicatorShown: lambda m: ("DORA", {"hai": m.tile}),
    s.FuritenShown: lambda m: ("FURITEN", {"show": int(m.furiten)}),
    s.RoundWon: _agari,
    s.RoundDrawn: _ryuukyoku,
    c.UnknownRequest: lambda m: (m.tag, {}),
    c.Login: _login,
    c.AuthReply: lambda m: ("AUTH", {"val": m.value}),
    c.ShowStatistics: lambda m: ("PXR", {"v" if m.repeated else "V": m.game_type}),
    c.KeepAlive: lambda _: ("Z", {}),
    c.MoveLobby: lambda m: ("LOBBY", {"id": m.lobby}),
    c.JoinTournament: _tournament,
    c.AskDate: lambda _: ("DATE", {}),
    c.AskEcho: lambda _: ("ECHO", {}),
    c.Queue: lambda m: ("JOIN", _some(t=m.ticket)),
    c.AcceptMatch: lambda _: ("GOK", {}),
    c.Ready: lambda _: ("NEXTREADY", {}),
    c.DiscardTile: lambda m: ("D", {"p": m.tile}),
    c.DeclareRiichi: lambda m: ("REACH", {} if m.tile < 0 else {"hai": m.tile}),
    c.Respond: _n,
    c.Leave: lambda _: ("BYE", {}),
    c.Say: lambda m: ("CHAT", {"text": percent(m.text)}),
    c.WatchGame: lambda m: ("WG", {"id": m.game, "tw": m.player}),
    c.GetFile: lambda _: ("GET", {}),
    c.AskPolicy: lambda _: ("policy-file-request", {}),
    c.AskProgram: lambda _: ("GETSWF", {}),
}
