"""A process beside the program: it is heard, noticed when it hangs or dies, and ended in bounded time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from kit.workers import child
from kit.workers.child import Child, ChildBusy, ChildFailed, ChildIdle, ChildReady, Line
from tests.kit.workers.work import echo

PATIENCE_S = 120.0
"""Under load a process needs long to start and to end."""


class Heard:
    """A child with what it has said."""

    def __init__(self) -> None:
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.ends: SimpleQueue[str] = SimpleQueue()
        self.child = Child(echo, "heard ", self.messages.put, self.ends.put)

    def until(self, wanted: object) -> None:
        """Wait for a message."""
        while self.messages.get(timeout=PATIENCE_S) != wanted:
            pass


@pytest.fixture(scope="module")
def heard() -> Iterator[Heard]:
    found = Heard()
    found.until(ChildReady())
    yield found
    found.child.close()
    assert found.child.join(PATIENCE_S)
    assert found.ends.empty(), "a closed child has not ended by itself"


def test_it_answers_and_takes_only_idle_time(heard: Heard) -> None:
    assert heard.child.ready.is_set()
    heard.child.send("this")
    heard.until("heard this")
    assert heard.child.pid is not None
    if hasattr(os, "SCHED_IDLE"):
        assert os.sched_getscheduler(heard.child.pid) == os.SCHED_IDLE


def test_a_message_that_crosses_with_the_word_that_it_is_idle_is_work(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard.child.send("this")
    heard.until("heard this")
    _wait(lambda: heard.child.idle)
    monkeypatch.setattr(child, "SILENT_S", -1.0)
    assert not heard.child.hangs
    heard.child.send("crossed")
    heard.until(ChildIdle(0))
    assert heard.child.hangs
    heard.child.send("on")
    _wait(lambda: not heard.child.hangs)


@pytest.mark.parametrize("how", ["gives up", "runs out of memory", "is killed", "hangs"])
def test_an_end_is_noticed(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    assert heard.child.pid is not None
    try:
        heard.until(ChildReady())
        match how:
            case "gives up":
                heard.child.send("give up")
                assert heard.ends.get(timeout=PATIENCE_S) == "there is nothing to say"
            case "runs out of memory":
                heard.child.send("remember everything")
                assert heard.ends.get(timeout=PATIENCE_S) == "it ran out of memory"
                heard.until(ChildFailed("it ran out of memory"))
            case "is killed":
                os.kill(heard.child.pid, signal.SIGKILL)
                assert heard.ends.get(timeout=PATIENCE_S) == "it died"
            case "hangs":
                os.kill(heard.child.pid, signal.SIGSTOP)
                monkeypatch.setattr(child, "SILENT_S", 0.1)
                heard.child.send("this")
                _wait(lambda: heard.child.hangs)
    finally:
        heard.child.close()
        assert heard.child.join(PATIENCE_S)


def test_a_child_says_when_it_is_idle_and_that_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = multiprocessing.Pipe()
    line = Line(theirs)
    for number in range(3):
        ours.send(number)
    assert line.hear(wait=True) == [0, 1, 2]
    threading.Timer(0.02, ours.send, ["later"]).start()
    assert line.hear(wait=True) == ["later"]
    monkeypatch.setattr(child, "BEAT_S", -1.0)
    assert line.hear(wait=False) == []
    assert [ours.recv(), ours.recv()] == [ChildIdle(3), ChildBusy()]
    line.memory_mb = 1
    with pytest.raises(MemoryError, match="more than 1 MB"):
        line.hear(wait=False)
    ours.close()
    with pytest.raises((EOFError, ConnectionError)):
        line.hear(wait=True)


def _wait(fact: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < until
        time.sleep(0.01)
