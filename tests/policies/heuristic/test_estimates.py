"""The estimates behind the heuristic: danger, stakes, the fast hand value, and the chance to win."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from policies.heuristic.danger import discard_risk, rates_against, tenpai_chance
from policies.heuristic.routes import win_chance
from policies.heuristic.stakes import HAN_MAX, gain_of, win_gains
from tests.scene import Scene

EVEN = np.array([25000.0] * 4)


# --- danger -----------------------------------------------------------------------------------------------


def facing_riichi() -> Scene:
    """Player 3, the dealer, discarded 5m and 1z before riichi on 9s; we hold one of every relevant kind."""
    scene = Scene("14789m2458p1567z", dora="3s", round_index=3)
    scene.draw().discard("5m")
    scene.draw("6m").discard("6m").turn("3z").turn("2z")
    scene.draw()
    scene.riichi("9s")
    return scene


def rates(scene: Scene) -> npt.NDArray[np.float64]:
    out = np.empty(34)
    visible = scene.record["seen34"] + scene.record["hand34"][0]
    rates_against(scene.record, 3, visible, np.zeros(34, dtype=np.int8), False, out)
    return out


def test_own_discards_and_passed_tiles_are_safe() -> None:
    out = rates(facing_riichi())
    assert out[4] == 0.0  # the riichi player's own 5m
    assert out[26] == 0.0  # the 9s of the riichi


def test_classes_stand_in_the_published_order() -> None:
    out = rates(facing_riichi())
    suji_eight, four, two, nine, dragon = out[7], out[12], out[10], out[17], out[31]
    assert four > two > nine > dragon > 0.6 * suji_eight > 0
    assert suji_eight < 0.6 * two
    assert 0.06 < four < 0.2
    assert 0.02 < dragon < 0.06


def test_a_wall_of_four_takes_the_run_away() -> None:
    scene = facing_riichi()
    record = scene.record
    visible = record["seen34"] + record["hand34"][0]
    before, after = np.empty(34), np.empty(34)
    none = np.zeros(34, dtype=np.int8)
    rates_against(record, 3, visible, none, False, before)
    visible[16] = 4  # all 8p: only a pair can wait on 9p
    rates_against(record, 3, visible, none, False, after)
    assert after[17] < before[17] / 2
    assert after[9] == pytest.approx(before[9])


@pytest.mark.parametrize("threat", [0.0, 1.0])
def test_only_a_threat_costs(threat: float) -> None:
    scene = facing_riichi() if threat else Scene("14789m2458p1567z").draw("6m")
    record, rate, cost = scene.record, np.empty(34), np.empty(34)
    visible = record["seen34"] + record["hand34"][0]
    assert discard_risk(record, 0, visible, np.zeros(34, dtype=np.int8), EVEN, 7, rate, cost) == threat
    assert bool(cost.any()) == bool(threat)


def test_melds_raise_the_chance_of_tenpai() -> None:
    scene = Scene(others={1: "1122z3344567p88s"})
    closed = tenpai_chance(scene.record, 1, False)
    scene.draw("9m").discard("1z").pon(1).discard("3p")
    one = tenpai_chance(scene.record, 1, False)
    scene.draw().discard("9s").draw().discard("8s").pon(1).discard("3p")
    assert closed == 0.0
    assert one < tenpai_chance(scene.record, 1, False)


# --- stakes -----------------------------------------------------------------------------------------------


def gains(scores: list[float], player: int, rounds_left: int) -> npt.NDArray[np.float64]:
    out = np.empty(HAN_MAX)
    win_gains(np.array(scores), player, False, 0.0, rounds_left, out)
    return out


def test_at_the_end_passing_an_opponent_counts() -> None:
    behind_by_five_thousand = [20000.0, 25000.0, 27000.0, 28000.0]
    out = gains(behind_by_five_thousand, 0, 0)
    assert out[3] - out[2] > 3 * (out[2] - out[1])


@pytest.mark.parametrize(
    ("points", "is_dealer", "gain"),
    [(0, False, 0.0), (1675, False, 15.0), (12600, True, 51.0), (12000, False, 60.0), (64000, False, 130.0)],
)
def test_a_win_of_some_points_is_worth_what_they_are(points: int, is_dealer: bool, gain: float) -> None:
    assert gain_of(10.0 * np.arange(HAN_MAX), points, is_dealer) == pytest.approx(gain)


# --- the route to a win -------------------------------------------------------------------------------------


def test_a_win_is_nearer_with_fewer_tiles_missing_and_more_draws() -> None:
    table = np.array([[win_chance(s, d, False, 0.0) for s in range(5)] for d in range(1, 18)])
    assert (np.diff(table, axis=0) > 0).all()
    assert (np.diff(table, axis=1) < 0).all()
    assert win_chance(1, 12.0, False, 1.0) < win_chance(1, 12.0, False, 0.0)
