"""All seats of a game on one page, and the table of all decisions, in a real browser."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from policies.play.named import RandomPolicy
from replays.review.report import as_json
from replays.viewer import page
from tests.chromium import Opened, needs_chromium, reloaded
from tests.replays.review.made import reviewer, whole

pytestmark = needs_chromium

SEAT = 1
GRADES = ["fine", "inaccuracy", "mistake", "blunder"]
ROWS = "[...document.querySelectorAll('.decisions tbody [data-jump]')].map((one) => Number(one.dataset.jump))"
SHOWN = """() => ({
  seat: globalThis.suzakuViewer.review.seat, view: globalThis.suzakuViewer.view,
  pressed: [...document.querySelectorAll('[data-seat][aria-pressed=true]')].map((one) => +one.dataset.seat),
  ratings: [...document.querySelectorAll('[data-seat] small')].map((one) => one.textContent),
  agreed: document.querySelector('[data-figure=agreement]').parentElement.textContent,
  rows: document.querySelectorAll('.decisions tbody tr').length,
})"""

BOXES = """() => [...document.querySelectorAll('.decisions tbody tr'), document.querySelector('.seats')]
  .slice(-20).map((row) => [...row.children].map((cell) => cell.getBoundingClientRect())
  .map((box) => [box.left, box.top, box.right, box.bottom]))"""


@pytest.fixture(scope="module")
def review() -> dict[str, Any]:
    made = reviewer(RandomPolicy()).review(whole(), SEAT, all_seats=True)
    document: dict[str, Any] = json.loads(as_json(made))
    return document


@pytest.fixture(scope="module")
def file(review: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seats") / "review.html"
    path.write_text(page(review), encoding="utf-8")
    return path


def of_seat(review: dict[str, Any], seat: int) -> dict[str, Any]:
    """The decisions and figures of a seat."""
    found: dict[str, Any] = next(each for each in (review, *review["seats"]) if each["seat"] == seat)
    return found


def test_seats_and_the_table_of_decisions_are_used(
    review: dict[str, Any], file: Path, open_page: Any
) -> None:
    opened = open_page(file)
    for step in (
        keyboard_leads_to_a_decision,
        columns_sort,
        choices_filter,
        switch_and_key_show_each_seat_at_the_same_moment_and_the_address_keeps_it,
        seats_and_table_fit_on_phone_and_desktop,
    ):
        step(opened, review)
        opened.check()


def switch_and_key_show_each_seat_at_the_same_moment_and_the_address_keeps_it(
    opened: Opened, review: dict[str, Any]
) -> None:
    tab = opened.tab
    tab.evaluate("globalThis.suzakuViewer.go({ round: 2, event: 5 })")
    for seat in (3, 0, 2, 1):
        tab.click(f"[data-seat='{seat}']")
        expected = of_seat(review, seat)
        shown = tab.evaluate(SHOWN)
        assert (shown["seat"], shown["view"], shown["pressed"]) == (seat, seat, [seat])
        assert shown["rows"] == len(expected["decisions"])
        assert str(expected["summary"]["agreed"]) in shown["agreed"]
        assert tab.evaluate("document.activeElement.dataset.seat") == str(seat)
        assert opened.place == [2, 5, seat]
    ratings = [of_seat(review, seat)["summary"]["rating"] for seat in range(4)]
    assert [float(text.rpartition(" ")[2]) for text in tab.evaluate(SHOWN)["ratings"]] == pytest.approx(
        ratings, abs=0.051
    )
    seats = []
    for _ in range(4):
        opened.tab.keyboard.press("s")
        seats.append(opened.tab.evaluate(SHOWN)["seat"])
    assert seats == [2, 3, 0, 1]
    opened.tab.keyboard.press("S")
    reloaded(opened.tab)
    assert opened.tab.evaluate(SHOWN)["seat"] == 2
    opened.tab.evaluate("location.hash = '#1.3.0'")
    opened.tab.wait_for_function("globalThis.suzakuViewer.review.seat === 0")
    assert opened.place == [1, 3, 0]


def columns_sort(opened: Opened, review: dict[str, Any]) -> None:
    tab = opened.tab
    tab.click("[data-tab=decisions]")
    decisions = review["decisions"]
    assert tab.evaluate(ROWS) == list(range(len(decisions)))
    keys = {
        "category": lambda one: -GRADES.index(one["category"]),
        "ratio": lambda one: one["ratio"],
    }
    for column, key in keys.items():
        tab.click(f"[data-sort={column}]")
        expected = sorted(range(len(decisions)), key=lambda at: (key(decisions[at]), at))
        assert tab.evaluate(ROWS) == expected, column
        assert tab.evaluate("document.activeElement.dataset.sort") == column
    tab.click("[data-sort=ratio]")
    assert [decisions[at]["ratio"] for at in tab.evaluate(ROWS)] == sorted(
        (one["ratio"] for one in decisions), reverse=True
    )
    assert tab.get_attribute("th:has([data-sort=ratio])", "aria-sort") == "descending"


def choices_filter(opened: Opened, review: dict[str, Any]) -> None:
    opened.tab.reload()  # in the order of the game again
    tab = opened.tab
    tab.click("[data-tab=decisions]")
    decisions = list(enumerate(review["decisions"]))

    def check(**chosen: str) -> int:
        for name in ("step", "grade", "round"):
            if tab.input_value(f"[data-filter={name}]") != (value := chosen.get(name, "all")):
                tab.select_option(f"[data-filter={name}]", value)
        wanted = [at for at, one in decisions if all(passes(one, *each) for each in chosen.items())]
        assert tab.evaluate(ROWS) == wanted, chosen
        return len(wanted)

    def passes(one: dict[str, Any], name: str, value: str) -> bool:
        if name == "grade":
            return not one["agrees"] and GRADES.index(one["category"]) >= GRADES.index(value)
        return str(one[name]) == value

    counts = [
        check(step="discard"), check(step="call"), check(round="2"), check(grade="fine"),
        check(grade="blunder"), check(step="discard", round="1", grade="mistake"),
    ]  # fmt: skip
    assert min(counts) > 0
    made = {(one["step"], one["round"]) for _, one in decisions}
    step, played = next(each for each in itertools.product(*zip(*made, strict=True)) if each not in made)
    assert check(step=step, round=str(played)) == 0
    assert "No decision matches." in tab.text_content(".list-place")
    assert tab.text_content(".list-count") == f"0 of {len(decisions)} decisions"


def keyboard_leads_to_a_decision(opened: Opened, review: dict[str, Any]) -> None:
    tab = opened.tab
    tab.focus("[data-tab=decisions]")
    tab.keyboard.press("Enter")
    tab.focus(".decisions tbody [data-jump]")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement.dataset.jump") == "2"
    assert opened.tab.evaluate("location.hash") == ""  # the keys did not step through the game
    tab.keyboard.press("Enter")
    chosen = review["decisions"][2]
    assert opened.place == [chosen["round"], chosen["event"], SEAT]
    assert tab.evaluate("document.activeElement.id") == "pane-decision"
    assert tab.get_attribute("[data-tab=decision]", "aria-selected") == "true"
    tab.click("[data-tab=decisions]")
    assert tab.get_attribute(".decisions tr:nth-child(3) [data-jump]", "aria-current") == "true"


def seats_and_table_fit_on_phone_and_desktop(opened: Opened, _: dict[str, Any]) -> None:
    tab = opened.tab
    tab.click("[data-tab=decisions]")
    for width, language in itertools.product((360, 1440), ("en", "ja")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.select_option("[data-switch=language]", language)
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        for cells in tab.evaluate(BOXES):
            for at, one in enumerate(cells):
                assert one[2] <= width
                for other in cells[at + 1 :]:
                    apart = one[2] <= other[0] + 1 or other[2] <= one[0] + 1
                    assert apart or one[3] <= other[1] + 1 or other[3] <= one[1] + 1


def test_one_seat_has_no_switch_and_a_running_game_no_table(
    review: dict[str, Any], open_page: Any, tmp_path: Path
) -> None:
    alone, running = tmp_path / "alone.html", tmp_path / "running.html"
    alone.write_text(page({**review, "seats": []}), encoding="utf-8")
    running.write_text(page({**review, "seats": [], "summary": None}), encoding="utf-8")
    opened = open_page(alone)
    assert opened.tab.query_selector("[data-seat]") is None
    opened.tab.keyboard.press("s")
    opened.tab.keyboard.press("ArrowRight")
    assert opened.place == [0, 1]
    opened.check()
    opened = open_page(running)
    assert opened.tab.query_selector("[data-tab=decisions]") is None
    opened.check()
