"""The client's side of the line: connecting, keeping alive, coming back, and the story of a run."""

from bot.tenhou.client.core import ClientSettings, Direction, Hooks, TenhouClient

__all__ = ["ClientSettings", "Direction", "Hooks", "TenhouClient"]
