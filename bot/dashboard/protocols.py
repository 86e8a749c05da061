"""uvicorn's protocols, extended to report to `bot.dashboard.connections` which side is waiting."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from bot.dashboard.connections import Connections

CLOSE_S: Final = 2.0
"""Time limit for closing a WebSocket."""


class HttpConnection(H11Protocol):
    """A connection that requests pages, until a request upgrades it to a WebSocket."""

    def __init__(self, connections: Connections, config: uvicorn.Config, state: ServerState) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self.ws_protocol_class = functools.partial(  # type: ignore[assignment] # creates the same as the class
            WebSocketConnection, connections
        )
        self._connections = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """A peer has connected; wait for its request."""
        super().connection_made(transport)
        self._connections.waits(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer has disconnected."""
        self._connections.lost(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        super().data_received(data)
        self._work_if_asked()

    def pause_writing(self) -> None:
        """Wait for the peer to receive the response."""
        super().pause_writing()
        self._connections.waits(self.transport)

    def resume_writing(self) -> None:
        """The peer has received most of the response."""
        super().resume_writing()
        self._work_if_asked()

    def on_response_complete(self) -> None:
        """Wait for the peer to receive the rest, and to send its next request."""
        self._connections.waits(self.transport)
        super().on_response_complete()
        self._work_if_asked()

    def _work_if_asked(self) -> None:
        if self.cycle is not None and not (self.cycle.response_complete or self.flow.write_paused):
            self._connections.works(self.transport)


class WebSocketConnection(WebSocketsSansIOProtocol):
    """The connection of a watching browser; closing it never waits for a peer that has stopped reading."""

    def __init__(self, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        self._open_connections = connections

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer has disconnected."""
        self._open_connections.lost(self.transport)
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        """A ping was not answered."""
        super().keepalive_timeout()
        self.loop.call_later(CLOSE_S, self.transport.abort)

    async def run_asgi(self) -> None:
        """Serve the connection to its end."""
        self._open_connections.works(self.transport)
        await super().run_asgi()
        self.loop.call_later(CLOSE_S, self.transport.abort)
