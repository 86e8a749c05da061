"""Settings of a lobby."""

from __future__ import annotations

import ipaddress

import msgspec

from bot.tenhou.lobby.table_seat import ClockSettings
from kit.errors import ConfigError


class LobbySettings(msgspec.Struct, frozen=True):
    """Settings of a lobby.

    Attributes:
        host: a loopback address; only this machine can connect.
        port: 0 for any free one.
        own_host: another host name that clients may use, through the user's own tunnel or proxy.
        seed: seed of all seats and walls; None for unpredictable games.
        clients_per_table: number of queued clients that starts a table; practice tables start with one.
        wait_s: start with fewer after this time; None waits forever.
        delay_s: delay before built-in players answer.
        clock: replaces the clock of the game type.
        rejected_ids: ids that may not log in.
        login_s: a connection without a login is closed after this time.
        requeue_s: interval at which a waiting client is asked to queue again.
        retell_s: time for which a client that lost its connection can still receive the end of the game.
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
    """Reject invalid settings, reporting all problems at once.

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
        raise ConfigError("the settings of the lobby are invalid:\n" + "\n".join(problems))
