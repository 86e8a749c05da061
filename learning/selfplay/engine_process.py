"""External programs as child processes that answer lines with lines; many can be asked at once.

Whatever a program does, the caller gets its answer lines or one `EngineError` within the time allowed. A
program may hang, die, write endlessly to either of its outputs, or write unasked. Its stderr is read whenever
an answer is awaited, and the end of it is kept. After an error a child must not be asked again: its next
output could be the answer to an earlier question.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Final, TypeAlias

import msgspec
import structlog

from kit.errors import EngineDied, EngineError, EngineGarbled, EngineLate
from learning.selfplay.watchdog import Watchdog, kill_engine

MAX_LINE: Final = 64 * 1024
"""Bytes of an answer; mjai answers have a few hundred at most."""

MAX_NOISE: Final = 16 * 1024 * 1024
"""Bytes on stderr for one question."""

_PIECE: Final = 64 * 1024
_TAIL_BYTES: Final = 2048
_ERROR: Final = re.compile(r"(?!\s*at ).*(error|exception|panic|fatal)", re.IGNORECASE)
"""A line that names an error, and none of the calls that led to it; some programs write more after it."""
_EXIT_S: Final = 0.2
"""Time for a process whose output has ended to exit as well, so that its exit code can be reported."""
_GRACE_S: Final = 1.0
_POLL_S: Final = 0.01

_log = structlog.get_logger(__name__)


class EngineRequest(msgspec.Struct, frozen=True):
    """A question to a child.

    Attributes:
        child: the child to ask.
        lines: lines to send, each with its line end.
        within_s: time limit for the answers, seconds.
        answers: number of answer lines expected.
        noticed_s: seconds after which the log reports that no answer has come yet.
        skips: whether a line answers no question and must not be counted.
    """

    child: EngineProcess
    lines: tuple[bytes, ...]
    within_s: float
    answers: int
    noticed_s: float = math.inf
    skips: Callable[[bytes], bool] = lambda _line: False


Answer: TypeAlias = Sequence[bytes] | EngineError
"""The answer lines without their ends; or the error instead of them."""


class EngineProcess:
    """A program that answers lines with lines, in a process group of its own.

    Args:
        words: the command, as for `subprocess`; no shell is involved.
        watchdog: ends the child if this process cannot.

    Attributes:
        command: the command as text, for messages.
        group: its process group.
        has_answered: whether it has answered a question.
        lines_sent: number of lines written to it.
        noise: number of bytes read from its stderr.
        cpu_s: CPU seconds of the child and of the processes it started and waited for; 0 before its end.

    Raises:
        EngineDied: it cannot be started.
    """

    def __init__(self, words: Sequence[str], watchdog: Watchdog) -> None:
        mark = f"ENGINE_OF_SUZAKU_{secrets.token_hex(8)}"
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**os.environ, mark: ""},
            )
        except OSError as error:
            raise EngineDied(f"{words[0]} cannot be started: {error.strerror or error}") from error
        self.command: Final = shlex.join(words)
        self.group: Final = self._process.pid
        self.has_answered = False
        self.lines_sent = self.noise = 0
        self.cpu_s = 0.0
        self._watchdog = watchdog
        self._engine = f"{self.group} {mark}"
        watchdog.watch(self._engine)
        self._inbox = bytearray()
        self._tail = bytearray()
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe.fileno(), False)

    @property
    def stdin(self) -> IO[bytes]:
        """Its input; does not block."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """Its output, for answers; does not block."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        """Its error output; does not block."""
        assert self._process.stderr is not None
        return self._process.stderr

    @property
    def stderr_tail(self) -> str:
        """The end of its stderr, without the control characters in lines."""
        lines = self._tail.decode(errors="replace").splitlines()
        return "\n".join("".join(letter for letter in line if letter.isprintable()) for line in lines).strip()

    def hear(self) -> bytes | None:
        """Return its next output line without the line end; None if no line is complete yet.

        Raises:
            EngineDied: its output has ended.
            EngineGarbled: the line is too long.
        """
        line, end, rest = self._inbox.partition(b"\n")
        if not end:
            piece = self.stdout.read(_PIECE)
            if piece == b"":
                raise EngineDied(self._how_it_ended())
            self._inbox += piece or b""
            line, end, rest = self._inbox.partition(b"\n")
        if len(line) > MAX_LINE:
            raise EngineGarbled(f"answered a line of more than {MAX_LINE} bytes")
        if not end:
            return None
        self._inbox = rest
        return bytes(line)

    def read_stderr(self) -> bool:
        """Read from its stderr; return False once that has ended."""
        piece = self.stderr.read(_PIECE)
        self.noise += len(piece or b"")
        self._tail = (self._tail + (piece or b""))[-_TAIL_BYTES:]
        return piece != b""

    def check_silent(self) -> None:
        """Check that it has written nothing since its last answer.

        Raises:
            EngineDied: its output has ended.
            EngineGarbled: it has written something.
        """
        line = self.hear()
        if line is not None or self._inbox:
            raise EngineGarbled("said more than it was asked for")

    def close_input(self) -> None:
        """Close its input, so that it sees the end."""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()

    def is_leaving(self) -> bool:
        """Whether it is still running; its output is read, so that it can end."""
        self.read_stderr()
        self.stdout.read(_PIECE)
        return self._exit_code(os.WNOHANG) is None

    def kill(self) -> None:
        """End it, with every process it has started."""
        kill_engine(self._engine)
        self._watchdog.forget(self._engine)
        self.close_input()
        self.read_stderr()
        self.stdout.close()
        self.stderr.close()
        self._exit_code()

    def _exit_code(self, options: int = 0) -> int | None:
        """Its exit code, None if it still runs; waits for its end unless ``options`` prevent it."""
        if self._process.returncode is None:
            # not by `subprocess`, which discards the resource usage
            pid, status, usage = os.wait4(self._process.pid, options)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_s = usage.ru_utime + usage.ru_stime
        return self._process.returncode

    def _how_it_ended(self) -> str:
        deadline = time.monotonic() + _EXIT_S
        while (code := self._exit_code(os.WNOHANG)) is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        how = "closed its output" if code is None else f"died with exit code {code}"
        self.read_stderr()
        lines = self.stderr_tail.splitlines()
        words = next((line for line in reversed(lines) if _ERROR.match(line)), "".join(lines[-1:])).strip()
        return f"{how}, saying {words!r}" if words else how


def ask(questions: Sequence[EngineRequest]) -> list[Answer]:
    """Ask several children at the same time; never raises.

    Args:
        questions: one per child.
    """
    with selectors.DefaultSelector() as selector:
        talks = [_Talk(question, selector) for question in questions]
        while waiting := [talk for talk in talks if not talk.over]:
            pause = min(talk.next_check for talk in waiting) - time.monotonic()
            for key, _ in selector.select(max(pause, 0.0)):
                key.data()
            for talk in waiting:
                talk.check_time()
    return [talk.fault or talk.answers for talk in talks]


def dismiss(children: Iterable[EngineProcess]) -> None:
    """Let children end by themselves, and kill those that do not."""
    children = list(children)
    for child in children:
        child.close_input()
    deadline = time.monotonic() + _GRACE_S
    leaving = children
    while (leaving := [child for child in leaving if child.is_leaving()]) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    for child in children:
        child.kill()


class _Talk:
    """One question in progress: the input still to be written, and the answers received."""

    def __init__(self, question: EngineRequest, selector: selectors.BaseSelector) -> None:
        self._child = child = question.child
        self._selector = selector
        self._unsent = memoryview(b"".join(question.lines))
        self._missing = question.answers
        self._skips = question.skips
        self._within_s = question.within_s
        self._most_noise = child.noise + MAX_NOISE
        self._pipes: list[IO[bytes]] = []
        self._begun = time.monotonic()
        self._deadline = self._begun + question.within_s
        self._noticed = self._begun + question.noticed_s
        self.answers: list[bytes] = []
        self.fault: EngineError | None = None
        try:
            child.check_silent()
        except EngineError as error:
            self._end(error)
            return
        self._watch(child.stdin, selectors.EVENT_WRITE, self._write)
        self._watch(child.stdout, selectors.EVENT_READ, self._read)
        self._watch(child.stderr, selectors.EVENT_READ, self._read_stderr)

    @property
    def over(self) -> bool:
        """Whether everything was written and answered, or never will be."""
        return self.fault is not None or not (self._missing or self._unsent)

    @property
    def next_check(self) -> float:
        """Latest time at which `check_time` must be called next."""
        return min(self._deadline, self._noticed)

    def check_time(self) -> None:
        """Log once that the answer takes long, and give up once the time limit has passed."""
        now = time.monotonic()
        if self.over or now < self.next_check:
            return
        if now >= self._deadline:
            self._end(EngineLate(f"did not answer within {self._within_s:g} s"))
            return
        self._noticed = math.inf
        _log.warning(
            "engine.silent",
            command=self._child.command,
            lines_sent=self._child.lines_sent,
            waited_s=round(now - self._begun, 1),
            given_up_after_s=self._within_s,
        )

    def _write(self) -> None:
        try:
            written = self._child.stdin.write(self._unsent[:_PIECE]) or 0
            self._child.lines_sent += bytes(self._unsent[:written]).count(b"\n")
        except BrokenPipeError:  # its remaining output, or the end of it, is more informative
            written = len(self._unsent)
        self._unsent = self._unsent[written:]
        if not self._unsent:
            self._unwatch(self._child.stdin)
        self._end_if_over()

    def _read(self) -> None:
        try:
            while self._missing and (line := self._child.hear()) is not None:
                if self._skips(line):
                    continue
                self.answers.append(line)
                self._missing -= 1
                self._child.has_answered = True
        except EngineError as error:
            self._end(error)
            return
        self._end_if_over()

    def _end_if_over(self) -> None:
        if self.over:
            self._end(None)

    def _read_stderr(self) -> None:
        if not self._child.read_stderr():
            self._unwatch(self._child.stderr)
        elif self._child.noise > self._most_noise:
            self._end(EngineGarbled(f"wrote more than {MAX_NOISE >> 20} MB to stderr instead of an answer"))

    def _watch(self, pipe: IO[bytes], events: int, act: Callable[[], None]) -> None:
        def act_unless_over() -> None:
            if pipe in self._pipes:
                act()

        self._selector.register(pipe, events, act_unless_over)
        self._pipes.append(pipe)

    def _unwatch(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        self._pipes.remove(pipe)

    def _end(self, fault: EngineError | None) -> None:
        self.fault = fault
        for pipe in self._pipes.copy():
            self._unwatch(pipe)
