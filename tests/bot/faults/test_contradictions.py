"""Fault 7, repeatedly: however often frames contradict our table, the game continues to its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from bot.tenhou.client.settings import AT_LOGIN, IN_GAME
from kit.errors import ConnectionLost
from tests.bot.client_bench import ClientBench
from tests.bot.fake_server import Drop, Hang, Hear, Linger, Say, Step, fake_server
from tests.bot.relay import Side
from tests.bot.scripts import (
    BACK,
    DEAL,
    DRAW,
    END,
    GAME,
    GO,
    HAND,
    HELO,
    INIT,
    LOGIN,
    SEAT,
    TAIKYOKU,
    TURN,
    UN,
    reinit,
)
from tests.bot.whole_game import Outcome, play_through

WHOLE = 4
"""Minimum number of rounds of a tonpuu game."""
THROWS_OUR_TILE = f'{{"tag":"F{HAND[0]}"}}'


class Contradict:
    """After each frame of some kinds, the next draw or discard of another player is an impossible one."""

    def __init__(self, *tags: str) -> None:
        self.tags = tags
        self.ready = False
        self.done = 0

    def __call__(self, _: int, side: Side, text: str) -> Sequence[object]:
        if side != "S":
            return (text,)
        tag = json.loads(text)["tag"]
        if tag in self.tags:
            self.ready = True
        elif self.ready and tag[0] in "EFGefg" and tag[1:].isdigit():
            self.ready = False
            self.done += 1
            # two discards in a row by the same player: the first one counts
            return (text, text)
        return (text,)


def check(outcome: Outcome) -> None:
    [result] = outcome.results
    assert result.scores == outcome.record.ending.scores
    assert outcome.tally.fallbacks == 0


async def test_fault_07_a_contradiction_in_every_round_ends_in_a_finished_game() -> None:
    plan = Contradict("INIT")
    outcome = await play_through(plan)
    check(outcome)
    assert plan.done >= WHOLE
    assert outcome.connections == plan.done + 1
    assert outcome.count("state.resynced") == plan.done


async def test_fault_07_a_contradiction_after_every_return_ends_in_a_finished_game() -> None:
    plan = Contradict("INIT", "REINIT")
    outcome = await play_through(plan)
    check(outcome)
    lost = [entry for entry in outcome.logs if entry.get("until")]
    assert len(lost) >= WHOLE - 1, "each round is played to its end without our table"
    assert outcome.connections <= 4 * (plan.done + 1)


async def test_fault_07_a_snapshot_that_is_contradicted_each_time_is_given_up_and_the_round_played() -> None:
    bad = [Say(THROWS_OUR_TILE)]
    again: list[Step] = [*BACK, reinit(), *bad, Hang()]
    blind: list[Step] = [*BACK, reinit(), *bad, Say(DRAW), *TURN, *END]
    scripts = ([*LOGIN, *SEAT, *DEAL, *bad, Hang()], again, again, blind)
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 4
    assert len(bench.journal.results) == 1
    [told] = [entry for entry in bench.logged("state.mismatch") if "until" in entry]
    assert told["reason"] == "3 frames of this round contradicted our record"


async def test_fault_07_contradictions_without_end_do_not_become_a_login_a_second() -> None:
    bad = Say('{"tag":"F5"}')
    again: list[Step] = [*BACK, reinit(), Say(DRAW), bad, Hang()]

    def deal(number: int) -> Step:
        return Say(INIT.replace('"0,0,0,1,2,33"', f'"0,{number},0,1,2,33"'))

    # every connection of the server reports a new repeat of the round, so that no round is ever abandoned
    lines = [[*BACK, deal(number), Say(DRAW), bad, Hang()] for number in range(1, 40)]
    scripts = ([*LOGIN, *SEAT, *DEAL, bad, Hang()], again, *lines)
    async with fake_server(*scripts, [*BACK, deal(41), Say(DRAW), *TURN, *END]) as server:
        async with ClientBench(server.url) as bench:
            took = await bench.hurry()
            await bench.ended()
            assert server.handshakes == len(scripts) + 1
        waits = [entry["wait_s"] for entry in bench.logged("conn.retry")]
    assert len(bench.journal.results) == 1
    assert min(waits[20:]) > 4
    assert took > 200


# --- faults 1 and 3: players who leave and return, in order ------------------------------------------------


@pytest.mark.parametrize("place", range(len(LOGIN), len(GAME)))
async def test_somebody_who_leaves_and_returns_at_any_moment_stops_nothing(place: int) -> None:
    who = place % 4
    name = f'{{"tag":"UN","n{who}":"%41"}}'
    coming = [Say(f'{{"tag":"BYE","who":"{who}"}}'), Say(name)]
    script = [*GAME[:place], *coming, *GAME[place:]]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await bench.ended()
        assert server.handshakes == 1
        assert server.tags() == ["HELO", "JOIN", "GOK", "NEXTREADY", "D", "BYE"]
    assert len(bench.journal.results) == 1
    assert not bench.logged("state.mismatch")


BROUGHT_BACK: dict[str, Callable[[], list[Step]]] = {
    "snapshot": lambda: [reinit()],
    "players and snapshot": lambda: [BACK[2], reinit()],
    "players, scores and snapshot": lambda: [BACK[2], BACK[3], reinit()],
    "deal": lambda: [Say(INIT)],
}


@pytest.mark.parametrize("form", BROUGHT_BACK)
async def test_a_join_answered_with_the_running_game_takes_our_seat_in_it(form: str) -> None:
    script = [*LOGIN, *BROUGHT_BACK[form](), Say(DRAW), *TURN, *END]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await bench.ended()
        assert server.tags() == ["HELO", "JOIN", "D", "BYE"]
    [result] = bench.journal.results
    assert result.rounds == 1
    assert not bench.logged("state.mismatch")


# --- fault 4: a server that seats us and cuts the connection -----------------------------------------------


async def test_fault_04_a_server_that_seats_us_and_cuts_gets_growing_waits() -> None:
    script: list[Step] = [Hear("HELO"), Say(HELO), Say(GO), Say(UN), Linger(), Drop()]
    async with fake_server(*[script] * 40) as server, ClientBench(server.url, games=1) as bench:
        await bench.hurry(step_s=1.0)
        with pytest.raises(ConnectionLost, match="gave up after 20 tries"):
            await bench.ended()
        assert server.handshakes == IN_GAME.tries + 1
    waits = [entry["wait_s"] for entry in bench.logged("conn.retry")]
    assert waits[6] > 5
    assert min(waits[6:]) > 5


async def test_fault_04_games_that_end_before_we_decide_anything_get_growing_waits() -> None:
    dealer = '"oya":"0"', '"oya":"1"'
    seated = [Say(TAIKYOKU.replace(*dealer)) if step == Say(TAIKYOKU) else step for step in SEAT]
    script = [*LOGIN, *seated, Say(INIT.replace(*dealer)), *END]
    async with fake_server(*[script] * 40) as server, ClientBench(server.url, games=100) as bench:
        await bench.hurry(step_s=1.0)
        with pytest.raises(ConnectionLost, match="ended before we were asked"):
            await bench.ended()
        assert server.handshakes == AT_LOGIN.tries + 1
    assert len(bench.journal.results) == AT_LOGIN.tries + 1
