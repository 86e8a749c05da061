"""The rules that must hold after every frame."""

from __future__ import annotations

import resource
import time
import zlib
from pathlib import Path
from typing import Final

import numpy as np

from bot.tenhou import messages as m
from bot.tenhou.session.core import Session, SessionSettings
from bot.tenhou.session.events import PromptOpened, SessionEvent
from game.actions import ActionKind
from game.events import StartRound
from game.layout import AT_HAND, AT_INDICATOR, AT_MELD, AT_RIVER, AT_UNSEEN, PHASE_IDLE, RIVER_CALLED
from game.state import apply_all, melds_of, new_round
from game.tiles import TILES
from kit.errors import RemoteProtocolError, StateMismatchError
from tests.fuzz.script import NEW_LINE, Script, read_script

FRAME_S: Final = 10.0
"""Seconds of processor time that one frame may take; usual ones take 0.0001, hard snapshots up to 1."""
INPUT_BYTES: Final = 64 << 20
"""Bytes by which one script may raise the peak memory of the process."""
MOST_SENT: Final = 4
"""Maximum number of frames sent in reply to one frame."""
MOST_EVENTS: Final = 80
"""Maximum number of events per frame: on rejoining, up to 64 earlier departures and returns are reported."""
_DEAD_WALL: Final = 14


class Broken(Exception):
    """A rule is broken.

    Attributes:
        rule: the rule, in a few words; the same for all scripts that break it.
        step: the step of the script at which it was broken.
    """

    def __init__(self, rule: str, step: int, text: str) -> None:
        self.rule = rule
        self.step = step
        super().__init__(f"step {step}: {rule}: {text}")


def run(script: Script) -> set[str]:
    """Feed a session with a script, answering every prompt.

    Returns:
        What was seen on the way, in words: the same for scripts that take the same turns.

    Raises:
        Broken: a rule is broken.
    """
    player = Player()
    memory = _most_memory()
    for step, frame in enumerate(script):
        try:
            player.take(frame)
        except AssertionError as exc:
            raise Broken(str(exc).partition("\n")[0], step, repr(frame)) from exc
        except Exception as exc:
            raise Broken(f"{type(exc).__name__} in {_place(exc)}", step, f"{exc} after {frame!r}") from exc
    if _most_memory() - memory > INPUT_BYTES:
        raise Broken(f"an input takes more than {INPUT_BYTES >> 20} MiB", len(script) - 1, "")
    return player.seen


def _place(exc: BaseException) -> str:
    at = exc.__traceback__
    assert at is not None
    while at.tb_next is not None:
        at = at.tb_next
    return f"{at.tb_frame.f_code.co_filename.rpartition('/')[2]}:{at.tb_frame.f_code.co_qualname}"


class Player:
    """A client without a socket: connects, reads, answers, and comes back after a mismatch."""

    def __init__(self) -> None:
        self.session = Session(SessionSettings(gpid=""))
        self.seen: set[str] = set()
        self._last = ""

    def take(self, frame: str | None) -> None:
        session = self.session
        if frame is NEW_LINE:
            check_sent(session.reconnect())
            return
        before, began, worked = _kept(session), time.perf_counter(), time.thread_time()
        try:
            events = session.receive(frame)
        except RemoteProtocolError as exc:
            assert _kept(session) == before, "an unreadable frame changed the session"
            self._note(f"unreadable {exc.reason.partition(':')[0][:20]}")
            return
        except StateMismatchError as exc:
            assert session.state.tobytes() == before[0], "a refused frame changed the table"
            self._note(f"refused {_words(str(exc))}")
            check_sent(session.outbox())
            session.reconnect()
            return
        finally:
            if time.perf_counter() - began > FRAME_S:  # on a busy machine that says nothing
                assert time.thread_time() - worked < FRAME_S, f"a frame takes more than {FRAME_S:g} s"
        assert len(events) <= MOST_EVENTS, "a frame gives events without end"
        self._check(events, frame)

    def _check(self, events: list[SessionEvent], frame: str) -> None:
        session = self.session
        check_table(session.state)
        check_log(session)
        self._note(" ".join(type(event).__name__ for event in events[:6]))
        check_sent(session.outbox())
        opened = [event for event in events if isinstance(event, PromptOpened)]
        if opened:
            assert session.prompt is not None, "a prompt opened and is not there"
            assert session.prompt.prompt_id == opened[-1].prompt_id, "another prompt is open than was told"
        elif session.in_game:
            assert not asks_us(m.parse_server(frame)), "the server asks us and no prompt opens"
        while session.prompt is not None:
            self._answer(zlib.crc32(frame.encode(errors="replace")))

    def _answer(self, choice: int) -> None:
        """Choose a legal action; sometimes continue with a riichi that the server did not confirm."""
        session, prompt = self.session, self.session.prompt
        assert prompt is not None
        assert prompt.legal, "a prompt has no legal action"
        action = prompt.legal[choice % len(prompt.legal)]
        self._note(f"answer {action.kind.name} of {len(prompt.legal)}")
        session.answer(prompt.prompt_id, action)
        assert session.prompt is None, "a prompt is still open after its answer"
        sent = session.outbox()
        check_sent(sent)
        assert len(sent) == 1, "an answer is not one frame"
        if action.kind is ActionKind.RIICHI and choice % 2:
            session.assume_riichi()

    def _note(self, what: str) -> None:
        """The last two things that happened: scripts that show a new pair are mutated further."""
        self.seen.add(f"{self._last} > {what}")
        self._last = what


