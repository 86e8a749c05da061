"""The dashboard in a real browser: Playwright drives the system's Chromium."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.dashboard.feed import Adapting, Began, Feed, HandsGuessed
from replays.review.schema import CandidateHand, CandidateHands
from replays.standing import AdaptationStanding
from tests.bot.dashboard.scenes import decided, library, played, put, server
from tests.bot.fake_server import free_port
from tests.chromium import needs_chromium

pytestmark = needs_chromium
PATIENCE_S = 60.0
GONE = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "Connection closed", "ERR_EMPTY_RESPONSE")
"""What a browser itself writes to its console if nothing listens; no page can prevent it."""
SEEN = """() => {
  if (!globalThis.suzakuViewer) return null;
  const { latest, review, following, position, wire, session } = globalThis.suzakuViewer;
  return { rounds: latest.rounds, decisions: latest.decisions, game: latest.game, shown: review === latest,
    following, position, wire, session };
}"""


class Opened:
    """A page, its errors, and its requests to other machines."""

    def __init__(self, tab: Any, url: str) -> None:
        self.tab = tab
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.url = url
        self.width = tab.viewport_size["width"]
        tab.on("console", lambda message: self.faults.append(message.text))
        tab.on("pageerror", lambda error: self.faults.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("websocket", lambda line: self.requests.append(line.url.replace("ws:", "http:")))
        tab.goto(url)

    @property
    def seen(self) -> dict[str, Any]:
        """The state of the page, once its script has run."""
        return self.until(lambda _: True)

    def until(self, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait in Python: the page's security policy lets no test inject a condition."""
        end = time.monotonic() + PATIENCE_S
        while True:
            seen: dict[str, Any] | None = self.tab.evaluate(SEEN)
            if seen is not None and true(seen):
                return seen
            assert time.monotonic() < end, seen
            self.tab.wait_for_timeout(50)

    def check(self) -> None:
        """Check that there were no errors and no requests to other machines."""
        assert [fault for fault in self.faults if not any(word in fault for word in GONE)] == []
        assert [url for url in self.requests if not url.startswith((self.url, "data:"))] == []


@pytest.fixture(scope="module", autouse=True)
def _games_played() -> None:
    """Before the browser is there, whose event loop would be in the way."""
    assert library().is_dir()
    assert played()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    contexts = []

    def open_it(url: str, width: int = 1280, **options: Any) -> Opened:
        options = {"locale": "en-GB", "reduced_motion": "reduce"} | options
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        return Opened(context.new_page(), url)

    yield open_it
    for context in contexts:
        context.close()


@contextlib.contextmanager
def suzaku_play(folder: Path, *flags: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """`suzaku play` in a process of its own."""
    arguments = ["--type", "tonpuu", "--out", str(folder), "--log-level", "error", *flags]
    settings = {"SUZAKU_DECISION__POLICY": "heuristic", "XDG_STATE_HOME": str(folder / "state")}
    program = subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "play", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | settings | environment,
    )
    with program:
        try:
            yield program
        finally:
            program.kill()


