"""Nothing hidden is ever sent: every message to a page, against the full record of the game."""

from __future__ import annotations

import asyncio
import random

import msgspec
import pytest

from game.events import Draw, PlayerLeft, PlayerReturned, StartRound
from game.table.table import masked
from replays.review.moments import follow
from tests.bot.table.leaks import Leak, check_only_seen, check_sent, messages_in
from tests.bot.table.scenes import QUICK, Hosted, HurriedPlan, Page, play_through


async def _play(seed: int, people: tuple[str, ...], *, advised: bool) -> tuple[Hosted, list[Page]]:
    hosted = Hosted(msgspec.structs.replace(QUICK, seed=seed), people, advised=advised)
    pages = hosted.open(seed)
    for page in pages if advised else ():
        page.say(type="switch", name="advice", on=True)
    await play_through(pages, hosted.host, 0.003 if advised and len(people) == 1 else 0.0)
    hosted.host.close()
    return hosted, pages


async def _check(seed: int, people: tuple[str, ...], *, advised: bool = False) -> int:
    hosted, pages = await _play(seed, people, advised=advised)
    (record,) = hosted.records
    assert record.is_complete
    assert record.ending is not None
    return sum(check_sent(page.texts, record, page.seat.player) for page in pages)


async def test_pages_are_sent_what_their_seats_see_and_nothing_else() -> None:
    assert await _check(3, ("A", "B", "C", "D")) > 400


@pytest.mark.parametrize("people", [("Anna",), ("Anna", "Ben")])
async def test_only_who_sits_alone_among_programs_gets_advice_which_shows_nothing_hidden(
    people: tuple[str, ...],
) -> None:
    hosted, pages = await _play(21, people, advised=True)
    for page in pages:
        assert check_sent(page.texts, hosted.records[0], page.seat.player) > 100
        advice = sum(message["type"] == "decision" for message in messages_in(page.texts))
        assert advice > 10 if people == ("Anna",) else advice == 0
        assert page.state["switches"]["advice"] == (people == ("Anna",))


async def test_a_leak_would_be_found() -> None:
    hosted, (page,) = await _play(21, ("Anna",), advised=False)
    player, (record,) = page.seat.player, hosted.records
    drawn = next(event for event in record.events if isinstance(event, Draw) and event.player != player)
    dealt = next(event for event in record.events if isinstance(event, StartRound))
    for hidden in (drawn, dealt):
        assert masked(hidden, player) != hidden
    with pytest.raises(Leak):
        check_sent(page.texts, record, (player + 1) % 4)
    with pytest.raises(Leak):
        check_only_seen(['[{"type":"events","events":[{"type":"tsumo","actor":9,"pai":"5m"}]}]'], player)
    with pytest.raises(Leak):
        check_only_seen(['[{"type":"session","hands":[]}]'], player)
    with pytest.raises(Leak):
        check_only_seen(['[{"type":"session","prompt":{"actions":[{"tile":"5m"}]}}]'], player)


@pytest.mark.slow
def test_nothing_hidden_is_sent_in_two_hundred_games() -> None:
    async def play_all() -> int:
        counts = [
            await _check(seed, ("A", "B", "C", "D")[: 1 + seed % 4], advised=True) for seed in range(200)
        ]
        return sum(counts)

    assert asyncio.run(play_all()) > 200_000


async def _restless(seed: int) -> tuple[int, int]:
    """A game of two persons who leave and return all the time; returns absences and messages."""
    hosted = Hosted(HurriedPlan(length="tonpuu", delay_s=0.0, seed=seed), ("Anna", "Ben"))
    rng = random.Random(seed)
    pages = hosted.sit(seed)
    while hosted.host.playing:
        for page in pages:
            page.read()
            if page.seat.here and rng.random() < 0.03:
                page.shut()
                page.seat.leave()  # at once
            elif not page.seat.here and rng.random() < 0.1:
                page.open()
            elif page.seat.here:
                page.act()
        await asyncio.sleep(0.001)
    await hosted.host.ended()
    for page in pages:
        page.open()
        await asyncio.sleep(0.01)
        page.read()
    (record,) = hosted.records
    assert record.ending is not None
    absences = sum(isinstance(event, PlayerLeft) for event in record.events)
    returns = sum(isinstance(event, PlayerReturned) for event in record.events)
    assert absences - len(pages) <= returns <= absences  # some are away at the end
    for page in pages:
        check_only_seen(page.texts, page.seat.player)
        over = [message for message in messages_in(page.texts) if message["type"] == "over"]
        assert over[-1]["scores"] == list(record.ending.scores)
        assert follow(record.events, page.seat.player, "tonpuu").rounds
    hosted.host.close()
    return absences, sum(len(page.texts) for page in pages)


@pytest.mark.slow
async def test_persons_who_leave_and_return_all_the_time_see_nothing_hidden_either() -> None:
    absences, messages = await _restless(11)
    assert absences > 2
    assert messages > 100
