"""Programs of others as child processes that answer lines with lines, many of them asked at once.

Whatever a program does, whoever asks it gets his lines or one `EngineError` within the time allowed: it may
hang, die, write without end to either of its outputs, or speak unasked. Its stderr is read as long as
anybody is waited for, and its last words are kept. After an error a child is not to be asked again: what it
says next could be the answer to an old question.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Final, TypeAlias

import msgspec
import structlog

from game.errors import EngineDied, EngineError, EngineGarbled, EngineLate
from learning.arena.warden import Warden, kill_group

MAX_LINE: Final = 64 * 1024
"""Bytes of an answer; those of mjai have some hundred at most."""

_PIECE: Final = 64 * 1024
_LAST_WORDS: Final = 2048
_EXIT_S: Final = 0.2
"""A process whose output has ended is given so long to end as well, so that its exit code can be told."""
_GRACE_S: Final = 1.0
_POLL_S: Final = 0.01

_log = structlog.get_logger(__name__)


class Question(msgspec.Struct, frozen=True):
    """What a child is to be asked.

    Attributes:
        child: who.
        lines: each with its end.
        within_s: seconds for the answers.
        answers: how many are awaited.
        noticed_s: seconds after which the log says that there are none yet.
        skips: whether a line is an answer to nothing that was asked, and counts as none.
    """

    child: Child
    lines: tuple[bytes, ...]
    within_s: float
    answers: int
    noticed_s: float = math.inf
    skips: Callable[[bytes], bool] = lambda _line: False


Answer: TypeAlias = Sequence[bytes] | EngineError
"""What was answered, lines without their ends; or why nothing was."""


class Child:
    """A program that answers lines with lines, in a process group of its own.

    Args:
        words: the command, as for `subprocess`; no shell reads it.
        warden: sees to the child's end if this process cannot.

    Attributes:
        command: for people.
        group: its processes.
        has_answered: it has answered a question.
        lines_sent: that were written to it.
        cpu_s: seconds on a core, its own and of those it started and waited for; 0 before its end.

    Raises:
        EngineDied: it cannot be started.
    """

    def __init__(self, words: Sequence[str], warden: Warden) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineDied(f"{words[0]} cannot be started: {error.strerror or error}") from error
        self.command: Final = shlex.join(words)
        self.group: Final = self._process.pid
        self.has_answered = False
        self.lines_sent = 0
        self.cpu_s = 0.0
        self._warden = warden
        warden.watch(self.group)
        self._inbox = bytearray()
        self._said = bytearray()
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe.fileno(), False)

    @property
    def stdin(self) -> IO[bytes]:
        """Where it reads; does not block."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """Where it answers; does not block."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        """Where it says what else it has to say; does not block."""
        assert self._process.stderr is not None
        return self._process.stderr

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr; a line's control characters are taken out."""
        lines = self._said.decode(errors="replace").splitlines()
        return "\n".join("".join(letter for letter in line if letter.isprintable()) for line in lines).strip()

    def hear(self) -> bytes | None:
        """The next line it has said, without its end; None if none is whole yet.

        Raises:
            EngineDied: its output has ended.
            EngineGarbled: the line is too long.
        """
        line, end, rest = self._inbox.partition(b"\n")
        if not end:
            piece = self.stdout.read(_PIECE)
            if piece == b"":
                raise EngineDied(self._epitaph())
            self._inbox += piece or b""
            line, end, rest = self._inbox.partition(b"\n")
        if len(line) > MAX_LINE:
            raise EngineGarbled(f"answered a line of more than {MAX_LINE} bytes")
        if not end:
            return None
        self._inbox = rest
        return bytes(line)

    def overhear(self) -> bool:
        """Read from its stderr; false once that has ended."""
        piece = self.stderr.read(_PIECE)
        self._said = (self._said + (piece or b""))[-_LAST_WORDS:]
        return piece != b""

    def check_silent(self) -> None:
        """Make sure that it has not spoken since its last answer.

        Raises:
            EngineDied: its output has ended.
            EngineGarbled: it has spoken.
        """
        line = self.hear()
        if line is not None or self._inbox:
            raise EngineGarbled("said more than it was asked for")

    def close_input(self) -> None:
        """Tell it that nothing more will come."""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()

    def is_leaving(self) -> bool:
        """Whether it is still about to end; what it says is read, so that it can."""
        self.overhear()
        self.stdout.read(_PIECE)
        return self._exit_code(os.WNOHANG) is None

    def kill(self) -> None:
        """End it, with everything it has started."""
        kill_group(self.group)
        self._warden.forget(self.group)
        self.close_input()
        self.overhear()
        self.stdout.close()
        self.stderr.close()
        self._exit_code()

    def _exit_code(self, options: int = 0) -> int | None:
        """Its exit code, None if it still runs; waits for its end unless told not to."""
        if self._process.returncode is None:
            # not by `subprocess`, which throws away what the process took
            pid, status, usage = os.wait4(self._process.pid, options)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_s = usage.ru_utime + usage.ru_stime
        return self._process.returncode

    def _epitaph(self) -> str:
        deadline = time.monotonic() + _EXIT_S
        while (code := self._exit_code(os.WNOHANG)) is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        how = "closed its output" if code is None else f"died with exit code {code}"
        self.overhear()
        words = self.last_words.rpartition("\n")[2]
        return f"{how}, saying {words!r}" if words else how


def ask(questions: Sequence[Question]) -> list[Answer]:
    """Ask children, all of them at once; never raises.

    Args:
        questions: each to another child.
    """
    with selectors.DefaultSelector() as selector:
        talks = [_Talk(question, selector) for question in questions]
        while waiting := [talk for talk in talks if not talk.over]:
            pause = min(talk.next_look for talk in waiting) - time.monotonic()
            for key, _ in selector.select(max(pause, 0.0)):
                key.data()
            for talk in waiting:
                talk.look()
    return [talk.fault or talk.answers for talk in talks]


def dismiss(children: Iterable[Child]) -> None:
    """Let children end by themselves, and kill those who do not."""
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
    """One question under way: what is still to be written, and what has come back."""

    def __init__(self, question: Question, selector: selectors.BaseSelector) -> None:
        self._child = child = question.child
        self._selector = selector
        self._unsent = memoryview(b"".join(question.lines))
        self._missing = question.answers
        self._skips = question.skips
        self._within_s = question.within_s
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
        self._watch(child.stderr, selectors.EVENT_READ, self._overhear)

    @property
    def over(self) -> bool:
        """Whether all was written and answered, or never will be."""
        return self.fault is not None or not (self._missing or self._unsent)

    @property
    def next_look(self) -> float:
        """When `look` has something to do at the latest."""
        return min(self._deadline, self._noticed)

    def look(self) -> None:
        """Say once that it takes long, and end it once its time has passed."""
        now = time.monotonic()
        if self.over or now < self.next_look:
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
        except BrokenPipeError:  # what it still says, or the end of that, tells more
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

    def _overhear(self) -> None:
        if not self._child.overhear():
            self._unwatch(self._child.stderr)

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
