"""How the client behaves on the line, and who listens to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from bot.pace import Pace
from bot.tenhou.client.retry import AT_LOGIN, ID_BUSY, IN_GAME, Waits
from bot.tenhou.gate import Gate
from bot.tenhou.session.events import SessionEvent

Direction: TypeAlias = Literal["C", "S"]
"""Ours, and the server's."""


class ClientSettings(msgspec.Struct, frozen=True):
    """How the client behaves on the line.

    Attributes:
        urls: servers, the one to prefer first.
        gate: says which of them we may connect to, and on what terms; as it stands only to this machine.
        games: how many games to play.
        pace: of our readiness between rounds; decisions have theirs from the player.
        keepalive_s: how often to say that we are still there.
        silence_s: without a frame for so long while a game runs, the line counts as dead.
        echo_s: the same after a move on our own turn, which the server confirms before anything else.
        broken_silence_s: the same after a frame of the running game could not be read.
        login_s: how long the answer to a login may take.
        lobby_silence_s: how long a lobby may say nothing.
        broken_limit: unreadable frames on one connection before we connect anew.
        open_s: how long a handshake may take.
        in_game: waits before coming back to a running game.
        at_login: waits before another login.
        id_busy: waits while the id is connected elsewhere.
    """

    urls: tuple[str, ...]
    gate: Gate = Gate()
    games: int = 1
    pace: Pace = "instant"
    keepalive_s: float = 10.0
    silence_s: float = 60.0
    echo_s: float = 15.0
    broken_silence_s: float = 5.0
    login_s: float = 15.0
    lobby_silence_s: float = 300.0
    broken_limit: int = 3
    open_s: float = 10.0
    in_game: Waits = IN_GAME
    at_login: Waits = AT_LOGIN
    id_busy: Waits = ID_BUSY


class Hooks(msgspec.Struct, frozen=True):
    """What others want to hear of.

    Attributes:
        on_frame: every frame both ways as it is on the wire; redacting is up to the listener.
        on_event: every event of the session.
        on_resume_code: the code that takes our seat back has changed; a secret, empty when no game runs.
        on_line: a connection has been opened, or one has failed.
    """

    on_frame: Callable[[Direction, str], None] | None = None
    on_event: Callable[[SessionEvent], None] | None = None
    on_resume_code: Callable[[str], None] | None = None
    on_line: Callable[[Literal["open", "lost"]], None] | None = None
