"""The critic learns what the rest of a round brings, from games with all hands known."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.packing import DRAW, LENGTHS, Packed
from game.scoring.settlement import RIICHI_STICK
from learning.data.choice import choose
from learning.data.corpus import Corpus
from learning.data.games import played_games
from learning.data.loader import Loader
from learning.data.position_kernels import AT_DRAWS
from learning.train import samples_run
from learning.train.critic import CriticRun, Outcomes
from learning.train.plan import CriticPlan, make_critic_plan
from policies.checkpoint.card import Card
from policies.checkpoint.store import load_predictor
from policies.play.critic import POINTS_UNIT, REWARD_OF_STICK, REWARD_UNIT
from policies.play.included import SHIPPED
from policies.reward.encoding import final_rewards
from policies.reward.predictor import predict
from tests.cli import run_cli
from tests.learning.train.tiny import TINY
from tests.scale import scaled

pytestmark = pytest.mark.usefixtures("restore_logs")


def plan(**settings: Any) -> CriticPlan:
    return make_critic_plan(**{**TINY, "one_in": 4, **settings})


def train(plan: CriticPlan, corpus: Corpus, out: Path) -> Card:
    begin = functools.partial(CriticRun, predictor=load_predictor(SHIPPED))
    return samples_run.train(begin, plan, corpus, out, quiet=True)


def test_outcomes_are_what_the_rest_of_the_round_brought(corpus: Corpus) -> None:
    numbers, predictor = np.arange(3), load_predictor(SHIPPED)
    outcomes = Outcomes(corpus, numbers, predictor)
    games = played_games(corpus, numbers).games
    expected = predict(predictor, games)
    loader = Loader(corpus, choose(corpus, numbers), AT_DRAWS, moments=True, augment=False, batch_size=64)
    seen, paid = set(), 0
    for batch in loader.epoch():
        moments = batch.moments
        rest = outcomes.rest(moments)
        for row in range(len(rest)):
            game, player = int(moments.game[row]), int(moments.player[row])
            rounds = games.starts[game][: games.counts[game]]
            key = (moments.round_index[row], moments.honba[row])
            place = next(n for n, each in enumerate(rounds) if (each["round_index"], each["honba"]) == key)
            seen.add((game, place))
            if place + 1 < len(rounds):
                after, reward = rounds[place + 1]["scores"], expected[game, place + 1]
            else:
                after = corpus.index["scores"][game]
                reward = final_rewards(after, predictor.uma)
            points = np.roll(after - moments.scores[row], -player)
            assert np.allclose(rest[row, 0] * POINTS_UNIT, points, atol=0.1)
            sticks = (rounds[place]["scores"] - moments.scores[row]) // RIICHI_STICK
            paid += int(sticks.sum())
            change = np.roll(reward - expected[game, place] + REWARD_OF_STICK * sticks, -player)
            assert np.allclose(rest[row, 1] * REWARD_UNIT, change, atol=1e-3)
    assert paid
    assert len(seen) == games.counts.sum()


def draws_in(codes: Packed) -> int:
    found = at = 0
    while at < codes.size:
        found += codes[at] == DRAW
        at += LENGTHS[codes[at]]
    return int(found)


def test_samples_are_the_moments_after_all_draws(corpus: Corpus) -> None:
    choice = choose(corpus, np.arange(2))
    every, some = (
        Loader(corpus, choice, AT_DRAWS, moments=True, one_in=one_in, augment=False) for one_in in (1, 5)
    )
    whole = list(every.epoch())
    rows = sum(len(batch.planes) for batch in whole)
    assert rows == sum(draws_in(corpus.events(number)) for number in range(2))
    assert -(-rows // 5) == sum(len(batch.planes) for batch in some.epoch())
    left = np.concatenate([batch.moments.wall_left for batch in whole if batch.moments is not None])
    assert left.max() == 69


def test_the_command_refuses_what_cannot_be_trained(folder: Path, tmp_path: Path) -> None:
    result = run_cli("train", "critic", "--corpus", str(folder), "--out", str(tmp_path), "--passes", "0")
    assert result.exit_code == 2
    assert "passes" in result.output


@pytest.mark.slow
def test_a_critic_gets_better(corpus: Corpus, tmp_path: Path) -> None:
    short = train(plan(samples=32), corpus, tmp_path / "short")
    wanted = plan(samples=scaled(192, 960), learning_rate=0.01, validate_every=scaled(96, 320))
    card = train(wanted, corpus, tmp_path / "long")
    assert card.metrics["loss"] < short.metrics["loss"]
    assert (card.model, card.data.corpus) == ("critic", corpus.card["content_sha256"])