def asks_us(message: m.ServerMessage) -> bool:
    """Whether a frame needs an answer from us, regardless of the record."""
    if isinstance(message, m.TileDrawn):
        return message.seat == 0
    return isinstance(message, m.TileDiscarded | m.MeldMade) and message.seat != 0 and message.offers != 0


def _kept(session: Session) -> tuple[object, ...]:
    prompt = session.prompt.prompt_id if session.prompt else 0
    return session.state.tobytes(), prompt, len(session.log), session.stage, session.in_game


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _words(text: str) -> str:
    """An error without its figures."""
    return "".join(char for char in text.rpartition(": ")[2][:40] if not char.isdigit())


def check_sent(messages: list[m.ClientMessage]) -> None:
    """We send few messages, and a server can read each of them."""
    assert len(messages) <= MOST_SENT, "more messages are sent than any frame asks for"
    for message in messages:
        m.parse_client(m.render_json(message))


def check_log(session: Session) -> None:
    """The log of the running round folds to its record."""
    if session.seat is None or session.seat.is_returning or len(session.log) % 16:
        return
    starts = [at for at, event in enumerate(session.log) if isinstance(event, StartRound)]
    record = new_round()
    if starts:
        apply_all(record, session.log[starts[-1] :])
        apart = [
            name for name in record.dtype.names or () if not np.array_equal(record[name], session.state[name])
        ]
        assert not apart, f"the log folds to another {', '.join(apart)} than the table has"


def check_table(record: np.void) -> None:
    """Every tile is in exactly one place, and none is lost."""
    if record["phase"] == PHASE_IDLE:
        return
    places = np.full(TILES, AT_UNSEEN, np.uint8)
    listed: list[int] = []
    for player in range(4):
        size = int(record["river_size"][player])
        marks = record["river_marks"][player][:size]
        river = [int(tile) for tile in record["river"][player][:size][marks & RIVER_CALLED == 0]]
        melds = [tile for meld in melds_of(record, player) for tile in meld.tiles]
        places[river], places[melds] = AT_RIVER + player, AT_MELD + player
        listed += river + melds
    indicators = [int(tile) for tile in record["indicators"][: record["indicator_count"]]]
    places[indicators] = AT_INDICATOR
    open_tiles = [*listed, *indicators]
    assert len(set(open_tiles)) == len(open_tiles), "a tile lies open in two places"
    held = (record["where"] >= AT_HAND) & (record["where"] < AT_RIVER)
    assert not held[open_tiles].any(), "a tile that lies open is in a hand"
    assert np.array_equal(np.where(held, AT_UNSEEN, record["where"]), places), "a tile is not where it lies"
    for player in range(4):
        own = np.flatnonzero(record["where"] == AT_HAND + player)
        if record["hand_known"][player]:
            assert len(own) == record["hand_size"][player], "a hand has another size than tiles"
        assert np.array_equal(np.bincount(own >> 2, minlength=34), record["hand34"][player]), (
            "a hand is miscounted"
        )
    seen = np.bincount(np.array(open_tiles) >> 2, minlength=34)
    assert np.array_equal(seen, record["seen34"]), "open tiles are miscounted"
    total = len(listed) + int(record["hand_size"].sum()) + int(record["wall_left"]) + _DEAD_WALL
    assert total == TILES, "the tiles of the table do not add up"


# the kernels, which stay loaded, are no input's memory
_first = Player()
for _frame in read_script(Path(__file__).parent / "corpus" / "tonpuu-cut-12.txt"):
    _first.take(_frame)
