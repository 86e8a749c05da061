"""A lobby on this machine that speaks Tenhou's protocol; `tabletop` keeps one game without I/O."""

from bot.tenhou.lobby.core import Lobby, LobbySettings

__all__ = ["Lobby", "LobbySettings"]
