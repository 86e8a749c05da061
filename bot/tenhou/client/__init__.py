"""The Tenhou client: connecting, keepalive, reconnecting, and the journal of a run."""

from bot.tenhou.client.core import ClientSettings, Direction, Hooks, TenhouClient

__all__ = ["ClientSettings", "Direction", "Hooks", "TenhouClient"]
