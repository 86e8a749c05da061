"""Untrained models of hands, and real decisions to ask them about."""

from __future__ import annotations

import functools

import numpy as np
import torch
from numpy.typing import NDArray

from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_TURN, ROUND_STATE
from game.state import apply, new_round
from policies.nets.architectures import Generates
from policies.nets.conditioned import DenoiserNetwork
from tests.learning.data.games import MODERN, records
from tests.policies.checkpoint.saved import small_denoiser


def denoiser(generates: Generates, seed: int = 0) -> DenoiserNetwork:
    """The smallest generator, with random weights that answer all kinds of things."""
    torch.manual_seed(seed)
    network = DenoiserNetwork(small_denoiser(generates, trunk_width=4, width=6, scale=4.0))
    with torch.no_grad():
        for layer in (network.answer.suits, network.answer.honours):
            layer.weight.mul_(4.0)
    return network.eval()


@functools.cache
def real_moments(games: int, every: int) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """States of real games, one of ``every`` events, each as somebody at the table sees it.

    Returns:
        ``[N]`` of `ROUND_STATE` with all hands known, and ``[N]`` players.
    """
    states, players = [], []
    for number, record in enumerate(records(MODERN, games)):
        state = new_round()
        for event_number, event in enumerate(record.events):
            apply(state, event)
            playing = int(state["phase"]) in (PHASE_TURN, PHASE_CALLED, PHASE_CLAIM)
            if playing and (event_number + number) % every == 0:
                states.append(state.copy())
                players.append(event_number // every % 4)
    return np.array(states, ROUND_STATE), np.array(players)
