"""Play-outs shared with other processes, and what happens when these are lost."""

from __future__ import annotations

import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

import pytest
from structlog.testing import capture_logs

from bot.adaptation import helper as helpers
from bot.adaptation.helper import HelperReady, Helpers, SharePlayed, StopPlaying
from game.table import Table
from policies.adaptation import PolicyAdaptation
from policies.deals import Deals, RoundView, UniformDeals
from policies.inference import NetworkPolicy, load_policy
from policies.playouts import points_worth
from tests.policies.models import EAGER, save_models

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> NetworkPolicy:
    return load_policy(save_models(tmp_path_factory.mktemp("models"), tower="suits"))


@pytest.fixture(scope="module")
def table() -> Table:
    """Late in a round, so that play-outs are short."""
    table = Table(3)
    while table.state["discard_count"] < 40:
        table.step({player: table.legal(player)[-1] for player in table.waiting()})
    return table


@pytest.fixture(scope="module")
def deals(table: Table) -> Deals:
    view = RoundView.of(table.observe(table.waiting()[0]), table.events)
    return UniformDeals().deals(view, 6, 0)


Life = Callable[[Connection, PolicyAdaptation], None]


def faithful(connection: Connection, own: PolicyAdaptation) -> None:
    connection.send(HelperReady())
    while True:
        task = connection.recv()
        if not isinstance(task, StopPlaying):
            own.take_weights(task.weights)
            connection.send(SharePlayed(own.played(task.deals, task.first)))


def dying(connection: Connection, own: PolicyAdaptation) -> None:
    connection.send(HelperReady())
    connection.recv()
    connection.close()


def hanging(connection: Connection, own: PolicyAdaptation) -> None:
    connection.send(HelperReady())
    connection.recv()
    connection.recv()


def deaf(connection: Connection, own: PolicyAdaptation) -> None:
    """Reads no more, so that its line is soon full."""
    connection.send(HelperReady())
    time.sleep(10.0)


def unready(connection: Connection, own: PolicyAdaptation) -> None:
    connection.recv()


@pytest.fixture
def with_helpers(policy: NetworkPolicy) -> Iterator[Callable[..., Helpers]]:
    ours: list[Connection] = []

    def start(*lives: Life) -> Helpers:
        for life in lives:
            mine, theirs = multiprocessing.Pipe()
            with socket.socket(fileno=os.dup(mine.fileno())) as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            ours.append(mine)
            threading.Thread(
                target=_until_closed, args=(life, theirs, an_adaptation(policy)), daemon=True
            ).start()
        found = Helpers(ours)
        if unready in lives:
            found.wait_until_ready(0.1)
        until = time.monotonic() + 30.0
        while found.free() < len(lives) - lives.count(unready):
            assert time.monotonic() < until
            time.sleep(0.01)
        return found

    yield start
    for each in ours:
        each.close()


def _until_closed(life: Life, connection: Connection, own: PolicyAdaptation) -> None:
    try:
        life(connection, own)
    except (EOFError, OSError):
        connection.close()


def an_adaptation(policy: NetworkPolicy) -> PolicyAdaptation:
    return PolicyAdaptation(policy, points_worth, EAGER, seed=5)


def pool_of(adaptation: PolicyAdaptation) -> list[list[object]]:
    pool = adaptation._pool
    arrays = (pool.decisions["kind"], pool.rewards, pool.owners, pool.dealt)
    return [array.tolist() for array in arrays]


def nothing() -> None:
    """Done between two steps."""


def alone(policy: NetworkPolicy, table: Table, deals: Deals) -> PolicyAdaptation:
    """Adapted without helpers, twice, the second time by the policy as adapted."""
    adaptation = an_adaptation(policy)
    for _ in range(2):
        adaptation.play(deals)
        adaptation.learn(divergence=4.0)
    return adaptation


def test_shared_play_outs_are_those_of_one_process(
    policy: NetworkPolicy, table: Table, deals: Deals, with_helpers: Callable[..., Helpers]
) -> None:
    shared, found = an_adaptation(policy), with_helpers(faithful, faithful)
    assert found.free() == 2
    for _ in range(2):
        found.play(shared, deals, tuple(table.events), nothing)
        shared.learn(divergence=4.0)
    expected = alone(policy, table, deals)
    assert shared.figures == expected.figures
    assert shared.figures.divergence > 0.0, "the second time the policy was the one of the start"
    assert shared.figures.playouts == 24
    assert pool_of(shared) == pool_of(expected)


@pytest.mark.parametrize("fault", [dying, hanging, deaf])
def test_what_a_lost_helper_leaves_undone_is_done_here(
    fault: Life,
    policy: NetworkPolicy,
    table: Table,
    deals: Deals,
    with_helpers: Callable[..., Helpers],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(helpers, "_SILENT_S", 0.1)
    monkeypatch.setattr(helpers, "_PATIENCE", 0.0)
    shared, found = an_adaptation(policy), with_helpers(fault)
    with capture_logs() as logs:
        found.play(shared, deals, tuple(table.events), nothing)
        assert found.free() == 0
    monkeypatch.undo()
    assert [each["event"] for each in logs] == ["adaptation.helper_lost"]
    one = an_adaptation(policy)
    one.play(deals)
    assert pool_of(shared) == pool_of(one)


def test_one_that_is_not_ready_is_not_waited_for(
    policy: NetworkPolicy, table: Table, deals: Deals, with_helpers: Callable[..., Helpers]
) -> None:
    found, shared = with_helpers(faithful, unready), an_adaptation(policy)
    assert found.free() == 1
    found.play(shared, deals, tuple(table.events), nothing)
    assert shared.figures.playouts == 12


def test_play_outs_that_are_broken_off_add_nothing_and_stop_the_helpers(
    policy: NetworkPolicy, table: Table, deals: Deals, with_helpers: Callable[..., Helpers]
) -> None:
    told: list[object] = []
    stopped = threading.Event()

    def stoppable(connection: Connection, own: PolicyAdaptation) -> None:
        connection.send(HelperReady())
        told.append(connection.recv())
        told.append(connection.recv())
        connection.send(SharePlayed(None))
        stopped.set()
        connection.recv()

    def broken_off() -> None:
        raise KeyError("another round")

    found, shared = with_helpers(stoppable), an_adaptation(policy)
    with pytest.raises(KeyError):
        found.play(shared, deals, tuple(table.events), broken_off)
    assert shared.figures.playouts == 0
    assert stopped.wait(30.0)
    assert isinstance(told[1], StopPlaying)
    assert found.free() == 1
