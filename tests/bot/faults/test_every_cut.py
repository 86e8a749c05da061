"""Faults 1 and 3: the connection is cut after frames of a whole game, ours and the server's.

After each cut the game must continue as if nothing had happened: the lobby's record has the same events.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.bot.relay import CUT, HALF_CUT, Side, cut_after
from tests.bot.whole_game import ACCOUNT, Outcome, play_through, undisturbed

SAMPLE = 2
"""Cuts of `make test`; `make test-all` makes every one."""
PARTS = 16
"""Lets several processes share the work."""


def check(number: int, outcome: Outcome, whole: Outcome) -> None:
    told = number == len(whole.frames) - 1  # the final result arrived: there is no reason to reconnect
    assert outcome.connections >= 2 or told, f"cut {number} cut nothing"
    assert outcome.events == whole.events, f"cut {number}: the game took another course"
    broken = [entry for entry in outcome.logs if entry["event"] == "state.mismatch" and "reason" in entry]
    assert not broken, f"cut {number}: {broken}"
    assert (outcome.tally.fallbacks, outcome.tally.late) == (0, 0), f"cut {number}"
    [result], [expected] = outcome.results, whole.results
    assert (result.scores, result.results, result.placements) == (
        expected.scores,
        expected.results,
        expected.placements,
    ), f"cut {number}"


async def test_fault_01_a_sample_of_cuts_ends_with_the_same_game() -> None:
    whole = await undisturbed(name=ACCOUNT)
    assert len(whole.frames) > 300
    numbers = random.Random(1).sample(range(1, len(whole.frames)), SAMPLE)
    for number in (*numbers, whole.last_reply, len(whole.frames) - 1):
        check(number, await play_through(cut_after(number), name=ACCOUNT), whole)


async def test_fault_01_a_guest_rejoins_with_the_code_of_the_seat() -> None:
    whole = await undisturbed()
    # Before that the client has no resume code: its seat is lost with the connection.
    first = next(n for n, (_, text) in enumerate(whole.frames, start=1) if '"GO"' in text)
    for number in (first, random.Random(2).randrange(first, len(whole.frames))):
        check(number, await play_through(cut_after(number)), whole)


async def test_fault_01_a_guest_comes_back_though_the_server_noticed_nothing() -> None:
    def cut_ours(n: int, _: Side, text: str) -> Sequence[object]:
        return (text, HALF_CUT) if n == 301 else (text,)

    check(301, await play_through(cut_ours), await undisturbed())


async def test_fault_01_a_line_that_breaks_all_the_time_still_carries_the_game() -> None:
    def cut_often(number: int, _: Side, text: str) -> Sequence[object]:
        return (text, CUT) if number % 20 == 0 else (text,)

    outcome = await play_through(cut_often, name=ACCOUNT)
    assert outcome.connections > 15
    check(0, outcome, await undisturbed(name=ACCOUNT))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
async def test_fault_01_every_cut_ends_with_the_same_game(part: int) -> None:
    whole = await undisturbed(name=ACCOUNT)
    for number in range(part + 1, len(whole.frames), PARTS):
        check(number, await play_through(cut_after(number), name=ACCOUNT), whole)
