"""A function mapped over tasks in processes, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kit.errors import WorkerFailed
from kit.workers.ordered import in_order
from tests.kit.workers.work import never_three, slow_first


def test_one_worker_or_one_task_is_done_in_this_process() -> None:
    assert list(in_order(slow_first, [1, 2], workers=1)) == [(1, os.getpid()), (2, os.getpid())]
    assert list(in_order(slow_first, [1], workers=2)) == [(1, os.getpid())]


def test_results_of_several_processes_come_in_order_and_tasks_are_taken_as_they_are_read() -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for task in range(100):
            taken.append(task)
            yield task

    results = in_order(slow_first, tasks(), workers=2)
    for number in range(12):
        task, process = next(results)
        assert (task, process != os.getpid()) == (number, True)
        assert len(taken) < number + 10
    results.close()  # type: ignore[attr-defined]


def test_an_error_comes_where_its_result_would() -> None:
    results = in_order(never_three, range(6), workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)


def test_a_process_that_dies_is_an_error_of_ours() -> None:
    with pytest.raises(WorkerFailed, match="a worker process died; if memory ran out, give fewer --workers"):
        list(in_order(os._exit, [7, 7], workers=2))
