from __future__ import annotations

import pytest

from bot.web.message_log import MAX_BATCH, BrowserPosition, MessageLog


async def test_a_batch_is_bounded_and_the_rest_follows() -> None:
    messages = MessageLog("test")
    messages.send({"type": "game"})
    for _ in range(40):
        messages.send({"type": "events", "text": "x" * 10_000})
    place, batches = messages.place("", ""), []
    while True:
        text, place = messages.since(place)
        if not text:
            break
        batches.append(text)
    assert len(batches) > 2
    assert max(map(len, batches)) < MAX_BATCH + 1000
    assert "".join(batches).count('"seq"') == 41
    assert messages.is_past(place)


async def test_a_new_game_takes_the_place_of_the_old() -> None:
    messages = MessageLog("test")
    for _ in range(2):
        messages.send({"type": "game"})
        messages.send({"type": "events"})
    assert messages.since(BrowserPosition(1, -1))[0].startswith('[{"type":"reset"},{"seq":3,')
    assert messages.since(BrowserPosition(2, -1))[0].startswith('[{"seq":3,')
    assert messages.since(BrowserPosition(4, -1))[0] == ""
    assert messages.since(BrowserPosition(9, -1))[0].startswith('[{"type":"reset"}')


@pytest.mark.parametrize("number", ["-1", "x", "1e3", "9" * 30, "٣", ""])
async def test_a_place_that_is_none_is_the_beginning(number: str) -> None:
    messages = MessageLog("test")
    messages.send({"type": "game"})
    assert messages.since(messages.place(messages.run, number))[0].startswith('[{"type":"reset"},{"seq":1')


async def test_a_game_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.web.message_log.MAX_GAME", 1000)
    messages = MessageLog("test")
    messages.send({"type": "game"})
    for _ in range(100):
        messages.send({"type": "events", "text": "x" * 90})
    assert messages.since(BrowserPosition(0, -1))[0].count('"seq"') < 15
