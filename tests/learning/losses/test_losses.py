"""Losses beside rollouts: the same walls for every option, known answers found again, one command for all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from game.actions import ActionKind
from game.events import StartRound, Win
from learning.losses.sample import Choices, options_of, play_out, weighed, winners_on
from learning.losses.study import Pair, risk, slope
from learning.matches.statistics import Floats
from policies.heuristic.player import HeuristicPolicy
from policies.play.named import RandomPolicy
from policies.reward import round_starts
from replays.review.moments import Moment, follow
from replays.review.prospects import Prospects
from replays.store.library import save
from tests.cli import run_cli
from tests.replays.review.made import predictor, whole

pytestmark = pytest.mark.usefixtures("restore_logs")


def prospects() -> Prospects:
    return Prospects(predictor(), round_starts(whole().events), "tonpuu")


def turns(player: int) -> list[Moment]:
    moments = follow(whole().events, player, "tonpuu").moments
    return [each for each in moments if each.done.kind is ActionKind.DISCARD]


def test_options_are_played_out_over_the_same_walls() -> None:
    moment = turns(0)[10]
    asked = [Choices(moment, (moment.done, moment.legal[0], moment.done))]

    def rewards(walls: int) -> Floats:
        (found,) = play_out(asked, 0, "tonpuu", HeuristicPolicy(), prospects(), worlds=4, seed=(0, walls))
        assert found.shape == (3, 4)
        return found

    first = rewards(1)
    assert (first[0] == first[2]).all()
    assert len(set(first[0].tolist())) > 1
    assert (first == rewards(1)).all()
    assert (first != rewards(2)).any()


def test_a_discard_that_was_won_on_deals_in() -> None:
    """Every ron of the game, asked about at the decision before it."""
    round_number, seen = -1, 0
    for event in whole().events:
        round_number += isinstance(event, StartRound)
        if not isinstance(event, Win) or event.player == event.from_player:
            continue
        of_round = [each for each in turns(event.from_player) if each.round == round_number]
        if not of_round or of_round[-1].done.tile >> 2 != event.tile >> 2:
            continue  # a forced discard
        moment = of_round[-1]
        assert event.player in winners_on(moment.record, event.from_player, moment.done.tile)
        safe = [
            tile for tile in range(136) if moment.record["river34"][event.player] >> np.uint64(tile >> 2) & 1
        ]
        assert not any(event.player in winners_on(moment.record, event.from_player, tile) for tile in safe)
        seen += 1
    assert seen


def test_what_is_played_out_stands_beside_the_preferred_option() -> None:
    rows = weighed(whole(), 0, RandomPolicy(), prospects())
    assert len(rows) > 20
    for number, row in enumerate(rows):
        options = options_of(row, 0, np.random.default_rng(number))
        actions = [option.action for option in options]
        assert row.preferred not in actions
        assert len(set(actions)) == len(actions)
        assert all(not any(winners_on(row.moment.record, 0, a.tile)) for a in actions if a.tile >= 0)
        if options and not row.opinion.agrees(row.moment.done):
            assert (options[0].action == row.played) == (options[0].why == "played")


def test_a_known_share_and_spread_are_found_again() -> None:
    rng = np.random.default_rng(0)
    games = []
    for _ in range(400):
        ruled, true = rng.normal(0.0, 4.0, 25), rng.normal(0.0, 2.0, 25)
        played = 0.3 * ruled + true + rng.normal(0.0, 6.0, 25)
        games.append([Pair(a, -a, b, 36.0) for a, b in zip(ruled, played, strict=True)])
    found = slope(games, 0)
    assert found is not None
    assert found.pairs == 10_000
    for estimate, known, width in (
        (found.share, 0.3, 0.08),
        (found.nat, -0.3, 0.08),
        (found.spread, 2.0, 0.8),
    ):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < known < estimate.high
        assert estimate.high - estimate.low < width
    assert found.ruled == pytest.approx(4.0, abs=0.1)


def test_chances_that_are_twice_too_high_have_a_share_of_a_half() -> None:
    rng = np.random.default_rng(0)
    games = [[(0.2, bool(hit)) for hit in rng.random(200) < 0.1] for _ in range(100)]
    found = risk(games, 0)
    assert found is not None
    assert (found.tiles, found.ruled) == (20_000, pytest.approx(0.2))
    assert found.share.value == pytest.approx(0.5, abs=0.03)
    assert slope([[], []], 0) is None


@pytest.mark.slow
def test_one_command_measures_it_all(tmp_path: Path) -> None:
    file = save(whole(), tmp_path)

    def run(*more: str) -> str:
        arguments = ["eval", "loss", "--data", str(file), "--worlds", "2", "--policy", "random", *more]
        result = run_cli(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    found = json.loads(run("--json"))
    assert found["games"] == 1
    lost = found["losses"]
    assert lost["disagreements"] > 10
    assert lost["clear_negative"] <= lost["clear"] < 1.0
    assert found["slopes"]["all"]["pairs"] >= found["slopes"]["played"]["pairs"] > 10
    assert found["risks"]["all"]["tiles"] > 100
    assert "slopes" in run()


def test_records_without_open_hands_cannot_be_used(tmp_path: Path) -> None:
    from tests.replays.games import seen_from

    file = save(seen_from(whole(), 1), tmp_path)
    result = run_cli("eval", "loss", "--data", str(file), "--policy", "random")
    assert result.exit_code == 1
    assert "could be used; four open hands are needed" in result.stderr
    split = run_cli("eval", "loss", "--data", str(file), "--split", "tests")
    assert split.exit_code == 2
    assert 'Invalid value "tests" for --split' in split.stderr
