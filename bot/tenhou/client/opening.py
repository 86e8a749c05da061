"""Opens connections. No other module does, so that every connection passes the gate."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect

from bot.tenhou.gate import Gate, PlayTerms, Server
from bot.tenhou.messages import MAX_FRAME_BYTES
from kit.errors import NothingListens

ORIGIN: Final = "https://tenhou.net"
USER_AGENT: Final = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)
NO_CACHE: Final = {"Pragma": "no-cache", "Cache-Control": "no-cache"}

# websockets writes every frame to its debug log, including the login with the secret id.
_SILENT: Final = logging.Logger("wire", logging.CRITICAL + 1)


async def open_connection(url: str, gate: Gate, conduct: PlayTerms, open_s: float) -> ClientConnection:
    """A connection after its handshake.

    Args:
        url: URL of the server.
        gate: decides whether we may connect there.
        conduct: how the run plays.
        open_s: time limit for the whole step.

    Raises:
        NotAllowed: the gate does not allow the connection.
        NothingListens: no local lobby listens at this address.
        OSError, WebSocketException: the server cannot be reached, or opens no WebSocket.
    """
    server = gate.check(url, conduct)
    async with asyncio.timeout(open_s):
        if gate.terms is not None:
            return await _connect(url, proxy=None if server.is_here else True)
        return await _connect_home(url, server, gate)


async def _connect_home(url: str, server: Server, gate: Gate) -> ClientConnection:
    """Connect to a local lobby: never through a proxy, and only to addresses that were checked."""
    addresses = await _addresses(server)
    for address in addresses:
        gate.check_peer(server, address)
    failed: OSError = ConnectionRefusedError()
    for address in addresses:
        try:
            return await _connect(url, proxy=None, host=address, port=server.port)
        except OSError as exc:
            failed = exc
    if isinstance(failed, ConnectionRefusedError):
        raise NothingListens(
            f"nothing listens at {url}; start a lobby there with `suzaku lobby --port {server.port}`"
        ) from failed
    raise failed


async def _addresses(server: Server) -> list[str]:
    """All addresses of a host."""
    if server.is_address:
        return [server.host]
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def _connect(url: str, **where: Any) -> ClientConnection:
    return await _DirectConnect(
        url,
        origin=ORIGIN,  # type: ignore[arg-type] # a NewType of str
        user_agent_header=USER_AGENT,
        additional_headers=NO_CACHE,
        compression=None,
        open_timeout=None,  # the caller's timeout covers more than this step
        close_timeout=2.0,
        ping_interval=None,  # a browser sends no pings
        max_size=MAX_FRAME_BYTES,
        logger=_SILENT,
        **where,
    )


class _DirectConnect(connect):
    """Follows no redirects, so that the id goes to no other server."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Treat a redirect as a failure."""
        return exc
