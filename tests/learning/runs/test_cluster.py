"""The same contract as for local processes, on a Ray cluster whose machines come and go."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

import learning.runs.cluster
from kit.errors import ConfigError, WorkerFailed
from kit.workers.pool import DONE, LATER, Later, Work
from learning.runs.spread import spread
from tests.kit.workers.test_pool import counting, dying, hopeless, raising, refused, threads, unprepared
from tests.learning.clusters import address, machines

__all__ = ["address", "machines"]


def stillborn(_: int) -> Work[int, int]:
    os._exit(7)


def meeting(folder: Path) -> Work[int, str]:
    """Tasks that report when they have begun, and wait until they may continue."""

    def work(task: int) -> Iterator[str]:
        yield "here"
        while not (folder / str(task)).exists():
            time.sleep(0.05)
        yield "gone"

    return work


@pytest.mark.slow
def test_every_task_is_done_once_and_its_end_comes_last(address: str) -> None:
    found = list(spread(counting, 100, [4, 2, 7], ray=address))
    for task in (4, 2, 7):
        mine = [value for number, value in found if number == task]
        assert mine == [100 * task, 100 * task + 1, 100 * task + 2, DONE]
    assert len(found) == 12


@pytest.mark.slow
def test_a_worker_waits_for_a_task_that_comes_later(address: str) -> None:
    seen: list[int] = []

    def tasks() -> Iterator[int | Later]:
        yield 1
        while len(seen) < 3:
            yield LATER
        yield 2

    for _, value in spread(counting, 100, tasks(), workers=2, ray=address):
        if isinstance(value, int):
            seen.append(value)
    assert seen == [100, 101, 102, 200, 201, 202]


@pytest.mark.slow
def test_another_thread_can_stop_the_work(address: str) -> None:
    stop = threading.Event()

    def tasks() -> Iterator[int | Later]:
        yield 1
        while True:
            yield LATER

    threading.Timer(6.0, stop.set).start()
    found = list(spread(counting, 100, tasks(), workers=1, ray=address, stop=stop))
    assert [value for _, value in found] == [100, 101, 102, DONE]


@pytest.mark.slow
def test_workers_compute_with_one_thread(address: str) -> None:
    assert [value for _, value in spread(threads, 0, [0], ray=address)] == ["1", DONE]


@pytest.mark.slow
def test_a_task_whose_process_was_killed_is_done_again(address: str, tmp_path: Path) -> None:
    with capture_logs() as logs:
        found = list(spread(dying, tmp_path, [0, 1, 2], ray=address))
    values = [value for _, value in found if isinstance(value, int)]
    assert set(values) == {0, 1, 10, 11, 20, 21}
    assert values.count(11) == 1
    assert [(entry["event"], entry["task"], entry["times"]) for entry in logs] == [("worker.lost", "1", 1)]


@pytest.mark.slow
def test_nothing_of_a_lost_worker_is_left_to_collect_when_ray_shuts_down(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    left: list[str] = []
    shutdown = ray.shutdown

    def look() -> None:
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        left.extend(type(each).__name__ for each in gc.garbage if isinstance(each, ray.ObjectRef))
        gc.garbage.clear()
        shutdown()

    monkeypatch.setattr(ray, "shutdown", look)
    gc.disable()
    try:
        with capture_logs() as logs:
            list(spread(dying, tmp_path, [0, 1, 2], ray=address))
    finally:
        gc.enable()
    assert [entry["event"] for entry in logs] == ["worker.lost"]
    assert left == []


@pytest.mark.slow
def test_a_task_that_kills_every_process_ends_the_run(address: str) -> None:
    with capture_logs(), pytest.raises(WorkerFailed, match="task 5: its process was lost 3 times"):
        list(spread(hopeless, 0, [5], ray=address))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (raising, r"(?s)^task 3: .*ValueError: no such task"),
        (unprepared, r"(?s)FileNotFoundError: weights\.safetensors"),
        (refused, r"^no such player$"),
    ],
)
def test_an_error_in_a_worker_ends_the_run(
    address: str, prepare: Callable[[int], Work[int, int]], said: str
) -> None:
    with pytest.raises(WorkerFailed, match=said):
        list(spread(prepare, 0, [3], ray=address))


@pytest.mark.slow
def test_processes_that_die_before_they_are_ready_end_the_run(address: str) -> None:
    with capture_logs(), pytest.raises(WorkerFailed, match="3 processes died before any was ready"):
        list(spread(stillborn, 0, [5], ray=address))


@pytest.mark.slow
def test_a_machine_with_another_program_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = learning.runs.cluster.program()
    monkeypatch.setattr(learning.runs.cluster, "program", lambda: {**here, "torch": "2.12.0"})
    with pytest.raises(WorkerFailed, match=rf"runs another program: torch is {here['torch']}, not 2\.12\.0"):
        list(spread(counting, 100, [1], ray=address))


@pytest.mark.parametrize("package", ["kit", "game", "policies", "replays", "learning"])
def test_a_changed_package_is_another_program(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning.runs.cluster, "__file__", str(tmp_path / "learning" / "runs" / "cluster.py"))
    before = learning.runs.cluster.program()
    (tmp_path / package).mkdir()
    (tmp_path / package / "changed.py").touch()
    assert learning.runs.cluster.program()["suzaku"] != before["suzaku"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "refused; start a cluster there with `ray start --head`"),
        ("127.0.0.1:head", "invalid literal"),
        ("ray://127.0.0.1:10001", "run this on a machine of the cluster"),
        ("nowhere", "take --ray local"),
    ],
)
def test_an_address_without_a_cluster_is_refused_at_once(address: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"^--ray {address}: .*{said}"):
        next(spread(counting, 100, [1], ray=address))


def test_without_ray_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ConfigError, match=r"--ray needs ray, which is not installed; run `.* pip install 'ray"
    ):
        next(spread(counting, 100, [1], ray="local"))


@pytest.mark.slow
def test_machines_join_and_are_lost_while_work_goes_on(machines: Any, tmp_path: Path) -> None:
    running = spread(meeting, tmp_path, [0, 1, 2], ray=machines.address)
    assert [value for _, value in islice(running, 2)] == ["here"] * 2
    joined = machines.add_node(num_cpus=1)
    assert next(running) == (2, "here")
    machines.remove_node(joined, allow_graceful=False)
    (tmp_path / "0").touch()
    with capture_logs() as logs:
        assert list(islice(running, 3)) == [(0, "gone"), (0, DONE), (2, "here")]
        for task in (1, 2):
            (tmp_path / str(task)).touch()
        rest = list(running)
    assert sorted(task for task, value in rest if value is DONE) == [1, 2]
    assert [(entry["event"], entry["task"]) for entry in logs] == [("worker.lost", "2")]
