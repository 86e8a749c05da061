"""Engines that speak mjai, as players of the arena: a child process for every seat they have at a time.

What happened since a seat was last asked is one line, an array of messages; or a line for each message, where
the engine answers every one of them. A child plays one game after the other, as ``start_game`` and
``end_game`` part them. One that gives no answer (`learning.arena.child`) is started anew at the seat's next
decision and shown its game from the beginning; when that happens a second time, the seat is done without it
until the next game. An answer that is not legal only costs the one decision. In every case the rules decide
instead, and the fault is counted.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Final

import msgspec
import structlog

from game.errors import ConfigError, DecisionError, EngineDied, EngineError, EngineGarbled
from game.table import Table
from learning.arena.child import Answer, Child, Question, ask, dismiss
from learning.arena.warden import Warden
from policies.decision import fall_back, reason_of
from policies.rollout import Choice, Request, Times
from replays.mjai import Message
from replays.mjai_seat import SeatFeed, read_action

_DIALECTS: Final = {"engine:": False, "engine-lines:": True}
ANSWER_S: Final = 10.0
"""For an answer, by the clock on the wall."""
START_S: Final = 60.0
"""More, for the first one of a process: it has to start, and may be shown half a game."""

_LOSSES: Final = 2
"""Children a seat may lose in a game."""
_FAREWELL_S: Final = 1.0
"""For an answer to the end of a game; a child who gives none is not used again."""
_NAME: Final = 28
"""Characters of a name."""
_SHOWN: Final = 120
"""Bytes of a wrong answer that its error repeats."""

_log = structlog.get_logger(__name__)


class Engine(msgspec.Struct, frozen=True):
    """A program and how it is spoken to.

    Attributes:
        words: the command.
        by_line: it is given a message a line and answers each; else an array of messages.
    """

    words: tuple[str, ...]
    by_line: bool = False

    @property
    def name(self) -> str:
        """Short, for tables and records: the command without its folders."""
        name = " ".join(Path(word).name or word for word in self.words)
        return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def engine_of(text: str) -> Engine | None:
    """The engine meant by ``engine:COMMAND`` or ``engine-lines:COMMAND``; None for any other text.

    >>> engine_of("engine:sh -c 'exec node engine.js'")
    Engine(words=('sh', '-c', 'exec node engine.js'), by_line=False)

    Raises:
        ConfigError: the command cannot be read.
    """
    dialect = next((start for start in _DIALECTS if text.startswith(start)), None)
    if dialect is None:
        return None
    try:
        words = shlex.split(text.removeprefix(dialect))
    except ValueError as error:
        raise ConfigError(f"{text!r}: {error}") from error
    if not words:
        raise ConfigError(f"{text!r}: say which program, as in {dialect}'node engine.js'")
    return Engine(tuple(words), _DIALECTS[dialect])


def check_engine(engine: Engine) -> None:
    """Make sure that it can be started here.

    Raises:
        ConfigError: it cannot.
    """
    if sys.platform == "win32":
        raise ConfigError("external engines need process groups, which Windows has not")
    if shutil.which(engine.words[0]) is None:
        raise ConfigError(f"{engine.name!r}: there is no program {engine.words[0]!r}")


class EngineChooser:
    """An external engine in any number of seats; see `policies.rollout.Chooser`.

    Args:
        engine: the program.
        answer_s: seconds for an answer.
    """

    def __init__(self, engine: Engine, answer_s: float = ANSWER_S) -> None:
        self._engine = engine
        self._answer_s = answer_s
        self._seats: dict[tuple[int, int], _Seat] = {}
        self._idle: list[Child] = []
        self._warden: Warden | None = None

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide, all children thinking at the same time; see `policies.rollout.Chooser`."""
        started = process_time()
        self._end_games()
        seats = [self._seat(request) for request in requests]
        answers = self._answers(seats)
        choices = [_choice(request, answer) for request, answer in zip(requests, answers, strict=True)]
        times["engine"] += process_time() - started
        return choices

    def close(self) -> None:
        """End all children; those whose games are over are told so before."""
        try:
            self._end_games()
        finally:
            children = [seat.child for seat in self._seats.values() if seat.child]
            dismiss([*children, *self._idle])
            self._seats.clear()
            self._idle.clear()
            if self._warden:
                self._warden.dismiss()
                self._warden = None

    def _seat(self, request: Request) -> _Seat:
        key = request.number, request.player
        if key not in self._seats:
            self._seats[key] = _Seat(request.table, request.player, by_line=self._engine.by_line)
        return self._seats[key]

    def _answers(self, seats: Sequence[_Seat]) -> list[object]:
        """What the engine says in each seat, one JSON value; or the error instead of it."""
        answers = self._ask(seats)
        # some engines end with every game, and may notice that only after the next one was begun
        gone = [
            place
            for place, seat in enumerate(seats)
            if seat.inherited and isinstance(answers[place], EngineDied)
        ]
        if gone:
            dismiss([*self._idle, *(seats[place].stand_up() for place in gone)])
            self._idle.clear()
            for place, answer in zip(gone, self._ask([seats[place] for place in gone]), strict=True):
                answers[place] = answer
        return [seat.hear(answer) for seat, answer in zip(seats, answers, strict=True)]

    def _ask(self, seats: Sequence[_Seat]) -> list[Answer]:
        answers: dict[int, Answer] = {}
        questions: dict[int, Question] = {}
        for place, seat in enumerate(seats):
            try:
                questions[place] = self._question(seat)
            except EngineError as error:
                answers[place] = error
        answers.update(zip(questions, ask(list(questions.values())), strict=True))
        return [answers[place] for place in range(len(seats))]

    def _question(self, seat: _Seat) -> Question:
        if seat.given_up:
            raise EngineDied(f"given up until the next game, as it {seat.given_up}")
        if seat.child is None:
            seat.sit_down(self._child())
        assert seat.child is not None
        within_s = self._answer_s if seat.child.has_answered else self._answer_s + START_S
        return Question(seat.child, seat.lines(), within_s)

    def _child(self) -> Child:
        if self._idle:
            return self._idle.pop()
        try:
            self._warden = self._warden or Warden()
        except OSError as error:
            raise EngineDied(f"cannot be started: {error.strerror or error}") from error
        return Child(self._engine.words, self._warden)

    def _end_games(self) -> None:
        """Tell of the ends of games; the children are free for others."""
        over = [key for key, seat in self._seats.items() if seat.table.done]
        seats = [seat for key in over if (seat := self._seats.pop(key)).child]
        told = [Question(seat.stand_up(), seat.lines(), _FAREWELL_S) for seat in seats]
        leaving: list[Child] = []
        for question, answer in zip(told, ask(told), strict=True):
            # no fault: whether the end of a game is to be answered is a matter of opinion
            (leaving if isinstance(answer, EngineError) else self._idle).append(question.child)
        dismiss(leaving)


