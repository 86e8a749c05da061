from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest

from game.ranking import parse_uma
from kit.reports import write_report
from learning.runs.statistics import Estimate
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.arena.report import ArenaReport, draw_match, placements_of, report, whole_sets
from learning.selfplay.series import PlayedSeries
from tests.learning.selfplay.arena.made_up import a_plan, a_row


def a_report(places: list[int], plan: ArenaPlan | None = None, **told: float) -> ArenaReport:
    plan = plan or a_plan(sets=len(places) // 4)
    rows = [a_row(plan, number, place) for number, place in enumerate(places)]
    found = report(plan, PlayedSeries(rows, **told))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_places_points_and_rates_of_both_sides() -> None:
    found = a_report([1, 2, 4, 1, 1, 1, 4, 2])
    mine, others = found.challenger, found.champions
    assert (found.games, found.sets, mine.games, others.games) == (8, 2, 8, 24)
    assert mine.placement.value == pytest.approx(2.0)
    assert others.placement.value == pytest.approx((10 * 8 - 16) / 24)
    assert [share.value for share in (mine.first, mine.second, mine.third, mine.fourth)] == [
        0.5,
        0.25,
        0,
        0.25,
    ]
    assert mine.points.value == pytest.approx((4 * 50 + 2 * 25 - 2 * 25) / 8)
    assert mine.rank_points.value == pytest.approx((4 * 60 + 2 * 30 - 2 * 90) / 8)  # a tonpuusen's
    assert mine.stable_rank.value == pytest.approx((5 * 4 + 2 * 2) / 2 - 2)
    assert mine.wins.value == pytest.approx(4 * 2 / 32)
    assert mine.won_points.value == pytest.approx(3500)
    assert mine.deal_ins.value == pytest.approx(2 / 32)
    assert others.lost_points.value == pytest.approx(5000)
    assert mine.tenpai_draws.value == 0.5
    assert (mine.decisions, mine.faults, others.faults) == (400, 2, 6)
    assert mine.ladder.dan > others.ladder.dan


def test_places_are_worth_what_the_reader_says() -> None:
    plan = a_plan()
    rows = [
        msgspec.structs.replace(a_row(plan, number, place), scores=(45_000, 25_000, 20_000, 10_000))
        for number, place in enumerate([1, 2, 4, 1, 1, 1, 4, 2])
    ]
    places, score = (
        report(plan, PlayedSeries(rows), parse_uma(text)) for text in ("3,1,0,-4", "3,1,0,-4@30000")
    )
    assert places is not None
    assert score is not None
    assert places.challenger.rank_points.value == pytest.approx((4 * 3 + 2 * 1 - 2 * 4) / 8)
    # the challenger sits twice in each seat, and first place also has the oka
    assert score.challenger.rank_points.value == pytest.approx((4 * 23 + 2 * 1 - 2 * 4) / 8 + 25 - 30)
    assert "uma per game" in str(score)
    assert "rank points" not in str(score)


def test_a_set_with_a_crash_does_not_count_and_is_named() -> None:
    plan = a_plan()
    rows = [a_row(plan, number, 1, crash="it broke" if number == 5 else "") for number in range(8)]
    found = report(plan, PlayedSeries(rows))
    assert (found.games, found.sets) == (4, 1)
    assert found.crashes == (f"game 5, seed {rows[5].seed}: it broke",)
    assert write_report(found, as_json=True) == 1


def test_independent_games_are_resampled_one_by_one() -> None:
    places = [1, 2, 4, 1] * 8
    together = a_report(places).challenger.placement
    plan = msgspec.structs.replace(a_plan(sets=32), independent=True)
    apart = a_report(places, plan)
    assert (apart.games, apart.sets) == (32, 32)
    # all sets are the same, but their games differ
    assert together == Estimate(2.0, 2.0, 2.0)
    found = apart.challenger.placement
    assert found.value == 2.0
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std([1, 2, 4, 1]) / np.sqrt(32), rel=0.1)


def test_an_unfinished_set_does_not_count() -> None:
    plan = a_plan()
    rows = [a_row(plan, number, 2) for number in (0, 1, 2, 3, 6)]
    assert [len(rows) for rows in whole_sets(plan, rows)] == [4]
    assert placements_of(whole_sets(plan, rows)).tolist() == [2.0]
    assert report(plan, PlayedSeries(rows[1:])) is None


def test_the_report_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = a_report([1, 2, 4, 1, 1, 1, 1, 2], seconds=4.0, played=8)
    assert write_report(found, as_json=False) == 0
    text = capsys.readouterr().out
    assert text.startswith("heuristic 1 v 3 random: 8 tonpuu games, 2 duplicate sets, seed 0\n")
    assert "average placement" in text
    assert "1.625 (1.250–2.000)" in text
    assert "fault: game 1: E1-0 turn 3 player 0: too late" in text
    assert "8 games in 4.0 s, 2.00 games/s" in text
    assert write_report(found, as_json=True) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["challenger"]["placement"] == {"value": 1.625, "low": 1.25, "high": 2.0}
    assert answer["plan"]["seed"] == 0


@pytest.mark.parametrize(
    ("places", "sets", "says"),
    [
        ([1, 2, 4, 1, 2, 3, 1, 2, 4, 3, 1, 1], 40, "heuristic is stronger"),
        ([4, 3, 4, 1, 2, 3, 4, 4], 40, "random is stronger"),
        ([1, 2, 3, 4, 2, 1, 4, 4, 3, 1, 1, 4], 40, "no clear difference in these games"),
        ([1, 2, 3, 4], 40, "no clear difference in these games"),
        ([1, 2, 3, 4, 2, 1, 4, 4, 3, 1, 1, 4], 9, "too few games for a conclusion"),
        ([1, 1, 1, 2], 4, "too few games for a conclusion"),
        ([1, 1, 1, 1, 1, 2, 1, 1], 10, "heuristic is stronger"),  # 1.125 in every set
    ],
)
def test_the_verdict_follows_from_the_interval(places: list[int], sets: int, says: str) -> None:
    assert a_report([places[number % len(places)] for number in range(4 * sets)]).verdict == says


@pytest.mark.parametrize("places", [[1, 2, 4, 1, 1, 1, 4, 2] * 4, [1, 2, 2, 1]])
def test_a_plot_can_be_made_of_any_report(places: list[int], tmp_path: Path) -> None:
    path = tmp_path / "match.svg"
    draw_match(a_report(places), path)
    texts = {node.text for node in ET.parse(path).iter()}
    assert {"first", "second", "third", "fourth", "stable rank (dan)", "heuristic", "random"} <= texts
