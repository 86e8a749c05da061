"""Steps of the natural gradient: on decisions whose answer is known, and in a run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor
from typer.testing import CliRunner

from bot import cli
from game.errors import ConfigError
from learning.reinforcement import natural_step
from learning.reinforcement.actors import ActorSetup, Chunk, actor, play_games
from learning.reinforcement.natural_learners import NaturalLearners
from learning.reinforcement.natural_step import FOLDS, DrawSums
from learning.reinforcement.plan import ReinforcementPlan, make_reinforcement_plan
from learning.reinforcement.rewards import rewards_of
from learning.runs.state import read_curves
from policies.checkpoint import files_of, load, load_predictor
from policies.checkpoint.card import MODELS
from policies.natural_gradient import Draws
from policies.slots import Slot
from policies.trajectories import Trajectory
from tests.learning.reinforcement.setting import save_start, short_plan

pytestmark = pytest.mark.usefixtures("one_thread")

SIZE, OPTIONS = 6, 5
OWN = torch.tensor([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
TAUGHT = torch.tensor([0.0, 0.0, 2.0, 0.0, -1.0, 0.0])


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


class Drawn(NamedTuple):
    """What `DrawSums.add` takes."""

    draws: Draws
    rewards: Tensor
    folds: Tensor

    def but(self, **parts: Tensor) -> Drawn:
        """The same with other parts of the draws."""
        return self._replace(draws=self.draws._replace(**parts))


def decisions(number: int, seed: int = 0, noise: float = 1.0, own: float = 3.0) -> Drawn:
    """Draws of scores that are linear in the rows; what is drawn is worth `TAUGHT`, and what the scores say.

    The first three options are drawn from, the others only if they are clear: every eighth is.
    """
    dice = torch.Generator().manual_seed(seed)
    rows = torch.randn(number, OPTIONS, SIZE, generator=dice)
    scores = rows @ OWN
    drawn = torch.arange(OPTIONS).expand(number, OPTIONS) < 3
    clear = torch.arange(number) % 8 == 0
    drawn = torch.where(clear[:, None], torch.arange(OPTIONS) == 0, drawn)
    chances = torch.softmax(scores.masked_fill(~drawn, -1e9), 1)
    chosen = torch.multinomial(chances, 1, generator=dice)[:, 0]
    worth = (rows @ (TAUGHT + own * OWN))[torch.arange(number), chosen]
    rewards = worth + noise * torch.randn(number, generator=dice)
    draws = Draws(rows, scores, torch.ones_like(drawn), drawn, chosen, torch.ones(number))
    return Drawn(draws, rewards - rewards.mean(), torch.arange(number) % FOLDS)


def sums_of(*parts: Drawn, seats: float = 4_000_000.0) -> DrawSums:
    found = DrawSums(SIZE, 1.0)
    for part in parts:
        found.add(*part)
    found.add_seats(torch.full((FOLDS,), seats / FOLDS))
    return found


def test_what_ended_well_is_found_apart_from_what_the_scores_say() -> None:
    """A regression on the rows finds it exactly, but for the noise; its size is as asked for."""
    sums = sums_of(decisions(20_000))
    step = sums.step(OWN, 0.5, 0.0)
    assert torch.nn.functional.cosine_similarity(step.change, TAUGHT, dim=0) > 0.99
    assert abs(float(step.change @ OWN)) < 0.1 * float(step.change.norm())
    moved, _ = sums.movement(step.change)
    assert moved == pytest.approx(0.5, rel=1e-3)
    assert sums.decisions == 17_500
    assert 0.5 < sums.entropy < np.log(3)


def test_it_stays_apart_from_the_scores_of_the_start_wherever_steps_have_led() -> None:
    """Their movements add up like those of perpendicular vectors, though other scores were drawn from."""
    some = decisions(4_000)
    sums = sums_of(some.but(scores=some.draws.rows @ (OWN + 0.7 * TAUGHT)))
    change = sums.step(OWN, 0.5, 0.3).change
    moved, own, both = (sums.movement(each)[0] for each in (change, OWN, change + OWN))
    assert both == pytest.approx(np.hypot(moved, own), rel=1e-3)


def test_what_it_gains_is_told_by_games_that_had_no_say() -> None:
    """By the draws, a step of s nats gains s times the deviation of what it finds, a decision."""
    some = decisions(20_000)
    sums = sums_of(some, seats=1_000.0)
    step = sums.step(OWN, 0.1, 0.0)
    close = some.draws.drawn.sum(1) > 1
    chances = torch.softmax(some.draws.scores.masked_fill(~some.draws.drawn, -1e9), 1)[close]
    found, worth = some.draws.rows[close] @ step.change, some.draws.rows[close] @ (TAUGHT + 3.0 * OWN)
    covariance = (chances * found * worth).sum(1) - (chances * found).sum(1) * (chances * worth).sum(1)
    assert step.gain == pytest.approx(float(covariance.sum()) / 1_000.0, rel=0.15)
    assert 0.0 < step.gain_error < 0.1 * step.gain


def test_nothing_is_gained_where_there_is_nothing_to_learn() -> None:
    gains = []
    for seed in range(12):
        some = decisions(2_000, seed)
        noise = torch.randn(2_000, generator=torch.Generator().manual_seed(100 + seed))
        step = sums_of(some._replace(rewards=noise), seats=1_000.0).step(OWN, 0.5, 0.0)
        gains.append(step.gain / step.gain_error)
    assert abs(np.mean(gains)) < 1.2, gains
    assert 0.4 < np.std(gains) < 2.0, gains


def test_what_fades_counts_less() -> None:
    """Games that teach the opposite are outvoted, once they have faded."""
    old, new = decisions(4_000, 1), decisions(4_000, 2)
    opposite = old._replace(rewards=-3.0 * old.rewards)
    for share, sign in ((1.0, -1.0), (0.1, 1.0)):
        sums = sums_of(opposite)
        sums.fade(share)
        sums.add(*new)
        step = sums.step(OWN, 0.5, 0.0)
        assert sign * float(step.change @ TAUGHT) > 0.0
        assert sums.decisions == pytest.approx(3_500 * (1.0 + share))


def test_the_order_of_the_games_does_not_matter() -> None:
    one, other = decisions(1_000, 1), decisions(1_000, 2)
    ours, theirs = (sums_of(*parts).step(OWN, 0.5, 0.3) for parts in ((one, other), (other, one)))
    assert torch.allclose(ours.change, theirs.change, atol=1e-6)
    resumed = DrawSums(SIZE, 1.0)
    resumed.restore(sums_of(one, other).state())
    assert torch.equal(resumed.step(OWN, 0.5, 0.3).change, ours.change)


def test_a_hold_keeps_what_is_not_drawn_from() -> None:
    """The options not drawn from differ in one number of the rows only, which then hardly counts.

    Unlikely ones are not held: they are far from being chosen.
    """
    some = decisions(20_000)
    rows = some.draws.rows.clone()
    rows[:, 3:, :] = rows[:, :1, :]
    rows[:, 3:, 2] += 5.0
    held = [sums_of(some.but(rows=rows)).step(OWN, 0.5, hold).change for hold in (0.0, 10.0)]
    free, kept = (abs(float(change[2] / change[4])) for change in held)
    assert free > 1.5
    assert kept < 0.2
    far = some.draws.scores.clone()
    far[:, 3:] -= 20.0
    change = sums_of(some.but(rows=rows, scores=far)).step(OWN, 0.5, 10.0).change
    assert abs(float(change[2] / change[4])) > 1.5


def test_without_a_draw_nothing_moves() -> None:
    sums = DrawSums(SIZE, 1.0)
    step = sums.step(OWN, 0.8, 0.3)
    assert torch.equal(step.change, torch.zeros(SIZE))
    assert (step.gain, step.gain_error) == (0.0, 0.0)


def test_the_scores_of_what_was_drawn_are_those_of_the_policy(start: Path) -> None:
    """Every decision of the games is counted; its entropy is that of the probabilities it was drawn with."""
    plan = short_plan(**NATURAL, games=2, also=("riichi", "chi", "pon", "kan"))
    games = play_games(plan, start, workers=1, quiet=True)
    learners = NaturalLearners(plan, start)
    seen = learners.learn(games, rewards_of(games, "points", load_predictor(start), plan.length), 0)
    for slot in plan.slots:
        name = "policy" if slot is Slot.DISCARD else slot
        assert seen[f"{name}/decisions"] == sum(len(game.of(slot)) for game in games)
    drawn = np.concatenate([game.decisions for game in games])
    drawn = drawn[drawn["probability"] < 1.0]
    # the mean of -log p of what was drawn estimates the entropy
    told = -np.log(drawn["probability"])
    error = told.std() / np.sqrt(len(told))
    assert seen["policy/entropy"] == pytest.approx(told.mean(), abs=4 * error)


NATURAL: dict[str, Any] = {
    "optimiser": "natural",
    "baseline": "none",
    "min_p": 0.2,
    "hold": 0.3,
    "thinning": 0.0,
}
SHORT_RUN = [
    *("train", "rl", "--preset", "tiny", "--tonpuu", "--optimiser", "natural", "--baseline", "none"),
    *("--min-p", "0.2", "--thinning", "0", "--size", "0.5", "--memory", "100000", "--workers", "1", "--json"),
    *("--oracle-games", "0", "--fade-games", "0", "--block-games", "4", "--evaluation-games", "4"),
    *("--games", "8", "--evaluate-every", "8"),
]


def test_a_run_moves_the_last_layers_and_resumes(start: Path, tmp_path: Path) -> None:
    args = [*SHORT_RUN, "--start", str(start), "--hold", "0.3", "--also", "chi", "--out", str(tmp_path)]
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    card = json.loads(result.stdout)
    assert card["training"]["settings"]["optimiser"] == "natural"
    assert card["training"]["settings"]["memory"] == 1e5
    curves = {name: dict(values) for name, values in read_curves(tmp_path / "runs" / "rl" / "curves").items()}
    assert {"policy/step_gain", "policy/moved_others", "chi/gain", "chi/step"} <= curves.keys()
    for slot, name in ((Slot.DISCARD, "policy"), (Slot.CHI, "chi")):
        before, after = load(start, slot).tensors, load(tmp_path, slot).tensors
        changed = {name for name, tensor in before.items() if not torch.equal(tensor, after[name])}
        assert all(name.startswith("head.") for name in changed)
        # a step is taken where games that had no say agree
        steps = curves[f"{name}/step"]
        assert bool(changed) == (max(steps.values()) > 0.0)
        assert all(
            (steps[at] > 0.0)
            == (curves[f"{name}/step_gain"][at] > 2.0 * curves[f"{name}/step_gain_error"][at])
            for at in steps
        )
    assert load(start, Slot.PON).card.tensors == load(tmp_path, Slot.PON).card.tensors


def rewarded(games: Sequence[Trajectory], kind: int) -> list[np.ndarray]:
    """Rewards by the share of discards of some kinds in the player's round, whatever it really brought."""
    found = []
    for game in games:
        rewards = np.zeros((len(game.starts), 4))
        for row in game.decisions:
            rewards[row["round"], row["player"]] += 1.0 if row["kind"] >= kind else -1.0
        found.append(rewards)
    return found


