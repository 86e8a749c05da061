"""The table in a real browser: Playwright drives the system's Chromium, and clicks like a person."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.table import seat as seat_module
from game.events import Discard, PlayerLeft, PlayerReturned, Riichi
from game.tiles import mjai_text
from replays.formats import read_game
from replays.store.index import games
from tests.bot.table.scenes import PATIENCE_S, QUICK, HurriedPlan, served_table
from tests.chromium import HOSTILE, Opened, needs_chromium, sync_api
from tests.cli import start

pytestmark = needs_chromium
ADVICE_S = 10
"""Seconds before a person plays without advice."""
BOXES = (
    """all => all.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().toJSON())"""
)
"""Where the visible ones of some elements are."""
SEEN = """() => {
  const page = globalThis.suzakuTable;
  if (!page?.state || page.due) return null;  // not before it is drawn
  const all = (selector) => [...document.querySelectorAll(selector)];
  const buttons = all("[data-action]").map((one) => one.dataset.action);
  const hand = all(".row[data-place='0'] .hand .tile").map((one) => one.dataset.tile);
  const open = all(".held-open").length;
  const best = all(".hand-playable .held").findIndex((one) => one.querySelector(".bar-preferred"));
  return { ...page.state, asked: page.prompt?.number ?? 0, buttons, hand, open, best, wire: page.wire.state,
    rounds: page.game.rounds.length, events: page.game.rounds.at(-1)?.events.length ?? 0,
    places: page.game.game.places, card: document.querySelectorAll(".result").length, riichi: page.riichi };
}"""
"""What a person sees, and the state behind it."""
MESSAGE = """() => new Promise((done) => {
  globalThis.suzakuTable.hear([]);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
"""Something is heard, which draws the page anew."""
NAMES = """all => all.map((one) => one.getAttribute("aria-label") || one.textContent.trim()
  || one.closest("label")?.textContent.trim() || "")"""
SIZES = ((390, 844), (740, 360), (1440, 900))


class Player(Opened):
    """A page, and a person in front of it."""

    def __init__(self, tab: Any, link: str) -> None:
        super().__init__(tab, link, SEEN)
        self.touch = tab.tap if tab.evaluate("navigator.maxTouchPoints") else tab.click
        self.answered: set[int] = set()
        self.pressed: set[str] = set()
        self.declared: list[str] = []
        self.waits: float | None = None

    def press(self, selector: str) -> None:
        """Click or tap; what a faster clock has taken away is not clicked."""
        with contextlib.suppress(sync_api.TimeoutError):
            self.touch(selector, timeout=2000)

    def sit(self) -> None:
        """Sit down."""
        self.until(lambda seen: "sit" in seen["buttons"])
        self.touch("[data-action=sit]")

    def awaits_advice(self) -> bool:
        """Whether the advice may still be on its way."""
        self.waits = self.waits or time.monotonic()
        return time.monotonic() < self.waits + ADVICE_S

    def act(self, seen: dict[str, Any]) -> None:
        """Do the next thing that a person would."""
        for kind in ("go_on", "ron", "tsumo"):
            if kind in seen["buttons"]:
                self.pressed.add(kind)
                self.press(f"[data-action={kind}]")
                return
        if not seen["asked"] or seen["asked"] in self.answered:
            return
        if "riichi" in seen["buttons"]:
            self.pressed.add("riichi")
            self.touch("[data-action=riichi]")
            self.answered.add(seen["asked"])
            lit = self.tab.locator(".hand-lit .held-open >> nth=0")
            self.declared.append(lit.locator(".tile").get_attribute("data-tile"))
            self.touch(".hand-lit .held-open >> nth=0")
        elif "pass" in seen["buttons"]:
            calls = [kind for kind in seen["buttons"] if kind in ("pon", "chi", "daiminkan")]
            kind = calls[0] if calls and calls[0] not in self.pressed else "pass"
            self.pressed.add(kind)
            self.answered.add(seen["asked"])
            self.press(f"[data-action={kind}] >> nth=0")
        elif seen["open"] and seen["switches"]["advice"] and seen["best"] < 0 and self.awaits_advice():
            return
        elif seen["open"]:
            self.waits = None
            self.answered.add(seen["asked"])
            best = f".held[data-place='{seen['best']}']" if seen["best"] >= 0 else ".held-open >> nth=-1"
            self.press(f".hand-playable {best}" if seen["best"] >= 0 else best)

    def play_until(self, true: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Play on until the page shows something."""
        end = time.monotonic() + PATIENCE_S
        while True:
            seen: dict[str, Any] | None = self.tab.evaluate(SEEN)
            if seen is not None and true(seen):
                return seen
            assert time.monotonic() < end, seen
            if seen is not None:
                self.act(seen)
            self.tab.wait_for_timeout(20)


@pytest.fixture
def open_seat(open_page: Callable[..., Any]) -> Callable[..., Player]:
    def open_it(link: str, width: int = 1440, height: int = 900, **options: Any) -> Player:
        player: Player = open_page(link, "", width, height, Player, **options)
        return player

    return open_it


@pytest.mark.slow
def test_a_tonpuu_from_the_first_page_to_the_review(
    open_seat: Callable[..., Player], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    flags = ("--opponents", "heuristic", "--policy", "heuristic", "--tonpuu", "--delay", "0", "--seed", "3")
    more = ("--name", "Anna", "--port", "0", "--out", str(tmp_path), "--log-level", "error")
    with start("table", *flags, *more, hang_s=6 * PATIENCE_S) as program:
        player = open_seat(program.stdout.readline().split(": ", 1)[1].strip())
        assert "Hanchan" not in player.tab.text_content(".sheet")
        player.sit()
        player.until(lambda seen: seen["stage"] == "playing")
        player.tab.check("[data-switch=advice]")
        player.play_until(lambda _: player.declared and {"go_on", "pass"} < player.pressed)
        for switch in ("no_calls", "auto_discard", "auto_win"):  # the rest goes by itself
            player.tab.check(f"[data-switch={switch}]")
        seen = player.play_until(lambda seen: seen["places"] and "sit" in seen["buttons"])
        rows = player.tab.locator(".standings tbody tr").all_text_contents()
        assert len(rows) == 4
        assert sum("Anna" in row for row in rows) == 1
        # the first review on a machine may compile kernels
        player.until(lambda seen: (seen["review"] or {}).get("state") == "ready", 4 * PATIENCE_S)
        player.check()
        player.tab.click(".review-link")
        player.tab.wait_for_selector(".rounds .round")
        assert player.tab.locator(".rounds .round").count() == seen["rounds"]
        assert player.tab.text_content("h1") == "Anna"
        player.tab.keyboard.press("Shift+ArrowRight")
        player.tab.wait_for_selector(".decision .verdict")
        player.check()
        program.terminate()
        assert program.wait(PATIENCE_S) == 0
    ((entry,), problems) = games(tmp_path)
    assert not problems
    assert entry.names.count("Anna") == 1
    record = read_game(tmp_path / f"{entry.game_id}.mjlog.xml")
    assert record.is_complete
    own = entry.names.index("Anna")
    after = [then for event, then in pairwise(record.events) if event == Riichi(own)]
    assert [mjai_text(event.tile) for event in after if isinstance(event, Discard)] == player.declared
    assert player.declared


def test_a_reload_resumes_in_a_turn_in_a_claim_and_at_a_result_and_all_is_in_sight_at_every_size(
    open_seat: Callable[..., Player],
) -> None:
    with served_table(msgspec.structs.replace(QUICK, clock="5+10", seed=1)) as served:
        player = open_seat(served.links[0], locale="ja-JP", color_scheme="dark", has_touch=True)
        player.sit()
        for wanted in (
            lambda seen: seen["open"] and seen["events"] > 6,
            lambda seen: seen["asked"] and "pass" in seen["buttons"],
            lambda seen: seen["card"] and "go_on" in seen["buttons"],
        ):
            before = player.play_until(wanted)
            player.tab.reload()
            after = player.until(lambda seen: seen["wire"] == "open" and seen["rounds"])
            for same in ("asked", "buttons", "hand", "open", "events", "rounds", "result", "card"):
                assert after[same] == before[same], same
            clock = [seen["clock"]["base"] + seen["clock"]["bank"] for seen in (before, after)]
            assert clock[1] <= clock[0]
            for size in SIZES:
                in_sight(player, *size)
            assert all(player.tab.locator("button, [role=button], input, select").evaluate_all(NAMES))
        player.play_until(lambda seen: seen["rounds"] > before["rounds"])
        player.play_until(lambda _: player.tab.locator(".shout").count())
        assert player.tab.evaluate("document.documentElement.lang") == "ja"
        player.check()
        assert not any(isinstance(event, PlayerLeft) for event in served.call(lambda: events_of(served)))


def events_of(served: Any) -> list[Any]:
    return list(served.hosted.host.table.tabletop.events)


def in_sight(player: Player, width: int, height: int) -> None:
    player.tab.set_viewport_size({"width": width, "height": height})
    for selector in (".hand-playable .held", ".act-bar button", ".clock:not([hidden])", ".result"):
        # all at one moment, as the table goes on meanwhile
        for box in player.tab.locator(selector).evaluate_all(BOXES):
            assert box["left"] >= 0
            assert box["right"] <= width
            assert box["bottom"] <= height
    touch, names, tiles = (
        player.tab.locator(each).evaluate_all(BOXES)
        for each in (".act-bar button", ".plate-name", ".river .tile")
    )
    for box, other in product(touch, names + tiles):  # no button covers one of these
        beside = box["left"] >= other["right"] - 1 or other["left"] >= box["right"] - 1
        assert beside or box["top"] >= other["bottom"] - 1 or other["top"] >= box["bottom"] - 1, (box, other)
    assert all(box["height"] >= 44 and box["width"] >= 44 for box in touch)
    player.check()


def test_of_two_at_a_table_one_goes_away_is_played_for_and_returns(
    open_seat: Callable[..., Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_module, "AWAY_S", 0.1)
    plan = HurriedPlan(length="tonpuu", delay_s=0.02, seed=9)
    with served_table(plan, ("Anna", HOSTILE[0])) as served:
        anna, ben = open_seat(served.links[0]), open_seat(served.links[1], 390, 844)
        anna.sit()
        anna.until(lambda seen: seen["ready"])
        assert anna.tab.text_content(".sheet [role=status]") == f"Waiting for {HOSTILE[0]}."
        assert ben.until(lambda seen: True)["stage"] == "seating"
        ben.sit()
        seen = [player.until(lambda seen: seen["asked"]) for player in (anna, ben)]
        assert seen[0]["player"] != seen[1]["player"]
        assert seen[0]["hand"] != seen[1]["hand"]
        for player in (anna, ben):
            assert player.tab.locator("[data-switch=advice]").count() == 0
            player.check()
        ben.tab.goto("about:blank")
        served.until(lambda: any(isinstance(e, PlayerLeft) for e in events_of(served)))
        turns = len(served.call(lambda: events_of(served)))
        served.until(lambda: len(events_of(served)) > turns + 40)
        ben.tab.goto(served.links[1])
        ben.until(lambda now: now["asked"] > seen[1]["asked"] and now["stage"] == "playing")
        served.until(lambda: any(isinstance(e, PlayerReturned) for e in events_of(served)))
        assert anna.faults == ben.faults == []


def test_the_keyboard_is_enough_for_a_level_a_seat_advice_and_play(open_seat: Callable[..., Player]) -> None:
    with served_table(msgspec.structs.replace(QUICK, seed=7, practice=True), advised=True) as served:
        player = open_seat(served.links[0])
        tab = player.tab
        player.until(lambda seen: "sit" in seen["buttons"])
        tab.focus("[data-level=rules]")
        tab.keyboard.press("ArrowDown")
        player.until(lambda seen: seen["level"] == "people" and not seen["loading"])
        assert tab.evaluate("document.activeElement.dataset.level") == "people"
        assert "strong players" in tab.text_content(".levels p").lower()
        while tab.evaluate("document.activeElement.dataset.action") != "sit":
            tab.keyboard.press("Tab")
        tab.keyboard.press("Enter")
        player.until(lambda seen: seen["asked"])
        assert tab.evaluate("document.activeElement.classList.contains('board')")
        for key in ("d", "Enter", "d", "Enter", "d"):
            seen = player.until(lambda seen: seen["asked"])
            while "pass" in seen["buttons"]:
                tab.keyboard.press("x")
                asked = seen["asked"]
                seen = player.until(lambda seen, asked=asked: seen["asked"] > asked)
            if key == "Enter":
                tab.keyboard.press("ArrowLeft")
                tab.keyboard.press("ArrowLeft")
                label = tab.evaluate("document.activeElement.getAttribute('aria-label')")
                assert re.fullmatch(r"Discard [\w ]+", label)
                chosen = tab.evaluate("document.activeElement.querySelector('.tile').dataset.tile")
            else:
                chosen = seen["hand"][-1]
            tab.keyboard.press(key)
            player.until(lambda now, seen=seen: now["asked"] > seen["asked"] or now["card"])
            river = tab.locator(".seat[data-place='0'] .river .tile")
            assert river.last.get_attribute("data-tile") == chosen
        later = player.until(lambda seen: seen["asked"] and seen["back"])
        tab.keyboard.press("u")
        again = player.until(lambda seen: seen["asked"] > later["asked"])
        assert again["events"] < later["events"] or again["rounds"] < later["rounds"]
        tab.focus("[data-switch=advice]")
        tab.keyboard.press("Space")
        player.until(lambda seen: seen["switches"]["advice"])
        tab.click(".toggle:has([data-switch=sound])")
        assert tab.evaluate("document.activeElement.dataset.switch ?? null") is None
        before = player.play_until(lambda seen: seen["open"])
        tab.hover(".held-open >> nth=0")
        tab.mouse.down()
        tab.evaluate(MESSAGE)
        tab.mouse.up()
        player.until(lambda seen: seen["asked"] > before["asked"] or seen["card"])
        for size in SIZES:
            player.play_until(lambda seen: seen["open"] and seen["best"] >= 0)
            assert len(tab.inner_text(".reason")) > 20
            in_sight(player, *size)
        served.call(lambda: setattr(served.hosted.host.people[0], "key", "that of another run"))
        tab.evaluate("globalThis.suzakuTable.line.socket.close()")
        player.until(lambda seen: seen["wire"] == "moved")
        assert "Open the new link" in tab.inner_text(".live-status")
