"""Games that are saved while they are played: cut anywhere, each goes on as if it had not been."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from bot.table.plan import TablePlan
from bot.table.saved import GameFile, GameStart, SavedGames
from game.events import GameEvent, PlayerLeft, PlayerReturned
from kit.errors import ConfigError
from replays.record import GameRecord
from tests.bot.table.scenes import PATIENCE_S, QUICK, Hosted, HurriedPlan, Page, news
from tests.cli import run_cli
from tests.scale import scaled

EXAMPLES: Final = scaled(100, 2000)
"""Altered games."""


class Run(Hosted):
    """One run of the program: a table whose games are saved in a folder, or in a file."""

    def __init__(
        self,
        folder: Path,
        people: tuple[str, ...] = ("Anna",),
        plan: TablePlan = QUICK,
        file: GameFile | None = None,
    ) -> None:
        super().__init__(plan, people, save=self._save)
        self.saved = SavedGames(folder / "saved")
        self.kept = folder / "record.xml"
        self._file = file
        self.pages = [Page(seat, random.Random(0)) for seat in self.host.people]
        for page in self.pages:
            page.wise = True  # the same answers in the same positions

    def _save(self, seed: int, number: int, game_id: str) -> GameFile | None:
        start = GameStart(setup=self.programs.setup, seed=seed, number=number, game_id=game_id)
        return self._file or self.saved.begin(start)

    def open(self, seed: int = 0) -> list[Page]:
        for page in self.pages:
            page.open()
        return self.pages

    def resume(self) -> None:
        saved = self.saved.latest()
        self.host.resume(saved, self.saved.reopen(saved))

    @property
    def events(self) -> list[GameEvent]:
        assert self.host.table is not None
        return list(self.host.table.tabletop.events)

    async def play(self, until: Callable[[], bool]) -> None:
        """Let everybody play until something holds, or the game is over."""
        async with asyncio.timeout(PATIENCE_S):
            while self.host.playing and not until():
                await news(self.pages)
                for page in self.pages:
                    page.act()
        if not self.host.playing:
            await self.host.ended()

    async def end(self) -> GameRecord:
        await self.play(lambda: False)
        self.host.close()
        return self.records[-1]

    def cut(self) -> None:
        """End as a killed process does: nothing more is written, and its lock is free."""
        self.host.close()


def shown(page: Page) -> tuple[object, ...]:
    """The state of a page as far as it does not depend on the run."""
    page.read()
    prompt = page.state["prompt"]
    actions = prompt and prompt["actions"]
    return actions, bool(page.state["result"]), page.state["player"], page.state["furiten"]


@pytest.mark.slow
async def test_a_game_cut_every_few_moves_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = Run(tmp_path / "whole")
    whole.sit()
    expected = await whole.end()
    run = Run(tmp_path / "cut")
    run.sit()
    cuts = 0
    while run.host.playing:
        start = len(run.events)
        await run.play(lambda run=run, start=start: len(run.events) > start + 40)  # type: ignore[misc]
        if not run.host.playing:
            break
        before = run.events
        run.cut()
        cuts += 1
        run = Run(tmp_path / "cut")
        run.resume()
        assert run.events == before[: len(run.events)]
        # a deal that nobody has answered yet may be dealt again
        assert len(before) - len(run.events) <= 3
        run.open()
    assert cuts > 5
    record = run.records[-1]
    run.host.close()
    assert (record.events, record.dice, record.names) == (expected.events, expected.dice, expected.names)
    assert not run.saved.unfinished()


async def test_the_page_of_a_resumed_game_shows_the_whole_game_and_the_same_question(tmp_path: Path) -> None:
    run = Run(tmp_path)
    (page,) = run.sit()
    rounds = lambda: sum(m["type"] == "round" for m in messages)  # noqa: E731
    messages: list[dict[str, object]] = []
    read = page.read

    def noted() -> list[dict[str, object]]:
        new = read()
        messages.extend(new)
        return new

    page.read = noted  # type: ignore[method-assign]
    await run.play(lambda: rounds() == 2 and bool(page.state["prompt"]))
    asked, played = shown(page), rounds()
    run.cut()
    again = Run(tmp_path)
    again.resume()
    (page,) = again.open()
    told = page.read()
    assert sum(m["type"] == "round" for m in told) == played
    assert shown(page) == asked
    again.host.close()


async def test_a_resumed_game_waits_for_those_who_were_there(tmp_path: Path) -> None:
    plan = HurriedPlan(length="tonpuu", delay_s=0.0, seed=21)  # the clock plays for Ben
    run = Run(tmp_path, ("Anna", "Ben"), plan)
    _, ben = run.sit()
    await run.play(lambda: len(run.events) > 30)
    ben.seat.leave()
    await run.play(lambda: len(run.events) > 60)
    run.cut()
    again = Run(tmp_path, ("Anna", "Ben"), plan)
    again.resume()
    before = again.events
    assert before[-1] != PlayerReturned(ben.seat.player)
    assert again.host.people[1].connection is None
    for _ in range(50):
        await asyncio.sleep(0)
    assert again.events == before
    again.pages[0].open()
    await again.play(lambda: len(again.events) > len(before))
    again.pages[1].open()
    record = await again.end()
    for event in (PlayerLeft(ben.seat.player), PlayerReturned(ben.seat.player)):
        assert record.events.count(event) == 1
    assert record.ending is not None


async def test_moves_taken_back_stay_taken_back_and_can_be_taken_back_further(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(QUICK, practice=True)
    run = Run(tmp_path, plan=plan)
    (page,) = run.sit()
    answered: set[int] = set()
    await run.play(lambda: bool(answered.add(page.answered) or len(answered) > 8))
    page.read()
    for _ in range(2):
        page.say(type="take_back", prompt=page.state["back"])
        page.read()
    before, asked = run.events, shown(page)
    run.cut()
    again = Run(tmp_path, plan=plan)
    again.resume()
    (page,) = again.open()
    assert again.events == before
    assert shown(page) == asked
    page.say(type="take_back", prompt=page.state["back"])
    assert len(again.events) < len(before)
    assert (await again.end()).ending is not None


async def test_a_game_cut_before_its_record_was_kept_only_has_its_record_made(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.kept = None
    run.sit()
    record = await run.end()
    again = Run(tmp_path)
    again.resume()
    await again.host.ended()
    again.host.close()
    assert again.records == [record]
    assert not again.saved.unfinished()


async def interrupted(folder: Path) -> Path:
    run = Run(folder)
    run.sit()
    await run.play(lambda: len(run.events) > 30)
    assert run.host.saved
    assert run.saved.unfinished() == []  # it is running
    run.cut()
    (path,) = run.saved.unfinished()
    assert "suzaku table --resume" in run.saved.notice()
    return path


async def test_an_entry_that_was_cut_is_dropped(tmp_path: Path) -> None:
    path = await interrupted(tmp_path)
    data = path.read_bytes()
    last = data.rindex(b"\n", 0, -1) + 1
    for size in (last + 1, (last + len(data)) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        run = Run(tmp_path)
        run.resume()
        run.open()
        await run.play(lambda run=run: len(run.events) > 40)  # type: ignore[misc]
        run.cut()
        again = Run(tmp_path)
        again.resume()
        assert again.events[:40] == run.events[:40]
        again.cut()


@pytest.mark.parametrize("damage", ["flipped", "old", "empty", "other rules"])
async def test_a_damaged_or_old_game_is_refused_in_a_sentence_and_kept(damage: str, tmp_path: Path) -> None:
    path = await interrupted(tmp_path)
    data = path.read_bytes()
    first, _, rest = data.partition(b"\n")
    match damage:
        case "flipped":
            data = data[:3000] + bytes([data[3000] ^ 1]) + data[3001:]
        case "old":
            data = b"suzaku-table/0\n" + rest
        case "empty":
            data = b""
        case "other rules":
            start = msgspec.json.decode(first.partition(b" ")[2], type=GameStart)
            file = SavedGames(tmp_path / "else").begin(msgspec.structs.replace(start, seed=start.seed + 1))
            assert file is not None
            file.close()
            data = next((tmp_path / "else").glob("*.game")).read_bytes() + rest
    path.write_bytes(data)
    run = Run(tmp_path)
    with pytest.raises(ConfigError, match="delete the file") as refused:
        run.resume()
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == data
    run.host.close()


def altered(data: bytes, rng: random.Random) -> bytes:
    """A saved game with one line altered, repeated, left out or moved, its checksums right."""
    entries = [msgspec.json.decode(line.partition(b" ")[2]) for line in data.splitlines()]
    at = rng.randrange(1, len(entries))
    match rng.randrange(4):
        case 0:
            entries.insert(at, entries[rng.randrange(1, len(entries))])
        case 1:
            entries.insert(at, {"type": "back", "moves": rng.choice([-2, 0, 1, 99])})
        case 2:
            del entries[at]
        case _:
            entries[at] = altered_value(entries[rng.choice([0, at])], rng)
    bodies = [msgspec.json.encode(entry) for entry in entries]
    return b"".join(b"%08x %s\n" % (zlib.crc32(body), body) for body in bodies)


def altered_value(value: Any, rng: random.Random) -> Any:
    """A value of JSON with something in it replaced."""
    if not value or not isinstance(value, dict | list) or rng.random() < 0.1:
        return rng.choice([-1, 1, 3, 4, 135, 136, 10**6, 10**30, 0.5, None, "", "x", [], {}, [0, 1]])
    place = rng.choice([*value] if isinstance(value, dict) else range(len(value)))
    changed = value.copy()
    changed[place] = altered_value(value[place], rng)
    return changed


async def test_an_altered_game_goes_on_or_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = await interrupted(tmp_path)
    data, rng, refused = path.read_bytes(), random.Random(0), 0
    for _ in range(EXAMPLES):
        path.write_bytes(altered(data, rng))
        run = Run(tmp_path)
        try:
            run.resume()
        except ConfigError as exc:
            assert "delete the file" in str(exc)
            refused += 1
        run.cut()
    assert refused > EXAMPLES // 2


async def test_a_full_disk_costs_no_game(tmp_path: Path) -> None:
    file = os.fdopen(os.open(tmp_path / "x.game", os.O_WRONLY | os.O_CREAT), "wb")
    run = Run(tmp_path, file=GameFile(tmp_path / "x.game", file, contextlib.ExitStack()))
    run.sit()
    await run.play(lambda: len(run.events) > 30)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, file.fileno())
    os.close(full)
    await run.play(lambda: len(run.events) > 60)
    assert not run.host.saved
    assert (await run.end()).ending is not None


async def test_a_second_program_that_resumes_the_same_game_is_told_so(tmp_path: Path) -> None:
    await interrupted(tmp_path)
    run, other = Run(tmp_path), Run(tmp_path)
    found = run.saved.latest(), other.saved.latest()
    with contextlib.closing(run.saved.reopen(found[0])), pytest.raises(ConfigError) as refused:
        other.saved.reopen(found[1])
    assert str(refused.value).endswith(
        ".game: another `suzaku table` is playing this game; use its page, or stop it first"
    )
    for each in (run, other):
        each.host.close()


async def test_the_command_says_what_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code, _, said = await asyncio.to_thread(run_cli, "table", "--resume")
    assert (code, said.strip()) == (
        2,
        "suzaku: --resume: there is no unfinished game; `suzaku table` begins one",
    )
    path = await interrupted(tmp_path)
    folder = tmp_path / "state" / "suzaku" / "tables"
    folder.mkdir(parents=True)
    path = path.rename(folder / path.name)
    code, _, said = await asyncio.to_thread(run_cli, "table", "--resume", "--tonpuu")
    assert code == 2
    assert "leave out the options of a new game" in said
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, _, said = await asyncio.to_thread(run_cli, "table", "--port", port)
    assert code == 2
    assert "`suzaku table --resume` continues it" in said
    assert str(path) in said
    assert path.exists()
