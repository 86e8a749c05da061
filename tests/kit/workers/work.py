"""What worker processes of these tests do; they import only what that takes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kit.errors import ConfigError, ModelError
from kit.workers.child import ChildIdle, Line
from kit.workers.pool import Work


def counting(base: int) -> Work[int, int]:
    def work(task: int) -> Iterator[int]:
        yield from (base * task + number for number in range(3))

    return work


def counting_bytes(setup: bytes) -> Work[int, int]:
    return lambda task: [task + len(setup)]


def dying(folder: Path) -> Work[int, int]:
    """The first process that gets to task 1 is killed in the middle of it."""

    def work(task: int) -> Iterator[int]:
        yield 10 * task
        mark = folder / "dead"
        if task == 1 and not mark.exists():
            mark.touch()
            time.sleep(0.05)  # the result is being sent
            os.kill(os.getpid(), signal.SIGKILL)
        yield 10 * task + 1

    return work


def hopeless(_: int) -> Work[object, object]:
    def work(task: object) -> Iterator[object]:
        yield task
        os._exit(7)

    return work


def raising(_: int) -> Work[int, int]:
    def work(task: int) -> Iterator[int]:
        yield task
        raise ValueError("no such task")

    return work


def unprepared(_: int) -> Work[int, int]:
    raise FileNotFoundError("weights.safetensors")


def refused(_: int) -> Work[int, int]:
    raise ConfigError("no such player")


class Block(msgspec.Struct, frozen=True):
    """A task that brings weights along: more bytes than a pipe holds."""

    number: int
    weights: bytes

    @classmethod
    def after(cls, number: int, results: int) -> Block:
        return cls(number, bytes([results]) * 300_000)


def playing(_: int) -> Work[Block, tuple[int, int]]:
    """Tells which process had which weights."""
    return lambda block: iter([(os.getpid(), block.weights[-1])])


def threads(_: int) -> Work[int, str]:
    print("prepared", flush=True)
    return lambda _: iter([os.environ["OMP_NUM_THREADS"]])


def slow_first(task: int) -> tuple[int, int]:
    """The task and the process that did it; the first takes longest."""
    time.sleep(0.2 if task == 0 else 0.0)
    return task, os.getpid()


def never_three(task: int) -> int:
    """The task."""
    if task == 3:
        raise ValueError("three")
    return task


def echo(line: Line, setup: str) -> None:
    """Answer "crossed" as a child does that has not yet received the message, others with an echo."""
    line.ready()
    while True:
        for message in line.hear(wait=True):
            if message == "give up":
                raise ModelError("there is nothing to say")
            if message == "remember everything":
                raise MemoryError
            if message == "crossed":
                line.send(ChildIdle(0))
                while not line.hear(wait=False):
                    time.sleep(0.01)
            line.send(setup + message)
