"""The curves of a run, as reported to whoever watches it."""

from __future__ import annotations

from pathlib import Path

from learning.reinforcement.history import LearningHistory
from learning.runs.state import Curves
from replays.standing import LearningStanding
from tests.learning.reinforcement.setting import short_plan

PLAN = short_plan(games=8)  # four blocks


def draw(folder: Path, after: int, values: dict[int, float]) -> None:
    """Draw a curve as a run does that resumes after some blocks."""
    with Curves(folder, after) as curves:
        for step, value in values.items():
            curves.add(step, {"policy/entropy": value})


def test_what_was_not_saved_is_learned_and_told_again(tmp_path: Path) -> None:
    draw(tmp_path, 0, {1: 0.125, 2: 0.25, 3: 0.375})
    told: list[LearningStanding] = []
    history = LearningHistory(PLAN, tmp_path, told.append)
    history.begin(2)  # killed after its third block, saved after the second
    history.add(3, {"policy/entropy": 0.5, "policy/entropy_target": 0.625})
    first, last = told
    assert (first.games, first.played, first.blocks, first.of_blocks) == (4, 0, 2, 4)
    assert first.curves == {"policy/entropy": ((2, 0.125), (4, 0.25))}
    assert (last.games, last.of, last.played) == (6, 8, 2)
    assert last.curves["policy/entropy"] == ((2, 0.125), (4, 0.25), (6, 0.5))
    assert last.curves["policy/entropy_target"] == (
        (6, 0.625),
    )  # a figure that an older version did not have


def test_a_run_killed_before_its_first_save_begins_anew(tmp_path: Path) -> None:
    draw(tmp_path, 0, {1: 0.125, 2: 0.25})
    told: list[LearningStanding] = []
    LearningHistory(PLAN, tmp_path, told.append).begin(0)
    assert told[0].curves == {}
    draw(tmp_path, 0, {1: 0.75, 2: 0.875})
    LearningHistory(PLAN, tmp_path, told.append).begin(2)
    assert told[1].curves == {"policy/entropy": ((2, 0.75), (4, 0.875))}


def test_an_evaluation_is_told_of_when_it_begins_and_ends() -> None:
    told: list[LearningStanding] = []
    history = LearningHistory(PLAN, Path("nowhere"), told.append)
    history.begin(0)
    history.tell("evaluating")
    history.add(1, {"arena/points": 1.5})
    assert [standing.phase for standing in told] == ["learning", "evaluating", "learning"]
    assert told[-1].curves["arena/points"] == ((2, 1.5),)
