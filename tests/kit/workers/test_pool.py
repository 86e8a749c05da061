"""Processes that return results one by one, and die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import repeat
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kit import processes
from kit.errors import WorkerFailed
from kit.workers import pool
from kit.workers.pool import DONE, LATER, Later, results, results_here
from tests.fatal import Fatal
from tests.kit.workers.work import (
    Block,
    counting,
    counting_bytes,
    dying,
    hopeless,
    playing,
    raising,
    refused,
    threads,
    unprepared,
)


def test_every_task_is_done_once_and_its_end_comes_last() -> None:
    found = list(results(counting, 100, [4, 2, 7], 2))
    for task in (4, 2, 7):
        mine = [value for number, value in found if number == task]
        assert mine == [100 * task, 100 * task + 1, 100 * task + 2, DONE]


def test_this_process_does_the_same_one_task_after_the_other() -> None:
    stop = threading.Event()

    def tasks() -> Iterator[int | Later]:
        yield from (4, LATER, 2)
        stop.set()
        yield 7

    found = list(results_here(counting, 100, tasks(), stop))
    assert found == [(4, 400), (4, 401), (4, 402), (4, DONE), (2, 200), (2, 201), (2, 202), (2, DONE)]


def test_a_task_is_drawn_when_a_worker_is_free_and_can_carry_what_earlier_results_gave() -> None:
    seen: list[tuple[int, int]] = []
    tasks = (Block.after(number, len(seen)) for number in range(4))
    for block, result in results(playing, 0, tasks, 1):
        if isinstance(result, tuple):
            assert block.number == len(seen)
            seen.append(result)
    assert [weights for _, weights in seen] == [0, 1, 2, 3]


def test_a_worker_runs_its_start_up_with_one_thread_and_prints_nothing_to_stdout(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    processes.on_start(partial(print, "begun", flush=True))
    try:
        assert next(results(threads, 0, [0], 1)) == (0, "1")
    finally:
        processes.on_start(processes.nothing)
    assert os.environ.get("OMP_NUM_THREADS") == before
    out, err = capfd.readouterr()
    assert (out, err.split()) == ("", ["begun", "prepared"])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [([0], r"died 1 times \(exit code 3\)"), (repeat(LATER), "1 processes died at their start")],
)
def test_processes_that_die_before_they_have_begun_end_the_run_however_large_their_setup(
    monkeypatch: pytest.MonkeyPatch, tasks: Iterable[int | Later], message: str
) -> None:
    monkeypatch.setattr(pool, "TRIES", 1)
    processes.on_start(Fatal())
    try:
        with capture_logs(), pytest.raises(WorkerFailed, match=message):
            list(results(counting_bytes, bytes(1 << 20), tasks, 1))
    finally:
        processes.on_start(processes.nothing)


def test_a_task_whose_process_was_killed_is_done_again(tmp_path: Path) -> None:
    with capture_logs() as logs:
        found = list(results(dying, tmp_path, [0, 1, 2], 2))
    values = [value for _, value in found if isinstance(value, int)]
    assert set(values) == {0, 1, 10, 11, 20, 21}
    assert values.count(11) == 1
    assert [(entry["event"], entry["task"], entry["exit_code"]) for entry in logs] == [
        ("worker.lost", "1", -9)
    ]


def test_a_task_that_kills_every_process_ends_the_run() -> None:
    with capture_logs(), pytest.raises(WorkerFailed) as failed:
        list(results(hopeless, 0, [Block.after(5, 7)], 1))
    said = str(failed.value)
    assert said.startswith("task Block(number=")
    assert said.endswith(": its process died 3 times (exit code 7)")
    assert len(said) < 120  # the weights are not printed


def test_an_error_in_a_task_ends_the_run_with_its_trace() -> None:
    with pytest.raises(WorkerFailed, match=r"(?s)task 3: .*ValueError: no such task"):
        list(results(raising, 0, [3], 1))
    with pytest.raises(WorkerFailed, match=r"weights\.safetensors"):
        list(results(unprepared, 0, [3], 1))
    with pytest.raises(WorkerFailed, match=r"^no such player$"):
        list(results(refused, 0, [3], 1))


def test_a_worker_that_dies_while_it_waits_is_replaced() -> None:
    seen: list[int] = []

    def tasks() -> Iterator[int | Later]:
        yield 1
        while len(seen) < 3:
            yield LATER
        os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        for _ in range(10):
            yield LATER
        yield 2

    with capture_logs():
        for _, value in results(counting, 100, tasks(), 1):
            if isinstance(value, int):
                seen.append(value)
    assert seen == [100, 101, 102, 200, 201, 202]


def test_another_thread_can_stop_the_work() -> None:
    stop = threading.Event()

    def tasks() -> Iterator[int | Later]:
        yield 1
        while True:
            yield LATER

    found = []
    for _, value in results(counting, 100, tasks(), 1, stop):
        found.append(value)
        if value is DONE:
            stop.set()
    assert found == [100, 101, 102, DONE]
    assert not multiprocessing.active_children()