def test_a_game_is_followed_to_its_end_by_two(open_page: Any, tmp_path: Path) -> None:
    port = free_port()
    flags = ["--dashboard", "--dashboard-port", "0", "--seed", "7", "--pace", "instant"]
    table = {"SUZAKU_LOCAL__PORT": str(port), "SUZAKU_LOCAL__CLIENTS_PER_TABLE": "2"}
    with suzaku_play(tmp_path / "watched", *flags, **table) as program:
        assert program.stderr is not None
        url = program.stderr.readline().removeprefix("dashboard: ").strip()
        wide, narrow = open_page(url), open_page(url, 360, locale="ja-JP", color_scheme="dark")
        for page in (wide, narrow):
            page.tab.wait_for_selector(".live-empty")
            page.until(lambda seen: seen["wire"]["state"] == "open")
        # The table waits for this second client, so that no game is over before both pages listen.
        with suzaku_play(tmp_path / "other", "--url", f"ws://127.0.0.1:{port}") as other:
            ends = [page.until(lambda seen: seen["game"]["places"] is not None) for page in (wide, narrow)]
            assert other.wait(PATIENCE_S) == 0
            assert "until you press Ctrl-C" in program.stderr.readline()
            late = open_page(url)
            assert late.until(lambda seen: seen["game"]["places"] is not None)["game"] == ends[0]["game"]
            program.send_signal(signal.SIGINT)
            assert program.wait(PATIENCE_S) == 0
    assert ends[0]["game"] == ends[1]["game"]
    assert ends[0]["rounds"] == ends[1]["rounds"]
    assert ends[0]["decisions"] == ends[1]["decisions"]
    assert len(ends[0]["rounds"]) == 4
    assert len(ends[0]["decisions"]) > 40
    for page in (wide, narrow):
        seen = page.until(lambda seen: seen["session"]["line"] == "over" and seen["wire"]["state"] == "over")
        assert seen["following"]
        assert seen["position"] == {"round": 3, "event": len(seen["rounds"][3]["events"]) - 1}
        assert page.tab.locator(".result").count() == 1
        page.tab.click("[data-tab=session]")
        assert page.tab.text_content("[data-figure=played]") == "1"
        shares = page.tab.locator(".ladder [data-share]").evaluate_all(
            "all => all.map((one) => +one.dataset.share)"
        )
        assert shares == seen["session"]["ladder"]["shares"]
        dan = float(page.tab.text_content("[data-figure=dan]"))
        assert dan == pytest.approx(seen["session"]["ladder"]["dan"], abs=0.051)
        assert page.tab.text_content("[data-figure=count]") == str(seen["session"]["decisions"]["count"])
        assert page.tab.locator("#pane-session tbody tr").count() == 1
        page.check()
    assert narrow.tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert narrow.tab.text_content("#tab-session") == "成績"


def test_stepping_back_stays_back_until_one_goes_live(open_page: Any) -> None:
    feed, items = Feed(), played()
    with server(feed, library()) as served:
        page = open_page(served.url)
        assert page.tab.is_visible(".live-empty")
        put(feed, items[:70])
        page.until(lambda seen: len(seen["decisions"]) > 5)
        page.tab.wait_for_selector(".decision [data-value=probability]")
        page.tab.keyboard.press("ArrowLeft")
        page.tab.keyboard.press("ArrowLeft")
        before = page.seen
        assert not before["following"]
        hand = page.tab.locator(".row[data-place='0'] .hand").bounding_box()
        assert hand["y"] + hand["height"] <= 800
        put(feed, items[70:])
        after = page.until(lambda seen: seen["game"]["places"] is not None)
        assert after["position"] == before["position"]
        assert page.tab.evaluate("location.hash") == "#{round}.{event}".format(**before["position"])
        put(feed, items)  # the next game does not replace this one
        page.until(lambda seen: not seen["shown"] and seen["game"]["places"] is not None)
        assert page.seen["position"] == before["position"]
        page.tab.click("[data-command=follow]")
        live = page.until(lambda seen: seen["shown"] and seen["following"])
        assert live["position"]["round"] == len(live["rounds"]) - 1
        assert page.tab.is_hidden("[data-command=follow]")
        assert page.tab.evaluate("location.hash") == ""
        page.check()


def test_hands_that_came_later_are_shown_beside_their_decision(open_page: Any, tmp_path: Path) -> None:
    feed, items = Feed(), list(played())
    feed.put(items[0])
    with server(feed, tmp_path) as serving:
        page = open_page(serving.url)
        put(feed, items[1:200])
        last = page.until(lambda seen: len(seen["decisions"]) > 5)["decisions"][-1]
        assert page.tab.locator(".candidates").count() == 0
        began = next(item for item in items if isinstance(item, Began))
        hands = (
            CandidateHand(tiles="1m 2m 3m 4m 5mr 6m 7p 8p 9p E E S S", shanten=0),
            CandidateHand(tiles="1m 4m 7m 2p 5p 8p 3s 6s 9s E S W N", shanten=6),
        )
        found = CandidateHands(model="diffusion", hands=(hands, hands, hands))
        feed.put(HandsGuessed(began.game_id, last["round"], last["event"], (found,)))
        page.tab.locator(".candidates li").nth(1).wait_for()
        assert page.tab.locator(".candidates li").count() == 2
        page.tab.get_by_label("Only tenpai").check()
        assert page.tab.locator(".candidates li").count() == 1
        page.check()


