"""mjai engines as players of the arena: one child process for every seat an engine occupies at a time.

An engine's `Dialect` defines the protocol. A child plays one game after another, separated by ``start_game``
and ``end_game``. A child that gives no answer (`learning.selfplay.engine_process`) is replaced at the seat's
next decision, and the game so far is sent to the new one. After a second loss the seat plays without an
engine until the next game. An illegal answer affects only that one decision. In every case the rules decide
instead, and the fault is counted. An engine that never answers at all ends the run.
"""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from time import process_time
from typing import Final, NamedTuple

import msgspec
import structlog

from game.actions import Action, ActionKind
from game.events import GameEvent
from game.observation import Observation
from game.table.table import Table
from kit.errors import (
    ConfigError,
    DecisionError,
    EngineDied,
    EngineError,
    EngineGarbled,
    EngineUnusable,
)
from learning.selfplay.engine_process import Answer, EngineProcess, EngineRequest, ask, dismiss
from learning.selfplay.watchdog import Watchdog
from policies.flow.flow import reason_of
from policies.play.decide import fall_back
from policies.play.rollout import Choice, Request, Times
from replays.mjai.lines import Message
from replays.mjai.seat import SeatFeed, read_action

ANSWER_S: Final = 10.0
"""Time for an answer, wall-clock."""
START_S: Final = 60.0
"""Extra time for the first answer of a process: it has to start, and may be sent half a game."""

_LOSSES: Final = 2
"""Children a seat may lose in a game."""
_FRUITLESS: Final = 3
"""Children in a row without an answer that end the run; one is enough if no child has ever answered."""
_FAREWELL_S: Final = 1.0
"""Time to acknowledge the end of a game; a child that does not is not used again."""
MAX_NAME: Final = 28
"""Characters of a name."""
_SHOWN: Final = 120
"""Bytes of a wrong answer that its error repeats."""

_log = structlog.get_logger(__name__)


class Dialect(StrEnum):
    """Protocol of an engine, named by the prefix of its command."""

    ARRAYS = "engine"
    """A line for each decision: an array of all messages since the previous one. Each line is answered."""
    LINES = "engine-lines"
    """A line for each message; each line is answered."""
    ASKED = "engine-asked"
    """A line for each message; only those that ask for a decision are answered. The number of answers to a
    game that is sent again is unknown, and so is whether its end is answered, so a child plays one game,
    once."""


_WAYS: Final = {
    Dialect.ARRAYS: "arrays of messages, each answered",
    Dialect.LINES: "a line for each message, each answered",
    Dialect.ASKED: "a line for each message, answered only where the player has a choice",
}


class EngineProgram(msgspec.Struct, frozen=True):
    """A program and its protocol.

    Attributes:
        words: the command.
        dialect: the protocol.
    """

    words: tuple[str, ...]
    dialect: Dialect = Dialect.ARRAYS

    @property
    def name(self) -> str:
        """Short name for tables and records: the command without its folders."""
        name = " ".join(Path(word).name or word for word in self.words)
        return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


def engine_of(text: str) -> EngineProgram | None:
    """The engine specified by a `Dialect`, a colon and a command; None for any other text.

    >>> engine_of("engine:sh -c 'exec node engine.js'").words
    ('sh', '-c', 'exec node engine.js')

    Raises:
        ConfigError: the command cannot be parsed.
    """
    dialect, colon, command = text.partition(":")
    if not colon or dialect not in list(Dialect):
        return None
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{text!r}: {error}") from error
    if not words:
        raise ConfigError(f"{text!r}: name a program, as in {dialect}:'node engine.js'")
    return EngineProgram(tuple(words), Dialect(dialect))


def check_engine(engine: EngineProgram) -> None:
    """Check that an engine can be started here.

    Raises:
        ConfigError: it cannot be.
    """
    if sys.platform == "win32":
        raise ConfigError("external engines need process groups, which Windows does not have")
    if shutil.which(engine.words[0]) is None:
        raise ConfigError(f"{engine.name!r}: there is no program {engine.words[0]!r}")


