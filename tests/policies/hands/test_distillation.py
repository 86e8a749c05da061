"""One step of a distilled diffusion model leads where two of its teacher's lead."""

from __future__ import annotations

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from policies.features.encode import encode
from policies.features.table import LITE
from policies.hands.diffusion import (
    DiffusionSampler,
    DiffusionSettings,
    Known,
    clean_hands,
    denoised,
    distilled_target,
    signals_at,
    stepped,
)
from policies.hands.views import view_of
from policies.nets.conditioned import DenoiserNetwork
from policies.nets.networks import as_input
from policies.nets.towers.suits import Columns
from tests.policies.hands.models import denoiser, real_moments

STEPS = 4


def moments(network: DenoiserNetwork) -> tuple[Columns, Tensor, Tensor, Known]:
    """Some real states with noise: what the trunk sees, the noisy hands, how noisy, what is known."""
    states, players = (each[60:92] for each in real_moments(12, 61))
    views = [view_of(state, int(player)) for state, player in zip(states, players, strict=True)]
    known = Known(
        torch.cat([clean_hands(view.own[None], view.own_reds[None]) for view in views]),
        torch.stack([torch.from_numpy(view.unseen) for view in views]),
        torch.stack([torch.from_numpy(view.sizes) for view in views]),
    )
    seen = network.trunk_columns(as_input(torch.from_numpy(encode(states, players, LITE))))
    times = (torch.arange(len(views)) % STEPS + 1) / STEPS
    return seen, torch.randn(len(views), 4, 2, 34, generator=torch.manual_seed(3)), times, known


@torch.no_grad()
def test_one_step_towards_the_target_is_two_steps_of_the_teacher() -> None:
    network = denoiser("diffusion")
    seen, x, times, known = moments(network)
    target = distilled_target(network, seen, x, times, known, STEPS)
    now, half, then = (signals_at(times - part / STEPS) for part in (0.0, 0.5, 1.0))
    middle = stepped(x, denoised(network, seen, x, times, known), now, half)
    clean = denoised(network, seen, middle, times - 0.5 / STEPS, known)
    there = stepped(middle, clean, half, then)
    last = times <= 1.0 / STEPS
    assert 0 < last.sum() < len(last)
    torch.testing.assert_close(stepped(x, target, now, then)[~last], there[~last], rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(target[last], clean[last])
    torch.testing.assert_close(target[:, 0], 4.0 * known.own, rtol=1e-3, atol=1e-3)


@torch.no_grad()
def test_a_teacher_that_always_answers_the_same_is_its_own_student() -> None:
    class Certain(DenoiserNetwork):
        """Answers with the same hands, whatever it sees."""

        def forward(self, seen: Columns, inputs: Tensor, times: Tensor, kept: Tensor | None = None) -> Tensor:
            return torch.linspace(0.0, 1.0, 8 * 34).view(1, 8, 34).expand(len(inputs), -1, -1)

    certain = Certain(denoiser("diffusion").architecture).eval()
    seen, x, times, known = moments(certain)
    target = distilled_target(certain, seen, x, times, known, STEPS)
    expected = denoised(certain, seen, x, times, known)
    torch.testing.assert_close(target, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("distilled", "settings", "asked", "alike"),
    [(0, {}, 12, False), (3, {}, 3, True), (3, {"steps": 5, "noise": 1.0}, 5, False)],
)
def test_a_sampler_takes_the_steps_that_its_model_was_distilled_for(
    distilled: int, settings: dict[str, float], asked: int, alike: bool
) -> None:
    class Counted(DenoiserNetwork):
        """Remembers when it was asked."""

        asked: list[float]

        def forward(self, seen: Columns, inputs: Tensor, times: Tensor, kept: Tensor | None = None) -> Tensor:
            self.asked.append(float(times[0]))
            return super().forward(seen, inputs, times, kept)

    small = denoiser("diffusion")
    network = Counted(replace(small.architecture, steps=distilled))
    network.load_state_dict(small.state_dict())
    network.asked = []
    how = DiffusionSettings(match_ready=False, tries=0, **settings)  # type: ignore[arg-type]
    states, players = (each[60:61] for each in real_moments(12, 61))
    found = DiffusionSampler(network, LITE, how).sample(states, players, 3, seed=0)
    assert network.asked == pytest.approx([step / asked for step in range(asked, 0, -1)])
    plain = DiffusionSettings(match_ready=False, tries=0, steps=asked, noise=0.0)
    without_noise = DiffusionSampler(small, LITE, plain).sample(states, players, 3, seed=0)
    assert (found.counts == without_noise.counts).all() == alike