def test_the_page_comes_back_after_the_server_does(open_page: Any) -> None:
    feed, items = Feed(), played()
    with server(feed, library()) as served:
        port = served.port
        page = open_page(served.url)
        put(feed, items[:70])
        page.until(lambda seen: len(seen["decisions"]) > 5)
    gone = page.until(lambda seen: seen["wire"]["state"] == "over")
    assert len(gone["decisions"]) > 5  # what was shown stays
    assert "stopped" in page.tab.text_content(".live-status")
    with server(feed, library(), port):
        put(feed, items)
        back = page.until(lambda seen: seen["game"]["places"] is not None)
        assert back["wire"]["state"] == "open"
        assert len(back["decisions"]) == decided(items)
        page.check()


def test_past_games_are_listed_and_replayed(open_page: Any) -> None:
    with server(None, library()) as served:
        page = open_page(served.url, 360)
        page.tab.wait_for_selector("[data-figure=games]")
        assert page.tab.text_content("[data-figure=games]") == "1"
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
        page.tab.click("tbody a")
        page.tab.wait_for_selector(".rounds .round")
        assert page.tab.locator(".rounds .round").count() == 4
        page.tab.keyboard.press("Shift+ArrowRight")
        assert page.tab.locator(".decision").count() == 1
        page.tab.click(".live-links a")
        page.tab.wait_for_selector("[data-figure=games]")
        page.check()


def test_a_damaged_decisions_file_hides_no_game(open_page: Any, tmp_path: Path) -> None:
    shutil.copytree(library(), tmp_path / "games")
    decisions = next((tmp_path / "games").glob("*.decisions.jsonl"))
    decisions.write_bytes(decisions.read_bytes()[:-40])
    with server(None, tmp_path / "games") as served:
        page = open_page(served.url, 360)
        page.tab.wait_for_selector("tbody a")
        row = page.tab.locator("tbody tr", has=page.tab.locator("a")).text_content()
        assert re.search(r"20\d\d-\d\d-\d\d \d\d:00 JST", row)
        page.tab.click("tbody a")
        page.tab.wait_for_selector(".rounds .round")
        assert page.tab.text_content(".damaged") == "1 line of the decisions file cannot be read."
        assert "JST" in page.tab.text_content("header.top")
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
        page.check()


def test_adapting_to_the_running_round_is_shown_while_it_lasts(open_page: Any) -> None:
    feed = Feed()
    with server(feed, library()) as served:
        page = open_page(served.url)
        put(feed, played()[:40])
        page.until(lambda seen: seen["session"] is not None and len(seen["rounds"]) > 0)
        page.tab.click("[data-tab=session]")
        assert page.tab.locator(".adaptation").count() == 0
        for standing, text in (
            (AdaptationStanding(0, 1_000, "global"), "0 of 1,000 rounds played out"),
            (AdaptationStanding(128, 1_000, "global"), "Nothing found to learn."),
            (
                AdaptationStanding(512, 1_250, "global", -1.24, 2.96),
                "Found and given up: −1.2 ± 3.0 rank points over other deals.",
            ),
            (
                AdaptationStanding(512, 1_250, "points", 820.4, 71.3, used=True),
                "In use: +820 ± 71 points over other deals.",
            ),
        ):
            put(feed, [Adapting(standing)])
            page.tab.wait_for_selector(f".adaptation p:last-child:has-text('{text}')")
            shares = page.tab.locator(".adaptation progress").evaluate("bar => [bar.value, bar.max]")
            assert shares == [standing.playouts, standing.of]
            page.check()
        put(feed, [Adapting(None)])
        page.tab.wait_for_selector(".adaptation", state="detached")


def test_our_rank_is_shown_where_the_server_says_one(open_page: Any) -> None:
    feed = Feed()
    began = next(item for item in played() if isinstance(item, Began))
    with server(feed, library()) as served:
        page = open_page(served.url)
        put(feed, [began])
        page.until(lambda seen: (seen["session"] or {}).get("line") == "playing")
        page.tab.click("[data-tab=session]")
        assert page.tab.locator("[data-figure=rank]").count() == 0
        ranks, rates = (16, 16, 16, 16), (2112.4, 2112.4, 2112.4, 2112.4)
        put(feed, [Began(msgspec.structs.replace(began.game, ranks=ranks, rates=rates), began.game_id)])
        page.tab.wait_for_selector("[data-figure=rank]")
        assert page.tab.text_content("[data-figure=rank]") == "7-dan R2112"
        page.check()
