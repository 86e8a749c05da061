"""The network of the reward predictor in training; `policies.reward.predictor` predicts with its weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.nets.networks import arrays_of
from policies.reward import INPUTS, ORDERS, PLACES, FinishArchitecture, Predictor


class FinishNetwork(nn.Module):
    """Scores each place for each player; an order of finish has the sum of the scores of its four places.

    Args:
        architecture: its sizes.
    """

    def __init__(self, architecture: FinishArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        hidden, dense = architecture.hidden, architecture.dense
        self.rounds = nn.GRU(INPUTS, hidden, num_layers=2, batch_first=True)
        self.dense = nn.Linear(hidden, dense)
        self.answer = nn.Linear(dense, 4)

    def predictor(self) -> Predictor:
        """What it has learned so far, ready to predict."""
        return Predictor(self.architecture, arrays_of(self.state_dict()))

    def orders(self, x: Tensor) -> Tensor:
        """Predict the order of finish at the start of each round, from its own and earlier rounds.

        Args:
            x: ``[G, 4, T, 36]`` from `policies.reward.encode`.

        Returns:
            ``[G, T, 24]`` logarithms of the probabilities of `ORDERS`.
        """
        seen, _ = self.rounds(x.flatten(0, 1))
        answers: Tensor = self.answer(functional.relu(self.dense(seen)))
        scores = answers.view(*x.shape[:3], -1).transpose(1, 2).flatten(2)
        return (scores @ torch.from_numpy(PLACES).view(len(ORDERS), -1).T).log_softmax(-1)
