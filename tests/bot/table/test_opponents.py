"""The players of the other seats, as the command line names them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
import structlog

from bot.cli.playing import loader, numbered
from bot.config.settings import Config
from bot.table.plan import LEVELS, Opponents, TableBot, TableSetup, person_in
from kit.errors import ConfigError
from learning.selfplay.players import names_in
from tests.bot.table.scenes import QUICK, Hosted, bots, opponents, play_through
from tests.learning.selfplay.engine_players import alive, engine_text, wait_for_the_end


def loaded(*texts: str) -> Sequence[TableBot]:
    return loader(["Anna"], 10.0, Config())(texts)


def test_players_are_split_at_commas_but_engines_are_not() -> None:
    assert names_in(["network, person,Ben=person"]) == ["network", "person", "Ben=person"]
    assert names_in(["engine:a b,c", "heuristic"]) == ["engine:a b,c", "heuristic"]
    persons = [person_in(text) for text in ("person", "Ben=person", "network", "x=network")]
    assert persons == ["Guest", "Ben", None, None]


def test_names_at_a_table_differ() -> None:
    assert numbered(["network"] * 3) == ["network 1", "network 2", "network 3"]
    assert numbered(["heuristic"], ["heuristic"]) == ["heuristic 1"]


def test_seats_of_one_player_share_it() -> None:
    first, second, other = loaded("heuristic", "heuristic", "random")
    assert first.chooser is second.chooser
    assert first.chooser is not other.chooser
    assert [bot.name for bot in (first, second, other)] == ["Hibari", "Tsubame", "Mejiro"]
    assert [bot.player for bot in (first, second, other)] == ["heuristic", "heuristic", "random"]
    with pytest.raises(ConfigError):
        loaded("nobody", "heuristic", "heuristic")


async def test_a_person_chooses_the_level_of_the_next_game() -> None:
    asked = list[tuple[str, ...]]()

    def load(texts: Sequence[str]) -> Sequence[TableBot]:
        asked.append(tuple(texts))
        if texts[0] == LEVELS["search"]:
            raise ConfigError("no such folder")
        return bots(len(texts))

    programs = Opponents(TableSetup(QUICK, "Anna", ("Ben=person", *["network"] * 2)), load)
    hosted = Hosted(QUICK, ["Anna", "Ben"], programs=programs)
    host, pages = hosted.host, hosted.open()
    for page in pages:
        page.read()
    anna, ben = pages
    assert (ben.state["level"], ben.state["levels"]) == ("network", list(LEVELS))
    anna.say(type="level", level="search")
    await host.ended()
    ben.read()
    assert (ben.state["level"], ben.state["level_failed"]) == ("network", True)
    ben.say(type="level", level="people")
    await asyncio.sleep(0)  # it is being loaded
    ben.say(type="level", level="rules")  # the last one counts
    anna.read()
    assert anna.state["loading"] == "rules"
    for page in pages:
        page.say(type="sit")
    assert not host.playing
    await host.ended()  # a game begins as soon as the level is loaded
    assert host.playing
    anna.say(type="level", level="network")
    await host.ended()
    assert programs.setup.opponents == ("Ben=person", "heuristic", "heuristic")
    assert asked == [(text,) * 2 for text in ("network", LEVELS["search"], "phoenix", "heuristic")]
    host.close()


def test_programs_chosen_one_by_one_have_no_level() -> None:
    programs = Opponents(TableSetup(QUICK, "Anna", ("heuristic", "heuristic", "network")), loaded_quickly)
    assert (programs.facts()["level"], programs.facts()["levels"]) == (None, [])


def loaded_quickly(texts: Sequence[str]) -> Sequence[TableBot]:
    return bots(len(texts))


async def test_an_engine_plays_beside_the_rules_without_a_fault(tmp_path: Path) -> None:
    engines = tmp_path / "engines"
    programs = opponents(QUICK, ["Anna"], loaded(engine_text(engines), "heuristic", "random"))
    hosted = Hosted(programs=programs)
    pages = hosted.open(1)
    with structlog.testing.capture_logs() as logs:
        await play_through(pages, hosted.host)
    assert hosted.records[0].ending is not None
    assert [entry for entry in logs if entry["event"] in ("engine.lost", "decision.fallback")] == []
    assert len(alive(engines)) == 1
    hosted.host.close()
    await asyncio.to_thread(wait_for_the_end, engines)
