"""A local lobby that speaks Tenhou's protocol; `tabletop` runs one game without I/O."""

from bot.tenhou.lobby.core import Lobby
from bot.tenhou.lobby.games import LobbySettings

__all__ = ["Lobby", "LobbySettings"]
