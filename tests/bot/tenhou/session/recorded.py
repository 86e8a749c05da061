"""Sessions fed with recorded traffic, and the snapshots a server would have sent at each point."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from bot.tenhou import messages as m
from bot.tenhou.session.core import Session, SessionSettings
from bot.tenhou.session.translate import TABLE_MESSAGES
from game.layout import PHASE_ENDED, PHASE_IDLE, RIVER_CALLED, RIVER_RIICHI
from game.melds import encode_meld
from game.state import clone, hand_tiles, melds_of
from tests.bot.captures import read_capture


def new_session() -> Session:
    return Session(SessionSettings(auto_queue=False))


def server_frames(path: Path) -> list[m.ServerMessage]:
    return [m.parse_server(frame.text) for frame in read_capture(path) if frame and frame.sender == "S"]


def rendered(messages: list[m.ClientMessage]) -> list[str]:
    """Messages as the frames that the client sends."""
    return [m.render_json(message) for message in messages]


def feed(session: Session, message: m.ServerMessage) -> None:
    if isinstance(message, m.Hello):
        session.reconnect()
    session.take(message)


class Moment(msgspec.Struct, frozen=True):
    """A point of a recorded game at which the connection might break.

    Attributes:
        index: of the last frame that arrived.
        record: the state then.
        before_draw: the state before the last draw.
        since_draw: the frames since then, as a server sends them again.
    """

    index: int
    record: np.void
    player: int
    names: m.Names
    before_draw: np.void
    since_draw: tuple[m.ServerMessage, ...]


def moments(frames: list[m.ServerMessage]) -> Iterator[Moment]:
    """Every point within a round, after its first draw."""
    session = new_session()
    before, since = None, []
    for index, message in enumerate(frames):
        if isinstance(message, m.TileDrawn):
            before, since = clone(session.state), []
        feed(session, message)
        if isinstance(message, m.RoundDealt):
            before = None
        if isinstance(message, TABLE_MESSAGES):
            since.append(message)
        seat = session.seat
        running = session.in_game and session.state["phase"] not in (PHASE_IDLE, PHASE_ENDED)
        if seat is not None and before is not None and running:
            yield Moment(index, clone(session.state), session.player, seat.people.names, before, tuple(since))


def snapshot(record: np.void, player: int) -> m.RoundSnapshot:
    """The snapshot of a round that a server sends to a returning player."""
    by_seat = [(player + seat) % 4 for seat in range(4)]
    rivers, riichi = zip(*(_river(record, p) for p in by_seat), strict=True)
    return m.RoundSnapshot(
        round_index=int(record["round_index"]),
        honba=int(record["honba"]),
        riichi_sticks=int(record["riichi_sticks"]),
        indicators=tuple(int(t) for t in record["indicators"][: record["indicator_count"]]),
        scores=tuple(int(record["scores"][p]) for p in by_seat),
        dealer=(int(record["dealer"]) - player) % 4,
        hand=tuple(hand_tiles(record, player)),
        melds=tuple(tuple(map(encode_meld, reversed(melds_of(record, p)))) for p in by_seat),
        rivers=rivers,
        riichi_at=riichi,
    )


def _river(record: np.void, player: int) -> tuple[tuple[int, ...], int]:
    tiles: list[int] = []
    riichi = -1
    for place in range(int(record["river_size"][player])):
        marks = int(record["river_marks"][player, place])
        if marks & RIVER_RIICHI:
            riichi = len(tiles)
        if not marks & RIVER_CALLED:
            tiles.append(int(record["river"][player, place]))
    return tuple(tiles), riichi
