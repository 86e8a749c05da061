"""Tenhou's JSON records, as read and written by its viewer at tenhou.net/6, in both directions.

The format is made for viewing games. It does not store:

- the physical copy of a tile: each face gets its lowest free copy;
- the order between the players' lists: it follows from the rules, but a call may be matched to the wrong one
  of two equal discards where both fit;
- the minipoints of limit hands, and which hands were shown: they are computed again;
- an ura dora line of 0 han: it is restored for every riichi;
- the wall's seed, the dice, and when players left and came back: these are lost.

Source: records downloaded from Tenhou and written for its viewer; `replays.tenhou6.tokens` has the notation.
"""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import quote

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    StartRound,
    Win,
)
from game.melds import MeldKind
from game.state import apply, melds_of, new_round
from kit.errors import ReplayFormatError, StateMismatchError
from replays.names import ALL_READY, NO_RESULT, NONE_READY, REASON_NAMES, WIN
from replays.record import GameRecord, in_words
from replays.tenhou6.reader import RANKS
from replays.tenhou6.tokens import NOTHING, TSUMOGIRI, Faces, meld_text, value_text, with_han, yaku_text

_ADDRESS: Final = "https://tenhou.net/6#json="
_YAKU_URA: Final = 53
_NO_RED_FIVES: Final = 2
_PAYING: Final = ("exhaustive", "nagashi_mangan")
"""Reasons of draws that may change scores."""


def write(record: GameRecord) -> str:
    """Write a game as JSON text.

    Raises:
        ReplayFormatError: the events do not form a game, or a hand is unknown: this format shows all hands.
    """
    return json.dumps(_document(record), ensure_ascii=False, separators=(",", ":"))


def link(record: GameRecord) -> str:
    """Write a game as a link that opens it in Tenhou's viewer.

    Raises:
        ReplayFormatError: as for `write`.
    """
    return _ADDRESS + quote(write(record).encode("utf-8", "replace"), safe="")


def _document(record: GameRecord) -> dict[str, Any]:
    faces = Faces((not record.game_type & _NO_RED_FIVES,) * 3)
    writer = _Tenhou6Writer(faces)
    try:
        for event in record.events:
            writer.add(event)
        writer.finish()
    except (StateMismatchError, ValueError) as exc:
        raise ReplayFormatError(f"cannot be written as tenhou6: {in_words(exc)}") from exc
    reds = {f"aka{51 + suit}": int(red) for suit, red in enumerate(faces.reds)}
    document = {
        "ver": 2.3,
        "ref": record.game_id,
        "log": writer.rounds,
        **({"computed": writer.computed} if writer.computed else {}),
        "ratingc": "PF4",
        "rule": {"disp": _display(record.game_type)} | reds,
        "lobby": record.lobby,
        "dan": [RANKS[rank] if 0 <= rank < len(RANKS) else "" for rank in record.ranks],
        "rate": list(record.rates),
        "sx": list(record.sexes),
        "name": list(record.names),
    }
    if record.ending is not None and record.ending.results is not None:
        pairs = zip(record.ending.scores, record.ending.results, strict=True)
        document["sc"] = [value for score, tenths in pairs for value in (score, _points(tenths))]
    return document


def _points(tenths: int) -> int | float:
    return tenths / 10 if tenths % 10 else tenths // 10


def _display(game_type: int) -> str:
    """The rules in Tenhou's notation: room, length, open tanyao, red fives, clock.

    >>> _display(169), _display(193)
    ('鳳南喰赤', '上東喰赤速')
    """
    room = {0: "般", 128: "上", 32: "特", 160: "鳳"}[game_type & 160]
    signs = ((8, "南", "東"), (4, "", "喰"), (_NO_RED_FIVES, "", "赤"), (64, "速", ""))
    return room + "".join(on if game_type & bit else off for bit, on, off in signs)