class ReplayedTable:
    """A recorded game as far as it has been sent to an engine.

    Attributes:
        events: the events so far.
        done: whether it is over.
    """

    def __init__(self) -> None:
        self.events: list[GameEvent] = []
        self.done = False


class ReplayRequest(Observation, frozen=True, kw_only=True):
    """A decision in a recorded game.

    Attributes:
        number: the game's.
        table: the game so far.
    """

    number: int
    table: ReplayedTable


class EngineAnswer(NamedTuple):
    """An engine's decision, and the JSON value it is read from, or the error instead of it."""

    choice: Choice
    message: object


class EngineChooser:
    """An external engine in any number of seats; see `policies.play.rollout.Chooser`.

    Args:
        engine: the program.
        answer_s: seconds for an answer.
        name: name of the player, for messages.
    """

    def __init__(self, engine: EngineProgram, answer_s: float = ANSWER_S, name: str = "") -> None:
        self._engine = engine
        self._answer_s = answer_s
        self._name = name or engine.name
        self._losses_allowed = 1 if engine.dialect is Dialect.ASKED else _LOSSES
        self._has_answered = False
        self._fruitless = 0
        self._seats: dict[tuple[int, int], _EngineSeat] = {}
        self._idle: list[EngineProcess] = []
        self._watchdog: Watchdog | None = None

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide, with all children thinking at the same time; see `policies.play.rollout.Chooser`."""
        return [answer.choice for answer in self.ask(requests, times)]

    def ask(self, requests: Sequence[Request | ReplayRequest], times: Times) -> list[EngineAnswer]:
        """Like `choose`, with the answers as they were given."""
        started = process_time()
        self._end_games(times)
        seats = [self._seat(request) for request in requests]
        answers = self._answers(seats, times)
        choices = []
        for request, seat, answer in zip(requests, seats, answers, strict=True):
            choice = _choice(request, answer)
            seat.decided(choice.action)
            choices.append(EngineAnswer(choice, answer))
        times["engine"] += process_time() - started
        return choices

    def close(self, times: Times) -> None:
        """End all children; those whose games are over are first sent the end of the game."""
        try:
            self._end_games(times)
        finally:
            children = [seat.child for seat in self._seats.values() if seat.child]
            self._dismiss([*children, *self._idle], times)
            self._seats.clear()
            self._idle.clear()
            if self._watchdog:
                self._watchdog.dismiss()
                self._watchdog = None

    def _seat(self, request: Request | ReplayRequest) -> _EngineSeat:
        key = request.number, request.player
        if key not in self._seats:
            self._seats[key] = _EngineSeat(request.table, request.player, self._engine.dialect)
        return self._seats[key]

    def _answers(self, seats: Sequence[_EngineSeat], times: Times) -> list[object]:
        """The engine's answer in each seat, one JSON value; or the error instead of it."""
        answers = self._ask(seats)
        # some engines exit with every game, which may show only after the next one has begun
        gone = [
            place
            for place, seat in enumerate(seats)
            if seat.inherited and isinstance(answers[place], EngineDied)
        ]
        if gone:
            self._dismiss([*self._idle, *(seats[place].stand_up() for place in gone)], times)
            self._idle.clear()
            for place, answer in zip(gone, self._ask([seats[place] for place in gone]), strict=True):
                answers[place] = answer
        return [self._heard(seat, answer, times) for seat, answer in zip(seats, answers, strict=True)]

    def _heard(self, seat: _EngineSeat, answer: Answer, times: Times) -> object:
        """The answer in a seat, one JSON value; or the error, after which the seat's child is lost."""
        value = seat.hear(answer)
        if not isinstance(value, EngineError):
            self._has_answered, self._fruitless = True, 0
        elif not seat.given_up:
            self._lose(seat, value, times)
        return value

    def _lose(self, seat: _EngineSeat, error: EngineError, times: Times) -> None:
        """Kill the child of a seat, which gave no answer.

        Raises:
            EngineUnusable: too many children in a row have never answered.
        """
        reason, child = reason_of(error), seat.child
        if child is not None:
            seat.stand_up()
            child.kill()
            self._count_time([child], times)
        _log.warning(
            "engine.lost",
            name=self._name,
            reason=reason,
            stderr=child.stderr_tail if child is not None else "",
        )
        if not seat.understood:
            self._fruitless += 1
            if self._fruitless >= (_FRUITLESS if self._has_answered else 1):
                raise EngineUnusable(_never_answered(self._name, self._engine.dialect, child, reason))
        seat.losses += 1
        if seat.losses >= self._losses_allowed:
            seat.given_up = reason

    def _ask(self, seats: Sequence[_EngineSeat]) -> list[Answer]:
        answers: dict[int, Answer] = {}
        questions: dict[int, EngineRequest] = {}
        for place, seat in enumerate(seats):
            try:
                questions[place] = self._question(seat)
            except EngineError as error:
                answers[place] = error
        answers.update(zip(questions, ask(list(questions.values())), strict=True))
        return [answers[place] for place in range(len(seats))]

    def _question(self, seat: _EngineSeat) -> EngineRequest:
        if seat.given_up:
            raise EngineDied(f"given up until the next game, because it {seat.given_up}")
        if seat.child is None:
            seat.sit_down(self._child())
        assert seat.child is not None
        if seat.child.has_answered:
            return seat.question(seat.child, self._answer_s)
        return seat.question(seat.child, self._answer_s + START_S, noticed_s=self._answer_s)

    def _child(self) -> EngineProcess:
        if self._idle:
            return self._idle.pop()
        try:
            self._watchdog = self._watchdog or Watchdog()
        except OSError as error:
            raise EngineDied(f"cannot be started: {error.strerror or error}") from error
        return EngineProcess(self._engine.words, self._watchdog)

    def _end_games(self, times: Times) -> None:
        """Send the ends of finished games; their children become free for others."""
        over = [key for key, seat in self._seats.items() if seat.table.done]
        seats = [seat for key in over if (seat := self._seats.pop(key)).child]
        farewells = [seat.farewell(seat.stand_up()) for seat in seats]
        leaving: list[EngineProcess] = []
        for question, answer in zip(farewells, ask(farewells), strict=True):
            # not a fault: protocols differ on whether the end of a game is answered
            stays = not isinstance(answer, EngineError) and self._engine.dialect is not Dialect.ASKED
            (self._idle if stays else leaving).append(question.child)
        self._dismiss(leaving, times)

    def _dismiss(self, children: Sequence[EngineProcess], times: Times) -> None:
        dismiss(children)
        self._count_time(children, times)

    def _count_time(self, children: Sequence[EngineProcess], times: Times) -> None:
        """Add the CPU time of children that have ended; it is known only at their end."""
        if children:
            times[f"processes of {self._name}"] += sum(child.cpu_s for child in children)


