"""The page of a comparison: self-contained, complete, and safe against any name."""

from __future__ import annotations

import doctest
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from learning.arena.page import plots
from learning.arena.page.plots import Drawing, Scale
from learning.arena.page.render import page_of, write_page
from learning.arena.report import ArenaReport, convergence, report
from learning.matches.players import Contender
from learning.matches.statistics import Floats
from tests.learning.arena.made_up import a_plan, a_row

VOID = {"meta", "br"}
PLACES = [1, 2, 4, 1, 2, 3, 1, 2, 4, 3, 1, 1]


def a_report(places: list[int], sets: int = 40, **told: object) -> ArenaReport:
    plan = a_plan(sets)
    rows = [a_row(plan, number, places[number % len(places)]) for number in range(plan.games)]
    found = report(plan, rows, **told)  # type: ignore[arg-type]
    assert found is not None
    return found


class Reader(HTMLParser):
    """Reads a page, and checks that it closes every element it opens."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.texts.append(data.strip())


def test_everything_is_there() -> None:
    found = a_report(PLACES, seconds=8.0, played=160, times={"table": 0.02, "discard answers": 0.18})
    reader = Reader(page_of(found))
    text = " ".join(reader.texts)
    for part in (
        "heuristic against random",
        "heuristic 1 v 3 random: 160 tonpuu games, 40 duplicate sets, seed 0",
        "suzaku arena --challenger heuristic --champion random --games 160 --seed 0 --tables 8 --tonpuu",
        "heuristic is stronger",
        "Places",
        "Average placement over the games",
        "Stable rank",
        "On the rank ladder",
        "180 ms, 90 %",
        "8.0 s, 20.00 games/s",
        "game 1: E1-0 turn 3 player 0: too late",
    ):
        assert part in text
    for side in (found.challenger, found.champions):
        assert side.placement.value is not None
        assert f"{side.placement.value:.3f}" in reader.texts
    assert page_of(found).count("<svg") == 4


def test_the_page_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    write_page(a_report(PLACES), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    reader = Reader(page)
    assert not reader.tags & {"script", "img", "link", "iframe", "object", "embed", "base", "form", "use"}
    assert not {name for name in reader.attributes if name.startswith("on")}
    assert not reader.attributes & {"src", "href", "srcset", "action"}
    assert not re.search(r"url\(|@import|https?:", page)
    assert "prefers-color-scheme: dark" in page
    assert "width=device-width" in page


def test_names_are_only_text() -> None:
    plan = a_plan(1)
    name = '<script>alert(1)<\\script> & "O\'Neill"'
    plan = msgspec.structs.replace(plan, challenger=Contender(name, "x"))
    found = report(plan, [a_row(plan, number, 2) for number in range(4)])
    assert found is not None
    page = page_of(found)
    assert "<script" not in page
    assert any(found.challenger.name in text for text in Reader(page).texts)


@pytest.mark.parametrize("places", [[2], [1], [4], [1, 2], [4, 3, 3, 3]])
@pytest.mark.parametrize("sets", [1, 3])
def test_a_page_can_be_made_of_any_report(places: list[int], sets: int) -> None:
    page = page_of(a_report(places, sets))
    Reader(page)
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        box = [float(part) for part in ET.fromstring(svg).attrib["viewBox"].split()]
        for name, value in re.findall(r'\b(x|y|x1|x2|y1|y2|width|height)="(-?[\d.]+)"', svg):
            assert 0 <= float(value) <= box[3 if "y" in name or name == "height" else 2]
    assert "Only known for games of the last start" in page
    assert ("too few fourth places" in page) == (places != [4, 3, 3, 3])


def test_an_unfinished_run_and_a_caution_are_shown() -> None:
    plan = msgspec.structs.replace(a_plan(101), champions=a_plan().challenger)
    found = report(plan, [a_row(plan, number, number % 4 + 1) for number in range(402)])
    assert found is not None
    text = " ".join(Reader(page_of(found)).texts)
    assert "Unfinished: 400 of 404 games" in text
    assert "Caution: both sides are the same player" in text


@pytest.mark.parametrize(
    ("places", "sets", "says"),
    [
        (PLACES, 40, "heuristic is stronger"),
        ([4, 3, 4, 1, 2, 3, 4, 4], 40, "random is stronger"),
        ([1, 2, 3, 4, 2, 1, 4, 4, 3, 1, 1, 4], 40, "no clear difference in these games"),
        (PLACES, 6, "too few games for a conclusion"),
        ([1, 2, 3, 4], 40, "every set ended the same way"),
    ],
)
def test_the_verdict_follows_from_the_interval(places: list[int], sets: int, says: str) -> None:
    assert a_report(places, sets).verdict.startswith(says)


def test_the_convergence_ends_where_the_games_do() -> None:
    placements: Floats = 1.0 + 3.0 * a_noise(500)
    averages = convergence(placements, 4)
    assert len(averages) <= 120
    assert averages[0].games == 8
    last = averages[-1]
    assert (last.games, last.placement) == (2000, pytest.approx(placements.mean()))
    assert last.high - last.low == pytest.approx(2 * 1.96 * placements.std(ddof=1) / 500**0.5, rel=1e-3)
    assert all(1 <= stand.low <= stand.placement <= stand.high <= 4 for stand in averages)
    assert convergence(placements[:1], 4) == ()


def a_noise(count: int) -> Floats:
    import numpy as np

    return np.random.default_rng(0).random(count)


def test_scales_and_shapes() -> None:
    assert doctest.testmod(plots).failed == 0
    assert Scale(-3, 47, 0, 1).ticks(5) == [0, 10, 20, 30, 40]
    svg = Drawing(50, 'a "label"').text("end", 1, 2, "<b>").shape("rect", "a", "1 < 2", x=1.0)
    root = ET.fromstring(svg.__html__())
    assert root.attrib["aria-label"] == 'a "label"'
    assert [child.tag for child in root] == ["text", "rect"]
    assert root[0].text == "<b>"
    assert root[1][0].text == "1 < 2"
