"""`suzaku check`: load everything once without connecting, and report what was found."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import msgspec
import yaml

from bot.config.settings import Config
from bot.logs.redaction import redact
from bot.play.lobby import local_lobby
from bot.records.keeping import RecordKeeper
from bot.startup.models import load, policy_text, thinking_of
from bot.startup.warm import first_decision, warm_up_visibly
from bot.tenhou.game_types import GameType
from kit.cache import cache_folder
from kit.reports import write_json
from kit.workers.ordered import default_workers
from policies.flow.slots import Policy

_PACKAGES: Final = ("riichienv", "numba", "numpy", "torch")


class CheckResult(msgspec.Struct, frozen=True):
    """The result of one check."""

    subject: str
    found: str


def check_everything(config: Config, *, as_json: bool) -> int:
    """Print the configuration and the findings; return the exit code.

    Raises:
        ConfigError: a model cannot be used, adaptation is not possible, a folder is not writable, or the
            lobby's port is in use.
    """
    values = config.model_dump(mode="json")
    policy = load(config.decision)
    findings = [
        CheckResult("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        CheckResult("cores", str(default_workers())),
        CheckResult("packages", ", ".join(f"{name} {version(name)}" for name in _PACKAGES)),
        *_models(policy),
        _kernels(policy),
        _policy(config, policy),
        *_adaptation(config),
        _records(config.records.folder),
        *_lobby(config),
        _login(config),
    ]
    if as_json:
        write_json({"config": values, "found": findings})
    else:
        print(redact(_config_text(values)))
        width = max(len(finding.subject) for finding in findings)
        print("\n".join(f"{finding.subject:<{width}}  {finding.found}" for finding in findings))
    return 0


def _config_text(values: dict[str, Any]) -> str:
    for section in ("local", "tenhou"):
        number = values[section]["type"]
        values[section]["type"] = f"{number} ({GameType(number)})"
    return str(yaml.safe_dump(values, sort_keys=False, allow_unicode=True))


def _models(policy: Policy) -> Iterator[CheckResult]:
    """One finding per model."""
    if policy.source != "model":
        return
    # the networks are already in memory, so this imports nothing new
    from policies.checkpoint.card import describe  # noqa: PLC0415
    from policies.play.inference import NetworkPolicy  # noqa: PLC0415

    if not isinstance(policy, NetworkPolicy):
        return
    for slot, card in policy.cards.items():
        yield CheckResult(f"model {slot}", describe(card))


def _kernels(policy: Policy) -> CheckResult:
    seconds = warm_up_visibly(policy=policy)
    return CheckResult("kernels", f"ready in {seconds:.1f} s, cached in {cache_folder()}")


def _policy(config: Config, policy: Policy) -> CheckResult:
    started = perf_counter()
    decision = first_decision(policy)
    took_ms = (perf_counter() - started) * 1000
    who = policy_text(config.decision)
    return CheckResult(
        "policy", f"{who}: one decision ({decision.action}, {decision.source}) in {took_ms:.1f} ms"
    )


def _adaptation(config: Config) -> Iterator[CheckResult]:
    if config.thinking_mode != "off":
        device = thinking_of(config).device
        yield CheckResult("adaptation", f"{config.thinking_mode}, device {device}")


def _records(folder: Path) -> CheckResult:
    RecordKeeper(folder).check()
    return CheckResult(
        "records", f"{folder} is writable and has {sum(1 for _ in folder.glob('*.xml'))} games"
    )


def _lobby(config: Config) -> Iterator[CheckResult]:
    """The built-in lobby, if it is played in."""
    if config.play.server == "tenhou" or config.local.url:
        return

    async def open_and_close() -> str:
        async with local_lobby(config, RecordKeeper(config.records.folder)) as lobby:
            return lobby.url

    yield CheckResult("lobby", f"opens at {asyncio.run(open_and_close())}")


def _login(config: Config) -> CheckResult:
    name = config.server.user_id_env
    return CheckResult("login", f"{name} holds an id (not shown)" if name else "as a guest")
