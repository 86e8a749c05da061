"""A local lobby that speaks Tenhou's protocol; `tabletop` runs one game without I/O."""

from bot.tenhou.lobby.core import Lobby, LobbySettings

__all__ = ["Lobby", "LobbySettings"]
