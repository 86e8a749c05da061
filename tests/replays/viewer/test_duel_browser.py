"""The page of a duel in a real browser: every state is drawn as the log has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from game.tiles import mjai_text, parse_hand
from game.two_player.log import DuelLog
from policies.two_player.abstraction import KEYS, POLICIES
from policies.two_player.playing import BY_TABLE, RANDOM_ACTIONS
from policies.two_player.watched import watched_duel
from replays.viewer import duel_page
from tests.chromium import HOSTILE, needs_chromium

pytestmark = needs_chromium

READ_STATES = """() => globalThis.suzakuDuel.duel.states.map((_, at) => {
  const viewer = globalThis.suzakuDuel;
  viewer.go(at);
  const faces = (zone) => [...zone.querySelectorAll(".tile")].map((tile) => tile.dataset.tile);
  const text = (value) => viewer.table.querySelector(`[data-value="${value}"]`)?.textContent ?? null;
  const bars = [...viewer.table.querySelectorAll("[data-policy]")];
  return {
    players: [0, 1].map((player) => {
      const box = viewer.table.querySelector(`[data-player="${player}"]`);
      return {
        tiles: faces(box.querySelector("[data-zone=hand]")),
        river: faces(box.querySelector("[data-zone=river]")),
        melds: [...box.querySelectorAll("[data-form]")].map((meld) => meld.dataset.form),
        acting: box.dataset.acting,
      };
    }),
    wall: faces(viewer.table.querySelector("[data-zone=wall]")),
    at: text("at"), action: text("action"), key: text("key"),
    legal: [...viewer.table.querySelectorAll("[data-action]")].map((one) => one.dataset.action),
    done: [...viewer.table.querySelectorAll("[data-done='1']")].map((one) => one.dataset.action),
    chosen: bars.filter((bar) => bar.dataset.chosen === "1").map((bar) => bar.dataset.policy),
    bars: bars.length,
  };
})"""


def made(deal: int, names: tuple[str, str] = ("one", "other")) -> DuelLog:
    """A duel between the uniform player and random actions, which call much."""
    uniform = np.zeros((KEYS, POLICIES))
    return watched_duel(names, (BY_TABLE, RANDOM_ACTIONS), (uniform, uniform), 7, deal, deal)


def file_of(log: DuelLog, folder: Path) -> Path:
    path = folder / "duel.html"
    path.write_text(duel_page(msgspec.json.encode(log)), encoding="utf-8")
    return path


def faces(tiles: list[str]) -> list[str]:
    return [mjai_text(parse_hand(tile)[0]).removesuffix("r") for tile in tiles]


def remaining(log: DuelLog, at: int) -> list[str]:
    """The wall that is left: what lies beyond the tiles that are anywhere else, by count."""
    state = log.states[at]
    kans = sum("kan" in meld.form for melds in state.melds for meld in melds)
    front = 26 + state.round - kans
    return log.header.wall[front : 64 - kans]


def test_every_state_is_drawn_as_the_log_has_it(open_page: Any, tmp_path: Path) -> None:
    log = next(
        log for log in map(made, range(100)) if any("kan" in str(state.action) for state in log.states)
    )
    opened = open_page(file_of(log, tmp_path))
    drawn = opened.tab.evaluate(READ_STATES)
    assert len(drawn) == len(log.states)
    for at, (state, seen) in enumerate(zip(log.states, drawn, strict=True)):
        for player in (0, 1):
            melds = [tile for meld in state.melds[player] for tile in meld.tiles]
            shown = seen["players"][player]
            assert shown["tiles"] == faces([*state.hands[player], *melds])
            assert shown["river"] == faces(state.rivers[player])
            assert shown["melds"] == [meld.form for meld in state.melds[player]]
            assert shown["acting"] == str(int(state.player == player and state.phase != "over"))
        assert seen["wall"] == faces(remaining(log, at))
        assert len(seen["wall"]) == state.wall_left
        assert seen["legal"] == state.legal
        assert seen["done"] == ([state.action] if state.action else [])
        assert seen["at"].startswith(f"Round {state.round}, ")
        assert seen["key"] == (str(state.choice.key) if state.choice else None)
        assert seen["chosen"] == ([state.choice.policy] if state.choice else [])
        assert seen["bars"] == (len(state.choice.probabilities) if state.choice else 0)
    last = log.states[-1]
    won = "The wall ran out" if last.winner is None else f"{log.header.names[last.winner]} wins"
    assert drawn[-1]["action"].startswith(won)
    opened.check()


def test_stepping_by_keys_buttons_slider_and_address(open_page: Any, tmp_path: Path) -> None:
    log = made(1)
    opened = open_page(file_of(log, tmp_path))
    tab = opened.tab

    def at() -> int:
        return int(tab.evaluate("globalThis.suzakuDuel.at"))

    choices = [place for place, state in enumerate(log.states) if state.choice]
    tab.keyboard.press("ArrowRight")
    assert at() == 1
    tab.keyboard.press("Shift+ArrowRight")
    assert at() == next(place for place in choices if place > 1)
    tab.keyboard.press("End")
    assert at() == len(log.states) - 1
    tab.keyboard.press("ArrowRight")
    assert at() == len(log.states) - 1
    tab.click("[data-command=previousEvent]")
    assert at() == len(log.states) - 2
    assert tab.evaluate("location.hash") == f"#{len(log.states) - 2}"
    tab.click(f"[data-at='{choices[0]}']")
    assert at() == choices[0]
    tab.locator("input[type=range]").fill("3")
    assert at() == 3
    tab.evaluate("location.hash = '#5'")
    tab.wait_for_function("globalThis.suzakuDuel.at === 5")
    tab.select_option("[data-switch=language]", "ja")
    assert tab.inner_text("h1") == "二人麻雀"
    assert at() == 5
    tab.set_viewport_size({"width": 360, "height": 700})
    opened.check()


def test_hostile_names_stay_text(open_page: Any, tmp_path: Path) -> None:
    for names in (HOSTILE[:2], HOSTILE[2:]):
        opened = open_page(file_of(made(2, names), tmp_path))
        opened.tab.keyboard.press("End")
        assert opened.tab.locator("img, script:not([type])").count() == 0
        opened.check()


def test_a_page_without_a_duel_says_so(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.html"
    path.write_text(duel_page({"format": "suzaku-duel/1"}), encoding="utf-8")
    assert "cannot be read" in open_page(path).tab.inner_text("[role=alert]")
