"""`suzaku eval prices`: real disagreements, played out, and their prices."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from structlog.testing import capture_logs

from game.actions import RIICHI, Action, ActionKind
from game.events import Discard, Riichi
from kit.errors import ConfigError
from learning.data.layout import CARD_FILE, split_of
from learning.measure.prices import (
    Disagreement,
    GamePrices,
    PricesPlan,
    figures_of,
    fitted,
    make_plan,
    prices_of_games,
)
from learning.runs.store import Store
from policies.deals.deal import RoundView, true_deals
from policies.play.playouts import Branching, Playouts
from policies.play.rollout import PolicyChooser
from replays.formats import write_game
from replays.review.prices import Unlikeness, included_prices
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
PLAN = PricesPlan(data=("games",), records="", identity="")
CHEAP, DEAR = Unlikeness(0.06, 3), Unlikeness(0.01, 1)
FREE, *MORE = (name for n in range(100) if split_of(name := f"2026010203gm-0001-0000-{n:08x}"))
"""Ids of games that are not for training."""


def games(cheap: float, dear: float) -> list[GamePrices]:
    """Games with a cheap and a dear error each, with noise."""
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


def test_prices_are_what_errors_cost_and_held_out_games_confirm_it() -> None:
    found = figures_of(PLAN, games(100.0, 400.0))
    cheap, dear = found.prices.price(CHEAP), found.prices.price(DEAR)
    assert cheap.points == pytest.approx(100.0, abs=2.0 * cheap.error)
    assert dear.points == pytest.approx(400.0, abs=2.0 * dear.error)
    assert 50.0 < cheap.error < 200.0
    assert found.slope.low is not None
    assert found.slope.high is not None
    assert 0.0 < found.slope.low < 1.0 < found.slope.high < 2.0
    assert found.slope_reward.value == pytest.approx(1.0, abs=1e-6)
    assert found.slope_included.value == pytest.approx(
        found.slope.value
        * (dear.points - cheap.points)
        / (included_prices().price(DEAR).points - included_prices().price(CHEAP).points),
        rel=0.3,
    )
    assert found.cost.value == pytest.approx(250.0, abs=50.0)
    assert (found.games, found.decisions, found.disagreements, found.played) == (400, 40_000, 800, 800)
    assert found.prices.command == "suzaku eval prices --data games --games 400 --seed 0"


def test_costs_of_one_game_count_as_one() -> None:
    rng = np.random.default_rng(0)
    terms = np.repeat(rng.normal(size=(500, 1)), 4, axis=0)
    costs = np.repeat(rng.normal(size=500), 4)
    apart, together = (
        fitted(owners, terms, costs) for owners in (np.arange(2000.0), np.repeat(np.arange(500.0), 4))
    )
    assert apart[0] == pytest.approx(together[0])
    assert together[1][0, 0] / apart[1][0, 0] == pytest.approx(4.0, abs=0.5)


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


def test_games_without_an_error_have_no_figures_yet() -> None:
    close = Disagreement(Unlikeness(0.9, 3), 10.0, 0.1)
    with pytest.raises(ConfigError, match="the policy finds no error in these games; give more --games"):
        figures_of(PLAN, [GamePrices(0, 100, 1, (close,), 0.5)])


def write_broken(folder: Path, name: str) -> None:
    """A record that begins well."""
    text = write_game(whole_game(), "mjlog")
    (folder / f"{name}.xml").write_text(text[: len(text) // 2])


def test_records_that_cannot_be_read_are_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "zeros.xml").write_bytes(bytes(100))
    write_broken(tmp_path, FREE)
    with capture_logs() as logs:
        plan, records = make_plan([tmp_path], policy="heuristic", games=1)
        rows = list(prices_of_games((plan, records))(0))
    assert rows == [GamePrices(0, 0, 0, (), 0.0)]
    assert [(line["event"], line.get("place", line.get("game_id"))) for line in logs] == [
        ("prices.unreadable", "zeros.xml"),
        ("prices.unusable", FREE),
    ]


def test_a_run_is_extended_with_the_same_records_alone(tmp_path: Path) -> None:
    for name in (FREE, *MORE[:2]):
        write_broken(tmp_path, name)
    before, after = (make_plan([tmp_path], policy="heuristic", games=games)[0] for games in (1, 2))
    assert after.continues(before)
    write_broken(tmp_path, MORE[2])
    assert not make_plan([tmp_path], policy="heuristic", games=2)[0].continues(before)


def test_other_paths_are_named(tmp_path: Path) -> None:
    Store(PLAN, GamePrices, tmp_path).close()
    with pytest.raises(ConfigError, match=r"another run is there, with --data games, not \./games; give"):
        Store(msgspec.structs.replace(PLAN, data=("./games",)), GamePrices, tmp_path)


def test_a_built_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / CARD_FILE).touch()
    with pytest.raises(ConfigError, match="a built corpus; give the records it was built from"):
        make_plan([tmp_path])


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
    told = run_cli(*words, "--games", 1, "--so-far").stdout.splitlines()
    assert told[0].startswith("an error costs ")
    assert told[3].split("  ")[0] == "ratio"
    refused = run_cli(*words, "--games", 2)
    assert refused.exit_code == 2
    assert "the data has 1 games outside the training part" in refused.stderr