class _EngineSeat:
    """One player of one game, and the child that plays for that seat.

    Attributes:
        table: the table.
        child: None before the first decision, and after a loss.
        inherited: the child has played other games, and has not answered in this one.
        understood: the child, or the one before it, has given an answer.
        losses: children that gave no answer.
        given_up: the last child's fault, after too many of them; "" while there may be another child.
    """

    def __init__(self, table: Table | ReplayedTable, player: int, dialect: Dialect) -> None:
        self.table = table
        self.child: EngineProcess | None = None
        self.inherited = self.understood = False
        self.losses = 0
        self.given_up = ""
        self._player = player
        self._dialect = dialect
        self._feed = SeatFeed(player)
        self._begun = self._discarded = False
        self._line_asked = 0

    def sit_down(self, child: EngineProcess) -> None:
        """Take a child, which will be sent the game from its beginning."""
        self.child = child
        self.inherited = self.understood = child.has_answered
        self._feed = SeatFeed(self._player)
        self._begun = False

    def stand_up(self) -> EngineProcess:
        """Give up the child, and return it."""
        child, self.child = self.child, None
        assert child is not None
        return child

    def question(self, child: EngineProcess, within_s: float, noticed_s: float = math.inf) -> EngineRequest:
        """The events since the last decision, as sent to the child, and the answers expected."""
        goes_on, self._begun = self._begun, True
        messages = self._feed.messages(self.table.events)
        if self._dialect is Dialect.ARRAYS:
            arrays = _arrays(messages, self._player) if goes_on else [messages]
            self._line_asked = len(arrays) - 1
            lines = tuple(_line(array) for array in arrays)
            return EngineRequest(child, lines, within_s, len(lines), noticed_s)
        lines = tuple(_line(message) for message in messages)
        if self._dialect is Dialect.ASKED:
            self._line_asked = 0
            return EngineRequest(child, lines, within_s, 1, noticed_s, SkipsForced(self._forced(messages)))
        # a kakan can be robbed, and an indicator that was still due is revealed in between
        self._line_asked = max(place for place, each in enumerate(messages) if each["type"] != "dora")
        return EngineRequest(child, lines, within_s, len(lines), noticed_s)

    def farewell(self, child: EngineProcess) -> EngineRequest:
        """The remaining events of a game that is over."""
        question = self.question(child, _FAREWELL_S)
        answers = 0 if self._dialect is Dialect.ASKED else question.answers
        return msgspec.structs.replace(question, answers=answers)

    def decided(self, action: Action) -> None:
        """Note the action that followed the question."""
        self._discarded = action.kind is ActionKind.DISCARD

    def _forced(self, messages: list[Message]) -> list[Message]:
        """The seat's forced discards, for which no decision was requested."""
        own = [each for each in messages if each["type"] == "dahai" and each["actor"] == self._player]
        return own[self._discarded :]

    def hear(self, answer: Answer) -> object:
        """The answer, one JSON value; or the error instead of it."""
        if isinstance(answer, EngineError):
            return answer
        self.inherited = False
        line = answer[self._line_asked]
        try:
            value = msgspec.json.decode(line)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return EngineGarbled(f"answered {line[:_SHOWN].decode(errors='replace')!r}, which is not JSON")
        self.understood = True
        return value


