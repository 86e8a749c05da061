"""Policies that can be asked about any observation, and the cards of their checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from game.actions import PASS, Action
from game.observation import Observation
from game.warmup import warm_up
from policies.checkpoint.card import Card
from policies.checkpoint.store import load, models_in
from policies.flow.known_hand import try_policy
from policies.nets.compute import choose_compute
from policies.play.decide import decide_strictly
from policies.play.named import Named, folder_of_named, load_named
from replays.review.judging import opinions, ranked
from replays.review.moments import Moment


class Policy:
    """A policy, ready to answer; made by `load_policy`.

    Attributes:
        name: its name in reports.
    """

    def __init__(self, named: Named) -> None:
        self.name, self._policy = named.name, named.policy

    def act(self, observation: Observation) -> Action:
        """The action that the policy takes, for `Table.step`.

        Raises:
            ModelError: it gives no usable answer.
            IllegalActionError: there is no legal action.
        """
        return decide_strictly(observation, self._policy).action

    def probabilities(self, observations: Sequence[Observation]) -> list[dict[Action, float]]:
        """The probability of every option, for many observations in one batch.

        Args:
            observations: from `decisions`, `Table.observe` or `position`; each has legal actions.

        Returns:
            One distribution each, the policy's choice first. Wins and nine terminals are decided by rules,
            with probability 1. A riichi is an option for each tile that may be discarded with it.

        Raises:
            ModelError: the policy gives no usable answer.
        """
        moments = [
            each
            if isinstance(each, Moment)
            else Moment(each.record, each.player, each.legal, each.length, round=0, event=0, done=PASS)
            for each in observations
        ]
        return [ranked(opinion) for opinion in opinions(moments, self._policy)]


def load_policy(name: str = "network", *, device: Literal["auto", "cpu", "cuda"] = "cpu") -> Policy:
    """Load a policy, ready to answer; kernels that are not compiled yet are compiled.

    A network on the CPU needs no torch. One that does limits torch to one thread while it answers.

    Args:
        name: ``network``, ``phoenix``, ``players@NAME`` to imitate a player or rank,
            ``heuristic``, ``random``, a folder of checkpoints, or ``python:FILE.py``, which is run. A suffix
            ``:6`` or ``:12`` averages a network over as many permutations of the suits.
        device: where networks compute; ``auto`` takes the GPU if there is one.

    Raises:
        ConfigError: there is no such policy.
        CheckpointError: its checkpoints are missing, damaged or of another version.
        ModelError: there is no GPU, or the policy gives no usable answer to a known hand.
    """
    named = load_named(name, compute=choose_compute(device, many=False))
    warm_up()
    try_policy(named.policy)
    return Policy(named)


def cards(name: str = "network") -> dict[str, Card]:
    """The cards of a folder's checkpoints by model: architecture, planes, data, training, accuracy.

    Args:
        name: ``network``, ``phoenix``, ``players``, or a folder of checkpoints.

    Raises:
        ConfigError: there is no such folder.
        CheckpointError: a checkpoint is damaged or of another version.
    """
    folder = folder_of_named(name)
    return {model: load(folder, model).card for model in models_in(folder)}
