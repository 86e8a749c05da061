"""Games as mjai: one JSON object a line, the form that engines and arenas exchange.

mjai names faces (``"5mr"``), not physical tiles. `render` writes what every reader of mjai knows; asked to be
``exact`` it adds ``tiles136``, the physical tiles of the line in the order they stand in it, and what mjai
has no word for, under keys that others ignore. `MjaiReader` reads both: where physical tiles are missing it
gives each face its lowest free copy, so that a game read twice is the same game.

Source: the mjai protocol as Mortal and RiichiEnv speak it (``hora`` and ``ryukyoku`` with ``deltas``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
import numpy as np

from game.errors import ReplayFormatError, ReplayTooLarge, StateMismatchError
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    DrawReason,
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
from game.layout import AT_HAND, AT_MELD, AT_UNSEEN, PHASE_TURN
from game.packing import DRAW_REASONS
from game.state import apply, new_round
from game.tiles import TILES, UNSEEN, face_of, mjai_text
from replays.copies import copies_of, free_copy
from replays.record import GameRecord

MAX_LINE: Final = 64 * 1024
MAX_LINES: Final = 40_000

_WINDS: Final = "ESWN"
_COPIES: Final = {mjai_text(tile): copies_of(face_of(tile)) for tile in range(TILES)}
_CALLS: Final = {"chi": Chi, "pon": Pon, "daiminkan": Daiminkan}

_HEAD: Final = "suzaku_record"

Message = dict[str, Any]
_Text = Annotated[str, msgspec.Meta(max_length=8)]
_Seed = Annotated[str, msgspec.Meta(max_length=8192)]
_Rank = Annotated[int, msgspec.Meta(ge=0, le=1000)]


class _Head(msgspec.Struct, frozen=True):
    """What a record holds beside its events, for which mjai has no message."""

    game_id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{0,80}$")] = ""
    game_type: Annotated[int, msgspec.Meta(ge=0, le=4095)] = 9
    lobby: Annotated[int, msgspec.Meta(ge=0, le=19999)] = 0
    ranks: tuple[_Rank, _Rank, _Rank, _Rank] = (0, 0, 0, 0)
    rates: tuple[float, float, float, float] = (1500.0, 1500.0, 1500.0, 1500.0)
    sexes: tuple[_Text, _Text, _Text, _Text] = ("M", "M", "M", "M")
    dice: Annotated[tuple[tuple[int, int], ...], msgspec.Meta(max_length=1000)] = ()
    shuffle: _Seed = ""
    round_shuffles: Annotated[tuple[_Seed, ...], msgspec.Meta(max_length=1000)] = ()


def render(event: GameEvent, *, exact: bool = False) -> Message | None:
    """An event as an mjai message; None for one that mjai has no form for.

    Args:
        event: what happened; unseen tiles become ``"?"``.
        exact: add what mjai cannot say, so that `MjaiReader` gives the very same event back.
    """
    writer = _WRITERS.get(type(event))
    message = writer(event) if writer else {}
    if exact:
        message |= _exact(event)
    return message or None


def write(events: Iterable[GameEvent], *, exact: bool = True) -> str:
    """A game as lines of mjai."""
    messages = (render(event, exact=exact) for event in events)
    return "".join(_line(message) for message in messages if message)


def read(text: str) -> list[GameEvent]:
    """The events of a game in lines of mjai.

    Raises:
        ReplayFormatError: a line is no mjai message, or does not fit those before it; names the line.
        ReplayTooLarge: it has too many or too long lines.
    """
    reader = MjaiReader()
    events: list[GameEvent] = []
    for number, line in enumerate(_lines(text), 1):
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise ReplayFormatError("not a JSON object")
            events += reader.read(message)
        except (ValueError, RecursionError, ReplayFormatError) as exc:
            raise ReplayFormatError(f"mjai line {number}: {exc}") from None
    return events


def write_record(record: GameRecord) -> str:
    """A game as lines of mjai, exactly, its head under a key of its own in the first of them."""
    head = _Head(
        game_id=record.game_id,
        game_type=record.game_type,
        lobby=record.lobby,
        ranks=record.ranks,
        rates=record.rates,
        sexes=record.sexes,
        dice=record.dice,
        shuffle=record.shuffle,
        round_shuffles=record.round_shuffles,
    )
    lines = []
    for event in record.events:
        message = render(event, exact=True)
        if message and isinstance(event, StartGame):
            message |= {_HEAD: msgspec.to_builtins(head), "names": list(record.names)}
        if message:
            lines.append(_line(message))
    return "".join(lines)


def read_record(text: str) -> GameRecord:
    """A game from lines of mjai; a hanchan against people where they do not say.

    Raises:
        ReplayFormatError: as for `read`, or the lines are no game from its start.
        ReplayTooLarge: as for `read`.
    """
    events = read(text)
    if not events or not isinstance(events[0], StartGame):
        raise ReplayFormatError("mjai line 1: a game begins with start_game")
    if sum(isinstance(event, StartGame) for event in events) > 1:
        raise ReplayFormatError("mjai: more than one game")
    first = json.loads(next(_lines(text)))
    try:
        head = msgspec.convert(first.get(_HEAD, {}), _Head)
    except msgspec.ValidationError as exc:
        raise ReplayFormatError(f"mjai line 1: {_HEAD}: {exc}") from None
    return GameRecord(
        game_id=head.game_id,
        game_type=head.game_type,
        lobby=head.lobby,
        names=events[0].names,
        ranks=head.ranks,
        rates=head.rates,
        sexes=head.sexes,
        dice=head.dice,
        shuffle=head.shuffle,
        round_shuffles=head.round_shuffles,
        events=tuple(events),
    )


def _line(message: Message) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"


def _lines(text: str) -> Iterator[str]:
    lines = text.splitlines()
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
        "bakaze": _WINDS[e.round_index // 4],
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
    return {"type": "start_game", "names": list(e.names)} | ({"id": e.seat} if e.seat >= 0 else {})


def _win(e: Win) -> Message:
    return {
        "type": "hora",
        "actor": e.player,
        "target": e.from_player,
        "pai": mjai_text(e.tile),
        "deltas": list(e.deltas),
        "ura_markers": _texts(e.ura_indicators),
    }


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
    DrawnRound: lambda e: {"type": "ryukyoku", "reason": e.reason, "deltas": list(e.deltas)},
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
                "liable": event.liable,
                "honba": event.honba,
                "kyotaku": event.riichi_sticks,
            }
        case DrawnRound(hands=hands):
            return {"tehais136": [None if hand is None else list(hand) for hand in hands]}
        case EndGame(results=results):
            return {"results_tenths": list(results)}
        case PlayerLeft(player=player):
            return {"type": "suzaku_left", "actor": player}
        case PlayerReturned(player=player):
            return {"type": "suzaku_returned", "actor": player}
        case _:
            return {}


# --- reading ----------------------------------------------------------------------------------------------


class MjaiReader:
    """Reads mjai messages one by one, and keeps the round they make so that faces become physical tiles."""

    def __init__(self) -> None:
        self._state = new_round()
        self._wins = 0

    def read(self, message: Mapping[str, Any]) -> list[GameEvent]:
        """The events a message stands for; none for one that says nothing about the table.

        Raises:
            ReplayFormatError: it is no mjai message, or does not fit those before it.
        """
        kind = message.get("type")
        if kind in ("none", "hello", "error"):
            return []
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise ReplayFormatError(f"unknown message type {str(kind)[:40]!r}")
        try:
            event = reader(self, message)
            apply(self._state, event)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as exc:
            raise ReplayFormatError(f"{kind}: {type(exc).__name__} {exc}") from None
        except StateMismatchError as exc:
            raise ReplayFormatError(f"{kind}: {exc}") from None
        return [event]

    # --- tiles ---

    def _tiles(self, message: Mapping[str, Any], texts: list[str], places: list[int]) -> list[int]:
        """Physical tiles of a message's faces: those it states, else free copies at these places."""
        stated = message.get("tiles136")
        if stated is not None:
            if len(stated) != len(texts) or not all(isinstance(tile, int) for tile in stated):
                raise ValueError("tiles136 does not fit the faces")
            if any(mjai_text(tile) != text for tile, text in zip(stated, texts, strict=True)):
                raise ValueError("tiles136 does not fit the faces")
            return list(stated)
        taken: list[int] = []
        for text, place in zip(texts, places, strict=True):
            taken.append(UNSEEN if text == "?" else self._copy(text, place, taken))
        return taken

    def _copy(self, text: str, place: int, taken: list[int]) -> int:
        tile = free_copy(self._state, _COPIES[text], place, taken)
        if tile is None:
            raise ValueError(f"no {text} is left there")
        return tile

    def _hand(self, player: int) -> int:
        """Where the tiles of a player's hand are, as far as we know."""
        return AT_HAND + player if self._state["hand_known"][player] else AT_UNSEEN

    # --- messages ---

    def start_game(self, m: Mapping[str, Any]) -> GameEvent:
        """Begin a game; the round before it is forgotten."""
        names = [str(name)[:64] for name in m.get("names", ("", "", "", ""))]
        self._state = new_round()
        return StartGame((names[0], names[1], names[2], names[3]), _player(m.get("id", -1), least=-1))

    def start_round(self, m: Mapping[str, Any]) -> GameEvent:
        """Deal."""
        self._state["where"][:] = AT_UNSEEN
        hands = m["tehais"]
        if len(hands) != 4:
            raise ValueError("four hands are dealt")
        texts = [m["dora_marker"], *(text for hand in hands for text in hand)]
        tiles = self._tiles(m, texts, [AT_UNSEEN] * len(texts))
        dealt = [tuple(tiles[1 + 13 * p : 14 + 13 * p]) for p in range(4)]
        self._wins = 0
        return StartRound(
            round_index=4 * _WINDS.index(m["bakaze"]) + int(m["kyoku"]) - 1,
            honba=int(m["honba"]),
            riichi_sticks=int(m["kyotaku"]),
            dealer=_player(m["oya"]),
            scores=_four(m["scores"]),
            dora_indicator=tiles[0],
            hands=(dealt[0], dealt[1], dealt[2], dealt[3]),
        )

    def draw(self, m: Mapping[str, Any]) -> GameEvent:
        """Take a tile."""
        return Draw(_player(m["actor"]), self._tiles(m, [m["pai"]], [AT_UNSEEN])[0])

    def discard(self, m: Mapping[str, Any]) -> GameEvent:
        """Throw a tile."""
        player, tsumogiri = _player(m["actor"]), bool(m["tsumogiri"])
        drawn = int(self._state["drawn"])
        if "tiles136" not in m and drawn != UNSEEN and self._state["hand_known"][player]:
            return Discard(player, self._thrown(m["pai"], player, drawn, tsumogiri), tsumogiri)
        return Discard(player, self._tiles(m, [m["pai"]], [self._hand(player)])[0], tsumogiri)

    def _thrown(self, text: str, player: int, drawn: int, tsumogiri: bool) -> int:
        if tsumogiri:
            return drawn
        return self._copy(text, self._hand(player), [drawn])

    def call(self, m: Mapping[str, Any]) -> GameEvent:
        """Lay a chi, pon or open kan."""
        player, source = _player(m["actor"]), _player(m["target"])
        last = int(self._state["last_tile"])
        texts = [m["pai"], *m["consumed"]]
        if "tiles136" in m:
            tile, *own = self._tiles(m, texts, [])
        else:
            tile = last
            own = self._tiles(m, texts[1:], [self._hand(player)] * len(texts[1:]))
        event: GameEvent = _CALLS[m["type"]](player, source, tile, tuple(own))
        return event

    def ankan(self, m: Mapping[str, Any]) -> GameEvent:
        """Lay a closed kan."""
        player = _player(m["actor"])
        a, b, c, d = self._tiles(m, m["consumed"], [self._hand(player)] * 4)
        return Ankan(player, (a, b, c, d))

    def kakan(self, m: Mapping[str, Any]) -> GameEvent:
        """Add to a pon."""
        player = _player(m["actor"])
        places = [self._hand(player), *[AT_MELD + player] * 3]
        tile, a, b, c = self._tiles(m, [m["pai"], *m["consumed"]], places)
        return Kakan(player, tile, (a, b, c))

    def win(self, m: Mapping[str, Any]) -> GameEvent:
        """Win."""
        player, source = _player(m["actor"]), _player(m["target"])
        last = int(self._state["drawn"] if player == source else self._state["last_tile"])
        stated = [int(tile) for tile in m.get("tiles136", ())]
        first = self._wins == 0
        self._wins += 1
        return Win(
            player=player,
            from_player=source,
            tile=stated[0] if stated else last,
            hand=tuple(stated[1:]) if stated else self._winning_hand(player, last),
            fu=int(m.get("fu", 0)),
            points=int(m.get("points", 0)),
            limit=int(m.get("limit", 0)),
            yaku=tuple((int(yaku), int(han)) for yaku, han in m.get("yaku", ())),
            yakuman=tuple(int(yaku) for yaku in m.get("yakuman", ())),
            ura_indicators=self._ura(m),
            liable=_player(m.get("liable", -1), least=-1),
            deltas=_four(m["deltas"]),
            honba=int(m.get("honba", self._state["honba"])),
            riichi_sticks=int(m.get("kyotaku", self._state["riichi_sticks"] if first else 0)),
        )

    def _winning_hand(self, player: int, tile: int) -> tuple[int, ...]:
        tiles = {int(t) for t in np.flatnonzero(self._state["where"] == AT_HAND + player)}
        return tuple(sorted(tiles | {tile})) if self._state["hand_known"][player] else ()

    def _ura(self, m: Mapping[str, Any]) -> tuple[int, ...]:
        if "ura136" in m:
            return tuple(int(tile) for tile in m["ura136"])
        taken: list[int] = []
        for text in m.get("ura_markers", m.get("uradora_markers", ())):
            taken.append(self._copy(text, AT_UNSEEN, taken))
        return tuple(taken)

    def drawn_round(self, m: Mapping[str, Any]) -> GameEvent:
        """End a round without a win."""
        shown = [None if hand is None else tuple(map(int, hand)) for hand in m.get("tehais136", (None,) * 4)]
        reason = m.get("reason")
        if reason not in DRAW_REASONS:
            reason = self._reason()
        return DrawnRound(
            reason, _four(m.get("deltas", (0, 0, 0, 0))), (shown[0], shown[1], shown[2], shown[3])
        )

    def _reason(self) -> DrawReason:
        """Why a round ends without a win, where the writer does not say or uses a word of his own."""
        if self._state["wall_left"] == 0:
            return "exhaustive"
        if self._state["phase"] == PHASE_TURN:
            return "nine_terminals"
        if all(self._state["riichi"]):
            return "four_riichi"
        return "four_kans" if self._state["kan_count"] == 4 else "four_winds"

    def end_game(self, m: Mapping[str, Any]) -> GameEvent:
        """End the game."""
        scores = _four(m.get("scores", self._state["scores"].tolist()))
        return EndGame(scores, _four(m.get("results_tenths", (0, 0, 0, 0))))


