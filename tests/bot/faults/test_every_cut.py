"""Rows 1 and 3: the line is cut after each single frame of a whole game, ours and the server's.

However it falls, the game goes on as if nothing had happened: the lobby's record is the same event for event.
"""

from __future__ import annotations

import random

import pytest

from tests.bot.relay import cut_after
from tests.bot.whole_game import ACCOUNT, Outcome, play_through

SEED = 7
SAMPLE = 20
TONPUU = 1
HANCHAN = 9
PARTS = 16
"""So that several processes can share the work."""


def check(number: int, outcome: Outcome, whole: Outcome) -> None:
    told = number == len(whole.frames) - 1  # the final result came through: there is nothing to come back for
    assert outcome.connections >= 2 or told, f"cut {number} cut nothing"
    assert outcome.events == whole.events, f"cut {number}: the game took another course"
    broken = [entry for entry in outcome.logs if entry["event"] == "state.mismatch" and "reason" in entry]
    assert not broken, f"cut {number}: {broken}"
    assert (outcome.tally.fallbacks, outcome.tally.late) == (0, 0), f"cut {number}"
    if outcome.results:
        [result], [expected] = outcome.results, whole.results
        assert (result.scores, result.results, result.placements) == (
            expected.scores,
            expected.results,
            expected.placements,
        ), f"cut {number}"
    else:
        # The last frames were on their way when the line was cut: nobody tells the end twice.
        assert outcome.missed == 1, f"cut {number}"
        assert number >= whole.last_reply, f"cut {number}"


async def test_fault_01_a_sample_of_cuts_ends_with_the_same_game() -> None:
    whole = await play_through(seed=SEED, game_type=TONPUU)
    assert len(whole.frames) > 300
    numbers = random.Random(1).sample(range(1, len(whole.frames)), SAMPLE - 2)
    for number in sorted([*numbers, whole.last_reply, len(whole.frames) - 1]):
        check(number, await play_through(cut_after(number), seed=SEED, game_type=TONPUU), whole)


async def test_fault_01_an_account_comes_back_by_its_id() -> None:
    whole = await play_through(seed=SEED, game_type=TONPUU, name=ACCOUNT)
    for number in random.Random(2).sample(range(1, len(whole.frames)), 3):
        outcome = await play_through(cut_after(number), seed=SEED, game_type=TONPUU, name=ACCOUNT)
        check(number, outcome, whole)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
async def test_fault_01_every_cut_ends_with_the_same_game(part: int) -> None:
    whole = await play_through(seed=SEED, game_type=HANCHAN)
    for number in range(part + 1, len(whole.frames), PARTS):
        outcome = await play_through(cut_after(number), seed=SEED, game_type=HANCHAN)
        check(number, outcome, whole)
