"""Oracle guiding: what is hidden, shown in part, and without effect once it is not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from game.layout import ROUND_STATE
from kit.errors import ConfigError
from policies.features.draw import kinds_of
from policies.features.encode import encode
from policies.features.table import GUIDED, LITE, SETS
from policies.flow.slots import Slot
from policies.nets.architectures import Weights, plane_weights
from policies.nets.compute import Compute
from policies.nets.guidance import SEEN_PLANES, HiddenPart, drop_hidden, guided, hidden_part, without_hidden
from policies.nets.networks import as_input, network_of
from policies.play.inference import Model, chances
from policies.play.rollout import Rollout, Seating
from policies.policy_gradient.trajectories import Recorder, Trajectory
from tests.policies.models import a_model, a_network, a_policy, weights_of


@pytest.fixture(scope="module")
def played() -> Trajectory:
    recorder = Recorder(a_policy())
    game = next(games := Rollout([recorder], length="tonpuu").play([Seating(0, 5, (0, 0, 0, 0))]))
    found = recorder.take(game)
    games.close()
    return found


def hidden_of(played: Trajectory) -> HiddenPart:
    return HiddenPart(played.walls[played.decisions["round"]], played.decisions["hidden_seed"])


def a_guided_network() -> Weights:
    """One that has learned to look at what is hidden."""
    weights = guided(weights_of(a_network(tower="suits")))
    dice = np.random.default_rng(1)
    for name in plane_weights(weights.arrays):
        hidden = weights.arrays[name][:, SEEN_PLANES:]
        hidden[:] = dice.normal(0.0, 0.3, hidden.shape)
    return weights


def test_each_number_is_kept_with_probability_gamma(played: Trajectory) -> None:
    seeds = played.decisions["hidden_seed"]
    assert len(set(seeds.tolist())) == len(seeds)
    ones = np.full((len(seeds), SETS[GUIDED].planes, 34), 255, np.uint8)
    for gamma in (0.0, 0.3, 1.0):
        planes = ones.copy()
        drop_hidden(planes, seeds, gamma)
        assert (planes[:, :SEEN_PLANES] == 255).all()
        assert (planes[:, SEEN_PLANES:] != 0).mean() == pytest.approx(gamma, abs=0.01)
    again = ones.copy()
    drop_hidden(again, seeds, 0.3)
    drop_hidden(ones, seeds, 0.3)
    assert np.array_equal(again, ones)
    assert not np.array_equal(ones[0], ones[1])


def test_a_guided_network_begins_with_the_same_answers(played: Trajectory) -> None:
    network = a_network(tower="suits")
    states, players = played.decisions["state"], played.decisions["player"]
    seen = torch.from_numpy(encode(states, players, LITE))
    whole = torch.from_numpy(encode(states, players, GUIDED, walls=hidden_of(played).walls))
    with torch.inference_mode():
        theirs = network_of(guided(weights_of(network)))(as_input(whole))
        torch.testing.assert_close(theirs, network(as_input(seen)), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rows", [4, 32])
def test_at_gamma_0_what_is_hidden_has_no_effect(played: Trajectory, rows: int) -> None:
    """A trained guided network, shown nothing, answers as the normal network that is cut out of it."""
    seeing = a_guided_network()
    normal = a_model(tower="suits", compute=Compute(rows=rows)).with_arrays(without_hidden(seeing.arrays))
    states, players = played.decisions["state"], played.decisions["player"]
    hidden, compute = hidden_of(played), Compute(rows=rows)
    logits = {
        gamma: Model(seeing, GUIDED, compute=compute, gamma=gamma).logits(
            states, players, None, "tonpuu", hidden=hidden
        )
        for gamma in (0.0, 0.5, 1.0)
    }
    theirs = normal.logits(states, players, None, "tonpuu")
    np.testing.assert_allclose(logits[0.0], theirs, atol=1e-5)
    assert np.abs(logits[1.0] - theirs).max() > 0.1
    assert np.abs(logits[1.0] - logits[0.5]).max() > 0.1
    other = HiddenPart(hidden.walls[:, ::-1].copy(), hidden.seeds + np.uint64(1))
    shown = Model(seeing, GUIDED, compute=compute).logits(states, players, None, "tonpuu", hidden=other)
    assert np.array_equal(shown, logits[0.0])


def test_a_guided_policy_plays_with_what_the_table_hides() -> None:
    """What it was shown in play can be shown again: the same probabilities come out."""
    model = Model(a_guided_network(), GUIDED, gamma=0.5)
    recorder = Recorder(a_policy(tower="suits").replaced({Slot.DISCARD: model}))
    games = Rollout([recorder], length="tonpuu").play([Seating(0, 6, (0, 0, 0, 0))])
    found = recorder.take(next(games))
    decisions = found.decisions[:40]
    logits = model.logits(
        decisions["state"],
        decisions["player"],
        None,
        "tonpuu",
        hidden=HiddenPart(found.walls[decisions["round"]], decisions["hidden_seed"]),
    )
    shares = chances(logits, kinds_of(decisions["legal"]))
    expected = shares[np.arange(len(shares)), decisions["kind"]]
    np.testing.assert_allclose(decisions["probability"], expected, atol=1e-5)


def test_nothing_is_known_of_a_real_table() -> None:
    hidden = hidden_part([None])
    assert (hidden.walls == -1).all()
    state = np.zeros(1, ROUND_STATE)
    assert not encode(state, 0, GUIDED, walls=hidden.walls)[:, SEEN_PLANES:].any()


@pytest.mark.parametrize("tower", ["residual", "pooled"])
def test_other_towers_cannot_be_guided(tower: str) -> None:
    with pytest.raises(ConfigError, match="only a network with suits apart"):
        guided(weights_of(a_network(tower=tower)))  # type: ignore[arg-type]
