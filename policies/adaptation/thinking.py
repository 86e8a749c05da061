"""A player that adapts to each round, searches, or does both, while the games wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from policies.adaptation.adapt import Adapter
from policies.adaptation.search import Searcher, load_searcher
from policies.adaptation.settings import ThinkingSettings
from policies.adaptation.simulator import load_simulator
from policies.checkpoint.files import Reader, read_file
from policies.flow.slots import Policy
from policies.nets.compute import Compute
from policies.play.rollout import Choice, PolicyChooser, Request, Times


class ThinkingChooser:
    """A policy whose decisions adaptation and search improve.

    Args:
        policy: decides in the first place.
        adapter: adapts it to each round; None for no adaptation.
        searcher: searches; None for no search.
    """

    def __init__(self, policy: Policy, adapter: Adapter | None, searcher: Searcher | None) -> None:
        self._chooser, self._adapter, self._searcher = PolicyChooser(policy), adapter, searcher

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide; see `policies.play.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        open_ = {
            place: request
            for place, (request, choice) in enumerate(zip(requests, choices, strict=True))
            if choice.verdict is not None and choice.verdict.by_slot
        }
        adapted = self._adapter.improve(open_, choices) if self._adapter is not None else {}
        if self._searcher is not None:
            sound = {place: request for place, request in open_.items() if not choices[place].fault}
            self._searcher.improve(sound, choices, adapted)
        return choices

    def close(self, times: Times) -> None:
        """Forget the rounds in progress; see `policies.play.rollout.Chooser`."""
        if self._adapter is not None:
            self._adapter.forget()


def load_chooser(
    folder: Path, settings: ThinkingSettings, compute: Compute, read: Reader = read_file
) -> ThinkingChooser:
    """The player of a folder of checkpoints; see `policies.adaptation.simulator.load_simulator`."""
    simulator = load_simulator(folder, settings, compute, read)
    return ThinkingChooser(
        simulator.policy,
        Adapter(simulator) if settings.playouts else None,
        load_searcher(simulator, compute) if settings.worlds else None,
    )