@pytest.mark.parametrize("tie_break", [0.0, 0.2])
def test_what_ends_well_is_drawn_more_often(start: Path, tie_break: float) -> None:
    """Honours are rewarded: after a few steps the policy draws more of them, and says that it has gained."""
    settings = {**NATURAL, "hold": 0.0, "tie_break": tie_break} if tie_break else NATURAL
    plan = short_plan(**settings, games=36, block_games=12, size=0.3, memory=1e6, lag=0)
    learners = NaturalLearners(plan, start)
    shares, seen = [], []
    for block in range(3):
        games = games_with(plan, start, learners.acting(), block)
        decisions = np.concatenate([game.decisions for game in games])
        shares.append((decisions["kind"] >= 27).mean())
        seen.append(learners.learn(games, rewarded(games, 27), block))
    assert shares[0] + 0.02 < shares[1] < shares[2]
    assert seen[0]["policy/gain"] == pytest.approx(0.0, abs=1e-3)
    assert seen[1]["policy/moved"] > seen[0]["policy/moved"]
    for before, after in itertools.pairwise(seen):
        assert before["policy/step_gain"] > 3.0 * before["policy/step_gain_error"]
        assert after["policy/gain"] > after["policy/gain_error"]
    changed = learners.normal()[Slot.DISCARD]
    before = load(start, Slot.DISCARD).tensors
    parts = {
        name
        for name, tensor in changed.items()
        if not torch.equal(tensor, before.get(name, torch.zeros_like(tensor)))
    }
    assert parts == {
        f"{'tie_break.score' if tie_break else 'head'}.{kind}.{each}"
        for kind in ("suits", "honours")
        for each in ("weight", "bias")
    }


