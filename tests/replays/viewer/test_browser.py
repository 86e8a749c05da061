"""The page in a real browser, from disk: Playwright drives the system's Chromium."""

from __future__ import annotations

import json
import shlex
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import unquote

import pytest

from game.tiles import mjai_text
from policies.heuristic.player import HeuristicPolicy
from policies.play.named import RandomPolicy
from replays.review.report import as_json
from replays.review.schema import CaveatKey
from replays.viewer import index_page, page
from tests.chromium import HOSTILE, Opened, needs_chromium, reloaded
from tests.policies.fakes import Scripted
from tests.replays.review.made import record_of, reviewed, reviewer
from tests.replays.viewer.samples import (
    DRAWN,
    KANS,
    OPEN_KAN,
    index_of,
    laid,
    real_game,
    review_of,
    rounds_of,
    seen_from,
)
from tests.scale import scaled
from tests.scene import Scene

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
  return {
    shown: Number(viewer.decision.querySelector("[data-decision]").dataset.decision), index,
    badge: viewer.decision.querySelector(".decision-head .badge").className,
    rows: [...viewer.decision.querySelectorAll(".options tbody tr")].map((row) => ({
      signs: row.querySelector(".sign").textContent,
      tile: row.querySelector(".tile")?.dataset.tile ?? "", probability: cells(row, "probability")[0],
      shanten: cells(row, "shanten")[0], ukeire: cells(row, "ukeire")[0], danger: cells(row, "danger"),
      learned: cells(row, "learned"), past: cells(row, "past"),
    })),
  };
})"""
READ_REASONS = """(places) => places.map((place) => {
  globalThis.suzakuViewer.go(place);
  const items = [...document.querySelectorAll(".reasons li")];
  return {
    keys: items.map((item) => item.dataset.note), text: items.map((item) => item.innerText).join(" "),
    address: document.querySelector(".ask-here a").getAttribute("href"),
    command: document.querySelector(".ask-command").textContent,
  };
})"""
EVERY: Final = scaled(4, 1)
"""Of so many decisions one is read."""


@pytest.fixture(scope="module")
def review() -> dict[str, Any]:
    return review_of(real_game(KANS))


@pytest.fixture(scope="module")
def file(review: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "review.html"
    path.write_text(page(review), encoding="utf-8")
    return path


def folded(events: list[tuple[dict[str, Any], Any]], place: int) -> dict[str, Any]:
    record = events[place][1]
    return {
        "players": [laid(record, player) for player in range(4)],
        "wall": int(record["wall_left"]),
        "sticks": int(record["riichi_sticks"]),
        "dora": [message["dora_marker"] for message, _ in events[: place + 1] if "dora_marker" in message],
    }


def scores(table: dict[str, Any]) -> list[int]:
    return [player["score"] for player in table["players"]]


def is_over(message: dict[str, Any]) -> bool:
    return message["type"] in ("hora", "ryukyoku", "end_kyoku")


@pytest.mark.parametrize(
    ("number", "every"),
    [(KANS, scaled(80, 1)), (OPEN_KAN, scaled(80, 1))],
)
def test_table_is_our_fold_at_every_moment(number: int, every: int, open_page: Any, tmp_path: Path) -> None:
    game = real_game(number)
    rounds = list(rounds_of(game.events))
    path = tmp_path / "review.html"
    path.write_text(page(review_of(game)), encoding="utf-8")
    kans = {
        (r, e) for r, part in enumerate(rounds) for e, (m, _) in enumerate(part) if m["type"].endswith("kan")
    }
    wanted = sorted(
        kans
        | {
            (r, e)
            for r, part in enumerate(rounds)
            for e in range(len(part))
            if e % every == 0 or e + 2 > len(part)
        }
    )
    opened = open_page(path)
    for (place, event), drawn in zip(wanted, opened.tab.evaluate(READ_TABLE, wanted), strict=True):
        expected = folded(rounds[place], event)
        assert scores(drawn) == scores(expected), (place, event)
        # after a result, the two may differ in the sticks on the table
        if not is_over(rounds[place][event][0]):
            assert drawn == expected, (place, event)
    assert kans
    opened.check()


def test_a_round_ends_with_hands_laid_open_and_its_result(open_page: Any, tmp_path: Path) -> None:
    review = review_of(real_game(DRAWN), SEEN_BY)
    path = tmp_path / "seen.html"
    path.write_text(page(seen_from(review, SEEN_BY)), encoding="utf-8")
    opened = open_page(path)
    hands_that_a_round_ends_with_lie_open_where_one_hand_is_known(opened, review)
    a_result_says_who_was_tenpai_and_what_lay_on_the_table(opened, review)
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
    opened.tab.evaluate(
        "(place) => globalThis.suzakuViewer.go(place)", {"round": win["index"], "event": 9999}
    )
    laid_out = opened.tab.locator(".result-hand .tile")
    assert "?" not in laid_out.evaluate_all("(tiles) => tiles.map((tile) => tile.dataset.tile)")


def a_result_says_who_was_tenpai_and_what_lay_on_the_table(opened: Opened, review: dict[str, Any]) -> None:
    for each in review["rounds"]:
        opened.tab.evaluate(
            "(round) => globalThis.suzakuViewer.go({ round, event: Infinity })", each["index"]
        )
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


def test_a_review_of_a_real_game_shows_both_policies_and_why_a_choice_is_worse(
    open_page: Any, tmp_path: Path
) -> None:
    reviewed = reviewer(RandomPolicy(), other=HeuristicPolicy()).review(real_game(KANS), 0)
    made = json.loads(as_json(reviewed))
    path = tmp_path / "review.html"
    path.write_text(page(made), encoding="utf-8")
    opened = open_page(path)
    shows_both_policies_numbers(opened, made)
    every_error_has_a_sentence_and_leads_to_ask(opened, made)
    opened.tab.select_option("[data-switch=language]", "en")
    opened.tab.get_by_role("tab", name="Game").click()
    assert _percent(made["summary"]["agreement"]) in opened.tab.locator("body").inner_text()
    opened.check()


def shows_both_policies_numbers(opened: Opened, made: dict[str, Any]) -> None:
    chosen = range(0, len(made["decisions"]), EVERY)
    assert len(made["decisions"]) > 40
    kinds = set()
    for number, shown in zip(chosen, opened.tab.evaluate(READ_DECISIONS, list(chosen)), strict=True):
        decision = made["decisions"][number]
        assert shown["shown"] == shown["index"]
        assert decision["category"] in shown["badge"]
        options = decision["options"]
        kinds |= {option["action"]["kind"] for option in options}
        deep, risky = (any(option[what] is not None for option in options) for what in ("shanten", "danger"))
        threatened = any(opponent["tenpai"] >= 0.3 for opponent in decision["opponents"])
        marked = [
            option["action"]
            for option, row in zip(options, shown["rows"], strict=True)
            if "◇" in row["signs"]
        ]
        assert marked == [decision["other"]]
        for option, row in zip(options, shown["rows"], strict=True):
            assert row["past"] == [_percent(option["other"])]
            assert row["tile"] == (option["action"].get("tile") or row["tile"])
            assert row["probability"] == _percent(option["probability"])
            if deep:
                reached, ukeire = option["shanten"], option["ukeire"]
                assert row["shanten"] == ("" if reached is None else str(reached))
                assert row["ukeire"] == ("" if ukeire is None else f"{ukeire['tiles']} /{ukeire['kinds']}")
            if risky:
                chances = option["danger"]
                each = [""] * 3 if chances is None else list(map(_percent, chances))
                worst = [""] if chances is None else [_percent(max(chances))]
                assert row["danger"] == (each if threatened else worst)
                assert row["learned"] == []
    assert {"discard", "pass"} < kinds


def _reasons(decision: dict[str, Any]) -> list[str]:
    return [note["key"] for note in decision["notes"] if note["key"].startswith(("reason_", "cost_"))]


def every_error_has_a_sentence_and_leads_to_ask(opened: Opened, made: dict[str, Any]) -> None:
    errors = [decision for decision in made["decisions"] if decision["category"] != "fine"]
    assert len(errors) > 20
    assert all(map(_reasons, errors))
    kinds = {key: decision for decision in errors for key in _reasons(decision)}
    assert len(kinds) > 10
    for language in ("en", "ja"):
        opened.tab.select_option("[data-switch=language]", language)
        read = opened.tab.evaluate(READ_REASONS, list(kinds.values()))
        for decision, shown in zip(kinds.values(), read, strict=True):
            assert shown["keys"] == _reasons(decision)
            assert "undefined" not in shown["text"]
            assert json.loads(unquote(shown["address"].partition("#")[2])) == decision["position"]
            assert shlex.split(shown["command"])[:3] == ["suzaku", "ask", decision["position"]["hand"]]


def test_furiten_and_waits_that_are_gone_are_told(open_page: Any, tmp_path: Path) -> None:
    scene = Scene("123m456p78s11222z", dora="9s").own("6s", "6s").turn("9s").turn("9s").turn("9s").draw("8s")
    eight = next(action for action in scene.legal() if mjai_text(action.tile) == "8s")
    made = json.loads(as_json(reviewed(record_of(scene.discard("7s")), 0, Scripted({eight: 1.0}))))
    path = tmp_path / "review.html"
    path.write_text(page(made), encoding="utf-8")
    opened = open_page(path)
    last = made["decisions"][-1]
    opened.tab.evaluate("(place) => globalThis.suzakuViewer.go(place)", last)
    panel = opened.tab.locator("article.decision")
    assert (
        "(the policy's choice) makes the hand furiten" in panel.locator(".notes:not(.reasons)").inner_text()
    )
    assert "No copies left of" in panel.locator(".facts").inner_text()
    opened.check()


def _percent(share: float) -> str:
    return f"{_rounded(100 * share, '0.1')}%"


def _rounded(value: float, unit: str) -> str:
    return str(Decimal(str(value)).quantize(Decimal(unit), ROUND_HALF_UP))


def test_a_review_is_walked_through(review: dict[str, Any], file: Path, open_page: Any) -> None:
    opened = open_page(file)
    for step in (
        keys_and_buttons_do_the_same,
        tiles_are_written_as_players_write_them,
        rounds_timeline_worst_and_address_lead_to_their_places,
        the_table_turns_and_other_hands_hide,
        tiles_like_the_one_pointed_at_are_marked,
        a_seat_has_one_name_wherever_it_stands_and_however_the_table_is_turned,
        everything_has_a_name_for_those_who_hear_it,
        every_number_of_a_decision_is_that_of_the_data,
        errors_to_stop_at_are_chosen_and_kept,
        help_opens_by_key_and_button_and_keeps_keys_to_itself,
    ):
        step(opened, review)
        opened.check()


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


def tiles_are_written_as_players_write_them(opened: Opened, review: dict[str, Any]) -> None:
    written = {"E": "1z", "S": "2z", "W": "3z", "N": "4z", "P": "5z", "F": "6z", "C": "7z"}
    seen = set()
    for each in review["rounds"]:
        for place, message in enumerate(each["events"]):
            tile = message.get("pai", "")
            if message["type"] != "dahai" or tile in seen or not (len(tile) == 1 or tile.endswith("r")):
                continue
            seen.add(tile)
            opened.tab.evaluate(f"globalThis.suzakuViewer.go({{ round: {each['index']}, event: {place} }})")
            text = written.get(tile, f"0{tile[1:2]}")
            assert f" discards {text}" in opened.tab.inner_text(".caption")
            shown = opened.tab.locator(f".river .t-{tile}").first
            assert shown.get_attribute("title").startswith(f"{text} · ")
    assert len(seen) > 5


def rounds_timeline_worst_and_address_lead_to_their_places(opened: Opened, review: dict[str, Any]) -> None:
    opened.tab.evaluate("location.hash = '#2.7'")
    opened.tab.wait_for_function("document.querySelector('.round[aria-current]').dataset.round === '2'")
    assert opened.tab.get_attribute(".round[aria-current]", "data-round") == "2"
    opened.tab.click(".rounds [data-round='1']")
    assert opened.place == [1, 0]
    worst = review["summary"]["worst"][0]
    opened.tab.click("[data-tab=game]")
    opened.tab.click(f"#pane-game [data-jump='{worst}']")
    decision = review["decisions"][worst]
    assert opened.place == [decision["round"], decision["event"]]
    assert opened.tab.get_attribute(".decision", "data-decision") == str(worst)
    assert opened.tab.get_attribute(".mark-here", "data-event") == str(decision["event"])
    opened.tab.click(".track", position={"x": 2, "y": 3})
    assert opened.place == [decision["round"], 0]
    opened.tab.evaluate("location.hash = '#0.3'")
    opened.tab.wait_for_function("document.querySelector('.round[aria-current]').dataset.round === '0'")


def the_table_turns_and_other_hands_hide(opened: Opened, _: dict[str, Any]) -> None:
    opened.tab.evaluate("location.hash = '#0.4'")
    opened.tab.wait_for_function("document.querySelector('.round[aria-current]').dataset.round === '0'")
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


def tiles_like_the_one_pointed_at_are_marked(opened: Opened, review: dict[str, Any]) -> None:
    decision = review["decisions"][6]
    opened.tab.evaluate("(place) => globalThis.suzakuViewer.go(place)", decision)
    opened.tab.click("[data-tab=decision]")
    tile = decision["options"][1]["action"]["tile"]
    faces = "(tiles) => tiles.map((tile) => tile.dataset.tile.slice(0, 2))"
    alike = opened.tab.locator(".board .tile").evaluate_all(faces).count(tile[:2])
    opened.tab.hover(".options tbody tr:nth-child(2) .tile")
    assert opened.tab.locator(".tile-alike").evaluate_all(faces) == [tile[:2]] * alike
    assert alike > 0
    opened.tab.hover(".caption")
    assert opened.tab.locator(".tile-alike").count() == 0


def everything_has_a_name_for_those_who_hear_it(opened: Opened, review: dict[str, Any]) -> None:
    decision = review["decisions"][3]
    opened.tab.evaluate("(place) => globalThis.suzakuViewer.go(place)", decision)
    nameless = """() => [...document.querySelectorAll("[role=img], button, select, [role=region]")]
      .filter((e) => !(e.getAttribute("aria-label") || e.textContent || "").trim())
      .map((e) => e.outerHTML.slice(0, 80))"""
    for language in ("en", "ja"):
        opened.tab.select_option("[data-switch=language]", language)
        assert opened.tab.evaluate(nameless) == []
    opened.tab.select_option("[data-switch=language]", "en")
    names = opened.tab.locator(".river .tile").evaluate_all("(tiles) => tiles.map((t) => t.ariaLabel)")
    assert names
    assert all(
        name.split(",")[0].split()[-1] in ("man", "pin", "sou", "East", "South", "West", "North", "dragon")
        for name in names
    )


def every_number_of_a_decision_is_that_of_the_data(opened: Opened, review: dict[str, Any]) -> None:
    chosen = range(0, len(review["decisions"]), EVERY)
    read = opened.tab.evaluate(READ_DECISIONS, list(chosen))
    assert len(review["decisions"]) > 40
    for number, shown in zip(chosen, read, strict=True):
        decision = review["decisions"][number]
        assert shown["shown"] == shown["index"]
        assert decision["category"] in shown["badge"]
        assert [row["tile"] for row in shown["rows"]] == [
            option["action"]["tile"] for option in decision["options"]
        ]
        for option, row in zip(decision["options"], shown["rows"], strict=True):
            assert row["probability"] == _percent(option["probability"])
            assert row["shanten"] == str(option["shanten"])
            assert row["ukeire"] == f"{option['ukeire']['tiles']} /{option['ukeire']['kinds']}"
            assert row["danger"] == [_percent(share) for share in option["danger"]]
            assert row["learned"] == [_percent(share) for share in option["learned"]["deal_in"]]
            assert row["past"] == ["50.0%", "25.0%"]


def help_opens_by_key_and_button_and_keeps_keys_to_itself(opened: Opened, _: dict[str, Any]) -> None:
    opened.tab.set_viewport_size({"width": 360, "height": 900})  # the help is longer than the screen
    opened.tab.click("[data-tab=game]")  # keys in a list of choices choose
    opened.tab.evaluate("globalThis.suzakuViewer.go({ round: 0, event: 5 })")
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


def is_error(decision: dict[str, Any], least: str = "inaccuracy") -> bool:
    grades = ["fine", "inaccuracy", "mistake", "blunder"]
    return not decision["agrees"] and grades.index(decision["category"]) >= grades.index(least)


def errors_to_stop_at_are_chosen_and_kept(opened: Opened, review: dict[str, Any]) -> None:
    assert opened.tab.input_value("[data-switch=stop]") == "inaccuracy"
    for least, language in (("fine", "ja"), ("blunder", "en")):
        opened.tab.select_option("[data-switch=stop]", least)
        opened.tab.select_option("[data-switch=language]", language)
        reloaded(opened.tab)
        assert opened.tab.input_value("[data-switch=stop]") == least
        wanted = [[each["round"], each["event"]] for each in review["decisions"] if is_error(each, least)]
        opened.tab.click("[data-command=first]")
        assert opened.tab.evaluate(STOPS, len(wanted[:STOPPED])) == wanted[:STOPPED]
        opened.tab.click("[data-command=last]")
        opened.tab.keyboard.press("e")
        chosen = opened.tab.locator("[data-switch=stop] option:checked").inner_text()
        assert chosen.split(" ", 1)[1] in opened.tab.inner_text(".caption")


def a_seat_has_one_name_wherever_it_stands_and_however_the_table_is_turned(
    opened: Opened, review: dict[str, Any]
) -> None:
    decision = next(each for each in review["decisions"] if each["round"] == 2)
    opened.tab.evaluate("(place) => globalThis.suzakuViewer.go(place)", decision)
    for language, winds in (("en", "East South West North"), ("ja", "東 南 西 北")):
        opened.tab.select_option("[data-switch=language]", language)
        for turned in range(4):
            seats_are_named(opened, review, winds.split(), turned)
            opened.tab.click("[data-command=rotate]")


def seats_are_named(opened: Opened, review: dict[str, Any], winds: list[str], turned: int) -> None:
    seat, dealer = review["seat"], review["rounds"][2]["dealer"]
    assert dealer != seat
    names = [winds[(player - dealer) % 4] for player in range(4)]
    others = [names[(seat + step) % 4] for step in (1, 2, 3)]
    plates = opened.tab.locator(".plate").evaluate_all(
        """(all) => all.map((one) => [Number(one.dataset.place), one.querySelector(".plate-seat").innerText,
          one.querySelectorAll(".plate-own").length])"""
    )
    assert sorted(place for place, _, _ in plates) == [0, 1, 2, 3]
    for place, name, own in plates:
        player = (seat + turned + place) % 4
        assert name.startswith(names[player])
        assert own == (player == seat)
    heads = opened.tab.locator(".options th[aria-label]").evaluate_all("(all) => all.map((e) => e.ariaLabel)")
    assert [[name for name in names if name in head] for head in heads] == [[name] for name in others]
    assert opened.tab.locator(".opponents .quiet:first-child").all_inner_texts() == others


CAVEATS = (
    {"key": "cut", "params": {}},
    {"key": "part", "params": {"round_index": 4, "honba": 1}},
    {"key": "rules_unsaid", "params": {}},
    {"key": "lobby", "params": {"lobby": 7447}},
    {"key": "start_scores", "params": {"scores": [30000] * 4}},
    {"key": "results", "params": {}},
    {"key": "values", "params": {}},
    {"key": "of a later version", "params": {}},
)


@pytest.fixture(scope="module")
def odd(review: dict[str, Any]) -> dict[str, Any]:
    """A review of a record that leaves much open, with hostile names."""
    return review | {"game": review["game"] | {"caveats": CAVEATS, "names": list(HOSTILE)}}


def test_an_odd_record_says_what_it_leaves_open_and_its_names_are_text_and_nothing_else(
    odd: dict[str, Any], open_page: Any, tmp_path: Path
) -> None:
    assert {each["key"] for each in CAVEATS} >= set(get_args(CaveatKey))
    path = tmp_path / "review.html"
    path.write_text(page(odd), encoding="utf-8")
    for locale, words in (
        ("en-GB", ("South 1 · 1 honba", "lobby 7447")),
        ("ja", ("南1局 1本場", "L7447")),
    ):
        opened = open_page(path, "#1.20", width=360, locale=locale)
        for tab in ("game", "decision"):
            opened.tab.click(f"[data-tab={tab}]")
            lines = opened.tab.locator(f"#pane-{tab} .caveats li").all_inner_texts()
            assert len(set(lines)) == len(CAVEATS) - 1
            assert all(word in " ".join(lines) for word in words)
        opened.tab.keyboard.press("End")
        names_are_text(opened)
        opened.check()


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


def test_nothing_is_cut_off_at_any_size(review: dict[str, Any], open_page: Any, tmp_path: Path) -> None:
    live = {"time_ms": 12.5, "budget_ms": 3000.0, "source": "model", "fallback": "", "late": False}
    made = [
        each | {"live": live | {"probabilities": [0.5] * len(each["options"])}}
        for each in review["decisions"]
    ]
    path = tmp_path / "review.html"
    path.write_text(page(review | {"decisions": made}), encoding="utf-8")
    opened = open_page(path)
    sizes = [(360, 740), (1024, 768), (720, 450), (820, 1180), (1440, 900)][: scaled(3, 5)]
    for (width, height), language in [((360, 740), "ja"), *((size, "en") for size in sizes)]:
        opened.tab.set_viewport_size({"width": width, "height": height})
        opened.tab.select_option("[data-switch=language]", language)
        for tab in ("decision", "game"):
            opened.tab.click(f"[data-tab={tab}]")
            for place in ({"round": 0, "event": 0}, review["decisions"][3], {"round": 1, "event": 9999}):
                opened.tab.evaluate("(place) => globalThis.suzakuViewer.go(place)", place)
                assert opened.tab.get_attribute(f"[data-tab={tab}]", "aria-selected") == "true"
                assert opened.tab.evaluate(CUT) == [], (place, tab)
                opened.check()
        assert len(set(opened.tab.evaluate(TOPS))) == 1
        hand = opened.tab.locator(".row[data-place='0'] .hand").bounding_box()
        assert hand["y"] + hand["height"] <= height
        assert width > 360 or opened.tab.evaluate(SMALL) == 0


def test_language_and_theme_are_the_systems_until_chosen_and_print_is_dark_on_light(
    file: Path, open_page: Any
) -> None:
    assert open_page(file, locale="de-DE").tab.text_content("#tab-decision") == "Decision"
    paper = "() => getComputedStyle(document.body).backgroundColor"
    opened = open_page(file, "#0.5", locale="ja-JP", color_scheme="dark")
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
    assert panel.evaluate("(e) => e.scrollHeight <= e.clientHeight + 1 && getComputedStyle(e).overflowY")
    assert panel.evaluate("(e) => getComputedStyle(e).overflowY") == "visible"
    ink = opened.tab.evaluate("getComputedStyle(document.body).color")
    assert max(int(part) for part in ink[4:-1].split(",")) < 80
    for hidden in (".steer", ".tabs", ".switches"):
        assert opened.tab.is_hidden(hidden)
    opened.check()


def test_a_game_can_be_followed_as_it_goes_on(review: dict[str, Any], open_page: Any, tmp_path: Path) -> None:
    start = review["rounds"][0]
    begun = review | {
        "rounds": [start | {"events": start["events"][:5], "result": None}],
        "decisions": [],
        "summary": None,
    }
    path = tmp_path / "live.html"
    path.write_text(page(begun), encoding="utf-8")
    opened = open_page(path)
    viewer = "globalThis.suzakuViewer"
    opened.tab.evaluate(f"{viewer}.follow()")
    opened.tab.evaluate(f"(events) => {viewer}.appendEvents(events)", start["events"][5:9])
    assert opened.place == [0, 8]
    opened.tab.keyboard.press("ArrowLeft")
    opened.tab.evaluate(f"(events) => {viewer}.appendEvents(events)", start["events"][9:12])
    assert opened.place == [0, 7]
    opened.tab.evaluate(f"(round) => {viewer}.appendRound(round)", review["rounds"][1])
    assert opened.tab.locator(".rounds .round").count() == 2
    opened.tab.evaluate(f"(decisions) => {viewer}.setDecisions(decisions)", review["decisions"][:3])
    opened.tab.keyboard.press("Home")
    opened.tab.keyboard.press("Shift+ArrowRight")
    assert opened.tab.get_attribute(".decision", "data-decision") == "0"
    opened.check()


def test_broken_data_is_said_and_not_drawn(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.html"
    path.write_text(page({"format": "suzaku-review/3"}), encoding="utf-8")
    opened = open_page(path)
    assert opened.tab.text_content("[role=alert]") == "This page's data cannot be read."


def test_an_index_lists_sorts_filters_and_sums_games(
    review: dict[str, Any], odd: dict[str, Any], open_page: Any, tmp_path: Path
) -> None:
    other = review | {
        "game": review["game"] | {"names": ["Genbu", *HOSTILE[1:]], "date": "2009-01-01T00"},
        "seat": 2,
        "decisions": review["decisions"][5:],
    }
    index = index_of([odd, other])
    index["games"].append(index["games"][1] | {"page": "javascript:alert(1)"})
    path = tmp_path / "index.html"
    path.write_text(index_page(index | {"total": index["total"] | {"players": 2}}), encoding="utf-8")
    opened = open_page(path, width=360)
    tab = opened.tab
    assert "by 2 different players" in tab.inner_text(".totals .caveats")
    assert tab.locator(".games .caveat").count() == len(CAVEATS) - 1
    figures_by_rank_are_those_of_the_index(opened, index)
    rows = tab.locator(".games tbody tr")
    assert rows.count() == 3
    assert rows.locator("a").evaluate_all("(links) => links.map((a) => a.getAttribute('href'))") == [
        "./game-1.html",
        "./game-0.html",
    ]
    tab.click("[data-sort=date]")
    assert rows.first.locator("a").get_attribute("href") == "./game-0.html"
    tab.fill("input[type=search]", "genbu")
    assert rows.count() == 2
    assert tab.text_content("[data-figure=average_place]") == "1.50"
    assert tab.locator(".scroll:has(.games)").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    tab.select_option("[data-switch=language]", "ja")
    assert tab.text_content("h1") == "検討した対局"
    ranks = tab.get_by_role("table", name="段位ごと").get_by_role("rowheader")
    assert ranks.all_inner_texts() == ["七段", "八段"]
    opened.check()
    path.write_text(index_page(index | {"ranks": []}), encoding="utf-8")
    tab.reload()
    assert tab.get_by_role("table").count() == 1


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
            _percent(one["agreement"]),
            _rounded(one["rating"], "0.1"),
            _percent(one["bad_move_rate"]),
        ]
