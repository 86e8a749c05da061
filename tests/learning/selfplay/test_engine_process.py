"""Child processes that answer lines with lines, or misbehave."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kit.errors import EngineDied, EngineError, EngineLate
from learning.selfplay.engine_process import EngineProcess, EngineRequest, ask, dismiss
from learning.selfplay.watchdog import Watchdog
from tests.learning.selfplay.engine_players import engine_text, started, wait_for_the_end

ECHO = "import sys\nfor line in sys.stdin: print(len(line), flush=True)"
SLEEP = "import time; time.sleep(600)"
PATIENT_S = 60.0


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    watchdog = Watchdog()
    yield watchdog
    watchdog.dismiss()


class Family:
    """Children that run Python and are ended after the test."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self.children: list[EngineProcess] = []

    def child(self, code: str) -> EngineProcess:
        self.children.append(EngineProcess([sys.executable, "-I", "-S", "-c", code], self._watchdog))
        return self.children[-1]


@pytest.fixture
def family(watchdog: Watchdog) -> Iterator[Family]:
    family = Family(watchdog)
    yield family
    for child in family.children:
        child.kill()


def question(child: EngineProcess, *lines: bytes, within_s: float = PATIENT_S) -> EngineRequest:
    return EngineRequest(child, lines, within_s, len(lines))


def fault(child: EngineProcess, *lines: bytes, within_s: float = PATIENT_S) -> EngineError:
    (answer,) = ask([question(child, *(lines or (b"?\n",)), within_s=within_s)])
    assert isinstance(answer, EngineError)
    return answer


def test_each_line_is_answered(family: Family) -> None:
    child = family.child(ECHO)
    assert not child.has_answered
    assert ask([question(child, b"1\n", b"22\n", b"\n")]) == [[b"2", b"3", b"1"]]
    assert child.has_answered
    assert ask([question(child, b"x" * 1_000_000 + b"\n")]) == [[b"1000001"]]


def test_all_are_asked_at_once(family: Family, tmp_path: Path) -> None:
    """Each answers once all have been asked."""
    code = (
        "import os, sys, time\n"
        "for line in sys.stdin:\n"
        f"    open(os.path.join({str(tmp_path)!r}, str(os.getpid())), 'w').close()\n"
        f"    while len(os.listdir({str(tmp_path)!r})) < 8: time.sleep(0.01)\n"
        "    print(1, flush=True)\n"
    )
    children = [family.child(code) for _ in range(8)]
    assert ask([question(child, b"\n") for child in children]) == [[b"1"]] * 8


def test_a_failing_child_does_not_affect_the_others(family: Family) -> None:
    codes = [ECHO, SLEEP, "raise SystemExit(3)", ECHO]
    children = [family.child(code) for code in codes]
    limits = [0.5 if code == SLEEP else PATIENT_S for code in codes]
    good, late, died, last = ask(
        [question(child, b"\n", within_s=limit) for child, limit in zip(children, limits, strict=True)]
    )
    assert good == last == [b"1"]
    assert isinstance(late, EngineLate)
    assert isinstance(died, EngineDied)
    assert ask([]) == []


def test_lines_that_answer_no_question_are_skipped(family: Family) -> None:
    child = family.child(ECHO)
    asked = EngineRequest(child, (b"1\n", b"22\n"), PATIENT_S, 1, skips=lambda line: line == b"2")
    assert ask([asked]) == [[b"3"]]
    assert child.lines_sent == 2
    assert ask([EngineRequest(child, (b"1\n",), PATIENT_S, 0)]) == [[]]


def test_a_long_silence_is_logged_once_and_in_time(family: Family) -> None:
    child = family.child(SLEEP)
    with capture_logs() as logs:
        (late,) = ask([EngineRequest(child, (b"1\n", b"2\n"), 0.2, 2, noticed_s=0.05)])
    assert isinstance(late, EngineLate)
    assert [(log["event"], log["lines_sent"], log["given_up_after_s"]) for log in logs] == [
        ("engine.silent", 2, 0.2)
    ]


def test_a_child_that_does_not_read_is_late(family: Family) -> None:
    assert isinstance(fault(family.child(SLEEP), b"x" * 1_000_000 + b"\n", within_s=0.1), EngineLate)


def test_the_cause_of_an_exit_is_reported_without_control_characters(family: Family) -> None:
    died = fault(family.child("raise ValueError('no \\x1b[1m tile \\x07')"))
    assert isinstance(died, EngineDied)
    assert str(died) == "died with exit code 1, saying 'ValueError: no [1m tile'"
    node = "\\nReferenceError: x is not defined\\n    at throwError (node:1)\\n\\nNode.js v20.1.0"
    died = fault(family.child(f"import sys; sys.exit('{node}')"))
    assert str(died) == "died with exit code 1, saying 'ReferenceError: x is not defined'"
    assert str(fault(family.child("import os; os.kill(os.getpid(), 9)"))) == "died with exit code -9"


def test_only_the_end_of_stderr_is_kept(family: Family) -> None:
    child = family.child("import sys; sys.stderr.write('a' * 1_000_000 + 'z')")
    assert isinstance(fault(child), EngineDied)
    assert set(child.stderr_tail[:-1]) == {"a"}
    assert child.stderr_tail[-1] == "z"
    assert len(child.stderr_tail) == 2048


def test_a_program_that_cannot_be_started(watchdog: Watchdog, tmp_path: Path) -> None:
    with pytest.raises(EngineDied, match="cannot be started: No such file"):
        EngineProcess([str(tmp_path / "nothing")], watchdog)
    with pytest.raises(EngineDied, match="cannot be started: Permission denied"):
        EngineProcess([str(tmp_path)], watchdog)


def test_children_may_leave_by_themselves(watchdog: Watchdog, tmp_path: Path) -> None:
    code = "import sys, pathlib\nsys.stdin.read()\npathlib.Path(sys.argv[1]).touch()"
    child = EngineProcess([sys.executable, "-I", "-S", "-c", code, str(tmp_path / "left")], watchdog)
    stubborn = EngineProcess([sys.executable, "-I", "-S", "-c", SLEEP], watchdog)
    dismiss([child, stubborn])
    assert (tmp_path / "left").exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(stubborn.group, 0)


@pytest.mark.skipif(not Path("/proc").exists(), reason="the system has no /proc")
def test_what_a_child_has_started_in_other_sessions_ends_with_it(watchdog: Watchdog, tmp_path: Path) -> None:
    words = shlex.split(engine_text(tmp_path / "e", "hide").partition(":")[2])
    child = EngineProcess(words, watchdog)
    _until(lambda: len(started(tmp_path / "e")) == 2)
    dismiss([child])
    wait_for_the_end(tmp_path / "e")


STARTS = """
import shlex, sys, time
from learning.selfplay.engine_process import EngineProcess
from learning.selfplay.watchdog import Watchdog

watchdog = Watchdog()
children = [EngineProcess(shlex.split(command), watchdog) for command in sys.argv[1:]]
print("started", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_child_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    ways = {way: tmp_path / way for way in ("cheat", "hang", "launch", "hide")}
    commands = [engine_text(folder, way).partition(":")[2] for way, folder in ways.items()]
    with subprocess.Popen(
        [sys.executable, "-c", STARTS, *commands], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout.readline() == b"started\n"
        try:
            _until(lambda: [len(started(folder)) for folder in ways.values()] == [1, 1, 2, 2])
        finally:
            parent.send_signal(how)
    for folder in ways.values():
        wait_for_the_end(folder)


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
