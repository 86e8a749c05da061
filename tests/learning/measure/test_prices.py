"""`suzaku eval prices`: real disagreements, played out, and the table of their prices."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from game.actions import RIICHI, Action, ActionKind
from game.events import Discard, Riichi
from learning.data.layout import split_of
from learning.measure.prices import Disagreement, GamePrices, PricesPlan, figures_of, smoothed
from policies.deals.deal import RoundView, true_deals
from policies.play.playouts import Branching, Playouts
from policies.play.rollout import PolicyChooser
from replays.formats import write_game
from replays.review.prices import KINDS, Kind
from tests.cli import run_cli
from tests.policies.fakes import Undecided
from tests.replays.games import whole_game
from tests.scene import Scene

KEEPS_HONOURS = """
from tests.policies.fakes import Undecided

class Keeping(Undecided):
    def row(self, slot, question):
        weights = [0.1 if action.tile >= 108 else 1.0 for action in question.options]
        row = [weight * share for weight, share in zip(weights, super().row(slot, question))]
        return [share / sum(row) for share in row] if slot == 'discard' else super().row(slot, question)
"""
PLAN = PricesPlan(data=("games",), identity="")
CHEAP, DEAR = Kind("discard", "fine", 3, "early"), Kind("pon", "blunder")
FREE = next(name for n in range(100) if split_of(name := f"2026010203gm-0001-0000-{n:08x}"))
"""The id of a game that is not for training."""


def games(cheap: float, dear: float) -> list[GamePrices]:
    """Games with a cheap and a dear error each, of an early turn, with noise."""
    rng = np.random.default_rng(0)
    return [
        GamePrices(
            number,
            100,
            2,
            tuple(
                Disagreement(kind, cost + 1000.0 * rng.normal(), cost / 170.0)
                for kind, cost in ((CHEAP, cheap), (DEAR, dear))
            ),
            0.5,
        )
        for number in range(400)
    ]


def test_the_table_finds_the_costs_and_held_out_games_confirm_it() -> None:
    found = figures_of(PLAN, games(-100.0, 400.0))
    prices = {each.kind: each for each in found.table.kinds}
    assert -150.0 < prices[CHEAP].points < -50.0
    assert 200.0 < prices[DEAR].points < 400.0  # drawn towards the others
    assert prices[DEAR].reward == pytest.approx(prices[DEAR].points / 170.0, abs=0.2)
    assert prices[DEAR].disagreements == 400
    assert found.slope.low is not None
    assert 1.0 < found.slope.low < 500.0 / (prices[DEAR].points - prices[CHEAP].points) + 0.5
    assert found.slope_reward.value == pytest.approx(found.slope.value, abs=0.2)
    assert found.cost.value == pytest.approx(400.0, abs=50.0)
    assert (found.games, found.decisions, found.disagreements, found.played) == (400, 40_000, 800, 800)
    assert found.table.command == "suzaku eval prices --data games --games 400 --seed 0"


def test_a_rare_kind_is_drawn_towards_those_with_its_traits() -> None:
    often, rare, alien = (
        KINDS.index(Kind("discard", *traits))
        for traits in (("blunder", 1, "early"), ("blunder", 1, "late"), ("fine", 3, "threat"))
    )
    prices, errors, _ = smoothed(np.arange(9_000) % 50, np.full(9_000, often), np.full(9_000, 500.0))
    assert 450.0 < prices[often] < 500.0
    assert prices[often] > prices[rare] > prices[alien] > 0.0
    assert errors[often] < errors[rare]


def test_a_riichi_is_played_out_with_its_own_discard() -> None:
    scene = Scene("123456m4567p99s5s").draw("8p")
    request = scene.observe()
    tile = scene.find("5s", 1)
    deals = true_deals(RoundView.of(request), request.record, 1, 0)
    options = (Action(ActionKind.RIICHI, tile), RIICHI)
    ends = Playouts(PolicyChooser(Undecided()), "hanchan").ends([Branching(deals, options, (0,))])
    declared, *_, discarded = ends[0][0].events[:2]
    assert isinstance(declared, Riichi)
    assert isinstance(discarded, Discard)
    assert discarded.tile == tile


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_disagreements_of_real_games_are_played_out_and_reported(tmp_path: Path) -> None:
    (tmp_path / "keeping.py").write_text(KEEPS_HONOURS)
    (tmp_path / f"{FREE}.xml").write_text(write_game(whole_game(), "mjlog"))
    policy = f"python:{tmp_path}/keeping.py:Keeping"
    words = ("eval", "prices", "--data", tmp_path / f"{FREE}.xml", "--policy", policy, "--out", tmp_path)
    done = run_cli(*words, "--games", 1, "--workers", 1, "--json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["figures"]["disagreements"] > report["figures"]["played"] > 20
    assert run_cli(*words, "--games", 1, "--so-far", "--json").stdout == done.stdout
    refused = run_cli(*words, "--games", 2)
    assert refused.exit_code == 2
    assert "the data has 1 games outside the training part" in refused.stderr
