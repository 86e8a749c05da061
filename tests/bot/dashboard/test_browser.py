"""The dashboard in a real browser: Playwright drives the system's Chromium."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.adaptation.status import AdaptationStatus
from bot.dashboard.feed import Adapting, Began, Feed, HandsGuessed
from replays.review.schema import CandidateHand, CandidateHands
from tests.bot.dashboard.scenes import decided, library, played, put, server
from tests.bot.fake_server import free_port
from tests.chromium import PATIENCE_S, Opened, needs_chromium
from tests.cli import start

pytestmark = needs_chromium
GONE = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "Connection closed", "ERR_EMPTY_RESPONSE")
"""What a browser itself writes to its console if nothing listens; no page can prevent it."""
ADAPTATIONS = (
    (AdaptationStatus(0, 1_000, "global"), "0 of 1,000 rounds played out"),
    (AdaptationStatus(128, 1_000, "global"), "Nothing found to learn."),
    (
        AdaptationStatus(512, 1_250, "global", -1.24, 2.96),
        "Found and given up: −1.2 ± 3.0 rank points over other deals.",
    ),
    (
        AdaptationStatus(512, 1_250, "points", 820.4, 71.3, used=True),
        "In use: +820 ± 71 points over other deals.",
    ),
)
SEEN = """() => {
  if (!globalThis.suzakuViewer) return null;
  const { latest, review, following, position, wire, session } = globalThis.suzakuViewer;
  return { rounds: latest.rounds, decisions: latest.decisions, game: latest.game, shown: review === latest,
    following, position, wire, session };
}"""


class Live(Opened):
    """A page of the dashboard."""

    def __init__(self, tab: Any, url: str) -> None:
        super().__init__(tab, url, SEEN)

    @property
    def seen(self) -> dict[str, Any]:
        """The state of the page, once its script has run."""
        return self.until(lambda _: True)

    def check(self) -> None:
        """The same, apart from what a browser itself writes if nothing listens any longer."""
        self.faults = [fault for fault in self.faults if not any(word in fault for word in GONE)]
        super().check()


@pytest.fixture(scope="module", autouse=True)
def _games_played() -> None:
    """Before the browser is there, whose event loop would be in the way."""
    assert library().is_dir()
    assert played()


@pytest.fixture
def open_live(open_page: Callable[..., Any]) -> Callable[..., Live]:
    def open_it(url: str, width: int = 1280, **options: Any) -> Live:
        page: Live = open_page(url, "", width, 800, Live, **options)
        return page

    return open_it


@pytest.mark.slow
def test_a_game_is_followed_to_its_end_by_two(
    open_live: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUZAKU_DECISION__POLICY", "heuristic")
    monkeypatch.setenv("SUZAKU_LOCAL__PORT", str(port))
    monkeypatch.setenv("SUZAKU_LOCAL__CLIENTS_PER_TABLE", "2")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "watched"))
    play = ("play", "--type", "tonpuu", "--log-level", "error", "--out")
    flags = ("--dashboard", "--dashboard-port", "0", "--seed", "7", "--pace", "instant")
    with start(*play, "games", *flags, hang_s=6 * PATIENCE_S) as program:
        url = program.stderr.readline().removeprefix("dashboard: ").strip()
        wide, narrow = open_live(url), open_live(url, 390, locale="ja-JP", color_scheme="dark")
        for page in (wide, narrow):
            page.tab.wait_for_selector(".live-empty")
            page.until(lambda seen: seen["wire"]["state"] == "open")
        # The table waits for this second client, so that no game is over before both pages listen.
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
        with start(*play, "others", "--url", f"ws://127.0.0.1:{port}", hang_s=6 * PATIENCE_S) as other:
            ends = [page.until(lambda seen: seen["game"]["places"] is not None) for page in (wide, narrow)]
            assert other.wait(PATIENCE_S) == 0
            assert "until you press Ctrl-C" in program.stderr.readline()
            late = open_live(url)
            assert late.until(lambda seen: seen["game"]["places"] is not None)["game"] == ends[0]["game"]
            late.tab.wait_for_function("globalThis.suzakuViewer.line_.waitMs > 1000")  # asks ever more rarely
            assert late.seen["wire"]["state"] == "over"
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
        assert page.tab.locator(".ladder [data-share]").count() == 0  # one game tells nothing of a rank
        assert page.tab.text_content("[data-figure=count]") == str(seen["session"]["decisions"]["count"])
        assert page.tab.locator("#pane-session tbody tr").count() == 1
        page.check()
    assert narrow.tab.text_content("#tab-session") == "成績"


def test_a_running_game_is_watched_stepped_back_in_and_found_again_after_its_server(open_live: Any) -> None:
    feed, items = Feed(), played()
    began = next(item for item in items if isinstance(item, Began))
    with server(feed, library()) as served:
        port = served.port
        page = open_live(served.url)
        assert page.tab.is_visible(".live-empty")
        put(feed, items[:70])
        last = page.until(lambda seen: len(seen["decisions"]) > 5)["decisions"][-1]
        page.tab.wait_for_selector(".decision [data-value=probability]")
        hands_of_opponents_are_shown_when_they_come(page, feed, began.game_id, last)
        adaptation_is_shown_as_it_goes_on(page, feed)
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
        assert page.tab.locator("[data-tab=decisions], [data-figure=rank]").count() == 0
        # the next game, in which we have a rank, does not replace this one
        ranked = msgspec.structs.replace(began.game, ranks=(16,) * 4, rates=(2112.4,) * 4)
        put(feed, [msgspec.structs.replace(began, game=ranked), *items[items.index(began) + 1 :]])
        page.until(lambda seen: not seen["shown"] and seen["game"]["places"] is not None)
        assert page.seen["position"] == before["position"]
        page.tab.click("[data-command=follow]")
        live = page.until(lambda seen: seen["shown"] and seen["following"])
        assert live["position"]["round"] == len(live["rounds"]) - 1
        assert page.tab.is_hidden("[data-command=follow]")
        assert page.tab.evaluate("location.hash") == ""
        page.tab.click("[data-tab=session]")
        assert page.tab.text_content("[data-figure=rank]") == "7-dan R2112"
        page.check()
    gone = page.until(lambda seen: seen["wire"]["state"] == "over")
    assert len(gone["decisions"]) > 5  # what was shown stays
    assert "finished" in page.tab.text_content(".live-status")
    with server(feed, library(), port):
        put(feed, items)
        back = page.until(lambda seen: seen["wire"]["state"] == "open" and seen["game"]["places"] is not None)
        assert len(back["decisions"]) == decided(items)
        page.check()


def hands_of_opponents_are_shown_when_they_come(
    page: Live, feed: Feed, game_id: str, decision: dict[str, Any]
) -> None:
    assert page.tab.locator(".candidates").count() == 0
    hands = (
        CandidateHand(tiles="1m 2m 3m 4m 5mr 6m 7p 8p 9p E E S S", shanten=0),
        CandidateHand(tiles="1m 4m 7m 2p 5p 8p 3s 6s 9s E S W N", shanten=6),
    )
    found = CandidateHands(model="diffusion", hands=(hands, hands, hands))
    feed.put(HandsGuessed(game_id, decision["round"], decision["event"], (found,)))
    page.tab.locator(".candidates li").nth(1).wait_for()
    assert page.tab.locator(".candidates li").count() == 2
    page.tab.get_by_label("Only tenpai").check()
    assert page.tab.locator(".candidates li").count() == 1


def adaptation_is_shown_as_it_goes_on(page: Live, feed: Feed) -> None:
    page.tab.click("[data-tab=session]")
    assert page.tab.locator(".adaptation").count() == 0
    for standing, text in ADAPTATIONS:
        feed.put(Adapting(standing))
        page.tab.wait_for_selector(f".adaptation p:last-child:has-text('{text}')")
        shares = page.tab.locator(".adaptation progress").evaluate("bar => [bar.value, bar.max]")
        assert shares == [standing.playouts, standing.of]
        page.check()
    feed.put(Adapting(None))
    page.tab.wait_for_selector(".adaptation", state="detached")
    page.tab.click("[data-tab=decision]")


@pytest.mark.slow
def test_a_past_game_of_a_person_is_known_and_reviewed_by_a_click(open_live: Any, tmp_path: Path) -> None:
    shutil.copytree(library(), tmp_path / "games", ignore=shutil.ignore_patterns("*.decisions.jsonl"))
    with server(None, tmp_path / "games") as served:
        page = open_live(served.url, 390)
        page.tab.wait_for_selector("tbody a")
        assert re.search(r"[1-4](st|nd|rd|th) you", page.tab.text_content("tbody tr:has(a)"))
        page.check()
        page.tab.click("tbody td a")
        page.tab.wait_for_selector(".rounds .round", timeout=1000 * PATIENCE_S)
        assert page.tab.text_content("h1") == "NoName"
        page.check()


def test_past_games_are_listed_and_replayed_though_a_decisions_file_is_damaged(
    open_live: Any, tmp_path: Path
) -> None:
    shutil.copytree(library(), tmp_path / "games")
    decisions = next((tmp_path / "games").glob("*.decisions.jsonl"))
    decisions.write_bytes(decisions.read_bytes()[:-40])
    with server(None, tmp_path / "games") as served:
        page = open_live(served.url, 390)
        page.tab.wait_for_selector("[data-figure=games]")
        assert page.tab.text_content("[data-figure=games]") == "1"
        row = page.tab.locator("tbody tr", has=page.tab.locator("a")).text_content()
        assert re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d", row)
        page.check()
        page.tab.click("tbody a")
        page.tab.wait_for_selector(".rounds .round")
        assert page.tab.locator(".rounds .round").count() == 4
        assert page.tab.text_content(".damaged") == "1 line of the decisions file cannot be read."
        assert "JST" in page.tab.text_content("header.top")
        assert page.tab.title().startswith("Game – ")
        assert not re.search("review|error", page.tab.text_content(".nothing"))
        page.tab.keyboard.press("Shift+ArrowRight")
        assert page.tab.locator(".decision").count() == 1
        page.check()
        page.tab.click(".live-links a")
        page.tab.wait_for_selector("[data-figure=games]")
