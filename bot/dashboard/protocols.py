"""uvicorn's protocols, which tell `bot.dashboard.connections` whose turn it is."""

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
"""How long a peer may take for the end of a WebSocket."""


class HttpConnection(H11Protocol):
    """A connection that asks for pages, until one of its requests makes it a WebSocket."""

    def __init__(self, connections: Connections, config: uvicorn.Config, state: ServerState) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self.ws_protocol_class = functools.partial(  # type: ignore[assignment] # makes what the class makes
            WebSocketConnection, connections
        )
        self._connections = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """A peer has connected, and is to ask for something."""
        super().connection_made(transport)
        self._connections.waits(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer has gone."""
        self._connections.lost(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        super().data_received(data)
        self._work_if_asked()

    def pause_writing(self) -> None:
        """The peer is to take what it asked for."""
        super().pause_writing()
        self._connections.waits(self.transport)

    def resume_writing(self) -> None:
        """It has taken most of it."""
        super().resume_writing()
        self._work_if_asked()

    def on_response_complete(self) -> None:
        """The peer is to take the rest, and to ask for something else."""
        self._connections.waits(self.transport)
        super().on_response_complete()
        self._work_if_asked()

    def _work_if_asked(self) -> None:
        if self.cycle is not None and not (self.cycle.response_complete or self.flow.write_paused):
            self._connections.works(self.transport)


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A browser that watches; no end of it waits for a peer that takes nothing any more."""

    def __init__(self, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        self._open_connections = connections

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer has gone."""
        self._open_connections.lost(self.transport)
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        """A ping was not answered."""
        super().keepalive_timeout()
        self.loop.call_later(CLOSE_S, self.transport.abort)

    async def run_asgi(self) -> None:
        """Serve it to its end."""
        self._open_connections.works(self.transport)
        await super().run_asgi()
        self.loop.call_later(CLOSE_S, self.transport.abort)
