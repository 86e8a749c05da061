"""The Tenhou client: connecting, keepalive, reconnecting, and the journal of a run."""

from bot.tenhou.client.core import TenhouClient
from bot.tenhou.client.settings import ClientSettings, Direction, Hooks

__all__ = ["ClientSettings", "Direction", "Hooks", "TenhouClient"]