class _Tenhou6Writer:
    """Sorts a game's events into the lists of its rounds."""

    def __init__(self, faces: Faces) -> None:
        self.rounds: list[list[Any]] = []
        self.computed: list[int] = []
        """Rounds whose record did not state the value of the win; other programs ignore it."""
        self._faces = faces
        self._state = new_round()
        self._start: StartRound | None = None
        self._indicators: list[int] = []
        self._ura: list[int] = []
        self._draws: list[list[int | str]] = []
        self._discards: list[list[int | str]] = []
        self._riichi = ""
        self._result: list[Any] = []

    def add(self, event: GameEvent) -> None:
        """Write one event."""
        number = self._faces.number
        match event:
            case StartRound():
                self.finish()
                self._begin(event)
            case Draw(player=player, tile=tile):
                self._draws[player].append(number(tile))
            case Discard(player=player):
                discarded = TSUMOGIRI if event.tsumogiri else number(event.tile)
                self._discards[player].append(f"r{discarded}" if self._riichi else discarded)
                self._riichi = ""
            case Riichi():
                self._riichi = "r"
            case DoraRevealed(indicator=indicator):
                self._indicators.append(number(indicator))
            case Win():
                self._win(event)
            case DrawnRound():
                self._drawn(event)
        apply(self._state, event)
        if isinstance(event, Chi | Pon | Daiminkan | Ankan | Kakan):
            self._meld(event)

    def _begin(self, event: StartRound) -> None:
        self._start = event
        self._indicators, self._ura = [self._faces.number(event.dora_indicator)], []
        self._draws, self._discards = [[], [], [], []], [[], [], [], []]
        self._riichi, self._result = "", []

    def finish(self) -> None:
        """Add the row of the last round, which may be without a result."""
        start = self._start
        if start is None:
            return
        row: list[Any] = [[start.round_index, start.honba, start.riichi_sticks], list(start.scores)]
        row += [self._indicators, self._ura]
        for player, hand in enumerate(start.hands):
            row += [sorted(map(self._faces.number, hand), key=_hand_order)]
            row += [self._draws[player], self._discards[player]]
        self.rounds.append([*row, self._result or [NO_RESULT]])
        self._start = None

    def _meld(self, event: Chi | Pon | Daiminkan | Ankan | Kakan) -> None:
        melds = melds_of(self._state, event.player)
        if isinstance(event, Kakan):
            meld = next(m for m in melds if m.kind is MeldKind.KAKAN and m.added == event.tile)
        else:
            meld = melds[-1]
        text = meld_text(meld, self._faces)
        if isinstance(event, Ankan | Kakan):
            self._discards[event.player].append(text)
            return
        self._draws[event.player].append(text)
        if isinstance(event, Daiminkan):
            self._discards[event.player].append(NOTHING)

    def _win(self, event: Win) -> None:
        if event.ura_indicators:
            self._ura = [self._faces.number(tile) for tile in event.ura_indicators]
        if event.value == "computed" and len(self.rounds) not in self.computed:
            self.computed.append(len(self.rounds))
        han = sum(han for _, han in (*event.yaku, *event.other_yaku))
        value = value_text(
            event.fu,
            han,
            event.points,
            event.limit if event.value != "unknown" or event.limit else -1,
            is_tsumo=event.player == event.from_player,
            is_dealer=event.player == self._state["dealer"],
            counted=bool(event.yaku or event.other_yaku),
        )
        yaku = [yaku_text(number, han) for number, han in event.yaku if han or number != _YAKU_URA]
        yakuman = [yaku_text(number, 0) for number in event.yakuman]
        other = [with_han(name, han) for name, han in event.other_yaku]
        liable = event.liable if event.liable >= 0 else event.player
        details = [event.player, event.from_player, liable, value, *yaku, *yakuman, *other]
        paid = list(event.deltas) if event.payments_known else None
        self._result = [*(self._result or [WIN]), paid, details]

    def _drawn(self, event: DrawnRound) -> None:
        ready = {hand is not None for hand in event.hands}
        paid = any(event.deltas) or not event.payments_known
        if event.reason == "exhaustive" and not paid and len(ready) == 1:
            self._result = [ALL_READY if True in ready else NONE_READY]
        elif event.reason in _PAYING or paid:
            self._result = [REASON_NAMES[event.reason], list(event.deltas) if event.payments_known else None]
        else:
            self._result = [REASON_NAMES[event.reason]]


def _hand_order(number: int) -> tuple[int, int]:
    """Sort key: a red five comes after the other fives, as in Tenhou's hands."""
    return (10 * (number - 50) + 5, 1) if number > 50 else (number, 0)
