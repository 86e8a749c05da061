"""Games as mjai: one JSON object per line, the format that engines and arenas exchange.

mjai contains faces (``"5mr"``), not physical tiles. `render` writes what every mjai reader understands. With
``exact`` it adds ``tiles136``, the physical tiles of the line in their order there, and everything that mjai
cannot express, under keys that other programs ignore. `MjaiReader` reads both: where physical tiles are
missing, it gives each face its lowest free copy, so that reading a game twice gives the same game.

Source: the mjai protocol as used by Mortal and RiichiEnv (``hora`` and ``ryukyoku`` with ``deltas``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    RiichiAccepted,
    StartGame,
    StartRound,
    Win,
)
from game.tiles import mjai_text
from kit.errors import ReplayFormatError, ReplayTooLarge
from replays.mjai.reader import WINDS, MjaiReader
from replays.record import HANCHAN, TONPUU, GameRecord, check_type, fault_in, is_said, usual_type

MAX_LINE: Final = 64 * 1024
MAX_LINES: Final = 40_000

_HEAD: Final = "suzaku_record"
_LENGTHS: Final = {"0": HANCHAN, "4": TONPUU}
"""By ``kyoku_first``."""

Message = dict[str, Any]
_Seed = Annotated[str, msgspec.Meta(max_length=8192)]
_Rank = Annotated[int, msgspec.Meta(ge=0, le=99)]
_Rate = Annotated[float, msgspec.Meta(gt=-1e6, lt=1e6)]
_Sex = Literal["M", "F", "C"]
_Die = Annotated[int, msgspec.Meta(ge=0, le=5)]


class _RecordInfo(msgspec.Struct, frozen=True):
    """The parts of a record besides its events, for which mjai has no message."""

    game_id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{0,80}$")] = ""
    game_type: Annotated[int, msgspec.Meta(ge=0, le=4095)] = 9
    lobby: Annotated[int, msgspec.Meta(ge=0, le=99_999_999)] = 0
    ranks: tuple[_Rank, _Rank, _Rank, _Rank] = (0, 0, 0, 0)
    rates: tuple[_Rate, _Rate, _Rate, _Rate] = (1500.0, 1500.0, 1500.0, 1500.0)
    sexes: tuple[_Sex, _Sex, _Sex, _Sex] = ("M", "M", "M", "M")
    dice: Annotated[tuple[tuple[_Die, _Die], ...], msgspec.Meta(max_length=1000)] = ()
    shuffle: _Seed = ""
    round_shuffles: Annotated[tuple[_Seed, ...], msgspec.Meta(max_length=1000)] = ()


def render(event: GameEvent, *, exact: bool = False) -> Message | None:
    """Render an event as an mjai message; None for one that mjai cannot express.

    Args:
        event: the event; unseen tiles become ``"?"``.
        exact: add what mjai cannot express, so that `MjaiReader` restores exactly the same event.
    """
    writer = _WRITERS.get(type(event))
    message = writer(event) if writer else {}
    if exact:
        message |= _exact(event)
    return message or None


def _read(text: str) -> tuple[Message, list[GameEvent]]:
    """The first message that tells something, and the events."""
    reader = MjaiReader()
    head: Message = {}
    events: list[GameEvent] = []
    number, line = 1, ""
    lines: list[list[Message]] = []
    try:
        for line in _lines(text):
            number = len(lines) + 1
            lines.append(_messages(line))
        _add_scores([message for messages in lines for message in messages])
        for number, messages in enumerate(lines, 1):  # noqa: B007 - named in the error
            for message in messages:
                events += reader.read(message)
                if events and not head:
                    head = message
    except ReplayFormatError as exc:
        cut = not text.endswith("\n") and number > len(lines) and not line.endswith(("}", "]"))
        reason = "cut short; without this line the record can be read up to here" if cut else exc
        raise ReplayFormatError(f"mjai line {number}: {reason}") from None
    return head, events


def _add_scores(messages: Sequence[Message]) -> None:
    """Add to results the scores after them, which the next deal or the end states."""
    after = None
    for message in reversed(messages):
        match message.get("type"):
            case "start_kyoku" | "end_game":
                after = message.get("scores")
            case "hora" | "ryukyoku" if not is_said(message.get("scores")):
                message["scores"] = after


def write_record(record: GameRecord) -> str:
    """Write a game as exact lines of mjai, with its head under a separate key in the first line."""
    head = {name: getattr(record, name) for name in _RecordInfo.__struct_fields__}
    lines = []
    for event in record.events:
        message = render(event, exact=True)
        if message and isinstance(event, StartGame):
            message |= {_HEAD: msgspec.to_builtins(head), "names": list(record.names)}
        if message:
            lines.append(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines)


def read_record(text: str) -> GameRecord:
    """Read a game from lines of mjai, each a message or an array of messages.

    Its type is taken from its head, if it has one. Otherwise its length is the one in ``start_game``, as
    akochan and mjai-reviewer write it, or follows from its rounds, and the usual rules are assumed.

    Raises:
        ReplayFormatError: a line is not an mjai message, or does not fit those before it; names the line. Or
            the lines do not form a game from its start.
        ReplayTooLarge: it has too many lines, or overlong ones.
    """
    first, events = _read(text)
    if not events or not isinstance(events[0], StartGame):
        raise ReplayFormatError("mjai line 1: a game begins with start_game")
    if sum(isinstance(event, StartGame) for event in events) > 1:
        raise ReplayFormatError("mjai: more than one game; save each game as a file")
    try:
        head = msgspec.convert(first.get(_HEAD, {}), _RecordInfo)
        check_type(head.game_type)
    except (msgspec.ValidationError, ReplayFormatError) as exc:
        raise ReplayFormatError(f"mjai line 1: {_HEAD}: {fault_in(exc)}") from None
    said, length = _HEAD in first, _LENGTHS.get(str(first.get("kyoku_first")))
    return GameRecord(
        **msgspec.structs.asdict(head) | ({} if said else {"game_type": length or usual_type(events)}),
        names=events[0].names,
        events=tuple(events),
        rules_said=said or length is not None,
    )


def _unpacked(text: str) -> str:
    """A text that is one array of messages, a line for each of them; other texts as they are."""
    if not text.lstrip().startswith("["):
        return text
    try:
        messages = json.loads(text)
        if len(messages) > MAX_LINES:
            raise ReplayTooLarge(f"more than {MAX_LINES} messages")
        return "".join(json.dumps(message, separators=(",", ":")) + "\n" for message in messages)
    except ValueError:
        return text


def _messages(line: str) -> list[Message]:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    messages: list[Message] = value if isinstance(value, list) else [value]
    for message in messages:
        if not isinstance(message, dict):
            raise ReplayFormatError("not a JSON object")
        if message.get("aka_flag") in (False, 0):
            raise ReplayFormatError("games without red fives are not supported")
    return messages


def _lines(text: str) -> Iterator[str]:
    lines = _unpacked(text).splitlines()
    if len(lines) > MAX_LINES:
        raise ReplayTooLarge(f"more than {MAX_LINES} lines")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise ReplayTooLarge(f"mjai line {number} has more than {MAX_LINE} characters")
        if line.strip():
            yield line


# --- writing ----------------------------------------------------------------------------------------------


def _texts(tiles: Iterable[int]) -> list[str]:
    return [mjai_text(tile) for tile in tiles]


def _start_round(e: StartRound) -> Message:
    return {
        "type": "start_kyoku",
        "bakaze": WINDS[e.round_index // 4],
        "kyoku": e.round_index % 4 + 1,
        "honba": e.honba,
        "kyotaku": e.riichi_sticks,
        "oya": e.dealer,
        "scores": list(e.scores),
        "dora_marker": mjai_text(e.dora_indicator),
        "tehais": [_texts(hand) for hand in e.hands],
    }


def _call(kind: str) -> Callable[[Any], Message]:
    def write_call(e: Chi | Pon | Daiminkan) -> Message:
        return {
            "type": kind,
            "actor": e.player,
            "target": e.from_player,
            "pai": mjai_text(e.tile),
            "consumed": _texts(e.consumed),
        }

    return write_call


def _start_game(e: StartGame) -> Message:
    return {"type": "start_game", "names": list(e.names)} | ({"id": e.player} if e.player >= 0 else {})


def _win(e: Win) -> Message:
    return {
        "type": "hora",
        "actor": e.player,
        "target": e.from_player,
        "pai": mjai_text(e.tile),
        "ura_markers": _texts(e.ura_indicators),
    } | _payments(e)


def _payments(e: Win | DrawnRound) -> Message:
    return {"deltas": list(e.deltas)} if e.payments_known else {}


_WRITERS: Final[dict[type, Callable[[Any], Message]]] = {
    StartGame: _start_game,
    StartRound: _start_round,
    Draw: lambda e: {"type": "tsumo", "actor": e.player, "pai": mjai_text(e.tile)},
    Discard: lambda e: {
        "type": "dahai",
        "actor": e.player,
        "pai": mjai_text(e.tile),
        "tsumogiri": e.tsumogiri,
    },
    Chi: _call("chi"),
    Pon: _call("pon"),
    Daiminkan: _call("daiminkan"),
    Ankan: lambda e: {"type": "ankan", "actor": e.player, "consumed": _texts(e.consumed)},
    Kakan: lambda e: {
        "type": "kakan",
        "actor": e.player,
        "pai": mjai_text(e.tile),
        "consumed": _texts(e.consumed),
    },
    DoraRevealed: lambda e: {"type": "dora", "dora_marker": mjai_text(e.indicator)},
    Riichi: lambda e: {"type": "reach", "actor": e.player},
    RiichiAccepted: lambda e: {"type": "reach_accepted", "actor": e.player},
    Win: _win,
    DrawnRound: lambda e: {"type": "ryukyoku", "reason": e.reason} | _payments(e),
    EndRound: lambda _: {"type": "end_kyoku"},
    EndGame: lambda e: {"type": "end_game", "scores": list(e.scores)},
}


def _exact(event: GameEvent) -> Message:
    match event:
        case StartRound(dora_indicator=indicator, hands=hands):
            return {"tiles136": [indicator, *(tile for hand in hands for tile in hand)]}
        case Draw(tile=tile) | Discard(tile=tile) | DoraRevealed(indicator=tile):
            return {"tiles136": [tile]}
        case Chi() | Pon() | Daiminkan() | Kakan():
            return {"tiles136": [event.tile, *event.consumed]}
        case Ankan(consumed=consumed):
            return {"tiles136": list(consumed)}
        case Win():
            return {
                "tiles136": [event.tile, *event.hand],
                "ura136": list(event.ura_indicators),
                "fu": event.fu,
                "points": event.points,
                "limit": event.limit,
                "yaku": [list(pair) for pair in event.yaku],
                "yakuman": list(event.yakuman),
                "other_yaku": [list(pair) for pair in event.other_yaku],
                "liable": event.liable,
                "honba": event.honba,
                "kyotaku": event.riichi_sticks,
            } | ({} if event.value == "stated" else {"value": event.value})
        case DrawnRound(hands=hands):
            return {"tehais136": [None if hand is None else list(hand) for hand in hands]}
        case EndGame(results=results) if results is not None:
            return {"results_tenths": list(results)}
        case PlayerLeft(player=player):
            return {"type": "suzaku_left", "actor": player}
        case PlayerReturned(player=player):
            return {"type": "suzaku_returned", "actor": player}
        case _:
            return {}
