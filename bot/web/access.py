"""Access control: the right host, the right origin and, if the network can reach us, the right token.

Another site's page in the same browser can also send us requests, under a name that it made resolve to this
machine (DNS rebinding) or under our own. We detect it by headers that the browser itself sets: ``Host`` and
``Origin``.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY_VIOLATION: Final = 1008
TOKEN: Final = "token"  # noqa: S105 - the name of the parameter
HTTP: Final = 80

SECURITY: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Access:
    """The rules for one address.

    Args:
        host: the address or name the server listens on.
        port: its port.
        token: the required token, "" for none.
    """

    def __init__(self, host: str, port: int, token: str = "") -> None:
        self.port = port
        self.cookie = f"suzaku_{port}"
        self._token = token
        self._any_address = _is_address(host) and ipaddress.ip_address(host).is_unspecified
        names = {host.lower()}
        if is_loopback(host) or self._any_address:
            names.add("localhost")
        if self._any_address:
            names.add(socket.gethostname().lower())
        self._names = names

    def knows_host(self, host: str) -> bool:
        """Whether a ``Host`` header names this server."""
        name, port = _split(host.strip().lower())
        if name is None or port != self.port:
            return False
        # unlike a name, an address cannot be made to resolve elsewhere
        return name in self._names or (self._any_address and _is_address(name))

    def knows_origin(self, origin: str, host: str) -> bool:
        """Whether an ``Origin`` header is that of our own pages under this ``Host``."""
        scheme, _, rest = origin.strip().lower().partition("://")
        return scheme == "http" and _split(rest) == _split(host.strip().lower())

    def admits(self, shown: str) -> bool:
        """Whether this is the right token; always true if none is required."""
        return not self._token or hmac.compare_digest(shown.encode(), self._token.encode())


class RequestGuard:
    """ASGI middleware: refuses requests that break the rules, and adds security headers to responses."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_ours(scope, headers):
            await _refuse(scope, receive, send, "not from this page")
        elif not self._has_token(headers):
            if scope["type"] == "http" and (answer := self._let_in(scope)):
                await answer(scope, receive, _secured(send, headers["host"]))
            else:
                await _refuse(
                    scope, receive, send, "open the link that Suzaku printed, which contains the token"
                )
        elif scope["type"] == "http":
            await self._app(scope, receive, _secured(send, headers["host"]))
        else:
            await self._app(scope, receive, send)

    def _is_ours(self, scope: Scope, headers: Headers) -> bool:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            return False
        if not origins:  # browsers omit it from plain requests, but never when opening a WebSocket
            return bool(scope["type"] == "http")
        return len(origins) == 1 and self._access.knows_origin(origins[0], hosts[0])

    def _has_token(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._access.cookie)
        except CookieError:
            cookie = None
        return self._access.admits(cookie.value if cookie else "")

    def _let_in(self, scope: Scope) -> Response | None:
        """Answer to the link with the token: redirect to the page without it, and set a cookie instead."""
        given = parse_qsl(scope["query_string"].decode("latin-1"))
        shown = dict(given).get(TOKEN, "")
        if scope["method"] != "GET" or not shown or not self._access.admits(shown):
            return None
        rest = urlencode([pair for pair in given if pair[0] != TOKEN])
        answer = RedirectResponse("/" + (f"?{rest}" if rest else ""), status_code=303)
        answer.set_cookie(self._access.cookie, shown, httponly=True, samesite="strict", path="/")
        return answer


def is_loopback(host: str) -> bool:
    """Whether a server on this host can be reached only from this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def content_policy(host: str) -> str:
    """The content security policy of every page: our own files and socket, and tiles from the style sheet."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            f"connect-src 'self' ws://{host}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def _secured(send: Send, host: str) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(SECURITY)
            headers["content-security-policy"] = content_policy(host)
        await send(message)

    return secured


async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": why})
    else:
        await PlainTextResponse(f"Refused: {why}.\n", 403, SECURITY)(scope, receive, send)


def _split(host: str) -> tuple[str | None, int]:
    """Name and port of a ``Host`` header; an empty name if it is invalid."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, str(HTTP)
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    elif ":" in name:
        return None, 0
    if not name or not (port.isascii() and port.isdecimal() and len(port) <= 5):
        return None, 0
    return name, int(port)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
