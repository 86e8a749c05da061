"""Reads the records of 電脳麻将 and of other programs on kobalab's `majiang-core`: JSON, moves by round.

Players are given by their wind in the round, 0 the dealer; names and final scores by place at the table, with
``qijia`` the first dealer. Tiles are ``m5``, red ``m0``; a meld is ``s40-6``, with ``-``, ``=`` or ``+``
behind the tile that came from the left, across or the right. Each move becomes an mjai message, which
`replays.mjai.reader` reads.

Source: games played with `@kobalab/majiang-core` 1.4.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from game.events import GameEvent, StartGame, four
from game.scoring.value import LIMIT_YAKUMAN, YAKU_DOUBLE_RIICHI, YAKU_RIICHI, YAKU_URA_DORA, base_points
from kit.errors import ReplayFormatError, ReplayTooLarge
from replays.mjai.reader import MjaiReader
from replays.names import reason_of, yaku_id
from replays.record import THREE_PLAYERS, GameRecord, usual_type

MAX_CHARACTERS: Final = 2 * 1024 * 1024
MAX_ROUNDS: Final = 100
MAX_MOVES: Final = 400
"""In a round."""

_SIDES: Final = {"+": 1, "=": 2, "-": 3}
_MALFORMED: Final = (ReplayFormatError, LookupError, TypeError, ValueError, AttributeError, OverflowError)
_OF_A_PLAYER: Final = ("zimo", "gangzimo", "dapai", "fulou", "gang", "hule")
_HONOURS: Final = "ESWNPFC"
_TILE: Final = re.compile(r"[mps][0-9]|z[1-7]")
_DISCARD: Final = re.compile(r"(..)_?\*?")
_TILES: Final = re.compile(r"((?:[mps][0-9]+|z[1-7]+)*)\*?")
_MELD: Final = re.compile(r"([mpsz])([0-9]{1,4})([-=+]?)([0-9]{0,3})")

Message = dict[str, Any]


def read_record(text: str) -> GameRecord:
    """Read a game from its JSON.

    Raises:
        ReplayFormatError: it is not such a record; names the round and the move.
        ReplayTooLarge: it is longer than any game can be.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReplayTooLarge(f"{len(text)} characters; at most {MAX_CHARACTERS} are read")
    try:
        document = json.loads(text, object_hook=_without_nulls)
    except (ValueError, RecursionError) as exc:
        raise ReplayFormatError(f"not JSON, or cut short: {str(exc)[:80]}") from None
    if not isinstance(document, dict) or not {"qijia", "log"} <= document.keys():
        raise ReplayFormatError("not a record of majiang-core: qijia or log is missing")
    try:
        return _record(document)
    except _MALFORMED as exc:
        raise ReplayFormatError(f"majiang-core's record: {_fault_in(exc)}") from None


def _fault_in(error: Exception) -> str:
    if isinstance(error, ReplayFormatError):
        return str(error)
    missing = f"{str(error.args[0])[:40]} is missing" if isinstance(error, KeyError) else ""
    return missing or "a value is missing, of the wrong kind or out of range"


def _record(document: dict[str, Any]) -> GameRecord:
    first, rounds = _place(document["qijia"]), document["log"]
    if len(rounds) > MAX_ROUNDS or any(len(moves) > MAX_MOVES for moves in rounds):
        raise ReplayTooLarge(f"more than {MAX_ROUNDS} rounds, or than {MAX_MOVES} moves in one")
    players = [str(name or "")[:64] for name in document.get("player") or [""] * 4]
    deals = [moves[0]["qipai"] for moves in rounds]
    lists = [players, *(deal.get(key, players) for deal in deals for key in ("defen", "shoupai"))]
    if any(len(each) == 3 for each in lists) or len(players) != 4:
        raise ReplayFormatError(THREE_PLAYERS)
    names = four(players[(first + player) % 4] for player in range(4))
    reader = MjaiReader()
    events: list[GameEvent] = [StartGame(names)]
    after = [_by_player(deal["defen"], _place(deal["jushu"])) for deal in deals[1:]]
    for number, (moves, scores) in enumerate(zip(rounds, [*after, None], strict=True), 1):
        events += _round(reader, moves, number, scores)
    if document.get("defen"):
        end = {"type": "end_game", "scores": _by_player(document["defen"], -first)}
        if document.get("point"):
            tenths = [round(10 * float(point)) for point in document["point"]]
            end["results_tenths"] = _by_player(tenths, -first)
        events += reader.read(end)
    return GameRecord(
        game_id="", game_type=usual_type(events), names=names, events=tuple(events), rules_said=False
    )


def _round(
    reader: MjaiReader, moves: list[dict[str, Any]], number: int, after: list[int] | None
) -> Iterator[GameEvent]:
    """The events of a round; ``after`` are the scores that the next one begins with."""
    dealer = _place(moves[0]["qipai"]["jushu"])
    for place, move in enumerate(moves, 1):
        try:
            [(name, details)] = move.items()
            for message in _messages(name, details, dealer, reader):
                yield from reader.read(message | {"scores": message.get("scores", after)})
        except _MALFORMED as exc:
            raise ReplayFormatError(f"round {number}, move {place}: {_fault_in(exc)}") from None
    yield from reader.read({"type": "end_kyoku"})


