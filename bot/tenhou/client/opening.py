"""Opens connections: the only place that does, so that none gets past the gate."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Final

from websockets.asyncio.client import ClientConnection, connect

from bot.tenhou.gate import Conduct, Gate, Server
from bot.tenhou.messages import MAX_FRAME_BYTES
from game.errors import NothingListens

ORIGIN: Final = "https://tenhou.net"
USER_AGENT: Final = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)
NO_CACHE: Final = {"Pragma": "no-cache", "Cache-Control": "no-cache"}

# websockets writes every frame to its debug log, the login with the secret id among them.
_SILENT: Final = logging.Logger("wire", logging.CRITICAL + 1)


async def open_connection(url: str, gate: Gate, conduct: Conduct, open_s: float) -> ClientConnection:
    """A connection after its handshake.

    Args:
        url: of the server.
        gate: says whether we may connect there.
        conduct: how the run plays.
        open_s: how long all of it may take.

    Raises:
        NotAllowed: we may not.
        NothingListens: nothing listens where a lobby of our own should.
        OSError, WebSocketException: the server cannot be reached, or opens no WebSocket.
    """
    server = gate.check(url, conduct)
    async with asyncio.timeout(open_s):
        own = {"sock": await _own_socket(server, gate, url)} if gate.terms is None else {}
        return await _DirectConnect(
            url,
            **own,
            origin=ORIGIN,  # type: ignore[arg-type] # a NewType of str
            user_agent_header=USER_AGENT,
            additional_headers=NO_CACHE,
            compression=None,
            proxy=None if own or server.is_here else True,
            open_timeout=None,
            close_timeout=2.0,
            ping_interval=None,  # a browser sends no pings
            max_size=MAX_FRAME_BYTES,
            logger=_SILENT,
        )


class _DirectConnect(connect):
    """Follows no redirects: the id goes to the server that was asked for, or nowhere."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """The redirect itself is the failure."""
        return exc


async def _own_socket(server: Server, gate: Gate, url: str) -> socket.socket:
    """A socket to a lobby of our own: never through a proxy, and to an address that was looked at."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    for *_, address in found:
        gate.check_peer(server, str(address[0]))
    refused: OSError = ConnectionRefusedError()
    for family, kind, protocol, _, address in found:
        own = socket.socket(family, kind, protocol)
        own.setblocking(False)
        try:
            await loop.sock_connect(own, address)
        except OSError as exc:
            refused = exc
            own.close()
        except BaseException:
            own.close()
            raise
        else:
            return own
    if isinstance(refused, ConnectionRefusedError):
        raise NothingListens(
            f"nothing listens at {url}; start a lobby there with `suzaku lobby --port {server.port}`"
        ) from refused
    raise refused