def test_a_tie_break_is_played_evaluated_and_learned_on(start: Path, tmp_path: Path) -> None:
    first = [*SHORT_RUN, "--tie-break", "0.3", "--start", str(start), "--out", str(tmp_path / "first")]
    result = CliRunner().invoke(cli.app, first)
    assert result.exit_code == 0, result.output
    card = json.loads(result.stdout)
    assert (card["architecture"]["type"], card["architecture"]["share"]) == ("suits-tie-break", 0.3)
    second = [*SHORT_RUN, "--start", str(tmp_path / "first"), "--out", str(tmp_path / "second")]
    result = CliRunner().invoke(cli.app, second)
    assert result.exit_code == 0, result.output
    before, after = (load(tmp_path / run, Slot.DISCARD) for run in ("first", "second"))
    assert after.card.architecture == before.card.architecture
    assert all(
        name.startswith("tie_break.") or torch.equal(tensor, after.tensors[name])
        for name, tensor in before.tensors.items()
    )
    third = [*SHORT_RUN, "--tie-break", "0.2", "--start", str(tmp_path / "first")]
    result = CliRunner().invoke(cli.app, [*third, "--out", str(tmp_path / "third")])
    assert result.exit_code != 0
    assert "the start already has one of 0.3" in result.output


def games_with(plan: ReinforcementPlan, start: Path, weights: bytes, block: int) -> list[Trajectory]:
    play = actor(ActorSetup(plan, files_of(start, MODELS)))
    chunk = Chunk(block, plan.numbers(block), block, weights)
    games = {game.row.number: game.trajectory for game in play(chunk)}
    return [game for _, game in sorted(games.items()) if game is not None]


