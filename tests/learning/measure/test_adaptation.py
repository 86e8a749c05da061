"""`suzaku eval adaptation`: its figures, and a run that is resumed."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from kit.errors import ConfigError
from learning.measure.adaptation import AdaptationPlan, AdaptationStep, HandRow, adaptation_figures, text_of
from learning.runs.measurement import MeasurementReport
from policies.adaptation.settings import AdaptationSettings
from tests.cli import run_cli


def a_plan(**changes: object) -> AdaptationPlan:
    plan = AdaptationPlan(
        policy="network",
        identity="",
        sampler="uniform",
        hands=4,
        playouts=(8, 20),
        divergences=(0.02,),
        tests=8,
        moment="start",
        reward="points",
        settings=AdaptationSettings(),
        seed=0,
    )
    return msgspec.structs.replace(plan, **changes)


def a_row(number: int, gain: float, round_index: int = 0, changed: float = 0.5) -> HandRow:
    test = AdaptationStep(8, 0.02, gain, 10.0, changed, 0.01, 0.3, 0.1, 1.0)
    more = msgspec.structs.replace(test, playouts=20, gain=2.0 * gain)
    return HandRow(number, round_index, 1, 0.0, (test, more))


def test_hands_are_counted_and_their_gains_averaged() -> None:
    rows = [
        a_row(0, 10.0),
        a_row(1, -4.0),
        a_row(2, 30.0, round_index=7),
        a_row(3, 0.0, changed=0.0),
        HandRow(4, 0, 0, 0.0, ()),
    ]
    found = adaptation_figures(a_plan(), rows)
    first, second = found.playouts
    assert found.hands == 4
    assert first.improved.value == pytest.approx(2 / 3)
    assert first.changed == 0.75
    assert first.gain.value == pytest.approx(9.0)
    assert second.gain.value == pytest.approx(18.0)
    assert (first.playouts, second.playouts) == (8, 20)
    assert first.gains["East"].value == pytest.approx(2.0)
    assert first.gains["South 3 on"].value == pytest.approx(30.0)
    assert "South 1 and 2" not in first.gains


def test_the_report_has_a_verdict_and_a_row_for_each_number_of_play_outs() -> None:
    rows = [a_row(number, 10.0) for number in range(4)]
    text = text_of(MeasurementReport(a_plan(), adaptation_figures(a_plan(), rows)))
    verdict, _, names, first, second, _, *plan = text.splitlines()
    assert verdict == ("network adapted with 20 play-outs, points a hand: 20.0 (20.0–20.0): it gains")
    assert re.split("  +", names) == [
        "play-outs", "allowed", "improved %", "gain a hand", "error", "changed %", "divergence", "signal %",
        "luck %", "CPU s",
    ]  # fmt: skip
    assert first.split() == [
        "8", "0.02", "100.0", "(100.0–100.0)", "10.0", "(10.0–10.0)", "10.0", "100.0", "0.0100", "10.0",
        "30.0", "1.0",
    ]  # fmt: skip
    assert second.split()[0] == "20"
    assert plan[0].startswith(
        "4 hands at the start of a round of hanchan self-play, seed 0; deals to learn from"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"playouts": ()},
        {"playouts": (20, 8)},
        {"playouts": (9,)},
        {"divergences": (0.1, 0.02)},
        {"settings": AdaptationSettings(trials=1)},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="--"):
        a_plan(**wrong)


@pytest.mark.usefixtures("here")
def test_hands_are_measured_once_and_kept(tmp_path: Path) -> None:
    def report(*more: str) -> dict[str, object]:
        flags = ["--hands", "1", "--playouts", "4", "--tests", "4", "--trials", "4", "--moment", "middle"]
        flags += ["--divergence", "0.02", "--divergence", "0.1"]
        done = run_cli(
            "eval", "adaptation", "--out", str(tmp_path), *flags, "--workers", "1", "--json", *more
        )
        assert done.exit_code == 0, done.output
        return msgspec.json.decode(done.stdout)["figures"]  # type: ignore[no-any-return]

    first = report()
    text = run_cli("eval", "adaptation", "--out", str(tmp_path), "--so-far").stdout
    assert text.startswith("network adapted with 4 play-outs, points a hand: ")
    assert first["hands"] == 1
    assert [each["allowed"] for each in first["playouts"]] == [0.02, 0.1]  # type: ignore[attr-defined]
    kept = (tmp_path / "results.jsonl").read_bytes()
    assert report() == report("--so-far") == first
    assert (tmp_path / "results.jsonl").read_bytes() == kept
