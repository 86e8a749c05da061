from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from game.layout import AT_HAND, AT_UNSEEN
from game.tiles import RED_FIVES
from kit.errors import StateMismatchError
from policies.features.table import LITE
from policies.hands import generation
from policies.hands.autoregressive import AutoregressiveSampler, AutoregressiveSettings, load_autoregressive
from policies.hands.diffusion import DiffusionSampler, DiffusionSettings, load_diffusion
from policies.hands.direct import DirectModel
from policies.hands.generation import Generator
from policies.hands.ready import is_ready, make_ready
from policies.hands.views import SampledHands, view_of
from tests.policies.hands.models import denoiser, real_moments
from tests.scale import scaled


def diffusion(**settings: object) -> DiffusionSampler:
    how = DiffusionSettings(**{"steps": 3, **settings})  # type: ignore[arg-type]
    direct = DirectModel.load() if how.match_ready else None
    return DiffusionSampler(denoiser("diffusion"), LITE, how, direct)


def autoregressive(**settings: object) -> AutoregressiveSampler:
    how = AutoregressiveSettings(**settings)  # type: ignore[arg-type]
    return AutoregressiveSampler(denoiser("autoregressive"), LITE, how)


SAMPLERS = [
    diffusion,
    lambda: diffusion(rounding="greedy", guidance=0.5, noise=0.0, match_ready=True),
    autoregressive,
    lambda: autoregressive(together=False, tries=1),
]
all_samplers = pytest.mark.parametrize("make", SAMPLERS, ids=["diffusion", "paper", "tiles", "one tile"])


def faults(
    states: NDArray[np.void], players: NDArray[np.int64], found: SampledHands
) -> list[tuple[int, str]]:
    """What is impossible about sampled hands, with the number of the state."""
    wrong = []
    for row, (state, player) in enumerate(zip(states, players, strict=True)):
        view, hands, reds = view_of(state, int(player)), found.counts[row], found.reds[row]
        fives = hands[:, :, [4, 13, 22]]
        in_wall = view.unseen[[4, 13, 22]] - fives.sum(1)
        checks = {
            "sizes": (hands.sum(2) == view.sizes).all() and (hands >= 0).all(),
            "copies": (hands.sum(1) <= view.unseen).all(),
            "a red five in two hands, or in sight": (reds.sum(1) <= view.reds).all(),
            "a red five without a five": (fives >= reds).all(),
            "a red five nowhere": (reds.any(1) | ~view.reds | (in_wall > 0)).all(),
            "not ready in riichi": all(
                is_ready(sample[seat], view.melds[seat])
                for sample in hands
                for seat in np.flatnonzero(view.riichi)
            ),
        }
        wrong += [(row, what) for what, fine in checks.items() if not fine]
    return wrong


@all_samplers
def test_hands_are_always_possible(make: type[Generator]) -> None:
    states, players = (each[:: scaled(24, 1)] for each in real_moments(12, 61))
    assert len(states) > scaled(8, 25)
    assert (states["riichi"] > 0).any(axis=1).sum() > scaled(1, 3)
    sampler = make()  # type: ignore[call-arg]
    found = sampler.sample(states, players, 3, seed=1)
    assert found.counts.shape == (len(states), 3, 3, 34)
    assert faults(states, players, found) == []


@all_samplers
def test_samples_depend_on_the_seed_and_not_on_the_others_asked(make: type[Generator]) -> None:
    states, players = (each[:3] for each in real_moments(12, 61))
    sampler = make()  # type: ignore[call-arg]
    found = sampler.sample(states, players, 2, seed=7)
    for rows in ([1], [2, 1]):
        again = make().sample(states[rows], players[rows], 2, seed=7)  # type: ignore[call-arg]
        assert (again.counts == found.counts[rows]).all()
        assert (again.reds == found.reds[rows]).all()
    other = make().sample(states, players, 2, seed=8)  # type: ignore[call-arg]
    assert (other.counts != found.counts).any()


@all_samplers
def test_the_true_hands_are_not_read(make: type[Generator]) -> None:
    states, players = (each[: scaled(3, 6)].copy() for each in real_moments(12, 61))
    found = make().sample(states, players, 2, seed=0)  # type: ignore[call-arg]
    for state, player in zip(states, players, strict=True):
        others = [other for other in range(4) if other != player]
        state["hand34"][others] = 0
        state["waits"][others] = 0
        state["hand_known"][others] = 0
        state["drawn"] = state["drawn"] if state["turn"] == player else -1
        for other in others:
            state["where"][state["where"] == AT_HAND + other] = AT_UNSEEN
    again = make().sample(states, players, 2, seed=0)  # type: ignore[call-arg]
    assert (again.counts == found.counts).all()
    assert (again.reds == found.reds).all()


def test_where_no_hand_can_be_made_ready_other_hands_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    states, players = real_moments(12, 61)
    rows = np.flatnonzero((states["riichi"] > 0).any(axis=1))[: scaled(8, 20)]
    states, players = states[rows], players[rows]
    asked = 0

    def sometimes(*given: Any) -> bool:
        nonlocal asked
        asked += 1
        return asked % 3 == 0 and make_ready(*given)

    monkeypatch.setattr(generation, "make_ready", sometimes)
    sampler = autoregressive(tries=1)
    assert faults(states, players, sampler.sample(states, players, 3, seed=1)) == []
    assert asked > 3
    monkeypatch.setattr(generation, "make_ready", lambda *_: False)
    with pytest.raises(StateMismatchError, match="no ready hand"):
        sampler.sample(states, players, 3, seed=1)


def test_as_many_hands_are_ready_as_the_direct_model_expects() -> None:
    states, players = (each[60:90] for each in real_moments(12, 61))
    expected = DirectModel.load().read(states, players).tenpai.mean()
    shares = []
    for match_ready in (False, True):
        sampler = diffusion(match_ready=match_ready)
        found = sampler.sample(states, players, scaled(6, 10), seed=0).counts
        melds = [view_of(state, int(player)).melds for state, player in zip(states, players, strict=True)]
        ready = [
            is_ready(hand, count)
            for samples, counts in zip(found, melds, strict=True)
            for sample in samples
            for hand, count in zip(sample, counts, strict=True)
        ]
        shares.append(np.mean(ready))
    assert shares[0] < shares[1]
    assert shares[1] == pytest.approx(expected, abs=0.04)


def test_the_included_generators_give_possible_hands() -> None:
    states, players = (each[:: scaled(72, 8)] for each in real_moments(12, 61))
    for sampler in (load_diffusion(), load_autoregressive()):
        found = sampler.sample(states, players, 2, seed=0)
        assert faults(states, players, found) == []


def test_red_fives_are_where_a_player_may_think_they_are() -> None:
    states, players = real_moments(12, 61)
    for state, player in zip(states[:60], players, strict=False):
        view = view_of(state, int(player))
        for suit, tile in enumerate(RED_FIVES):
            place = int(state["where"][tile])
            assert view.own_reds[suit] == (place == AT_HAND + player)
            hidden = place == AT_UNSEEN or AT_HAND <= place < AT_HAND + 4
            assert view.reds[suit] == (hidden and place != AT_HAND + player)


def test_impossible_settings_are_refused() -> None:
    for settings in ({"steps": -1}, {"noise": 1.5}, {"tries": -1}):
        with pytest.raises(ValueError, match="must"):
            DiffusionSettings(**settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must"):
        AutoregressiveSettings(tries=-1)
