"""Pages of reviews in a real browser, from disk: what a reader does from opening a page to leaving it."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import unquote

import msgspec
import pytest

from bot.review.many import index_of, made_entry, worst_of
from game.forbidden import RULES
from replays.formats import read_game
from replays.review import schema
from replays.review.report import as_json
from replays.tally import tally
from replays.viewer.page import index_page, page
from tests.chromium import HOSTILE, Opened, needs_chromium, reloaded
from tests.replays.viewer.samples import (
    DRAWN,
    KANS,
    LEARNED,
    OPEN_KAN,
    critic,
    decoded,
    in_play,
    laid,
    real_game,
    review_of_all,
    rounds_of,
    seen_from,
)
from tests.scale import scaled

pytestmark = needs_chromium

READ_TABLE = """(positions) => positions.map(([round, event]) => {
  const viewer = globalThis.suzakuViewer;
  viewer.hideOthers = false;
  viewer.go({ round, event });
  const faces = (root) => [...root.querySelectorAll(".tile")].map((tile) => tile.dataset.tile);
  const open = (tiles) => tiles.filter((tile) => tile && tile !== "?").sort();
  const players = [0, 1, 2, 3].map((player) => {
    const row = viewer.board.querySelector(`.row[data-player="${player}"]`);
    const seat = viewer.board.querySelector(`.seat[data-player="${player}"]`);
    return {
      hand: faces(row.querySelector("[data-zone=hand]")).sort(),
      river: [...seat.querySelectorAll("[data-zone=river] .tile")].map((tile) => [tile.dataset.tile,
        1 * tile.classList.contains("tile-shaded") + 2 * tile.classList.contains("tile-turned") +
        4 * tile.classList.contains("tile-gone")]),
      melds: [...row.querySelectorAll(".meld")].reverse().map((meld) => [meld.dataset.kind,
        open([...faces(meld), ...(meld.dataset.hidden ?? "").split(" ")])]),
      score: Number(viewer.board.querySelector(`[data-zone=score][data-player="${player}"]`).textContent),
    };
  });
  return {
    players, wall: Number(viewer.board.querySelector("[data-zone=wall]").textContent),
    sticks: Number(viewer.board.querySelector("[data-zone=sticks]").textContent),
    dora: faces(viewer.board.querySelector("[data-zone=dora]")).filter((tile) => tile !== "?"),
  };
})"""
STOPS = """(count) => Array.from({ length: count }, () => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "e", bubbles: true }));
  return location.hash.slice(1).split(".").map(Number);
})"""
"""Where pressing E leads, so many times."""
STOPPED: Final = scaled(6, 1_000)
SEEN_BY: Final = 2
"""The player of a game in which only one hand is known."""
READ_DECISIONS = """(chosen) => chosen.map((index) => {
  const viewer = globalThis.suzakuViewer;
  viewer.go(viewer.review.decisions[index]);
  const cells = (row, name) => [...row.querySelectorAll(`[data-value=${name}]`)].map((td) => td.textContent);
  const items = [...document.querySelectorAll(".reasons li")];
  return {
    shown: Number(viewer.decision.querySelector("[data-decision]").dataset.decision), index,
    badge: viewer.decision.querySelector(".decision-head .badge").className,
    reasons: items.map((item) => item.dataset.note), text: items.map((item) => item.innerText).join(" "),
    price: document.querySelector(".price")?.textContent ?? "",
    address: document.querySelector(".ask-here a").getAttribute("href"),
    command: document.querySelector(".ask-command").textContent,
    rows: [...viewer.decision.querySelectorAll(".options tbody tr")].map((row) => ({
      signs: row.querySelector(".sign").textContent,
      tile: row.querySelector(".tile")?.dataset.tile ?? "", probability: cells(row, "probability")[0],
      shanten: cells(row, "shanten")[0], ukeire: cells(row, "ukeire")[0], danger: cells(row, "danger"),
      learned: cells(row, "learned"), past: cells(row, "past"),
    })),
  };
})"""
EVERY: Final = scaled(4, 1)
"""Of so many decisions one is read."""
NAMELESS = """() => [...document.querySelectorAll("[role=img], button, select, [role=region]")]
  .filter((e) => !(e.getAttribute("aria-label") || e.textContent || "").trim())
  .map((e) => e.outerHTML.slice(0, 80))"""
CUT = """() => [...document.querySelectorAll("#app :is(div, p, button, h1, h2, h3, li, table, dd, dt)")]
  .filter((e) => e.clientWidth && !e.closest(".board, .rounds, .timeline, .hidden")
    && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).textOverflow !== "ellipsis")
  .map((e) => `${e.className} ${e.scrollWidth} > ${e.clientWidth}`)"""
TOPS = """() => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((event) => {
  globalThis.suzakuViewer.go({ round: 0, event });
  return document.querySelector(".side-panel").getBoundingClientRect().top + scrollY;
})"""
"""Where the panel begins at one event after another."""
SMALL = """() => [...document.querySelectorAll(".toolbar button")]
  .filter((button) => button.offsetWidth < 32 || button.offsetHeight < 40).length"""
BOXES = """() => [...document.querySelectorAll('.decisions tbody tr'), document.querySelector('.seats')]
  .slice(-20).map((row) => [...row.children].map((cell) => cell.getBoundingClientRect())
  .map((box) => [box.left, box.top, box.right, box.bottom]))"""
ROWS = "[...document.querySelectorAll('.decisions tbody [data-jump]')].map((one) => Number(one.dataset.jump))"
SHOWN = """() => ({
  seat: globalThis.suzakuViewer.review.seat, view: globalThis.suzakuViewer.view,
  pressed: [...document.querySelectorAll('[data-seat][aria-pressed=true]')].map((one) => +one.dataset.seat),
  ratings: [...document.querySelectorAll('[data-seat] small')].map((one) => one.textContent),
  agreed: document.querySelector('[data-figure=agreement]').parentElement.textContent,
  rows: document.querySelectorAll('.decisions tbody tr').length,
})"""
WITHOUT_POLICY = """() => document.querySelectorAll(
  ".bar, .chip, .options, .reasons, .badge, .mark, .round-mark, .summary-bar, [role=tab]").length === 0
  && !document.getElementById("app").textContent.includes("%")"""
ANSWERED = """([option, answers]) => Array.from({ length: answers }, () => {
  document.querySelector(`[data-option="${option}"]`).click();
  const said = document.querySelector("[role=status].badge").textContent;
  document.querySelector("[data-command=next]").click();
  return said;
})"""
"""What practice says to the same option, so many times."""
GRADES = ["fine", "inaccuracy", "mistake", "blunder"]
PAGE_LIMIT = 1_000_000
CAVEATS = (
    {"key": "cut", "params": {}},
    {"key": "part", "params": {"round_index": 4, "honba": 1}},
    {"key": "rules_unsaid", "params": {}},
    {"key": "lobby", "params": {"lobby": 7447}},
    {"key": "forbidden", "params": {"round_index": 1, "rule": RULES[-1]}},
    {"key": "start_scores", "params": {"scores": [30000] * 4}},
    {"key": "results", "params": {}},
    {"key": "values", "params": {}},
    {"key": "of a later version", "params": {}},
)


@pytest.fixture(scope="module")
def review() -> dict[str, Any]:
    """Of all seats, with what some decisions only have in our own games."""
    found = decoded(review_of_all())
    furiten = {
        "key": "furiten_after",
        "params": {"discard": "7s", "by": "preferred", "waits": ["8s"], "thrown": ["9s"]},
    }
    options = {"better": "discard", "better_tile": "1m", "worse": "discard", "worse_tile": "5m"}
    one = {"key": "reason_tanyao", "params": options | {"left": 1}}
    decisions = list(map(in_play, found["decisions"]))
    decisions[0] |= {"notes": [one, furiten], "hand": decisions[0]["hand"] | {"waits_gone": ["9s"]}}
    found["decisions"] = decisions
    msgspec.convert(found, schema.Review)
    return found


@pytest.fixture(scope="module")
def odd() -> dict[str, Any]:
    """A review of one seat, of a record that leaves much open, with hostile names."""
    assert {each["key"] for each in CAVEATS} >= set(get_args(schema.CaveatKey))
    found = decoded(review_of_all())
    found["summary"]["comparison"] |= {"name": "", "seat": 2}
    return found | {"game": found["game"] | {"caveats": CAVEATS, "names": HOSTILE}, "seats": []}


@pytest.fixture
def open_review(open_page: Callable[..., Opened], tmp_path: Path) -> Callable[..., Opened]:
    def open_it(review: dict[str, Any], where: str = "", **options: Any) -> Opened:
        path = tmp_path / "review.html"
        path.write_text(page(review), encoding="utf-8")
        assert path.stat().st_size < PAGE_LIMIT
        return open_page(path, where, **options)

    return open_it


def go(opened: Opened, *place: int) -> None:
    opened.tab.evaluate("([round, event]) => globalThis.suzakuViewer.go({ round, event })", place)


def percent(share: float) -> str:
    return f"{rounded(100 * share, '0.1')}%"


def rounded(value: float, unit: str) -> str:
    return str(Decimal(str(value)).quantize(Decimal(unit), ROUND_HALF_UP))


def is_over(message: dict[str, Any]) -> bool:
    return message["type"] in ("hora", "ryukyoku", "end_kyoku")


def is_error(decision: dict[str, Any], least: str = "inaccuracy") -> bool:
    return not decision["agrees"] and GRADES.index(decision["category"]) >= GRADES.index(least)


def table_is_our_fold(opened: Opened, number: int, every: int = scaled(80, 1)) -> None:
    rounds = list(rounds_of(real_game(number).events))
    moments = [(r, e) for r, part in enumerate(rounds) for e in range(len(part))]
    kans = [(r, e) for r, e in moments if rounds[r][e][0]["type"].endswith("kan")]
    wanted = kans + [(r, e) for r, e in moments if e % every == 0 or e + 2 > len(rounds[r])]
    assert kans
    for (r, e), drawn in zip(wanted, opened.tab.evaluate(READ_TABLE, wanted), strict=True):
        record = rounds[r][e][1]
        expected = {
            "players": [laid(record, player) for player in range(4)],
            "wall": int(record["wall_left"]),
            "sticks": int(record["riichi_sticks"]),
            "dora": [message["dora_marker"] for message, _ in rounds[r][: e + 1] if "dora_marker" in message],
        }
        scores = [[each["score"] for each in table["players"]] for table in (drawn, expected)]
        assert scores[0] == scores[1], (r, e)
        # after a result, the two may differ in the sticks on the table
        assert is_over(rounds[r][e][0]) or drawn == expected, (r, e)


def test_a_game_is_stepped_through(review: dict[str, Any], open_review: Callable[..., Opened]) -> None:
    opened = open_review(review)
    it_opens_on_the_first_error_and_its_header_leads_to_the_worst(opened, review)
    table_is_our_fold(opened, KANS)
    for step in (
        keys_and_buttons_do_the_same,
        tiles_in_sentences_are_pictures,
        rounds_timeline_worst_and_address_lead_to_their_places,
        the_table_turns_and_other_hands_hide,
        errors_to_stop_at_are_chosen_and_kept,
        help_opens_by_key_and_button_and_keeps_keys_to_itself,
        tabs_keep_their_own_scroll,
    ):
        step(opened, review)
        opened.check()


def it_opens_on_the_first_error_and_its_header_leads_to_the_worst(
    opened: Opened, review: dict[str, Any]
) -> None:
    first = next(place for place, each in enumerate(review["decisions"]) if is_error(each))
    assert opened.tab.get_attribute(".decision", "data-decision") == str(first)
    rating = opened.tab.inner_text(".summary-bar strong")
    assert rating == rounded(review["summary"]["rating"], "0.1")
    worst = review["summary"]["worst"][:3]
    buttons = opened.tab.locator("[data-worst]")
    assert buttons.evaluate_all("(all) => all.map((one) => Number(one.dataset.worst))") == worst
    buttons.last.click()
    assert opened.tab.get_attribute(".decision", "data-decision") == str(worst[-1])


def keys_and_buttons_do_the_same(opened: Opened, review: dict[str, Any]) -> None:
    decisions, lengths = review["decisions"], [len(each["events"]) for each in review["rounds"]]
    first, second = ([each["round"], each["event"]] for each in decisions[:2])
    errors = [[each["round"], each["event"]] for each in decisions if is_error(each)]
    assert 0 < len(errors) < sum(not each["agrees"] for each in decisions)
    steps = [
        ("End", "last", [len(lengths) - 1, lengths[-1] - 1]),
        ("Home", "first", [0, 0]),
        ("ArrowRight", "nextEvent", [0, 1]),
        ("ArrowLeft", "previousEvent", [0, 0]),
        ("Shift+ArrowRight", "nextDecision", first),
        ("Shift+ArrowRight", "nextDecision", second),
        ("Shift+ArrowLeft", "previousDecision", first),
        ("ArrowDown", "nextRound", [1, 0]),
        ("ArrowLeft", "previousEvent", [0, lengths[0] - 1]),
        ("ArrowUp", "previousRound", [0, 0]),
        ("e", "nextError", errors[0]),
        ("Home", "first", [0, 0]),
    ]
    for key, _, place in steps:
        opened.tab.keyboard.press(key)
        assert opened.place == place, key
    for _, command, place in steps:
        opened.tab.click(f"[data-command={command}]")
        assert opened.place == place, command
    opened.tab.keyboard.press("End")
    opened.tab.keyboard.press("Shift+E")
    assert opened.place == errors[-1]


def tiles_in_sentences_are_pictures(opened: Opened, review: dict[str, Any]) -> None:
    written = {"E": "1z", "S": "2z", "W": "3z", "N": "4z", "P": "5z", "F": "6z", "C": "7z"}
    thrown = {
        message["pai"]: (each["index"], place)
        for each in review["rounds"]
        for place, message in enumerate(each["events"])
        if message["type"] == "dahai" and (len(message["pai"]) == 1 or message["pai"].endswith("r"))
    }
    assert len(thrown) > 5
    for tile, place in thrown.items():
        go(opened, *place)
        text = written.get(tile, f"0{tile[1:2]}")
        assert " discards " in opened.tab.inner_text(".caption")
        assert opened.tab.get_attribute(".caption .tile", "data-tile") == tile
        assert opened.tab.locator(f".river .t-{tile}").first.get_attribute("title").startswith(f"{text} · ")


def tabs_keep_their_own_scroll(opened: Opened, _: dict[str, Any]) -> None:
    go(opened, 0, 0)
    scroller = "document.querySelector('.side-panel')"
    for width, place in ((1280, scroller), (390, "document.documentElement")):
        opened.tab.set_viewport_size({"width": width, "height": 600})
        opened.tab.click("[data-tab=game]")
        opened.tab.evaluate(f"{place}.scrollTop = 1200")
        opened.tab.click("[data-tab=decisions]")
        assert opened.tab.evaluate(f"{place}.scrollTop") < 1000
        opened.tab.click("[data-tab=game]")
        assert opened.tab.evaluate(f"{place}.scrollTop") == 1200


def rounds_timeline_worst_and_address_lead_to_their_places(opened: Opened, review: dict[str, Any]) -> None:
    opened.tab.evaluate("location.hash = '#2.7'")
    opened.tab.wait_for_function("document.querySelector('.round[aria-current]').dataset.round === '2'")
    opened.tab.click(".rounds [data-round='1']")
    assert opened.place == [1, 0]
    worst = review["summary"]["worst"][0]
    opened.tab.click("[data-tab=game]")
    opened.tab.click(f"#pane-game [data-jump='{worst}']")
    decision = review["decisions"][worst]
    assert opened.place == [decision["round"], decision["event"]]
    assert opened.tab.get_attribute(".decision", "data-decision") == str(worst)
    assert opened.tab.get_attribute(".mark-here", "data-event") == str(decision["event"])
    opened.tab.click(
        ".track", position={"x": opened.tab.locator(".track").bounding_box()["width"] - 2, "y": 3}
    )
    assert opened.place == [decision["round"], len(review["rounds"][decision["round"]]["events"]) - 1]


def the_table_turns_and_other_hands_hide(opened: Opened, _: dict[str, Any]) -> None:
    go(opened, 0, 4)
    opened.tab.evaluate("globalThis.suzakuViewer.hideOthers = true")
    bottom = "() => document.querySelector('.row[data-place=\"0\"]').dataset.player"
    turned = []
    for _ in range(4):
        opened.tab.keyboard.press("r")
        turned.append(opened.tab.evaluate(bottom))
    assert turned == ["1", "2", "3", "0"]
    backs = """() => [0, 1, 2, 3].map((place) =>
      document.querySelectorAll(`.row[data-place='${place}'] .tile-back`).length)"""
    assert opened.tab.evaluate(backs) == [0, 13, 13, 13]
    opened.tab.click("[data-command=hands]")
    assert opened.tab.evaluate(backs) == [0, 0, 0, 0]
    opened.tab.keyboard.press("h")
    assert opened.tab.evaluate(backs) == [0, 13, 13, 13]


def errors_to_stop_at_are_chosen_and_kept(opened: Opened, review: dict[str, Any]) -> None:
    assert opened.tab.input_value("[data-switch=stop]") == "inaccuracy"
    for least, language in (("fine", "ja"), ("blunder", "en")):
        opened.tab.select_option("[data-switch=stop]", least)
        opened.tab.select_option("[data-switch=language]", language)
        reloaded(opened.tab)
        assert opened.tab.input_value("[data-switch=stop]") == least
        wanted = [[each["round"], each["event"], 0] for each in review["decisions"] if is_error(each, least)]
        opened.tab.click("[data-command=first]")
        assert opened.tab.evaluate(STOPS, len(wanted[:STOPPED])) == wanted[:STOPPED]
        opened.tab.click("[data-command=last]")
        opened.tab.keyboard.press("e")
        chosen = opened.tab.locator("[data-switch=stop] option:checked").inner_text()
        assert chosen.split(" ", 1)[1] in opened.tab.inner_text(".caption")


def help_opens_by_key_and_button_and_keeps_keys_to_itself(opened: Opened, _: dict[str, Any]) -> None:
    opened.tab.set_viewport_size({"width": 390, "height": 844})  # the help is longer than the screen
    opened.tab.click("[data-tab=game]")  # keys in a list of choices choose
    go(opened, 0, 5)
    for open_help in (
        lambda: opened.tab.keyboard.press("?"),
        lambda: opened.tab.click("[data-command=help]"),
    ):
        open_help()
        assert opened.tab.locator("dialog[open] kbd").count() > 8
        assert opened.tab.evaluate("document.querySelector('dialog').scrollTop") == 0
        opened.tab.keyboard.press("ArrowRight")
        assert opened.place == [0, 5]
        opened.tab.keyboard.press("Escape")
        opened.tab.wait_for_selector("dialog", state="detached")


def test_decisions_are_read(review: dict[str, Any], open_review: Callable[..., Opened]) -> None:
    opened = open_review(review)
    panel = opened.tab.locator("article.decision")
    opened.tab.keyboard.press("Home")
    opened.tab.keyboard.press("Shift+ArrowRight")
    assert (
        "(the policy's choice) makes the hand furiten" in panel.locator(".notes:not(.reasons)").inner_text()
    )
    assert "1 more terminal or honour to discard" in panel.locator(".reasons").inner_text()
    assert "No copies left of" in panel.locator(".facts").inner_text()
    for step in (
        every_number_is_that_of_the_data,
        every_error_has_a_sentence_and_leads_to_ask,
        tiles_like_the_one_pointed_at_are_marked,
        a_seat_has_one_name_wherever_it_stands_and_however_the_table_is_turned,
        everything_has_a_name_for_those_who_hear_it,
    ):
        step(opened, review)
        opened.check()


def every_number_is_that_of_the_data(opened: Opened, review: dict[str, Any]) -> None:
    chosen = range(0, len(review["decisions"]), EVERY)
    assert len(review["decisions"]) > 40
    kinds = set()
    for number, shown in zip(chosen, opened.tab.evaluate(READ_DECISIONS, list(chosen)), strict=True):
        decision = review["decisions"][number]
        assert shown["shown"] == shown["index"]
        assert decision["category"] in shown["badge"]
        options = decision["options"]
        kinds |= {option["action"]["kind"] for option in options}
        deep, risky = (any(option[what] is not None for option in options) for what in ("shanten", "danger"))
        threatened = any(opponent["tenpai"] >= 0.3 for opponent in decision["opponents"])
        marked = [o["action"] for o, row in zip(options, shown["rows"], strict=True) if "◇" in row["signs"]]
        assert marked == [decision["other"]]
        for option, row in zip(options, shown["rows"], strict=True):
            assert row["past"] == [percent(option["other"]), "50.0%", "25.0%"]
            assert row["tile"] == (option["action"].get("tile") or row["tile"])
            assert row["probability"] == percent(option["probability"])
            if deep:
                reached, ukeire = option["shanten"], option["ukeire"]
                assert row["shanten"] == ("" if reached is None else str(reached))
                assert row["ukeire"] == ("" if ukeire is None else f"{ukeire['tiles']} /{ukeire['kinds']}")
            if risky:
                danger = option["danger"] or []
                places = range(len(danger)) if threatened or not danger else [danger.index(max(danger))]
                for shares, cells in ((danger, "danger"), (LEARNED["deal_in"], "learned")):
                    assert [cell for cell in row[cells] if cell] == [percent(shares[at]) for at in places]
    assert {"discard", "pass"} < kinds


def every_error_has_a_sentence_and_leads_to_ask(opened: Opened, review: dict[str, Any]) -> None:
    def reasons(decision: dict[str, Any]) -> list[str]:
        return [note["key"] for note in decision["notes"] if note["key"].startswith(("reason_", "cost_"))]

    errors = [place for place, decision in enumerate(review["decisions"]) if decision["category"] != "fine"]
    kinds = {key: place for place in errors for key in reasons(review["decisions"][place])}
    assert len(errors) > 20
    assert len(kinds) > 10
    for language in ("ja", "en"):
        opened.tab.select_option("[data-switch=language]", language)
        for place, shown in zip(
            kinds.values(), opened.tab.evaluate(READ_DECISIONS, list(kinds.values())), strict=True
        ):
            decision = review["decisions"][place]
            assert shown["reasons"] == reasons(decision) != []
            assert "undefined" not in shown["text"]
            price = decision["price"]
            assert re.findall(r"\d+", shown["price"]) == [f"{price[key]:.0f}" for key in price or ()]
            assert json.loads(unquote(shown["address"].partition("#")[2])) == decision["position"]
            assert shlex.split(shown["command"])[:3] == ["suzaku", "ask", decision["position"]["hand"]]


def tiles_like_the_one_pointed_at_are_marked(opened: Opened, review: dict[str, Any]) -> None:
    decision = next(each for each in review["decisions"][6:] if each["step"] == "discard")
    go(opened, decision["round"], decision["event"])
    tile = decision["options"][1]["action"]["tile"]
    faces = "(tiles) => tiles.map((tile) => tile.dataset.tile.slice(0, 2))"
    alike = opened.tab.locator(".board .tile").evaluate_all(faces).count(tile[:2])
    opened.tab.hover(".options tbody tr:nth-child(2) .tile")
    assert opened.tab.locator(".tile-alike").evaluate_all(faces) == [tile[:2]] * alike
    assert alike > 0
    opened.tab.hover(".caption")
    assert opened.tab.locator(".tile-alike").count() == 0


def a_seat_has_one_name_wherever_it_stands_and_however_the_table_is_turned(
    opened: Opened, review: dict[str, Any]
) -> None:
    threats = (
        each for each in review["decisions"] if each["round"] == 2 and each["opponents"][0]["tenpai"] > 0.3
    )
    decision = next(each for each in threats if each["step"] == "discard")
    dealer = review["rounds"][2]["dealer"]
    assert dealer != 0
    go(opened, 2, decision["event"])
    for language, winds in (("ja", "東 南 西 北"), ("en", "East South West North")):
        opened.tab.select_option("[data-switch=language]", language)
        names = [winds.split()[(player - dealer) % 4] for player in range(4)]
        for turned in range(4):
            seats_are_named(opened, names, turned)
            opened.tab.click("[data-command=rotate]")


def seats_are_named(opened: Opened, names: Sequence[str], turned: int) -> None:
    plates = opened.tab.locator(".plate").evaluate_all(
        """(all) => all.map((one) => [Number(one.dataset.place), one.querySelector(".plate-seat").innerText,
          one.querySelectorAll(".plate-own").length])"""
    )
    assert sorted(place for place, _, _ in plates) == [0, 1, 2, 3]
    for place, name, own in plates:
        player = (turned + place) % 4
        assert name.startswith(names[player])
        assert own == (player == 0)
    heads = opened.tab.locator(".options th[aria-label]").evaluate_all("(all) => all.map((e) => e.ariaLabel)")
    assert [[name for name in names if name in head] for head in heads] == [[name] for name in names[1:]]
    assert opened.tab.locator(".opponents .quiet:first-child").all_inner_texts() == names[1:]


def everything_has_a_name_for_those_who_hear_it(opened: Opened, _: dict[str, Any]) -> None:
    for language in ("ja", "en"):
        opened.tab.select_option("[data-switch=language]", language)
        assert opened.tab.evaluate(NAMELESS) == []
    names = opened.tab.locator(".river .tile").evaluate_all("(tiles) => tiles.map((t) => t.ariaLabel)")
    assert names
    suits_and_honours = ("man", "pin", "sou", "East", "South", "West", "North", "dragon")
    assert all(name.split(",")[0].split()[-1] in suits_and_honours for name in names)


def test_errors_are_practised_without_the_policy_until_all_are_right(
    review: dict[str, Any], open_review: Callable[..., Opened]
) -> None:
    opened = open_review(review, width=390)
    tab = opened.tab
    errors = [each for each in review["decisions"] if is_error(each)]
    tab.keyboard.press("p")
    assert tab.evaluate(WITHOUT_POLICY)
    tab.keyboard.press("e")  # no key of the page below
    assert tab.evaluate(WITHOUT_POLICY)
    played = [option["action"] for option in errors[0]["options"]].index(errors[0]["done"])
    tab.keyboard.press(tab.get_attribute(f"[data-option='{played}']", "aria-keyshortcuts"))
    assert "Missed" in tab.inner_text(".badge >> nth=0")
    assert tab.locator(".options tbody tr").count() == len(errors[0]["options"])
    assert tab.locator(".notes li").count() > 0
    opened.check()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.className") == "pane"
    assert tab.evaluate(WITHOUT_POLICY)
    assert tab.evaluate(ANSWERED, [0, 3]) == ["Right"] * 3
    assert tab.inner_text("[role=status]") == f"{len(errors) - 3} left, 1 missed"
    thrown = errors[0]["preferred"]["tile"]
    assert errors[0]["preferred"]["kind"] == "discard"
    tab.click(f".row[data-place='0'] .held:has([data-tile='{thrown}'])")
    assert tab.inner_text(".badge >> nth=0") == "Right"
    tab.keyboard.press("Enter")
    assert tab.evaluate(ANSWERED, [0, len(errors) - 4]) == ["Right"] * (len(errors) - 4)
    assert f"All {len(errors)} done, {len(errors) - 1} right" in tab.inner_text(".pane")
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.dataset.command") == "practise"
    tab.keyboard.press("End")
    assert opened.place == [len(review["rounds"]) - 1, len(review["rounds"][-1]["events"]) - 1]
    opened.check()


def test_all_seats_and_the_list_of_decisions_are_used(
    review: dict[str, Any], open_review: Callable[..., Opened]
) -> None:
    opened = open_review(review)
    for step in (
        keyboard_leads_to_a_decision,
        columns_sort,
        choices_filter,
        switch_and_key_show_each_seat_at_the_same_moment_and_the_address_keeps_it,
        seats_and_list_fit_on_phone_and_desktop,
    ):
        step(opened, review)
        opened.check()


def keyboard_leads_to_a_decision(opened: Opened, review: dict[str, Any]) -> None:
    tab = opened.tab
    tab.focus("[data-tab=decisions]")
    tab.keyboard.press("Enter")
    tab.focus(".decisions tbody [data-jump]")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement.dataset.jump") == "2"
    assert tab.evaluate("location.hash") == ""  # the keys did not step through the game
    tab.keyboard.press("Enter")
    chosen = review["decisions"][2]
    assert opened.place == [chosen["round"], chosen["event"]]
    assert tab.evaluate("document.activeElement.id") == "pane-decision"
    assert tab.get_attribute("[data-tab=decision]", "aria-selected") == "true"
    tab.click("[data-tab=decisions]")
    assert tab.get_attribute(".decisions tr:nth-child(3) [data-jump]", "aria-current") == "true"


def columns_sort(opened: Opened, review: dict[str, Any]) -> None:
    tab = opened.tab
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
    ratios = [decisions[at]["ratio"] for at in tab.evaluate(ROWS)]
    assert ratios == sorted(ratios, reverse=True)
    assert tab.get_attribute("th:has([data-sort=ratio])", "aria-sort") == "descending"
    tab.click("[data-sort=place]")


def choices_filter(opened: Opened, review: dict[str, Any]) -> None:
    tab = opened.tab
    decisions = list(enumerate(review["decisions"]))

    def check(**chosen: str) -> int:
        for name in ("step", "grade", "round"):
            if tab.input_value(f"[data-filter={name}]") != (value := chosen.get(name, "all")):
                tab.select_option(f"[data-filter={name}]", value)
        wanted = [at for at, one in decisions if all(passes(one, *each) for each in chosen.items())]
        assert tab.evaluate(ROWS) == wanted, chosen
        return len(wanted)

    def passes(one: dict[str, Any], name: str, value: str) -> bool:
        return is_error(one, value) if name == "grade" else str(one[name]) == value

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


def switch_and_key_show_each_seat_at_the_same_moment_and_the_address_keeps_it(
    opened: Opened, review: dict[str, Any]
) -> None:
    tab = opened.tab
    summaries = {each["seat"]: each["summary"] for each in (review, *review["seats"])}
    go(opened, 2, 5)
    for seat in (3, 1, 2, 0):
        tab.click(f"[data-seat='{seat}']")
        shown = tab.evaluate(SHOWN)
        assert (shown["seat"], shown["view"], shown["pressed"]) == (seat, seat, [seat])
        assert shown["rows"] == summaries[seat]["decisions"]
        assert str(summaries[seat]["agreed"]) in shown["agreed"]
        assert tab.evaluate("document.activeElement.dataset.seat") == str(seat)
        assert tab.evaluate("location.hash") == f"#2.5.{seat}"
    ratings = [float(text.rpartition(" ")[2]) for text in tab.evaluate(SHOWN)["ratings"]]
    assert ratings == pytest.approx([summaries[seat]["rating"] for seat in range(4)], abs=0.051)
    seats = []
    for _ in range(5):
        tab.keyboard.press("s")
        seats.append(tab.evaluate(SHOWN)["seat"])
    assert seats == [1, 2, 3, 0, 1]
    reloaded(tab)
    assert tab.evaluate(SHOWN)["seat"] == 1
    tab.evaluate("location.hash = '#seat.2'")
    reloaded(tab)
    assert tab.evaluate(SHOWN)["seat"] == 2
    first = next(one for one in review["seats"][1]["decisions"] if is_error(one))
    assert tab.evaluate("globalThis.suzakuViewer.position") == {key: first[key] for key in ("round", "event")}
    tab.evaluate("location.hash = '#1.3.0'")
    tab.wait_for_function("globalThis.suzakuViewer.review.seat === 0")
    assert opened.place == [1, 3]


def seats_and_list_fit_on_phone_and_desktop(opened: Opened, _: dict[str, Any]) -> None:
    tab = opened.tab
    tab.click("[data-tab=decisions]")
    for width, language in itertools.product((360, 1440), ("en", "ja")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.select_option("[data-switch=language]", language)
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert width < 1000 or tab.evaluate("document.documentElement.scrollHeight") == 900
        for cells in tab.evaluate(BOXES):
            for one, other in itertools.combinations(cells, 2):
                apart = one[2] <= other[0] + 1 or other[2] <= one[0] + 1
                assert apart or one[3] <= other[1] + 1 or other[3] <= one[1] + 1
            assert all(cell[2] <= width for cell in cells)


def test_an_odd_record_fits_on_every_screen_and_its_names_are_text_and_nothing_else(
    odd: dict[str, Any], open_review: Callable[..., Opened]
) -> None:
    opened = open_review(odd)
    sizes = [(360, 740), (390, 844), (1024, 768), (720, 450), (820, 1180), (1440, 900)][: scaled(4, 6)]
    for (width, height), language in [((360, 740), "ja"), *((size, "en") for size in sizes)]:
        opened.tab.set_viewport_size({"width": width, "height": height})
        opened.tab.select_option("[data-switch=language]", language)
        for tab in ("decision", "game"):
            opened.tab.click(f"[data-tab={tab}]")
            assert opened.tab.locator("#pane-game .caveats li").count() == len(CAVEATS) - 1
            for place in ((0, 0), (0, odd["decisions"][3]["event"]), (1, 9999)):
                go(opened, *place)
                assert opened.tab.get_attribute(f"[data-tab={tab}]", "aria-selected") == "true"
                assert opened.tab.evaluate(CUT) == [], (place, tab)
                opened.check()
        assert len(set(opened.tab.evaluate(TOPS))) == 1
        hand = opened.tab.locator(".row[data-place='0'] .hand").bounding_box()
        assert hand["y"] + hand["height"] <= height
        assert width > 400 or opened.tab.evaluate(SMALL) == 0
        said = ("南1局 1本場", "L7447") if language == "ja" else ("South 1 · 1 honba", "lobby 7447")
        for pane in ("decision", "game"):
            go(opened, 0, 0)
            caveats = " ".join(opened.tab.locator(f"#pane-{pane} .caveats li").all_text_contents())
            assert all(word in caveats for word in said)
        assert ("席2" if language == "ja" else "Seat 2") in opened.tab.text_content("#pane-game")
        names_are_text(opened)


def names_are_text(opened: Opened) -> None:
    text = opened.tab.text_content("#app") + opened.tab.title()
    assert HOSTILE[0] in text
    assert HOSTILE[1] in text
    assert "evilname" in text
    assert not set(text) & set("\u202e\u2066\u202c\u200f\x07\x00")
    assert "W" * 60 not in text
    assert opened.tab.locator("img").count() == 0
    assert opened.tab.locator("script").count() == 2
    assert opened.tab.locator("bdi[dir=auto]").count() >= 4


def test_language_and_theme_are_the_systems_until_chosen_and_print_is_dark_on_light(
    open_review: Callable[..., Opened],
) -> None:
    review = decoded(critic().review(real_game(OPEN_KAN), 0))
    assert open_review(review, locale="de-DE").tab.text_content("#tab-decision") == "Decision"
    paper = "() => getComputedStyle(document.body).backgroundColor"
    opened = open_review(review, "#0.5", locale="ja-JP", color_scheme="dark")
    assert opened.tab.get_attribute("html", "lang") == "ja"
    assert opened.tab.text_content("#tab-decision") == "判断"
    dark = opened.tab.evaluate(paper)
    opened.tab.select_option("[data-switch=theme]", "light")
    assert opened.tab.evaluate(paper) != dark
    opened.tab.select_option("[data-switch=language]", "en")
    assert opened.tab.get_attribute("html", "lang") == "en"
    reloaded(opened.tab)
    assert opened.tab.get_attribute("html", "lang") == "en"
    assert opened.tab.evaluate(paper) != dark
    opened.tab.select_option("[data-switch=theme]", "system")
    assert opened.tab.evaluate(paper) == dark
    opened.tab.click("[data-tab=game]")
    opened.tab.emulate_media(media="print")
    panel = opened.tab.locator(".side-panel")
    assert panel.evaluate("(e) => e.scrollHeight <= e.clientHeight + 1")
    assert panel.evaluate("(e) => getComputedStyle(e).overflowY") == "visible"
    ink = opened.tab.evaluate("getComputedStyle(document.body).color")
    assert max(int(part) for part in ink[4:-1].split(",")) < 80
    for hidden in (".steer", ".tabs", ".switches"):
        assert opened.tab.is_hidden(hidden)
    opened.check()
    opened.tab.emulate_media(media="screen")
    table_is_our_fold(opened, OPEN_KAN)


def test_a_round_ends_with_hands_laid_open_and_its_result(open_review: Callable[..., Opened]) -> None:
    review = seen_from(SEEN_BY, real_game(DRAWN))
    opened = open_review(review)
    assert opened.tab.query_selector("[data-seat]") is None
    hands_that_a_round_ends_with_lie_open_where_one_hand_is_known(opened, review)
    a_result_says_who_was_tenpai_and_what_lay_on_the_table(opened, review)
    opened.check()


def test_unknown_tiles_and_payments_of_a_win_are_shown_as_unknown(open_review: Callable[..., Opened]) -> None:
    record = read_game(Path(__file__).parents[1] / "files" / "ok" / "mjai-hidden-bare-win.jsonl")
    opened = open_review(decoded(critic().review(record, 0)), "#0.14")
    tiles = opened.tab.locator(".result-hand .tile")
    assert tiles.evaluate_all("(tiles) => tiles.map((tile) => tile.dataset.tile)") == ["?"] * 13 + ["8s"]
    assert "points" not in opened.tab.text_content(".result-value")
    scores = opened.tab.locator(".result-scores li").all_inner_texts()
    assert [line.split("\n")[1:] for line in scores] == [["–", "–"]] * 4
    opened.check()


def hands_that_a_round_ends_with_lie_open_where_one_hand_is_known(
    opened: Opened, review: dict[str, Any]
) -> None:
    ends = [(each["index"], len(each["events"]) - 1) for each in review["rounds"]]
    before = [
        (place, next(e for e, m in enumerate(review["rounds"][place]["events"]) if is_over(m)) - 1)
        for place, _ in ends
    ]
    for table in opened.tab.evaluate(READ_TABLE, before):
        assert [set(each["hand"]) == {"?"} for each in table["players"]] == [True, True, False, True]
    seen = set()
    for each, table in zip(review["rounds"], opened.tab.evaluate(READ_TABLE, ends), strict=True):
        shown = ended_with(each["result"])
        seen |= {how_it_ended(each["result"])} if set(shown) - {2} else set()
        for player in (0, 1, 3):
            hand = table["players"][player]["hand"]
            assert hand == sorted(shown[player]) if player in shown else set(hand) == {"?"}
    assert seen == {"tsumo", "ron", "draw"}
    win = next(each for each in review["rounds"] if any(one["player"] != 2 for one in each["result"]["wins"]))
    go(opened, win["index"], 9999)
    laid_out = opened.tab.locator(".result-hand .tile")
    assert "?" not in laid_out.evaluate_all("(tiles) => tiles.map((tile) => tile.dataset.tile)")


def a_result_says_who_was_tenpai_and_what_lay_on_the_table(opened: Opened, review: dict[str, Any]) -> None:
    for each in review["rounds"]:
        go(opened, each["index"], 9999)
        said = [line.split("\n")[1] for line in opened.tab.locator(".result-scores li").all_inner_texts()]
        if each["result"]["kind"] == "draw":
            ready = each["result"]["tenpai"]
            assert said == ["tenpai" if ready[(SEEN_BY + place) % 4] else "noten" for place in range(4)]
        else:
            assert not {"tenpai", "noten"} & set(said)
            change = sum(1 for message in each["events"] if message["type"] == "reach_accepted")
            sticks = each["sticks"] + change
            extras = "".join(opened.tab.locator(".result-extras").all_inner_texts())
            assert (f"{each['honba']} honba" in extras) == (each["honba"] > 0)
            assert (f"{sticks} riichi stick" in extras) == (sticks > 0)


def how_it_ended(result: dict[str, Any]) -> str:
    tsumo = any(win["player"] == win["from_player"] for win in result["wins"])
    return "tsumo" if tsumo else "ron" if result["wins"] else "draw"


def ended_with(result: dict[str, Any]) -> dict[int, list[str]]:
    """Concealed tiles of the players who showed them; for a ron without the winning tile."""
    shown = {player: hand for player, hand in enumerate(result["hands"] or ()) if hand}
    for win in result["wins"]:
        hand = list(win["hand"])
        if win["from_player"] != win["player"]:
            hand.remove(win["tile"])
        shown[win["player"]] = hand
    return shown


def test_an_index_lists_sorts_filters_and_sums_games(
    open_page: Callable[..., Opened], tmp_path: Path
) -> None:
    made = review_of_all()
    caveats = msgspec.convert(CAVEATS[:-1], tuple[schema.Caveat, ...])
    one = msgspec.structs.replace(made.game, date="2010-08-10T09", names=HOSTILE, caveats=caveats)
    other = msgspec.structs.replace(
        one, date="2009-01-01T00", names=("Genbu", *HOSTILE[1:]), ranks=(17, 16, 16, 16), caveats=()
    )
    entries = [
        made_entry(msgspec.structs.replace(made, game=game), f"game-{number}")
        for number, game in enumerate((one, other))
    ]
    entries[0] = msgspec.structs.replace(entries[0], seats=())
    skipped = [schema.Skipped(file="broken<b>.xml", reason="cut short")]
    counted = [tally(real_game(KANS).events)[0][0]] * 2
    index = json.loads(as_json(index_of(entries, counted, skipped, critic(), 2)))
    index["games"].append(index["games"][0] | {"page": "javascript:alert(1)"})
    path = tmp_path / "index.html"
    path.write_text(index_page(index), encoding="utf-8")
    opened = open_page(path, width=360)
    tab = opened.tab
    assert "by 2 different players" in tab.inner_text(".totals .caveats")
    assert tab.locator(".games .caveat").count() == len(CAVEATS) - 1
    figures_by_rank_are_those_of_the_index(opened, index)
    rows = tab.locator(".games tbody tr")
    assert rows.count() == 3
    links = rows.locator("a").evaluate_all("(links) => links.map((a) => a.getAttribute('href'))")
    assert links == [
        *(f"./game-1.html{place}" for place in ("", "#seat.1", "#seat.2", "#seat.3")),
        "./game-0.html",
    ]
    tab.click("[data-sort=date]")
    assert rows.first.locator("a").get_attribute("href") == "./game-0.html"
    tab.fill("input[type=search]", "genbu")
    assert rows.count() == 2
    assert tab.text_content("[data-figure=average_place]") == "1.00"
    assert tab.locator(".scroll:has(.games)").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    tab.select_option("[data-switch=language]", "ja")
    assert tab.text_content("h1") == "検討した対局"
    ranks = tab.get_by_role("table", name="段位ごと").get_by_role("rowheader")
    assert ranks.all_inner_texts() == ["七段", "八段"]
    opened.check()
    path.write_text(page({"format": "suzaku-review/3"}), encoding="utf-8")
    tab.reload()
    assert tab.text_content("[role=alert]") == "このページのデータを読めません。"


def test_an_index_of_one_player_shows_the_course_and_the_losses_and_is_practised(
    open_page: Callable[..., Opened], tmp_path: Path
) -> None:
    made = review_of_all()
    dates = ["2009-01-01 00:00 JST", "2009-01-02 00:00 JST", "2009-02-03 00:00 JST"]
    entries = [
        made_entry(msgspec.structs.replace(made, game=game), f"game-{number}")
        for number, date in enumerate(dates)
        for game in [msgspec.structs.replace(made.game, date=date)]
    ]
    index = json.loads(as_json(index_of(entries, [tally(real_game(KANS).events)[0][0]] * 3, [], critic(), 1)))
    index["exercises"] = json.loads(msgspec.json.encode(worst_of([], made)))
    msgspec.convert(index, schema.ReviewIndex)
    for rating, game in zip((80.0, 90.0, 70.0), index["games"], strict=True):
        prices = [error | {"price": 100.0 + place} for place, error in enumerate(game["errors"])]
        game |= {"rating": rating, "errors": prices, "price": sum(error["price"] for error in prices)}
    path = tmp_path / "index.html"
    path.write_text(index_page(index), encoding="utf-8")
    opened = open_page(path, width=390)
    tab = opened.tab
    lines = "(all) => all.map((one) => one.dataset.series.split(' ').map(Number))"
    rating, price, place = (tab.locator(f".curve >> nth={number} >> .line") for number in range(3))
    assert rating.evaluate_all(lines) == [[80.0, 90.0, 70.0], [80.0, 85.0, 80.0]]
    assert price.evaluate_all(lines) == [[index["games"][0]["price"]] * 3] * 2
    assert place.evaluate_all(lines) == [[made.game.places[0]] * 3] * 2
    tab.click("[data-monthly=true]")
    assert rating.evaluate_all(lines) == [[85.0, 70.0]]
    errors = [error for game in index["games"] for error in game["errors"]]
    shown = {}
    for row in tab.locator("[data-kind]").all():
        shown[row.get_attribute("data-kind")] = row.locator("td").all_inner_texts()
    for kind, (count, points) in shown.items():
        of_kind = [error["price"] for error in errors if error["kind"] == kind]
        assert (count, points) == (str(len(of_kind)), f"{int(rounded(sum(of_kind), '1')):,}"), kind
    assert sum(int(count) for count, _ in shown.values()) == len(errors)
    dearest = tab.locator("[data-kind] + tr a").first.get_attribute("href")
    assert dearest in {
        f"./{game['page']}#{e['round']}.{e['event']}.0" for game in index["games"] for e in game["errors"]
    }
    assert tab.get_by_role("table", name="By rank").count() == 0
    opened.check()
    tab.click("[data-command=practise]")
    assert tab.evaluate(WITHOUT_POLICY)
    assert tab.evaluate(ANSWERED, [0, 2]) == ["Right"] * 2
    tab.keyboard.press("Escape")
    assert tab.locator(".games tbody tr").count() == 3
    opened.check()


def figures_by_rank_are_those_of_the_index(opened: Opened, index: dict[str, Any]) -> None:
    table = opened.tab.get_by_role("table", name="By rank")
    heads = ["Rank", "Games", "Decisions", "Agreement", "Rating", "Bad moves"]
    assert table.get_by_role("columnheader").all_inner_texts() == heads
    shown = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert [one["rank"] for one in index["ranks"]] == [16, 17]
    assert [row[0] for row in shown] == ["7-dan", "8-dan"]
    for one, row in zip(index["ranks"], shown, strict=True):
        assert row[1:] == [
            str(one["games"]),
            str(one["decisions"]),
            percent(one["agreement"]),
            rounded(one["rating"], "0.1"),
            percent(one["bad_move_rate"]),
        ]
