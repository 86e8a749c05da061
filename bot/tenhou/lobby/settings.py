"""How a lobby is set up."""

from __future__ import annotations

import ipaddress

import msgspec

from bot.tenhou.lobby.seat_clock import ClockSettings
from game.errors import ConfigError


class LobbySettings(msgspec.Struct, frozen=True):
    """How a lobby is set up.

    Attributes:
        host: a loopback address; nobody outside this machine gets in.
        port: 0 for any free one.
        own_host: another name by which it may be asked for, over a tunnel or a proxy of one's own.
        seed: all seats and walls follow from it; None for games nobody can foresee.
        clients_per_table: a table begins when so many clients queue for it; practice tables with one.
        wait_s: begin with fewer after this long; None waits for ever.
        delay_s: how long built-in players seem to think.
        clock: instead of the one of the game type.
        rejected_ids: ids that may not log in.
        login_s: a line without a login is closed after this long.
        requeue_s: how often a waiting client is asked to queue again.
        retell_s: so long the end of a game is told again to a client whose line broke over it.
    """

    host: str = "127.0.0.1"
    port: int = 0
    own_host: str = ""
    seed: int | None = None
    clients_per_table: int = 1
    wait_s: float | None = None
    delay_s: float = 0.0
    clock: ClockSettings | None = None
    rejected_ids: frozenset[str] = frozenset()
    login_s: float = 30.0
    requeue_s: float = 5.0
    retell_s: float = 30.0


def check(settings: LobbySettings) -> None:
    """Refuse settings that make no sense, all problems at once.

    Raises:
        ConfigError: the host is not on this machine, or a number is out of range.
    """
    problems = []
    if settings.host != "localhost":
        try:
            is_local = ipaddress.ip_address(settings.host).is_loopback
        except ValueError:
            is_local = False
        if not is_local:
            problems.append(f"host: found {settings.host!r}, expected a loopback address such as 127.0.0.1")
    if not 0 <= settings.port <= 65535:
        problems.append(f"port: found {settings.port}, expected 0 to 65535")
    if not 1 <= settings.clients_per_table <= 4:
        problems.append(f"clients_per_table: found {settings.clients_per_table}, expected 1 to 4")
    if settings.seed is not None and settings.seed < 0:
        problems.append(f"seed: found {settings.seed}, expected 0 or more")
    if problems:
        raise ConfigError("the lobby's settings are wrong:\n" + "\n".join(problems))
