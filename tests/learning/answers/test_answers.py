"""`suzaku eval answers`: which answers are found, what they are compared with, figures, and resumed runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from bot.cli import app
from game.actions import ActionKind
from game.layout import PHASE_TURN
from game.observation import Observation
from game.rules import legal_actions
from learning.answers.command import ANSWERS
from learning.answers.figures import figures_of
from learning.answers.plan import AnswersPlan, GameAnswers, PlayedAnswer
from learning.answers.playing import UnclearAnswer, play_out, unclear_answers
from learning.matches.measuring import MeasurementReport
from learning.matches.statistics import Estimate
from learning.matches.store import RESULTS_FILE
from policies.decision import decide
from policies.included import SHIPPED
from policies.inference import load_policy
from policies.playouts import points_worth
from policies.slots import Policy, Question, Slot, Source
from tests.policies.fakes import Undecided

KINDS = {
    Slot.RIICHI: {ActionKind.RIICHI},
    Slot.CHI: {ActionKind.CHI},
    Slot.PON: {ActionKind.PON},
    Slot.KAN: {ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.DAIMINKAN},
}
EVEN = 0.4
DEVIATION = 900.0


def a_plan(**changes: object) -> AnswersPlan:
    plan = AnswersPlan(policy="network", identity="", games=1, least=0.05, walls=2, seed=5)
    return msgspec.structs.replace(plan, **changes)


def drawn(games: int, slope: float) -> list[GameAnswers]:
    """Chi is worth more by ``slope`` points for each unit of log odds, and as much as a pass at `EVEN`."""
    rng = np.random.default_rng(3)

    def answer() -> PlayedAnswer:
        chance = rng.uniform(0.05, 0.95)
        worth = slope * (np.log(chance / (1 - chance)) - np.log(EVEN / (1 - EVEN)))
        points = rng.normal(worth, DEVIATION, 2).astype(int)
        return PlayedAnswer(Slot.CHI, chance, tuple(points.tolist()), tuple((points / 100.0).tolist()))

    return [GameAnswers(number, tuple(answer() for _ in range(12)), 2.0) for number in range(games)]


def test_where_both_are_worth_the_same_is_found_through_the_noise() -> None:
    found = figures_of(a_plan(), drawn(400, 300.0))
    (chi,) = found.slots
    assert found.answers == 4_800
    assert [each.least for each in chi.classes] == [0.05, 0.2, 0.35, 0.5, 0.65, 0.8]
    assert sum(each.asked for each in chi.classes) == pytest.approx(3.0)
    low, middle, high = chi.classes[0], chi.classes[2], chi.classes[5]
    assert contains(low.points, mean_worth(0.05, 0.2))
    assert contains(middle.points, mean_worth(0.35, 0.5))
    assert contains(high.points, mean_worth(0.8, 0.95))
    assert low.points.high is not None
    assert low.points.high < 0.0
    assert contains(chi.even_points, EVEN)
    assert chi.even_points.value == pytest.approx(EVEN, abs=0.05)
    assert chi.even_reward.value == pytest.approx(chi.even_points.value)
    assert high.reward.value == pytest.approx((high.points.value or 0.0) / 100.0)


def test_without_a_clear_rise_there_is_no_such_place(capsys: pytest.CaptureFixture[str]) -> None:
    plan = a_plan()
    found = figures_of(plan, drawn(40, 0.0))
    assert found.slots[0].even_points == Estimate(None, None, None)
    assert ANSWERS.show(MeasurementReport(plan, found), as_json=False) == 0
    assert "at no clear probability in points" in capsys.readouterr().out


def contains(each: Estimate, value: float) -> bool:
    assert each.low is not None
    assert each.high is not None
    return each.low < value < each.high


def mean_worth(least: float, most: float) -> float:
    chances = np.linspace(least, most, 1_001)
    return float(300.0 * (np.log(chances / (1 - chances)) - np.log(EVEN / (1 - EVEN))).mean())


class Refusing:
    """Says no to one kind of question, and all else that another policy says."""

    source: Source = "model"

    def __init__(self, policy: Policy, slot: Slot) -> None:
        self._policy, self._slot = policy, slot

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        if slot is self._slot:
            return [[0.0] * len(question.options) for question in questions]
        return self._policy.answer(slot, questions)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy(SHIPPED)


@pytest.fixture(scope="module")
def found(policy: Policy) -> list[UnclearAnswer]:
    return unclear_answers(a_plan(length="tonpuu"), policy, 0)


def test_yes_is_compared_with_what_would_be_done_without_it(
    policy: Policy, found: list[UnclearAnswer]
) -> None:
    assert {Slot.RIICHI, Slot.CHI, Slot.PON} <= {each.slot for each in found}
    for each in found:
        record, player = each.record, each.view.player
        legal = tuple(legal_actions(record, player))
        assert 0.05 <= each.chance <= 0.95
        assert each.yes in legal
        assert each.yes.kind in KINDS[each.slot]
        otherwise = decide(Observation(record, player, legal, "tonpuu"), Refusing(policy, each.slot)).action
        assert (each.no.kind, each.no.tile >> 2) == (otherwise.kind, otherwise.tile >> 2)
        if record["phase"] != PHASE_TURN:
            assert each.no.kind in (ActionKind.PASS, ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN)


def test_differences_are_those_of_yes_and_no_over_the_same_walls(found: list[UnclearAnswer]) -> None:
    swapped = [msgspec.structs.replace(each, yes=each.no, no=each.yes) for each in found]
    alike = [msgspec.structs.replace(each, no=each.yes) for each in found]
    worths, seeds = [points_worth] * len(found), list(range(len(found)))
    plain, turned, same = (
        play_out(Undecided(), answers, worths, 3, "tonpuu", seeds) for answers in (found, swapped, alike)
    )
    assert any(any(each.points) for each in plain)
    for each, other, none in zip(plain, turned, same, strict=True):
        assert len(each.points) == 3
        assert each.points == tuple(-points for points in other.points)
        assert each.rewards == each.points
        assert none.points == (0, 0, 0)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    flags = ["eval", "answers", "--out", str(tmp_path), "--least", "0.3", "--walls", "1", "--workers", "1"]
    run = CliRunner()
    first = run.invoke(app, [*flags, "--games", "1"])
    assert first.exit_code == 0, first.output
    whole = (tmp_path / RESULTS_FILE).read_bytes()
    with (tmp_path / RESULTS_FILE).open("ab") as file:
        file.write(b'{"number": 1, "an')
    again = run.invoke(app, [*flags, "--games", "1"])
    assert (tmp_path / RESULTS_FILE).read_bytes() == whole
    assert again.stdout == first.stdout
    assert ANSWERS.so_far(tmp_path).figures.games == 1
    other = run.invoke(app, [*flags[:-4], "--walls", "2", "--games", "1"])
    assert other.exit_code == 2
    assert "--walls 1, not 2" in other.output
    unknown = run.invoke(app, ["eval", "answers", "--out", str(tmp_path / "new"), "--policy", "heuristic"])
    assert unknown.exit_code == 2
    assert not (tmp_path / "new").exists()