class _Seat:
    """One player of one game, and the child who plays for him.

    Attributes:
        table: where he sits.
        child: None before the first decision, and after a loss.
        inherited: the child has played other games, and has not answered in this one.
        given_up: what the last child did, after too many of them; "" while there may be another.
    """

    def __init__(self, table: Table, player: int, *, by_line: bool) -> None:
        self.table = table
        self.child: Child | None = None
        self.inherited = False
        self.given_up = ""
        self._player = player
        self._by_line = by_line
        self._feed = SeatFeed(player)
        self._begun = False
        self._losses = 0
        self._line_asked = 0

    def sit_down(self, child: Child) -> None:
        """Take a child, who will be told the game from its beginning."""
        self.child = child
        self.inherited = child.has_answered
        self._feed = SeatFeed(self._player)
        self._begun = False

    def stand_up(self) -> Child:
        """Part with the child."""
        child, self.child = self.child, None
        assert child is not None
        return child

    def lines(self) -> tuple[bytes, ...]:
        """What has happened since the last decision, as it is told."""
        goes_on, self._begun = self._begun, True
        messages = self._feed.messages(self.table.events)
        if self._by_line:
            # a kakan may be robbed, and an indicator that was owed is shown between
            self._line_asked = max(place for place, each in enumerate(messages) if each["type"] != "dora")
            return tuple(_line(message) for message in messages)
        lines = _arrays(messages, self._player) if goes_on else [messages]
        self._line_asked = len(lines) - 1
        return tuple(_line(line) for line in lines)

    def hear(self, answer: Answer) -> object:
        """What was said, one JSON value; or why there is nothing, and then the child is lost."""
        if self.given_up:
            return answer
        if not isinstance(answer, EngineError):
            self.inherited = False
            line = answer[self._line_asked]
            try:
                return msgspec.json.decode(line)
            except (ValueError, RecursionError, msgspec.MsgspecError):
                answer = EngineGarbled(
                    f"answered {line[:_SHOWN].decode(errors='replace')!r}, which is no JSON"
                )
        self._lose(answer)
        return answer

    def _lose(self, error: EngineError) -> None:
        self._losses += 1
        last_words = ""
        if self.child:
            child = self.stand_up()
            child.kill()
            last_words = child.last_words
        if self._losses == _LOSSES:
            self.given_up = reason_of(error)
        _log.warning("engine.lost", player=self._player, reason=reason_of(error), stderr=last_words)


def _arrays(messages: list[Message], player: int) -> list[list[Message]]:
    """Messages in lines: the player's own ``reach`` ends one, as it is answered with the discard.

    It is so too where only one discard was possible, for which nobody was asked.
    """
    for place, message in enumerate(messages[:-1], 1):
        if message["type"] == "reach" and message["actor"] == player:
            return [messages[:place], messages[place:]]
    return [messages]


def _line(content: Message | list[Message]) -> bytes:
    return msgspec.json.encode(content) + b"\n"


def _choice(request: Request, answer: object) -> Choice:
    table = request.table
    try:
        if isinstance(answer, EngineError):
            raise answer
        return Choice(read_action(answer, request.legal, table.state, request.player))
    except DecisionError as error:
        reason = reason_of(error)
        instead = fall_back(table.state, request.player, request.legal, table.length, reason)
        return Choice(instead.action, instead.fallback_reason)
