from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from bot.player.worker import WorkerThread

name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="")


async def test_work_runs_off_the_event_loop_in_order() -> None:
    worker = WorkerThread("t")
    threads = await asyncio.gather(*(worker.submit(lambda i=i: (i, threading.get_ident())) for i in range(5)))
    assert [i for i, _ in threads] == [0, 1, 2, 3, 4]
    assert {ident for _, ident in threads} != {threading.get_ident()}
    worker.close()
    assert worker.join(60.0)


async def test_log_context_follows_the_work() -> None:
    worker = WorkerThread("t")
    name.set("game-1")
    assert await worker.submit(name.get) == "game-1"
    worker.close()


async def test_an_exception_reaches_the_caller_and_the_worker_goes_on() -> None:
    worker = WorkerThread("t")
    with pytest.raises(ZeroDivisionError):
        await worker.submit(lambda: 1 // 0)
    assert await worker.submit(lambda: 2) == 2
    worker.close()


async def test_a_cancelled_job_is_never_run() -> None:
    worker = WorkerThread("t")
    gate = threading.Event()
    ran: list[int] = []
    first = worker.submit(gate.wait)
    second = worker.submit(lambda: ran.append(2))
    second.cancel()
    await asyncio.sleep(0)
    gate.set()
    await first
    await worker.submit(lambda: ran.append(3))
    assert ran == [3]
    worker.close()
