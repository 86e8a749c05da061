"""Frames of spectators and of record files, and the table that they show with open hands.

The program never spectates, so its own reader does not know these frames. The fold is that of our own games.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.element import Fields, read_element, write_xml
from bot.tenhou.messages.parse_server import parse_server
from bot.tenhou.session.translate import TABLE_MESSAGES, translate
from game.events import EndGame, EndRound, GameEvent, StartGame, Win
from game.scoring.settlement import final_scores
from game.state import apply, new_round
from kit.errors import RemoteProtocolError, StateMismatchError


class OpenDeal(m.RoundDealt, frozen=True):
    """INIT with all four hands."""

    hands: tuple[m.Tiles, ...] = ()


class Batch(m.ServerMessage, frozen=True):
    """WGC, the next frames, or INITBYLOG, the round so far, for a spectator who joins late."""

    is_late: bool
    frames: tuple[m.ServerMessage, ...]


class Remark(m.ServerMessage, frozen=True):
    """KANSEN, mjloggm or SHUFFLE, which change no table."""

    tag: str


def read_frame(text: str) -> m.ServerMessage:
    """One frame from the server, to a player, to a spectator or in a record file.

    Raises:
        RemoteProtocolError: the frame is unreadable.
    """
    element = read_element(text)
    if element.tag in ("KANSEN", "mjloggm", "SHUFFLE"):
        return Remark(element.tag)
    if element.tag in ("WGC", "INITBYLOG"):
        nodes = json.loads(element.attributes.get("childNodes", "null"))
        if not isinstance(nodes, list):
            raise RemoteProtocolError(f"{element.tag} contains no frames")
        frames = (read_frame(json.dumps(node)) for node in nodes if isinstance(node, dict))
        return Batch(element.tag == "INITBYLOG", tuple(frames))
    if element.tag == "INIT" and "hai0" in element.attributes:
        fields = Fields(element, text)
        hands = tuple(fields.tiles(f"hai{seat}", (0, 13)) for seat in range(4))
        deal = parse_server(write_xml("INIT", {"hai": element.attributes["hai0"], **dict(fields.rest())}))
        return OpenDeal(**msgspec.structs.asdict(deal), hands=hands)
    return parse_server(text)


class SpectatedGame:
    """A game seen from no seat: seats and absolute players are the same.

    Args:
        doubtful: the first frames may be of another table.

    Attributes:
        record: the round's state, all hands known.
        log: every event of the game or, after joining late, from the deal of the round joined.
    """

    def __init__(self, *, doubtful: bool = False) -> None:
        self.record: np.void = new_round()
        self.log: list[GameEvent] = []
        self._ended = False
        self._doubtful = doubtful
        self._winners: set[int] = set()

    def take(self, message: m.ServerMessage) -> list[GameEvent]:
        """Fold one frame and return its events.

        A deal in the middle of a round is followed. Until the next one, frames that contradict it are passed
        over: they may be of the other round.

        Raises:
            StateMismatchError: the frame contradicts the state.
        """
        if isinstance(message, Batch):
            if message.is_late:
                self.record = new_round()
                self._ended = self._doubtful = False
            return [event for frame in message.frames for event in self.take(frame)]
        handler = _HANDLERS.get(type(message))
        try:
            events: list[GameEvent] = handler(self, message) if handler else []
        except StateMismatchError:
            if not self._doubtful or isinstance(message, m.RoundDealt):
                raise
            self._ended |= isinstance(message, m.RoundWon | m.RoundDrawn)
            events = []
        self.log += events
        return events

    def _players(self, message: m.PlayerNames) -> list[GameEvent]:
        return [StartGame(message.names)]

    def _move(self, message: m.ServerMessage) -> list[GameEvent]:
        event = translate(message, self.record, 0)
        if isinstance(event, Win) and event.player in self._winners:
            raise StateMismatchError(f"player {event.player} has already won")
        apply(self.record, event)
        return [event]

    def _deal(self, message: m.RoundDealt) -> list[GameEvent]:
        """Begin a round, whether or not it follows from the one before."""
        dealt = m.RoundDealt(**{name: getattr(message, name) for name in m.RoundDealt.__struct_fields__})
        start = translate(dealt, self.record, 0)
        if isinstance(message, OpenDeal):
            start = msgspec.structs.replace(start, hands=message.hands)
        try:
            apply(self.record, start)
            self._doubtful = False
        except StateMismatchError:
            record = new_round()
            apply(record, start)  # raises if no round can begin so
            self.record, self._doubtful = record, True
        self._winners = set()
        ended, self._ended = self._ended, False
        return [EndRound(), start] if ended else [start]

    def _result(self, message: m.RoundWon | m.RoundDrawn) -> list[GameEvent]:
        events = self._move(message)
        self._ended = True
        if isinstance(events[0], Win):
            self._winners.add(events[0].player)
        if message.final is None:
            return events
        a, b, c, d = map(int, self.record["scores"])
        if final_scores((a, b, c, d), int(self.record["riichi_sticks"])) != message.final.scores:
            raise StateMismatchError(f"the game ends with {message.final.scores}, we have {(a, b, c, d)}")
        return [*events, EndRound(), EndGame(message.final.scores, message.final.results)]


_HANDLERS: Final[dict[type[m.ServerMessage], Callable[[SpectatedGame, Any], list[GameEvent]]]] = {
    **dict.fromkeys(TABLE_MESSAGES, SpectatedGame._move),
    **dict.fromkeys((m.RoundDealt, OpenDeal), SpectatedGame._deal),
    m.RoundWon: SpectatedGame._result,
    m.RoundDrawn: SpectatedGame._result,
    m.PlayerNames: SpectatedGame._players,
}
