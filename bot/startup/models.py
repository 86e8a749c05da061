"""The configured policy, loaded and tested before anything connects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.config.settings import Config, DecisionSection
from bot.player.clock import Clock
from bot.player.pace import Pace
from kit.errors import CheckpointError, ConfigError, ModelError
from policies.flow.known_hand import try_policy
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy
from policies.play.included import SHIPPED, included
from policies.play.named import load_named
from policies.play.python_file import PREFIX, PythonPolicy

if TYPE_CHECKING:
    from bot.adaptation.messages import WorkerSetup
    from bot.adaptation.thoughts import Thoughts
    from policies.nets.compute import Compute


class PolicyLoader:
    """Returns the policy loaded at start-up on the first call, and loads a new one on each later call.

    Args:
        section: configuration of the policy.

    Raises:
        ConfigError: a checkpoint cannot be used.
    """

    def __init__(self, section: DecisionSection) -> None:
        self._section = section
        self.policy = load(section)
        self._given = False

    def __call__(self) -> Policy:
        """The policy; may be called on any thread.

        Raises:
            ConfigError: a checkpoint can no longer be used.
        """
        if self._given:
            self.policy = load(self._section)
        self._given = True
        return self.policy


def load(section: DecisionSection) -> Policy:
    """The policy as configured.

    Raises:
        ConfigError: a checkpoint cannot be used, with the file and the field in it; there is no GPU; or a
            Python file defines no policy, with the line in it.
    """
    if section.policy == "heuristic":
        return HeuristicPolicy()
    if section.policy.startswith(PREFIX):
        try:
            return load_named(section.policy).policy
        except ConfigError as exc:
            raise ConfigError(f"decision.policy: {exc}") from exc
    # networks take time to import, and not every policy has some
    from policies.play.inference import load_policy  # noqa: PLC0415

    folder = folder_of(section) or SHIPPED
    try:
        return load_policy(folder, averaging=section.permutations, compute=compute_of(section))
    except CheckpointError as exc:
        raise ConfigError(
            f"decision.checkpoints: {exc}; to play without models, set `decision.policy: heuristic`"
        ) from exc


def folder_of(section: DecisionSection) -> Path | None:
    """The folder of the models, None for the default ones."""
    if not section.checkpoints:
        return None
    return included(section.checkpoints) or Path(section.checkpoints)


def thoughts_of(config: Config, policy: Policy, clock: Clock, pace: Pace) -> Thoughts | None:
    """The thinking process, not yet started; None if adaptation is off.

    Args:
        config: the configuration.
        policy: the initial policy.
        clock: of the prompts.
        pace: of answers.

    Raises:
        ConfigError: a GPU is requested and there is none, or the sampler's settings are not possible.
    """
    section = config.adaptation
    if config.thinking_mode == "off":
        return None
    from bot.adaptation.thoughts import Thoughts  # noqa: PLC0415 - as above
    from policies.play.inference import NetworkPolicy  # noqa: PLC0415

    assert isinstance(policy, NetworkPolicy)
    setup = thinking_of(config)
    search_s = section.search_s if setup.thinking.worlds else 0.0
    return Thoughts(setup, policy, search_s, section.when, clock, pace)


def thinking_of(config: Config) -> WorkerSetup:
    """Setup of the thinking process.

    Raises:
        ConfigError: a GPU is requested and there is none, or the sampler's settings are not possible.
    """
    from bot.adaptation.messages import WorkerSetup  # noqa: PLC0415 - as above
    from game.ranking import parse_uma  # noqa: PLC0415
    from policies.adaptation.settings import ThinkingSettings  # noqa: PLC0415
    from policies.deals.named import settings_of  # noqa: PLC0415
    from policies.nets.compute import choose_device  # noqa: PLC0415

    section, mode = config.adaptation, config.thinking_mode
    try:
        choose_device(section.device)
        settings_of(section.sampler)
    except (ModelError, ConfigError) as exc:
        raise ConfigError(f"adaptation: {exc}") from exc
    thinking = ThinkingSettings(
        worlds=section.worlds if mode != "adapt" else 0,
        horizon=section.horizon,
        from_go_around=section.from_go_around,
        playouts=section.playouts if mode != "search" else 0,
        sampler=section.sampler,
        reward=config.thinking_reward,
        uma=parse_uma(config.decision.uma),
    )
    return WorkerSetup(
        folder=folder_of(config.decision) or SHIPPED,
        thinking=thinking,
        device=section.device,
        seconds=section.seconds,
        memory_mb=section.memory_mb,
    )


def compute_of(section: DecisionSection) -> Compute:
    """How the networks compute.

    Raises:
        ConfigError: a GPU is requested and there is none.
    """
    from policies.nets.compute import choose_compute  # noqa: PLC0415 - as above

    try:
        return choose_compute(section.device, many=False)
    except ModelError as exc:
        raise ConfigError(f"decision.device: {exc}; use `--device auto`, or `decision.device: auto`") from exc


def policy_text(section: DecisionSection) -> str:
    """The configured policy, described in words."""
    if section.policy == "heuristic":
        return "the heuristic"
    if section.policy.startswith(PREFIX):
        return f"the policy in {section.policy.removeprefix(PREFIX)}"
    models = f"the models in {section.checkpoints}" if section.checkpoints else "the included models"
    if included(section.checkpoints):
        models = f"the included models `{section.checkpoints}`"
    looks = f", averaged over {section.permutations} permutations" if section.permutations > 1 else ""
    where = "" if section.device == "cpu" else f", on {section.device}"
    return models + looks + where


def try_out(policy: Policy) -> None:
    """Ask every slot once, about a known hand, which also completes any lazy loading.

    Raises:
        ConfigError: it gives no usable answer.
    """
    try:
        try_policy(policy)
    except ModelError as exc:
        if isinstance(policy, PythonPolicy):
            raise ConfigError(f"decision.policy: {exc}") from exc
        raise ConfigError(f"decision.checkpoints: {exc}; train it again, or use another folder") from exc
