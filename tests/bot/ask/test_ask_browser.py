"""The page on which positions are written, in the system's Chromium."""

from __future__ import annotations

from typing import Any

from tests.bot.ask.scenes import served_page
from tests.chromium import PATIENCE_S, Opened, needs_chromium

pytestmark = needs_chromium
HAND = ("3m", "4m", "0m", "6m", "7m", "3p", "4p", "5p", "3s", "4s", "6s", "8s", "5z", "5z")
CALL = "234m56p789s11773z"


class Writer(Opened):
    """A page, and a person who writes a position on it."""

    def __init__(self, tab: Any, link: str) -> None:
        super().__init__(tab, link)
        self.touch = tab.tap if tab.evaluate("navigator.maxTouchPoints") else tab.click

    def write(self, field: str, *tiles: str) -> None:
        """Choose a field, and press tiles and marks on the palette."""
        self.touch(f"[data-field='{field}']")
        for tile in tiles:
            self.touch(f"[data-add='{tile}']")

    def value(self, field: str) -> str:
        """The text in a field."""
        text: str = self.tab.input_value(f"[data-field='{field}']")
        return text

    def options(self) -> int:
        """Wait for an answer; the number of its options."""
        # the first answer on a machine may compile kernels
        self.tab.wait_for_selector(".decision .options tbody tr", timeout=5000 * PATIENCE_S)
        assert self.tab.locator(".board").bounding_box()["width"] > 280
        count: int = self.tab.locator(".decision .options tbody tr").count()
        return count


def test_a_position_is_composed_by_keys_and_clicks_and_answered(open_page: Any) -> None:
    with served_page() as port:
        page = open_page(port.link, kind=Writer)
        assert page.tab.evaluate("document.activeElement.dataset.field") == "hand"
        page.tab.keyboard.type("123m")
        page.tab.keyboard.press("Tab")
        for key in ("ArrowRight", "ArrowDown", "Enter", "Space"):
            page.tab.keyboard.press(key)
        assert page.value("hand") == "123m22p"
        page.tab.keyboard.press("Tab")
        assert page.tab.evaluate("document.activeElement.className") == "ask-button"
        page.touch("[data-command=clear]")
        page.write("hand", *HAND)
        page.write("dora", "4z")
        page.tab.fill("[data-field=turn]", "6")
        page.tab.select_option("[data-field=seat_wind]", "1")
        assert (page.value("hand"), page.value("dora")) == ("34067m345p3468s55z", "4z")
        assert page.tab.locator("[data-preview=hand] .tile").count() == 14
        page.tab.keyboard.press("Enter")
        assert page.options() == 13
        assert page.tab.locator(".row[data-place='0'] .hand .tile").count() == 14
        assert page.tab.locator(".row[data-place='0'] .hand .tile-back").count() == 0
        assert page.tab.locator(".row[data-place='0'] .hand .bar").count() == 14
        assert page.tab.locator(".river .tile-back").count() > 15  # made up, and seen by nobody
        assert page.tab.locator("[data-value=danger]").count() >= 13
        assert page.tab.locator("[data-value=shanten]").first.text_content() == "1"
        # a mistake is shown where it is, and nothing is lost
        page.write("rivers.1", "9m", "1z", "_", "back", "1z", "!")
        page.touch(".ask-button")
        page.tab.wait_for_selector(".ask-error:not([hidden])")
        assert page.value("rivers.1") == "9m1z!"
        assert "rivers" in page.tab.text_content(".ask-error")
        assert page.tab.get_attribute("[data-field='rivers.0']", "aria-invalid") == "true"
        assert page.tab.locator(".ask-tiles:has([data-field='rivers.0']) + .ask-error").count() == 1
        assert page.value("hand") == "34067m345p3468s55z"
        # a reload brings the position back, with the same complaint
        page.tab.reload()
        page.tab.wait_for_selector(".ask-error:not([hidden])")
        assert [page.value(field) for field in ("rivers.1", "turn", "seat_wind")] == ["9m1z!", "6", "1"]
        page.tab.fill("[data-field='rivers.1']", "")
        page.tab.keyboard.press("Enter")
        assert page.options() == 13
        assert page.tab.locator(".ask-error:not([hidden])").count() == 0
        page.check()


def test_a_call_is_asked_about_on_a_phone_in_japanese(open_page: Any) -> None:
    with served_page() as port:
        page = open_page(port.link, "", 390, 844, Writer, locale="ja-JP", color_scheme="dark", has_touch=True)
        page.tab.fill("[data-field=hand]", CALL)
        page.write("offered", "2z", "7z")
        page.touch(".ask-button")
        assert page.options() == 2
        assert page.value("offered") == "7z"
        assert "何を切る" in page.tab.title()
        shared = page.tab.url
        page.tab.goto("about:blank")
        page.tab.goto(shared)
        assert page.options() == 2
        # a link that holds something else, or nothing that can be read, harms nothing
        for wrong in ('{"hand": ["x", {}], "rivers": 5, "turn": "<b>"}', "%7B%"):
            page.tab.evaluate("text => { location.hash = text; }", wrong)
            page.tab.wait_for_selector(".ask-place .nothing")
        page.check()