def _messages(name: str, details: dict[str, Any], dealer: int, reader: MjaiReader) -> Iterator[Message]:
    player = (_place(details["l"]) + dealer) % 4 if name in _OF_A_PLAYER else -1
    match name:
        case "qipai":
            yield _deal(details, dealer)
        case "zimo" | "gangzimo":
            yield {"type": "tsumo", "actor": player, "pai": _tile(details["p"])}
        case "dapai":
            text = details["p"]
            discard = _DISCARD.fullmatch(text)
            if text.endswith("*"):
                yield {"type": "reach", "actor": player}
            yield {
                "type": "dahai",
                "actor": player,
                "pai": _tile(discard[1] if discard else text),
                "tsumogiri": "_" in text,
            }
        case "fulou" | "gang":
            yield _meld(details["m"], player)
        case "kaigang":
            yield {"type": "dora", "dora_marker": _tile(details["baopai"])}
        case "hule":
            yield _win(details, player, dealer, reader)
        case "pingju":
            yield {
                "type": "ryukyoku",
                "reason": reason_of(details["name"]) or "unknown",
                "deltas": _payments(details, dealer),
            }
        case _:
            raise ReplayFormatError(f"an unknown move {name[:20]!r}")


def _deal(details: dict[str, Any], dealer: int) -> Message:
    hands = [_tiles(hand) if hand else ["?"] * 13 for hand in details["shoupai"]]
    return {
        "type": "start_kyoku",
        "bakaze": "ESWN"[_place(details["zhuangfeng"])],
        "kyoku": dealer + 1,
        "honba": details["changbang"],
        "kyotaku": details.get("lizhibang"),
        "oya": dealer,
        "scores": _by_player(details["defen"], dealer),
        "dora_marker": _tile(details["baopai"]),
        "tehais": _by_player(hands, dealer),
    }


def _meld(text: str, player: int) -> Message:
    found = _MELD.fullmatch(text)
    if found is None:
        raise ReplayFormatError(f"not a meld: {text[:20]!r}")
    suit, before, side, after = found.groups()
    tiles = _tiles(suit + before + after)
    if not side:
        return {"type": "ankan", "actor": player, "consumed": tiles}
    if len(before) == 3 and len(after) == 1:
        return {"type": "kakan", "actor": player, "pai": tiles[3], "consumed": tiles[:3]}
    called = tiles.pop(len(before) - 1)
    same = len(set((before + after).replace("0", "5"))) == 1
    kind = "daiminkan" if len(tiles) == 3 else "pon" if same else "chi"
    return {
        "type": kind,
        "actor": player,
        "target": (player + _SIDES[side]) % 4,
        "pai": called,
        "consumed": tiles,
    }


def _win(details: dict[str, Any], player: int, dealer: int, reader: MjaiReader) -> Message:
    source = details.get("baojia")
    yaku, yakuman, other, liable = [], [], [], -1
    for each in details.get("hupai") or ():
        name, han = str(each["name"])[:48], each["fanshu"] if isinstance(each["fanshu"], int) else 0
        number = yaku_id(name)
        if number is None:
            other.append((name, han))
        elif han or number == YAKU_URA_DORA:
            yaku.append((number, han))
        else:
            yakuman.append(number)
        if each.get("baojia"):
            liable = (player + _SIDES[each["baojia"]]) % 4
    if any(number in (YAKU_RIICHI, YAKU_DOUBLE_RIICHI) for number, _ in yaku):
        yaku += [(YAKU_URA_DORA, 0)] * (YAKU_URA_DORA not in [number for number, _ in yaku])
    fu, total = details.get("fu", 0 if yakuman else None), details.get("fanshu")
    limit = None if fu is None or total is None else base_points(total, fu)[1]
    return {
        "type": "hora",
        "actor": player,
        "target": None if source is None else (_place(source) + dealer) % 4,
        "pai": _tiles(details["shoupai"].partition(",")[0])[-1] if details.get("shoupai") else None,
        "deltas": _payments(details, dealer),
        "fu": fu,
        "points": details.get("defen"),
        "limit": LIMIT_YAKUMAN if yakuman else limit,
        "yaku": yaku,
        "yakuman": yakuman,
        "other_yaku": other,
        "ura_markers": [_tile(tile) for tile in details.get("fubaopai") or ()],
        "liable": liable,
        "honba": int(reader.state["honba"]),
    }


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _payments(details: dict[str, Any], dealer: int) -> list[int] | None:
    return _by_player(details["fenpei"], dealer) if details.get("fenpei") else None


def _tile(text: str) -> str:
    """One tile in mjai's notation."""
    if not _TILE.fullmatch(text):
        raise ReplayFormatError(f"not a tile: {text[:20]!r}")
    return _tiles(text)[0]


def _tiles(text: str) -> list[str]:
    """Tiles in mjai's notation; ``*`` after a hand says that its player declared riichi.

    >>> _tiles("m05z7*")
    ['5mr', '5m', 'C']
    """
    found = _TILES.fullmatch(text)
    if found is None:
        raise ReplayFormatError(f"not tiles: {text[:40]!r}")
    tiles, suit = [], ""
    for sign in found[1]:
        if not sign.isdigit():
            suit = sign
        elif suit == "z":
            tiles.append(_HONOURS[int(sign) - 1])
        else:
            tiles.append(f"5{suit}r" if sign == "0" else f"{sign}{suit}")
    return tiles


def _place(value: int) -> int:
    """A wind, or a place at the table."""
    if not isinstance(value, int) or value not in range(4):
        raise ReplayFormatError(f"not a wind or place, 0 to 3: {str(value)[:20]}")
    return int(value)


def _by_player(by_wind: list[Any], dealer: int) -> list[Any]:
    return [by_wind[(player - dealer) % 4] for player in range(4)]
