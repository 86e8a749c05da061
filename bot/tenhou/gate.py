"""Where a client may connect, and under which terms. Every connection passes this gate.

There are two kinds of servers. A local lobby is on this machine, or on the one other host that the
configuration names; no host name, whatever it resolves to, can lead out of private networks to Tenhou. Any
other server counts as Tenhou: it is reached by TLS only, and under its operator's terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import msgspec

from bot.player.pace import Pace
from bot.tenhou.game_types import GameType
from kit.errors import NotAllowed

IpAddress: TypeAlias = IPv4Address | IPv6Address

PRACTICE_TYPES: Final = (0, 64)
"""The practice tables on Tenhou that we can play."""

_URL: Final = re.compile(
    r"(?:ws|wss)://(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?(?:/[!-~]*)?"
)
"""No user, password or backslash, and nothing that two URL parsers could interpret differently."""
_DOMAINS: Final = ("tenhou.net", "mjv.jp")
"""Source: the hosts of the official clients."""
_OWN_NETWORKS: Final = tuple(
    map(
        ip_network,
        (
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"),
            "100.64.0.0/10",  # used by private networks over the internet, such as Tailscale
        ),
    )
)


class Server(NamedTuple):
    """A parsed address: ``host`` in lower case, without brackets or a trailing dot."""

    secure: bool
    host: str
    port: int

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address, not a name to resolve."""
        return _address(self.host) is not None

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine, judged by its address."""
        address = _address(self.host)
        return self.host == "localhost" if address is None else address.is_loopback


class TenhouTerms(msgspec.Struct, frozen=True):
    """Terms under which the bot may play on Tenhou.

    Attributes:
        enabled: playing there is turned on.
        permission: the operator, or everyone at a private table, has agreed to a bot.
        max_games: maximum number of games per run.
    """

    enabled: bool = False
    permission: bool = False
    max_games: int = 1


class PlayTerms(msgspec.Struct, frozen=True):
    """How a run plays.

    Attributes:
        game_type: number of the type it queues for.
        games: number of games.
        pace: pace of all its answers.
    """

    game_type: int
    games: int
    pace: Pace


class Breach(NamedTuple):
    """A breach of the terms: the settings it concerns, the wrong one first, and what to do."""

    keys: tuple[str, ...]
    message: str


class Gate(msgspec.Struct, frozen=True):
    """Allows or refuses connections; by default it allows only those to this machine.

    Attributes:
        own_host: another host of the user that runs a lobby, empty for none.
        terms: for playing on Tenhou; None for a local lobby.
    """

    own_host: str = ""
    terms: TenhouTerms | None = None

    def check(self, url: str, conduct: PlayTerms) -> Server:
        """Check an address before its name is resolved or anything is sent.

        Raises:
            NotAllowed: we do not connect there, or not under these conditions.
        """
        server = parse_url(url)
        if server is None:
            raise NotAllowed(f"{url[:100]!r} is not a WebSocket address")
        problem = self._problem(server, conduct)
        if problem is not None:
            raise NotAllowed(f"not connecting to {server.host}: {problem}")
        return server

    def check_peer(self, server: Server, address: str) -> None:
        """Check an address that a lobby's name resolves to.

        Raises:
            NotAllowed: the address is not on this machine, nor, for the named host, on a private network.
        """
        found = _address(address)
        if found is None or not (found.is_loopback or (not server.is_here and _is_private(found))):
            raise NotAllowed(
                f"not connecting to {server.host}: the name resolves to {address}, but a local lobby must be "
                "on this machine or on a private network; use its private address instead"
            )

    def check_table(self, game_type: int | None) -> None:
        """Check the table at which the server seats us; the account may have begun the game elsewhere.

        Args:
            game_type: number of the type, None if the server has not sent it.

        Raises:
            NotAllowed: it is or may be played against people, and there is no permission.
        """
        if self.terms is None or self.terms.permission:
            return
        if game_type is None or not GameType(game_type).is_practice:
            kind = (
                "an unknown table, which may be" if game_type is None else f"{GameType(game_type)}, which is"
            )
            raise NotAllowed(
                f"the server seats us at {kind} played against people, and tenhou.permission is false; "
                "continue this game in Tenhou's own client"
            )

    def _problem(self, server: Server, conduct: PlayTerms) -> str | None:
        if self.terms is None:
            return own_problem(server, self.own_host)
        if not server.secure:
            return "connect to Tenhou by wss:// only"
        told = "; ".join(f"{breach.keys[0]}: {breach.message}" for breach in breaches(self.terms, conduct))
        return told or None


def parse_url(url: str) -> Server | None:
    """Parse an address; None if it is not a WebSocket address.

    >>> parse_url("ws://LOCALHOST.:4000/x")
    Server(secure=False, host='localhost', port=4000)
    >>> parse_url("ws://127.0.0.1@b-ww.mjv.jp/") is None
    True
    """
    if not _URL.fullmatch(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    secure = parts.scheme == "wss"
    if port is None:
        port = 443 if secure else 80
    return Server(secure, host_name(parts.hostname or ""), port) if port else None


def host_name(text: str) -> str:
    """A host in canonical form: names in lower case without a trailing dot, addresses as Python writes them.

    >>> host_name("B-WW.mjv.jp."), host_name("[::FFFF:127.0.0.1]")
    ('b-ww.mjv.jp', '127.0.0.1')
    """
    name = text.strip("[]").lower().rstrip(".")
    address = _address(name)
    return name if address is None else str(address)


def is_tenhou(host: str) -> bool:
    """Whether a host name belongs to Tenhou.

    >>> is_tenhou("B-WW.MJV.JP."), is_tenhou("tenhou.net"), is_tenhou("mjv.jp.example"), is_tenhou("nomjv.jp")
    (True, True, False, False)
    """
    name = host_name(host)
    return any(name == domain or name.endswith(f".{domain}") for domain in _DOMAINS)


def own_problem(server: Server, own_host: str) -> str | None:
    """Why a server cannot be a local lobby, None if it can, judged by its address.

    Args:
        server: to connect to.
        own_host: the one other host that the configuration names, empty for none.
    """
    if is_tenhou(server.host):
        return (
            "this is Tenhou, not a local lobby; to play there, set play.server: tenhou (--server tenhou), "
            "which uses the settings under tenhou"
        )
    if server.is_here or (own_host and server.host == host_name(own_host)):
        return None
    return (
        "expected an address of this machine, such as ws://127.0.0.1:4000; for a lobby on another machine of "
        "your network, set local.own_host to its host"
    )


def own_host_problem(own_host: str) -> str | None:
    """Why a host cannot be `local.own_host`, None if it can."""
    if is_tenhou(own_host):
        return "this is Tenhou, not your own machine; name a host of your own network, or none"
    address = _address(host_name(own_host))
    if address is not None and not (address.is_loopback or _is_private(address)):
        return f"{own_host} is on the internet; name a host of your own network, or reach it through a tunnel"
    return None


def breaches(terms: TenhouTerms, conduct: PlayTerms) -> Iterator[Breach]:
    """All breaches of the terms by a run."""
    kind = GameType(conduct.game_type)
    if not terms.enabled:
        yield Breach(
            ("tenhou.enabled",),
            "found false, expected true: playing on Tenhou is off until you turn it on there",
        )
    if not kind.is_practice and not terms.permission:
        yield Breach(
            ("tenhou.type", "tenhou.permission"),
            f"{kind} is played against people, and tenhou.permission is false; choose "
            "practice (0 or 64), or get the operator's permission and set tenhou.permission to true",
        )
    if kind.is_practice and kind.number not in PRACTICE_TYPES:
        yield Breach(
            ("tenhou.type",),
            f"found {kind.number}, expected 0 or 64: the bot can play no other practice tables on Tenhou",
        )
    if conduct.pace != "human":
        yield Breach(
            ("play.pace",),
            f'found "{conduct.pace}", expected "auto" or "human": on Tenhou the pace is always human',
        )
    if conduct.games > terms.max_games:
        yield Breach(
            ("play.games", "tenhou.max_games"),
            f"found {conduct.games}, expected at most tenhou.max_games, which is {terms.max_games}",
        )


def _is_private(address: IpAddress) -> bool:
    return any(address in network for network in _OWN_NETWORKS)


def _address(text: str) -> IpAddress | None:
    """An IPv4 or IPv6 address; IPv4-mapped IPv6 addresses become IPv4."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
