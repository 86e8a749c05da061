"""What `suzaku play --dry-run` prints."""

from __future__ import annotations

from bot.config.settings import Config
from bot.play.lobby import port_text
from bot.startup.models import policy_text


def plan_text(config: Config) -> str:
    """A summary of what `suzaku play` would do."""
    where = {
        "tenhou": f"Tenhou ({', '.join(config.tenhou.hosts)})",
        "local": config.local.url or f"the built-in lobby, {port_text(config)}",
    }[config.play.server]
    name = config.local.name if config.play.server == "local" else ""
    login = f"the id in ${config.server.user_id_env}" if config.server.user_id_env else name or "a guest"
    return "\n".join(
        [
            f"would play {config.play.games} game{'s' if config.play.games > 1 else ''} on {where}",
            f"  lobby {config.server.lobby}, type {config.server.type} ({config.game_type}), as {login}",
            f"  {config.pace} pace, {config.decision.budget_ms} ms per decision",
            f"  decisions by {policy_text(config.decision)}",
            f"  records to {config.records.folder}"
            + (f", frames to {config.records.capture}" if config.records.capture else ""),
            *([f"  dashboard on {config.dashboard.host}"] if config.dashboard.enabled else []),
        ]
    )
