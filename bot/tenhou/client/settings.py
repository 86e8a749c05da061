"""Settings and hooks of the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import msgspec

from bot.player.pace import Pace
from bot.tenhou.gate import Gate
from bot.tenhou.session.events import SessionEvent

Direction: TypeAlias = Literal["C", "S"]
"""Client and server."""


class Waits(msgspec.Struct, frozen=True):
    """How often to try again, and how long to wait before each try.

    Attributes:
        first_s: the wait before the first try, without jitter.
        growth: factor by which each further wait grows.
        longest_s: maximum wait.
        tries: maximum number of tries in a row without progress.
    """

    first_s: float
    growth: float
    longest_s: float
    tries: int


IN_GAME: Final = Waits(first_s=0.6, growth=2.0, longest_s=30.0, tries=20)
"""A game is running: the first try comes within a second, and tries go on for about eight minutes."""
AT_LOGIN: Final = Waits(first_s=2.0, growth=2.0, longest_s=60.0, tries=8)
"""No game is running: about four minutes of tries, at long intervals."""
ID_BUSY: Final = Waits(first_s=5.0, growth=2.0, longest_s=40.0, tries=4)
"""The id is already connected, perhaps by our own connection that the server has not dropped yet."""


class ClientSettings(msgspec.Struct, frozen=True):
    """How the client behaves on its connections.

    Attributes:
        urls: URLs of the servers, the preferred one first.
        gate: decides which of them we may connect to, and under which terms; by default only this machine.
        games: number of games to play.
        pace: pace of our readiness between rounds; the player has its own pace for decisions.
        keepalive_s: seconds between keepalives.
        silence_s: in a game, a connection without frames for this long counts as dead.
        echo_s: the same after a move on our own turn, which the server confirms before anything else.
        broken_silence_s: the same after an unreadable frame of the running game.
        login_s: time limit for the answer to a login.
        open_s: time limit for a handshake.
        in_game: waits before reconnecting to a running game.
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
    open_s: float = 10.0
    in_game: Waits = IN_GAME
    at_login: Waits = AT_LOGIN
    id_busy: Waits = ID_BUSY


def nobody(*_: object) -> None:
    """Nobody listens."""


class Hooks(msgspec.Struct, frozen=True):
    """Callbacks of other listeners.

    Attributes:
        on_frame: gets every frame sent or received, as on the wire; the listener must redact it.
        on_event: gets every event of the session.
        on_resume_code: gets each new resume code of our seat; a secret, empty when no game is running.
        on_line: called when a connection has been opened or has failed.
    """

    on_frame: Callable[[Direction, str], None] = nobody
    on_event: Callable[[SessionEvent], None] = nobody
    on_resume_code: Callable[[str], None] = nobody
    on_line: Callable[[Literal["open", "lost"]], None] = nobody