def test_learning_resumes_with_the_same_numbers(start: Path) -> None:
    plan = short_plan(**NATURAL, games=4, lag=1)
    games = play_games(plan, start, workers=1, quiet=True)
    rewards = rewarded(games, 27)
    whole, resumed = NaturalLearners(plan, start), NaturalLearners(plan, start)
    whole.learn(games[:2], rewards[:2], 0)
    resumed.restore(whole.state())
    for learners in (whole, resumed):
        learners.learn(games[2:], rewards[2:], 1)
    ours, theirs = (learners.normal()[Slot.DISCARD] for learners in (whole, resumed))
    before = load(start, Slot.DISCARD).tensors
    assert any(not torch.equal(tensor, before[name]) for name, tensor in ours.items())
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"baseline": "critic"}, "optimiser: natural learns from rewards as they are; set baseline to none"),
        ({"anchor": 0.1}, "anchor: natural takes steps of a given size"),
        ({"last_blocks": 0}, "last_blocks: natural always teaches the last layer alone"),
        ({"oracle_games": 4}, "natural teaches no policy that sees what is hidden"),
        ({"explore": 0.0}, "explore: 0.0 must be above 0 and at most 1"),
        ({"size": 0.0}, "size: 0.0 must be above 0"),
        ({"tie_break": 1.0}, "tie_break: 1.0 must be at least 0 and below 1"),
        ({"tie_break": 0.2, "optimiser": "adam"}, "tie_break: only the natural optimiser teaches it"),
        ({"optimiser": "sgd"}, "optimiser: no 'sgd'; there are adam, natural"),
    ],
)
def test_settings_that_it_does_not_follow_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_reinforcement_plan(**{**NATURAL, **settings})


def test_the_strongest_ridge_that_gains_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little signal a strong ridge gains more than a weak one."""
    some = decisions(600, noise=40.0, own=0.0)
    monkeypatch.setattr(natural_step, "RIDGES", (1e-3, 1e9))
    step = sums_of(some, seats=4_000.0).step(OWN, 0.5, 0.0)
    assert step.ridge in (1e-3, 1e9)
    both = []
    for ridge in (1e-3, 1e9):
        monkeypatch.setattr(natural_step, "RIDGES", (ridge,))
        both.append(sums_of(some, seats=4_000.0).step(OWN, 0.5, 0.0).gain)
    assert step.gain == max(both)