def _player(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 3:
        raise ValueError(f"no player: {str(value)[:20]!r}")
    return value


def _four(values: Any) -> tuple[int, int, int, int]:
    a, b, c, d = (int(value) for value in values)
    return a, b, c, d


_READERS: Final[dict[str, Callable[[MjaiReader, Mapping[str, Any]], GameEvent]]] = {
    "start_game": MjaiReader.start_game,
    "start_kyoku": MjaiReader.start_round,
    "tsumo": MjaiReader.draw,
    "dahai": MjaiReader.discard,
    "chi": MjaiReader.call,
    "pon": MjaiReader.call,
    "daiminkan": MjaiReader.call,
    "ankan": MjaiReader.ankan,
    "kakan": MjaiReader.kakan,
    "dora": lambda r, m: DoraRevealed(r._tiles(m, [m["dora_marker"]], [AT_UNSEEN])[0]),
    "reach": lambda _, m: Riichi(_player(m["actor"])),
    "reach_accepted": lambda _, m: RiichiAccepted(_player(m["actor"])),
    "hora": MjaiReader.win,
    "ryukyoku": MjaiReader.drawn_round,
    "end_kyoku": lambda _r, _m: EndRound(),
    "end_game": MjaiReader.end_game,
    "suzaku_left": lambda _, m: PlayerLeft(_player(m["actor"])),
    "suzaku_returned": lambda _, m: PlayerReturned(_player(m["actor"])),
}