class SkipsForced:
    """Whether an answer is a forced discard: some engines report these too, others do not.

    In riichi, a tile that was discarded by force offers no choice when it is drawn again either, so it is not
    mistaken for the expected answer.

    Args:
        forced: these discards, in order.
    """

    def __init__(self, forced: list[Message]) -> None:
        self._forced = forced

    def __call__(self, line: bytes) -> bool:
        """Whether a line is the next forced discard; if so, the one after it is next."""
        if not self._forced:
            return False
        try:
            message = msgspec.json.decode(line)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return False
        expected = self._forced[0]
        if not isinstance(message, dict) or any(message.get(key) != expected[key] for key in ("type", "pai")):
            return False
        del self._forced[0]
        return True


def _never_answered(name: str, dialect: Dialect, child: EngineProcess | None, reason: str) -> str:
    """The reason why a run ends, and a hint."""
    if child is None:
        return f"engine {name!r}: {reason}"
    others = " or ".join(f"{other}: ({_WAYS[other]})" for other in Dialect if other is not dialect)
    lines = f"{child.lines_sent} line{'s' if child.lines_sent != 1 else ''}"
    return (
        f"engine {name!r} never answered: it was sent {lines} and {reason}; {dialect}: means "
        f"{_WAYS[dialect]}; if it uses another protocol, choose {others}"
    )


def _arrays(messages: list[Message], player: int) -> list[list[Message]]:
    """Split messages into lines: the player's own ``reach`` ends a line, as it is answered with the discard.

    This also holds where only one discard was possible, so that no decision was requested.
    """
    for place, message in enumerate(messages[:-1], 1):
        if message["type"] == "reach" and message["actor"] == player:
            return [messages[:place], messages[place:]]
    return [messages]


def _line(content: Message | list[Message]) -> bytes:
    return msgspec.json.encode(content) + b"\n"


def _choice(request: Request | ReplayRequest, answer: object) -> Choice:
    try:
        if isinstance(answer, EngineError):
            raise answer
        return Choice(read_action(answer, request.legal, request.record, request.player))
    except DecisionError as error:
        instead = fall_back(request, reason_of(error))
        return Choice(instead.action, instead.fallback_reason)
